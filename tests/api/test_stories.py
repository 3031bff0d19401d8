"""What a program does, through the API alone."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from timemachine.accounts.commands import make_api_key, revoke_api_key
from timemachine.accounts.models import Project
from timemachine.base.clock import now, written
from timemachine.base.content import text_sha256
from timemachine.recording.models import Action, Session
from timemachine.replay.models import Replay
from timemachine.replay.working import work
from timemachine.retrieval.models import Frame
from timemachine.sharing.models import ShareLink

PASSAGES = [
    {"title": "Retention", "text": "Invoices are kept for ten years.", "uri": "a"},
    {"title": "Travel", "text": "Train tickets are booked in second class.", "metadata": {"seite": 3}},
]


@pytest.fixture
def session(api: Program) -> str:
    api.post("/collections/handbook/put", {"frames": PASSAGES})
    return str(
        api.post("/sessions", {"name": "Lauf ä", "collection": "handbook", "key": "run-1"}).json()["id"]
    )


def test_a_session_is_recorded_walked_and_ended(api: Program, session: str) -> None:
    put = api.post("/sessions/run-1/put", {"text": "Nul \u0000 inside.", "title": "Odd"})
    assert put.status_code == 201
    assert put.json()["sequences"] == [1]
    found = api.post(f"/sessions/{session}/find", {"query": "train tickets", "top_k": 1}).json()
    assert [(hit["rank"], hit["frame"], hit["version"]) for hit in found["hits"]] == [(1, 1, 1)]
    assert (found["sequence"], found["cut_by"]) == (2, "top_k")
    asked = api.post(f"/sessions/{session}/ask", {"question": "How long are invoices kept?"}).json()
    assert asked["answer"] == "Invoices are kept for ten years."
    assert (asked["model"], asked["cost_usd"], asked["usage"]) == ("local:extractive-3", 0, None)
    assert asked["grounding"]["label"] == "HIGH"
    ended = api.post("/sessions/run-1/end").json()
    assert (ended["status"], ended["actions"]) == ("ended", 4)

    actions = api.get(f"/sessions/{session}/actions").json()["items"]
    assert [(a["sequence"], a["kind"]) for a in actions] == [(1, "put"), (2, "find"), (3, "ask"), (4, "find")]
    assert actions[0]["input"] == "Nul \u0000 inside."
    assert actions[3]["parent"] == actions[2]["id"]
    assert actions[2]["retrieval"]["hits"][0]["sha256"] == text_sha256("Invoices are kept for ten years.")
    assert api.get("/sessions/run-1/actions/3").json() == actions[2]
    assert api.get("/sessions/run-1/summary").json()["kinds"] == {"put": 1, "find": 2, "ask": 1}
    state = api.get("/sessions/run-1/state", at=3).json()
    assert [turn["content"] for turn in state["messages"]] == ["How long are invoices kept?", asked["answer"]]


def test_actions_from_elsewhere_are_appended_one_or_many_and_once(api: Program, session: str) -> None:
    one = api.post(f"/sessions/{session}/actions", {"kind": "message", "role": "user", "output": "hallo"})
    assert (one.status_code, one.json()) == (201, {"sequences": [1]})
    many = {
        "actions": [{"kind": "tool_call", "id": "c", "tool": "ls"}, {"kind": "tool_result", "parent": "c"}]
    }
    first = api.post(f"/sessions/{session}/actions", many, **{"Idempotency-Key": "k"})
    again = api.post(f"/sessions/{session}/actions", many, **{"Idempotency-Key": "k"})
    assert first.json() == again.json() == {"sequences": [2, 3]}
    other = api.post(f"/sessions/{session}/actions", {"kind": "event"}, **{"Idempotency-Key": "k"})
    assert other.json()["code"] == "idempotency_key_reused"
    assert api.get(f"/sessions/{session}/actions", kind="tool_call").json()["items"][0]["tool"] == "ls"


def test_lists_come_page_by_page_without_a_gap(api: Program, session: str) -> None:
    api.post(
        f"/sessions/{session}/actions", {"actions": [{"kind": "event", "name": str(n)} for n in range(7)]}
    )
    names, after = [], None
    while True:
        query = {"limit": 3} | ({"after": after} if after else {})
        page = api.get(f"/sessions/{session}/actions", **query).json()
        names += [action["name"] for action in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert names == [str(n) for n in range(7)]
    for _ in range(4):
        api.post("/sessions", {"name": "more"})
    first = api.get("/sessions", limit=3).json()
    second = api.get("/sessions", limit=3, after=first["next"]).json()
    assert len({s["id"] for s in first["items"] + second["items"]}) == 5
    assert second["next"] is None


def test_a_list_of_sessions_asks_the_database_the_same_for_any_number(api: Program, session: str) -> None:
    with CaptureQueriesContext(connection) as one:
        api.get("/sessions")
    for name in ("handbook", "second", "third"):
        api.post("/sessions", {"name": name, "collection": name})
    with CaptureQueriesContext(connection) as four:
        listed = api.get("/sessions").json()["items"]
    assert [each["collection"] for each in listed] == ["third", "second", "handbook", "handbook"]
    assert len(four) == len(one)


def test_replays_and_links_are_listed_page_by_page_with_as_many_queries_as_for_one(
    api: Program, session: str
) -> None:
    api.post(f"/sessions/{session}/ask", {"question": "invoices?"})
    made = [api.post(f"/sessions/{session}/replays", {}).json()["replay_id"] for _ in range(5)]
    links = [
        api.post("/shares", {"target_type": "session", "target_id": session}).json()["id"] for _ in range(3)
    ]
    for path, ids in (("/replays", made), ("/shares", links)):
        found: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = api.get(path, limit=2, **after).json()
            found += [each["id"] for each in page["items"]]
            if page["next"] is None:
                break
            after = {"after": page["next"]}
        assert found == ids[::-1]
    counts = []
    for limit in (1, 5):
        with CaptureQueriesContext(connection) as queries:
            api.get("/replays", limit=limit)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_collection_tells_its_history(api: Program) -> None:
    api.post("/collections/handbook/put", {"frames": PASSAGES})
    before = written(now())
    again = api.post("/collections/handbook/put", PASSAGES[0]).json()["frames"][0]
    assert (again["already_there"], again["frame"]) == (True, 0)
    api.post("/collections/handbook/put", {"text": "Twelve years.", "title": "Retention", "frame": 0})
    assert api.delete("/collections/handbook/frames/1").json()["ended_by"] == "delete"
    current = api.get("/collections/handbook/frames").json()["items"]
    assert [(f["frame"], f["version"], f["text"]) for f in current] == [(0, 2, "Twelve years.")]
    past = api.get("/collections/handbook/frames", as_of=before).json()["items"]
    assert [(f["frame"], f["version"]) for f in past] == [(0, 1), (1, 1)]
    assert [v["version"] for v in api.get("/collections/handbook/frames/0").json()["versions"]] == [1, 2]
    assert api.get("/collections/handbook").json()["frames"] == 1
    then = api.post("/collections/handbook/find", {"query": "train tickets", "as_of": before}).json()
    assert then["hits"][0]["frame"] == 1


def test_a_replay_is_launched_followed_and_read(api: Program, session: str) -> None:
    api.post(
        f"/sessions/{session}/ask",
        {"question": "How long are invoices kept?", "use_model": "local:extractive-1"},
    )
    api.post(f"/sessions/{session}/end")
    launched = api.post(
        f"/sessions/{session}/replays", {"audit": True, "reason": "r", "use_models": ["local:extractive-1"]}
    )
    assert launched.status_code == 202
    replay = launched.json()["replay_id"]
    assert api.get(f"/replays/{replay}").json()["status"] == "queued"
    work(Replay.objects.get().id, "test")
    told = api.get(f"/replays/{replay}").json()
    assert (told["status"], told["verdicts"], told["context"]["verified"]) == ("done", {"identical": 1}, 1)
    step = api.get(f"/replays/{replay}/steps/1").json()
    assert (step["verdict"], step["context"]) == ("identical", "verified")
    assert api.get(f"/replays/{replay}/steps").json()["items"] == [step]
    assert [each["id"] for each in api.get("/replays", session="run-1").json()["items"]] == [replay]
    assert api.post(f"/replays/{replay}/cancel").json()["code"] == "replay_over"


def test_a_share_link_is_made_once_listed_and_revoked(api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "event"})
    end = written(now() + timedelta(days=1))
    made = api.post(
        "/shares", {"target_type": "session", "target_id": "run-1", "expires_at": end, "label": "für Eva"}
    )
    assert made.status_code == 201
    assert "/share/tms_" in made.json()["url"]
    listed = api.get("/shares").json()["items"]
    assert [(each["id"], each["label"], each["state"]) for each in listed] == [
        (made.json()["id"], "für Eva", "active")
    ]
    assert "url" not in listed[0]
    assert api.delete(f"/shares/{made.json()['id']}").json()["state"] == "revoked"
    assert api.get(f"/shares/{made.json()['id']}/opens").json()["items"] == []


def test_keys_are_made_listed_and_revoked(api: Program) -> None:
    made = api.post("/keys", {"name": "ci", "scopes": ["record"]}).json()
    assert made["key"].startswith("tmk_")
    assert all("key" not in each for each in api.get("/keys").json()["items"])
    assert api.delete(f"/keys/{made['id']}").json()["revoked_at"]
    assert Program(key=made["key"], client=api.client).post("/sessions", {"name": "x"}).status_code == 401


def test_a_transcript_is_imported_with_its_report(api: Program, recordings: Path) -> None:
    data = (recordings / "claude_code" / "session_a.jsonl").read_bytes()
    first = api.client.post("/api/import", data, content_type="application/x-ndjson", headers=api._headers)
    assert first.status_code == 201
    (session,) = first.json()["sessions"]
    assert (session["actions"], session["already_there"]) == (59, 0)
    assert first.json()["report"]["lines"] == 49
    assert first.json()["report"]["skipped"] == []
    again = api.client.post("/api/import", data, content_type="application/x-ndjson", headers=api._headers)
    assert again.json()["sessions"][0]["already_there"] == 59
    assert Action.objects.count() == 59
    told = api.get(f"/sessions/{session['id']}").json()
    assert (told["status"], told["imported_as"], told["unknown_cost_calls"]) == ("ended", "claude_code", 0)
    assert told["cost_usd"] > 0


def test_the_demo_is_loaded_once_and_removed_whole(api: Program) -> None:
    made = api.post("/demo").json()
    assert made["new"]
    assert not api.post("/demo").json()["new"]
    for replay in Replay.objects.order_by("created_at"):
        work(replay.id, "test")
    debug = Replay.objects.get(kind="debug")
    step = api.get(f"/replays/{debug.id}/steps/2").json()
    ranks = {hit["title"]: hit["rank"] for hit in step["new"]["hits"]}
    assert ranks["Emergency plastic outside the home country"] == 12
    assert "12 francs" in step["original"]["output"]
    assert "45 francs" in api.get("/sessions/demo-card-desk/actions", kind="ask").json()["items"][1]["output"]
    assert api.delete("/demo").json() == {"removed": True}
    for model in (Session, Action, Replay, Frame, ShareLink):
        assert not model.objects.exists()
    assert api.delete("/demo").json() == {"removed": False}


def test_an_answer_is_grounded_without_a_session(api: Program) -> None:
    told = api.post("/ground", {"answer": "Cats bark.", "context": ["Cats sleep."]}).json()
    assert told["has_warning"]
    assert told["sentences"][0]["missing"] == ["bark"]


def test_several_answers_are_grounded_at_once_as_each_alone(api: Program) -> None:
    items = [
        {"answer": "Cats bark.", "context": ["Cats sleep."]},
        {"answer": "Cats sleep.", "context": ["Dogs bark.", "Cats sleep."]},
    ]
    told = api.post("/ground", {"items": items}).json()["items"]
    assert told == [api.post("/ground", item).json() for item in items]
    assert [each["label"] for each in told] == ["LOW", "HIGH"]
    span = told[1]["sentences"][0]
    assert (span["frame"], span["passage_start"], span["passage_end"]) == (1, 0, 11)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"answer": "A."},
        {"items": [], "answer": "A."},
        {"items": []},
        {"answer": "A.", "context": ["B."], "items": [{"answer": "A.", "context": []}]},
    ],
)
def test_what_is_neither_one_answer_nor_several_is_refused(api: Program, body: dict[str, object]) -> None:
    assert api.post("/ground", body).status_code in (400, 422)


def test_more_than_one_request_may_ground_is_refused_with_the_limit(api: Program) -> None:
    item = {"answer": "Cats sleep. " * 2_000, "context": ["Cats sleep. " * 2_000] * 3}
    refused = api.post("/ground", {"items": [item, item]})
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert refused.json()["facts"] == {"limit": 120_000, "characters": 160_000}
    assert "Send fewer items" in refused.json()["message"]
    many = api.post("/ground", {"answer": "A.", "context": ["B."] * 1_001})
    assert many.status_code == 422
    assert "1000" in many.text


def test_of_a_long_answer_the_beginning_is_grounded(api: Program) -> None:
    text = "Cats sleep all day. " * 60_000
    told = api.post("/ground", {"answer": text, "context": [text] * 8}).json()
    assert (told["label"], told["sentence_count"]) == ("MEDIUM", 500)
    assert told["unread_characters"]["answer"] == len(text) - 500 * 20


def test_models_say_why_they_cannot_be_used(api: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    models = {each["model"].split(":")[0]: each for each in api.get("/models").json()["items"]}
    assert models["local"]["usable"]
    assert "OPENAI_API_KEY" in models["openai"]["why_not"]


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/sessions/nope/end", {}, 404, "no session 'nope'"),
        ("/sessions", {}, 422, "`name` is missing"),
        ("/sessions", {"name": "x", "colour": "red"}, 422, "no field `colour`"),
        ("/sessions", {"name": "x", "key": "a b"}, 422, "form"),
        ("/sessions", {"name": "x", "key": "run-1"}, 409, "run-1"),
        ("/sessions/run-1/actions", {"kind": "dance"}, 422, "kind"),
        ("/sessions/run-1/actions", {}, 422, "kind"),
        ("/sessions/run-1/actions", {"kind": "event", "input": "x" * 9_000_000}, 413, "8,388,608"),
        (
            "/sessions/run-1/ask",
            {"question": "q", "use_model": "nobody:x"},
            422,
            "no model provider 'nobody'",
        ),
        ("/sessions/run-1/find", {"query": "  "}, 422, "empty"),
        ("/sessions/run-1/find", {"query": "q", "as_of": "gestern"}, 422, "as_of"),
        ("/sessions/run-1/find", {"query": "q", "as_of": "run-1:99"}, 404, "no step 99"),
        ("/sessions/run-1/find", {"query": "q", "collection": "nope"}, 404, "nope"),
        ("/sessions/run-1/replays", {"audit": True, "reason": "r", "top_k": 3}, 422, "top_k"),
        ("/sessions/run-1/replays", {}, 422, "nothing to replay"),
        ("/collections/handbook/put", {"text": ""}, 422, "empty"),
        ("/collections/handbook/put", {}, 422, "text"),
        ("/shares", {"target_type": "session", "target_id": "nope"}, 404, "nope"),
        ("/keys", {"name": "k", "scopes": ["everything"]}, 422, "everything"),
    ],
)
def test_wrong_input_gets_one_clear_sentence_and_changes_nothing(
    api: Program, session: str, path: str, body: object, status: int, says: str
) -> None:
    before = everything()
    answer = api.post(path, body)
    assert (answer.status_code, set(answer.json())) == (status, {"code", "message", "facts"})
    assert says in answer.json()["message"]
    assert everything() == before


@pytest.mark.parametrize(
    "body", ['{"name": "x"', "", '{"name": NaN}', b"\xff\xfe\x00", '{"a":1,"a":2}', "[1, 2]", '"text"']
)
def test_half_a_document_is_refused(api: Program, body: str | bytes) -> None:
    answer = api.raw("/sessions", body)
    assert answer.status_code == 422
    assert answer.json()["message"]
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    "data", [b"", b"just text", b'{"half', b"\x89PNG\r\n", json.dumps({"a": 1}).encode()]
)
def test_a_file_that_is_no_transcript_is_refused(api: Program, data: bytes) -> None:
    answer = api.client.post("/api/import", data, content_type="application/x-ndjson", headers=api._headers)
    assert answer.status_code == 422
    assert answer.json()["message"]
    assert not Session.objects.exists()


def test_a_bad_key_is_told_so_and_no_key_is_asked_for(api: Program, project: Project) -> None:
    revoked, plain = make_api_key(project, name="old", scopes=["read"])
    revoke_api_key(revoked)
    for key in ("tmk_nope_nope", "nonsense", plain, api.key + "x"):
        answer = Program(key=key, client=api.client).get("/sessions")
        assert (answer.status_code, answer.json()["code"]) == (401, "key_not_valid")
    without = api.client.get("/api/sessions")
    assert (without.status_code, without.json()["code"]) == (401, "not_signed_in")


def test_an_address_that_there_is_not_is_told_so(api: Program) -> None:
    for path in ("/nope", "/sessions/run-1/nope"):
        answer = api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


SCOPED = [
    ("get", "/sessions", "read"),
    ("get", "/sessions/run-1", "read"),
    ("get", "/sessions/run-1/actions", "read"),
    ("post", "/sessions", "record"),
    ("post", "/sessions/run-1/actions", "record"),
    ("post", "/sessions/run-1/end", "record"),
    ("post", "/sessions/run-1/put", "record"),
    ("post", "/sessions/run-1/find", "record"),
    ("post", "/sessions/run-1/ask", "record"),
    ("post", "/sessions/run-1/ask", "run"),
    ("post", "/collections/handbook/put", "record"),
    ("post", "/collections/handbook/find", "read"),
    ("post", "/collections/handbook/ask", "run"),
    ("post", "/sessions/run-1/replays", "run"),
    ("post", "/shares", "share"),
    ("get", "/shares", "share"),
    ("get", "/keys", "admin"),
    ("delete", "/sessions/run-1", "admin"),
]
BODIES = {
    "/sessions": {"name": "x"},
    "/sessions/run-1/actions": {"kind": "event"},
    "/sessions/run-1/put": {"text": "t"},
    "/sessions/run-1/find": {"query": "q"},
    "/sessions/run-1/ask": {"question": "q"},
    "/collections/handbook/put": {"text": "t"},
    "/collections/handbook/find": {"query": "q"},
    "/collections/handbook/ask": {"question": "q"},
    "/shares": {"target_type": "session", "target_id": "run-1"},
}


@pytest.mark.parametrize(("method", "path", "scope"), SCOPED)
def test_a_key_does_what_its_scope_says_and_nothing_else(
    project: Project, session: str, method: str, path: str, scope: str
) -> None:
    others = [each for each in ("read", "record", "run", "share", "admin") if each != scope]
    lacking = program(project, *others)
    call = {"get": lacking.get, "delete": lacking.delete}.get(method)
    answer = call(path) if call else lacking.post(path, BODIES.get(path))
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


def test_everything_of_another_project_is_not_found(api: Program, stranger: Program, session: str) -> None:
    api.post(f"/sessions/{session}/ask", {"question": "invoices?"})
    replay = api.post(f"/sessions/{session}/replays", {}).json()["replay_id"]
    share = api.post("/shares", {"target_type": "session", "target_id": session}).json()["id"]
    reads = [
        f"/sessions/{session}",
        f"/sessions/{session}/actions",
        f"/sessions/{session}/actions/1",
        f"/sessions/{session}/state?at=1",
        f"/sessions/{session}/summary",
        f"/sessions/{session}/checkpoints",
        "/collections/handbook",
        "/collections/handbook/frames",
        "/collections/handbook/frames/0",
        f"/replays/{replay}",
        f"/replays/{replay}/steps",
        f"/replays/{replay}/steps/1",
        f"/shares/{share}/opens",
    ]
    assert {stranger.get(path).status_code for path in reads} == {404}
    writes = [f"/sessions/{session}/end", f"/sessions/{session}/replays", f"/replays/{replay}/cancel"]
    assert {stranger.post(path).status_code for path in writes} == {404}
    assert {stranger.delete(path).status_code for path in (f"/sessions/{session}", f"/shares/{share}")} == {
        404
    }
    assert stranger.get("/sessions").json()["items"] == []
    assert stranger.get("/shares").json()["items"] == []


def test_the_documentation_of_the_api_is_there(api: Program) -> None:
    described = api.client.get("/api/openapi.json").json()["paths"]
    assert "/api/sessions/{session_id}/actions" in described
    assert api.client.get("/api/docs").status_code == 200


def everything() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Session, Action, Frame, Replay, ShareLink))
