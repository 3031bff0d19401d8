"""Complete workflows of a program through the API."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import PASSAGES, Program, program
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.content import text_sha256
from timemachine.governance.sharing import preview
from timemachine.recording.importing.worker import work as work_on_import
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work


def test_a_session_is_recorded_read_step_by_step_and_ended(api: Program, session: str) -> None:
    put = api.post("/sessions/run-1/put", {"text": "Nul \u0000 inside.", "title": "Odd"})
    assert put.status_code == 201
    assert put.json()["sequences"] == [1]
    found = api.post(f"/sessions/{session}/find", {"query": "train tickets", "top_k": 1}).json()
    assert [(hit["rank"], hit["frame"], hit["version"]) for hit in found["hits"]] == [(1, 1, 1)]
    assert (found["sequence"], found["cut_by"]) == (2, "top_k")
    answered = api.post(f"/sessions/{session}/ask", {"question": "How long are invoices kept?"}).json()
    assert answered["answer"] == "Invoices are kept for ten years."
    assert (answered["model"], answered["cost_usd"], answered["usage"]) == ("local:extractive-3", 0, None)
    assert answered["grounding"]["label"] == "HIGH"
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
    assert [turn["content"] for turn in state["messages"]] == [
        "How long are invoices kept?",
        answered["answer"],
    ]


def test_a_different_action_with_a_used_id_is_not_recorded_and_reported_as_differing(
    api: Program, session: str
) -> None:
    def sent(*actions: dict[str, Any]) -> Any:
        return api.post(f"/sessions/{session}/actions", {"actions": list(actions)}).json()

    one = {"id": "a", "kind": "tool_call", "tool": "look", "input": {"q": 1}, "output": "x", "tags": ["t"]}
    environment = {"id": "c", "kind": "checkpoint", "name": "c", "output": {"environment": {"API_KEY": "s"}}}
    assert sent(one, environment) == {"sequences": [1, 2]}
    assert sent(one, environment, {"id": "b", "kind": "event"}) == {"sequences": [1, 2, 3]}
    for change in ({"output": "y"}, {"input": None}, {"tool": "see"}, {"kind": "event"}):
        assert sent({"kind": "event"}, {**one, **change})["differing"] == [1]
    twice = sent({"id": "d", "kind": "event"}, {"id": "d", "kind": "event", "output": 1})
    assert (twice["sequences"][0], twice["differing"]) == (twice["sequences"][1], [1])
    first = api.get(f"/sessions/{session}/actions/1").json()
    assert (first["output"], first["input"], first["tool"]) == ("x", {"q": 1}, "look")


def test_only_messages_to_and_from_the_agent_are_in_its_state(api: Program, session: str) -> None:
    for layer in ("agent", "tool", "sys", None):
        api.post(
            f"/sessions/{session}/actions",
            {"kind": "message", "role": "user", "layer": layer, "output": str(layer)},
        )
    prompt = {"kind": "message", "role": "system", "layer": "sys", "output": "You are brief."}
    api.post(f"/sessions/{session}/actions", prompt)
    state = api.get(f"/sessions/{session}/state", at=5).json()
    assert [turn["content"] for turn in state["messages"]] == ["agent", "None", "You are brief."]


def test_a_session_recorded_elsewhere_keeps_its_start_and_end_times(api: Program) -> None:
    night = {"name": "Night", "key": "night", "started_at": "2026-11-22T23:00:00+01:00"}
    assert api.post("/sessions", night).json()["started_at"] == "2026-11-22T22:00:00Z"
    early = api.post("/sessions/night/end", {"ended_at": "2026-11-22T21:59:59Z"})
    assert (early.status_code, early.json()["facts"]["field"]) == (422, "ended_at")
    assert api.get("/sessions/night").json()["status"] == "recording"
    for ended_at in ("2026-11-22T22:30:00Z", "2026-11-22T22:45:00Z"):
        ended = api.post("/sessions/night/end", {"ended_at": ended_at}).json()
        assert (ended["status"], ended["ended_at"]) == ("ended", "2026-11-22T22:30:00Z")


@pytest.mark.parametrize(
    "moment", ["1899-12-31T23:59:59Z", "9000-01-01T00:00:00Z", "2026-11-22T22:00:00", "soon"]
)
def test_a_start_time_without_offset_or_out_of_range_is_refused(api: Program, moment: str) -> None:
    refused = api.post("/sessions", {"name": "Never", "key": "never", "started_at": moment})
    assert refused.status_code == 422
    assert "started_at" in refused.json()["message"]
    assert api.get("/sessions/never").status_code == 404


def test_external_actions_are_appended_once_singly_or_in_batches(api: Program, session: str) -> None:
    one = api.post(f"/sessions/{session}/actions", {"kind": "message", "role": "user", "output": "hallo"})
    assert (one.status_code, one.json()) == (201, {"sequences": [1]})
    many = {
        "actions": [{"kind": "tool_call", "id": "c", "tool": "ls"}, {"kind": "tool_result", "parent": "c"}]
    }
    first = api.post(f"/sessions/{session}/actions", many, **{"Idempotency-Key": "k"})
    second = api.post(f"/sessions/{session}/actions", many, **{"Idempotency-Key": "k"})
    assert first.json() == second.json() == {"sequences": [2, 3]}
    other = api.post(f"/sessions/{session}/actions", {"kind": "event"}, **{"Idempotency-Key": "k"})
    assert other.json()["code"] == "idempotency_key_reused"
    assert api.get(f"/sessions/{session}/actions", kind="tool_call").json()["items"][0]["tool"] == "ls"


def test_a_call_with_tokens_but_no_cost_is_priced(api: Program, session: str) -> None:
    usage = {"input_tokens": 3112, "output_tokens": 42}
    calls = [
        {"kind": "llm_call", "model": "openai:gpt-4o-mini", "usage": usage},
        {"kind": "llm_call", "model": "openai:gpt-4o-mini", "usage": usage, "cost_usd": 2},
        {"kind": "llm_call", "model": "nobody:nothing", "usage": usage},
        {"kind": "llm_call", "model": "openai:gpt-4o-mini"},
    ]
    assert api.post("/sessions/run-1/actions", {"actions": calls}).status_code == 201
    found = api.get("/sessions/run-1/actions?kind=llm_call").json()["items"]
    assert [each["cost_usd"] for each in found] == [0.000492, 2.0, None, None]
    assert api.get("/sessions/run-1/summary").json()["unknown_cost_calls"] == 2


def test_lists_are_paginated_without_a_gap(api: Program, session: str) -> None:
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


def test_a_list_of_sessions_takes_the_same_queries_for_any_number(api: Program, session: str) -> None:
    with CaptureQueriesContext(connection) as one:
        api.get("/sessions")
    for name in ("handbook", "second", "third"):
        api.post("/sessions", {"name": name, "collection": name})
    with CaptureQueriesContext(connection) as four:
        listed = api.get("/sessions").json()["items"]
    assert [each["collection"] for each in listed] == ["third", "second", "handbook", "handbook"]
    assert len(four) == len(one)


def test_lists_of_replays_and_links_take_the_same_queries_for_any_number(api: Program, session: str) -> None:
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


def test_a_collection_shows_its_history(api: Program) -> None:
    api.post("/collections/handbook/put", {"frames": PASSAGES})
    before = written(now())
    repeated = api.post("/collections/handbook/put", PASSAGES[0]).json()["frames"][0]
    assert (repeated["already_there"], repeated["frame"]) == (True, 0)
    api.post("/collections/handbook/put", {"text": "Twelve years.", "title": "Retention", "frame": 0})
    ended = api.delete("/collections/handbook/frames/1").json()
    assert (ended["ended_by"], ended["deleted_by"]) == ("delete", ended["put_by"])
    current = api.get("/collections/handbook/frames").json()["items"]
    assert [(f["frame"], f["version"], f["text"]) for f in current] == [(0, 2, "Twelve years.")]
    past = api.get("/collections/handbook/frames", as_of=before).json()["items"]
    assert [(f["frame"], f["version"]) for f in past] == [(0, 1), (1, 1)]
    assert [v["version"] for v in api.get("/collections/handbook/frames/0").json()["versions"]] == [1, 2]
    assert api.get("/collections/handbook").json()["frames"] == 1
    then = api.post("/collections/handbook/find", {"query": "train tickets", "as_of": before}).json()
    assert then["hits"][0]["frame"] == 1
    future = api.get("/collections/handbook/frames", as_of="2101-01-01")
    assert (future.status_code, future.json()["code"]) == (422, "not_a_time")


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
    body = api.get(f"/replays/{replay}").json()
    assert (body["status"], body["verdicts"], body["context"]["verified"]) == ("done", {"identical": 1}, 1)
    step = api.get(f"/replays/{replay}/steps/1").json()
    assert (step["verdict"], step["context"]) == ("identical", "verified")
    assert api.get(f"/replays/{replay}/steps").json()["items"] == [step]
    assert [each["id"] for each in api.get("/replays", session="run-1").json()["items"]] == [replay]
    assert api.post(f"/replays/{replay}/cancel").json()["code"] == "replay_over"


def test_a_share_link_is_created_listed_and_revoked(api: Program, session: str) -> None:
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
    log = api.get(f"/shares/{made.json()['id']}/opens", limit=1).json()
    assert [(each["sequence"], each["result"], each["by"]) for each in log["items"]] == [
        (2, "ended", "key test")
    ]
    assert log["log"] == {"lines": 2, "sha256": log["items"][0]["sha256"], "broken": None}
    rest = api.get(f"/shares/{made.json()['id']}/opens", after=log["next"]).json()
    assert [each["result"] for each in rest["items"]] == ["created"]
    assert rest["items"][0]["sha256"] == log["items"][0]["previous_sha256"]


def test_creating_a_link_without_a_profile_warns_without_saying_the_values(
    api: Program, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MOST_SECONDS_WHEN_CREATED", 600.0)
    target = {"target_type": "session", "target_id": session}
    api.post(f"/sessions/{session}/actions", {"kind": "tool_call", "tool": "Bash", "input": "ls"})
    assert api.post("/shares", target).json()["warning"] is None
    command = {"command": "sshpass -p Lanterncopper62 ssh ops@box"}
    api.post(f"/sessions/{session}/actions", {"kind": "tool_call", "tool": "Bash", "input": command})
    made = api.post("/shares", target)
    warning = made.json()["warning"]
    assert (warning["matches"], warning["steps"], warning["read"]) == (1, 2, 2)
    assert warning["found"] == [{"rule": "password (or key)", "what": "password of a command", "count": 1}]
    assert "Lanterncopper62" not in made.text
    assert api.post("/shares", target | {"redaction": "built-in"}).json()["warning"] is None
    monkeypatch.setattr(preview, "MOST_SECONDS_WHEN_CREATED", -1)
    said = api.post("/shares", target).json()["warning"]["message"]
    assert said.endswith("in the first 0 of 2 steps; the others were not searched.")


def test_previewing_a_link_does_not_create_it(api: Program, session: str) -> None:
    for text in ("to jo@example.org", "to nobody"):
        api.post(f"/sessions/{session}/actions", {"kind": "message", "output": {"to": ["-", text]}})
    body = {"target_type": "session", "target_id": session, "redaction": "built-in"}
    seen = api.post("/shares/preview", body).json()
    assert (seen["through_sequence"], seen["steps"], seen["read"], seen["withheld"]) == (2, 2, 2, 1)
    assert seen["counts"] == [{"rule": "e-mail", "what": "e-mail", "count": 1}]
    assert seen["first"] == [
        {"session": session, "sequence": 1, "field": "output.to[1]", "text": "to [withheld: e-mail]"}
    ]
    assert seen["sessions"] == [{"id": session, "name": "Lauf ä", "agent": None}]
    alone = api.post("/shares/preview", body | {"evidence_only": True, "through_sequence": 1}).json()
    assert (alone["steps"], alone["read"], alone["withheld"], alone["first"]) == (1, 0, 0, [])
    plain = api.post("/shares/preview", {"target_type": "session", "target_id": session}).json()
    assert (plain["redaction"], plain["withheld"], plain["steps"]) == (None, 0, 2)
    assert api.get("/shares").json()["items"] == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"max_opens": 0}, "A link can have 1 to 1,000,000 views"),
        ({"max_opens": 10**30}, "A link can have 1 to 1,000,000 views"),
        ({"through_sequence": 0}, "has no step 0; its last step is 1"),
        ({"through_sequence": 10**30}, "its last step is 1"),
        ({"max_opens": "two"}, "`max_opens` must be a whole number."),
    ],
)
def test_an_invalid_number_is_refused_with_a_clear_message(
    api: Program, session: str, wrong: dict[str, object], says: str
) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "event"})
    refused = api.post("/shares", {"target_type": "session", "target_id": session} | wrong)
    assert (refused.status_code, says in refused.json()["message"]) == (422, True), refused.text


def test_only_administrators_change_the_sharing_policy(project: Project, api: Program, session: str) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "event"})
    sharer = program(project, "share")
    assert sharer.get("/shares/policy").json() == {
        "forbidden": False,
        "passphrase_required": False,
        "profile_required": False,
        "longest_days": None,
    }
    assert sharer.patch("/shares/policy", {"forbidden": True}).status_code == 403
    body = {"target_type": "session", "target_id": session}
    assert sharer.post("/shares", body).status_code == 201
    assert api.patch("/shares/policy", {"passphrase_required": True, "longest_days": 3}).status_code == 200
    refused = sharer.post("/shares", body)
    assert (refused.status_code, refused.json()["code"]) == (422, "passphrase_required")
    assert api.patch("/shares/policy", {"forbidden": True}).json() == {
        "forbidden": True,
        "passphrase_required": True,
        "profile_required": False,
        "longest_days": 3,
    }
    refused = sharer.post("/shares", body | {"passphrase": "Käse"})
    assert (refused.status_code, refused.json()["code"]) == (403, "sharing_forbidden")
    assert [each["state"] for each in sharer.get("/shares").json()["items"]] == ["forbidden"]
    changes = sharer.get("/shares/policy/changes", limit=1).json()
    assert changes["items"][0]["facts"]["now"]["forbidden"]
    assert (changes["log"]["lines"], changes["log"]["broken"]) == (2, None)
    assert len(sharer.get("/shares/policy/changes", after=changes["next"]).json()["items"]) == 1


def test_keys_are_created_listed_and_revoked(api: Program) -> None:
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
    second = api.client.post("/api/import", data, content_type="application/x-ndjson", headers=api._headers)
    assert second.json()["sessions"][0]["already_there"] == 59
    assert Action.objects.count() == 59
    body = api.get(f"/sessions/{session['id']}").json()
    assert (body["status"], body["imported_as"], body["unknown_cost_calls"]) == ("ended", "claude_code", 0)
    assert body["cost_usd"] > 0


def test_a_worker_imports_a_large_transcript_and_reports_progress(api: Program) -> None:
    data = json.dumps({"messages": [{"role": "user", "content": "Grüße"}]}).encode()
    sent: dict[str, Any] = {"content_type": "application/octet-stream", "headers": api._headers}
    accepted = api.client.post("/api/import?later=true&filename=a.jsonl&format=auto", data, **sent)
    assert accepted.status_code == 202
    waiting = api.get(f"/imports/{accepted.json()['import_id']}").json()
    assert (waiting["status"], waiting["total"], waiting["report"], waiting["sessions"]) == (
        "waiting",
        None,
        None,
        [],
    )
    work_on_import(waiting["import_id"])
    done = api.get(f"/imports/{waiting['import_id']}").json()
    assert (done["status"], done["done"], done["total"], done["error"]) == ("done", 1, 1, None)
    assert done["sessions"][0]["actions"] == 1
    assert done["report"]["lines"] == 1
    assert api.delete(f"/sessions/{done['sessions'][0]['id']}").status_code == 200
    assert api.get(f"/imports/{waiting['import_id']}").json()["sessions"] == []
    broken = api.client.post("/api/import?later=true&format=memvid", b"{", **sent).json()
    work_on_import(broken["import_id"])
    assert api.get(f"/imports/{broken['import_id']}").json()["error"]["code"] == "unknown_format"
