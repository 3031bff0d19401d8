"""Hostile input: every malformed request gets a one-sentence refusal and never a server error."""

import base64
import hashlib
import json
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from tests.api.conftest import Program
from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db
PAGED = [
    "/sessions",
    "/sessions/run-1/actions",
    "/collections",
    "/collections/handbook/frames",
    "/replays",
    "/replays/REPLAY/steps",
    "/shares",
]
ONE_ODD_VALUE: tuple[object, ...] = (
    None, {}, True, 1.5, -1, 2**63, "\0", "\ud800", "2026-11-20T00:00:00Z\0", ["2026-11-20T00:00:00Z"],
)  # fmt: skip
NEVER_GIVEN: tuple[object, ...] = (*([one] for one in ONE_ODD_VALUE), [], [1, 2], {"x": 1}, "x", None)
DIGITS = "9" * 5_000


def cursor(value: object) -> str:
    """An `after` cursor that no list returned."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.fixture(scope="module")
def api(shared_api: Program) -> Program:
    """Shared by the file: each test rolls its changes back."""
    return shared_api


@pytest.fixture(scope="module")
def session(api: Program) -> str:
    """A session with one ask and a collection."""
    api.post("/collections/handbook/put", {"text": "Invoices are kept for ten years."})
    api.post("/sessions", {"name": "x", "collection": "handbook", "key": "run-1"})
    api.post("/sessions/run-1/ask", {"question": "How long are invoices kept?"})
    return "run-1"


@pytest.fixture
def paged(api: Program, session: str, path: str) -> str:
    """The path of a list, after creating the session or comparison it belongs to."""
    if "REPLAY" not in path:
        return path
    replay = api.post(f"/sessions/{session}/replays", {}).json()["replay_id"]
    return path.replace("REPLAY", str(replay))


def refused(answer: Any, *statuses: int) -> str:
    """The message of a refusal, which has one of these statuses."""
    assert answer.status_code in statuses, answer.content[:300]
    body = answer.json()
    assert set(body) == {"code", "message", "facts", "request_id"}
    assert body["code"] != "internal_error"
    return str(body["message"])


@pytest.mark.parametrize("path", PAGED)
def test_a_cursor_that_the_list_never_returned_is_refused(api: Program, paged: str, path: str) -> None:
    for value in NEVER_GIVEN:
        message = refused(api.get(paged, after=cursor(value)), 422)
        assert "first page" in message or "`after`" in message, value


@pytest.mark.parametrize("path", PAGED)
def test_a_malformed_cursor_is_refused(api: Program, paged: str, path: str) -> None:
    for after in ("ä", "!", "\x00", "W1siW", "a" * 3_000, cursor([["deep"]] * 3)):
        refused(api.get(paged, after=after), 422)


def test_a_cursor_of_another_list_is_refused(api: Program, session: str) -> None:
    api.post("/collections", {"name": "second"})
    after = api.get("/collections", limit=1).json()["next"]
    assert "`after`" in refused(api.get(f"/sessions/{session}/actions", after=after), 422)
    assert [each["name"] for each in api.get("/collections", after=after).json()["items"]] == ["second"]


@pytest.mark.parametrize(
    "path",
    [
        "/sessions/a%00b",
        "/sessions/%00/actions",
        "/sessions/a%0A",
        f"/sessions/{'a' * 300}",
        "/replays?session=%00",
        "/replays/%00",
        "/collections/%00",
        "/collections/%00/frames",
        "/shares/%00/opens",
        "/collections/handbook/frames?as_of=run-1:%C2%B2",
        f"/collections/handbook/frames?as_of=run-1:{DIGITS}",
        "/collections/handbook/frames?as_of=%00:1",
        "/collections/handbook/frames?as_of=%00",
        "/sessions?since=%00",
        "/sessions/run-1/actions/99999999999999999999999",
    ],
    ids=lambda path: path[:60],
)
def test_an_impossible_name_is_not_found(api: Program, session: str, path: str) -> None:
    refused(api.get(path), 404, 422)


@pytest.mark.parametrize(
    "query",
    [
        "actions?tag=%00",
        "actions?model=%00",
        "actions?tool=%00",
    ],
)
def test_a_filter_without_a_match_finds_nothing(api: Program, session: str, query: str) -> None:
    answer = api.get(f"/sessions/{session}/{query}")
    assert (answer.status_code, answer.json()["items"]) == (200, [])


@pytest.mark.parametrize(
    "path",
    [
        *(f"/sessions/run-1/actions?{name}=%00" for name in ("kind", "layer", "role", "significance")),
        "/sessions/run-1/actions?min_importance=1e308",
        "/sessions?kind=%00",
        "/sessions?status=%00",
    ],
)
def test_an_unknown_filter_value_is_refused(api: Program, session: str, path: str) -> None:
    refused(api.get(path), 422)


@pytest.mark.parametrize("query", ["agent", "user", "tool", "model", "tag", "q"], ids="{}=%00".format)
def test_a_session_filter_without_a_match_finds_nothing(api: Program, session: str, query: str) -> None:
    answer = api.get(f"/sessions?{query}=%00")
    assert (answer.status_code, answer.json()["items"]) == (200, [])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/shares", {"target_type": "session", "target_id": "\x00"}),
        ("/shares", {"target_type": "replay", "target_id": "\x00"}),
        ("/shares", {"target_type": "session", "target_id": "\ud800"}),
        ("/sessions", {"name": "y", "parent": {"session": "\x00", "sequence": 1}}),
        ("/sessions", {"name": "y", "parent": {"session": "run-1", "sequence": 10**30}}),
        ("/sessions", {"name": "y", "key": "a\x00b"}),
        ("/sessions", {"name": "y", "key": "a\n"}),
        ("/sessions/run-1/find", {"query": "q", "collection": "a\x00b"}),
        ("/sessions/run-1/find", {"query": "q", "collection": "\ud800"}),
        ("/sessions/run-1/ask", {"question": "q", "collection": "\ud800"}),
        ("/sessions/run-1/find", {"query": "q", "as_of": "run-1:²"}),
        ("/sessions/run-1/find", {"query": "q", "as_of": f"run-1:{DIGITS}"}),
        ("/sessions/run-1/find", {"query": "q", "as_of": "\x00:1"}),
        ("/sessions/run-1/find", {"query": "q", "as_of": "\ud800"}),
        ("/sessions/run-1/replays", {"from_checkpoint": DIGITS}),
        ("/sessions/run-1/replays", {"from_checkpoint": "\x00"}),
        ("/sessions/run-1/replays", {"from_checkpoint": 10**30}),
        ("/collections/%00/find", {"query": "q"}),
    ],
    ids=lambda value: str(value)[:60].encode("ascii", "backslashreplace").decode(),
)
def test_text_that_cannot_be_a_name_is_refused(api: Program, session: str, path: str, body: object) -> None:
    assert refused(api.post(path, body), 404, 422)
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/sessions", {"name": "y", "collection": "a\x00b"}),
        ("/sessions", {"name": "y", "collection": "\ud800"}),
        ("/sessions/run-1/put", {"text": "t", "collection": "\x00"}),
        ("/sessions/run-1/put", {"text": "t", "collection": "\ud800"}),
        ("/collections/%00/put", {"text": "t"}),
        ("/collections", {"name": "\x00"}),
        ("/collections", {"name": "\ud800"}),
    ],
    ids=lambda value: str(value)[:60].encode("ascii", "backslashreplace").decode(),
)
def test_a_collection_name_that_cannot_be_stored_is_refused(
    api: Program, session: str, path: str, body: object
) -> None:
    refused(api.post(path, body), 404, 422)
    assert [each.name for each in Collection.objects.all()] == ["handbook"]


@pytest.mark.parametrize("path", ["/sessions", "/import", "/sessions/run-1/actions", "/collections/new/put"])
def test_a_body_over_the_limit_is_refused_with_the_limit(
    api: Program, session: str, settings: Settings, path: str
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = settings.MAX_REQUEST_BYTES = settings.MAX_IMPORT_BYTES = 10_000
    answer = api.post(path, {"name": "x" * 10_000})
    assert "10,000" in refused(answer, 413)
    assert (answer.json()["code"], 10_000 in answer.json()["facts"].values()) == ("too_large", True)


def test_json_schemas_in_a_transcript_are_skipped(api: Program) -> None:
    schema = json.dumps({"type": ["string", "null"], "uuid": "u", "message": {"role": "user"}})
    spoken = json.dumps({"type": "user", "sessionId": "s", "message": {"role": "user", "content": "hello"}})
    refused(api.raw("/import", schema), 422)
    done = api.raw("/import", f"{schema}\n{spoken}\n{schema}")
    assert done.status_code == 201
    assert [each["line"] for each in done.json()["report"]["skipped"]] == [1, 3]


def test_a_request_that_django_cannot_read_gets_a_clear_error(api: Program) -> None:
    assert "could not read" in refused(
        api.client.get("/api/sessions?" + "a=1&" * 2_000, headers=api._headers), 400
    )


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/sessions", {"name": "y", "key": "run-1", "collection": "new"}, 409),
        ("/sessions", {"name": " ", "collection": "new"}, 422),
        ("/sessions", {"name": "y", "collection": "new", "parent": {"session": "no", "sequence": 1}}, 404),
        ("/collections/new/put", {"text": " "}, 422),
        ("/collections/new/put", {}, 422),
        ("/collections/new/put", {"text": "t", "frame": 7}, 404),
        ("/sessions/run-1/put", {"text": " ", "collection": "new"}, 422),
        ("/sessions/ended/put", {"text": "t", "collection": "new"}, 409),
    ],
)
def test_a_refused_request_creates_no_collection(
    api: Program, session: str, path: str, body: object, status: int
) -> None:
    api.post("/sessions", {"name": "z", "key": "ended"})
    api.post("/sessions/ended/end")
    refused(api.post(path, body), status)
    assert [each.name for each in Collection.objects.all()] == ["handbook"]


@pytest.mark.parametrize("letter", ["\U00012345", "\ud800", "\x00"])
@pytest.mark.parametrize("field", ["id", "parent"])
def test_an_id_too_long_for_an_index_is_refused_with_the_limit(
    api: Program, session: str, field: str, letter: str
) -> None:
    answer = api.post(f"/sessions/{session}/actions", {"kind": "event", field: letter * 1_000})
    assert answer.status_code == 422
    assert (answer.json()["facts"]["field"], answer.json()["facts"]["limit_bytes"]) == (field, 2_000)
    taken = {"kind": "event", field: "".join(chr(0x10000 + 37 * place) for place in range(500))}
    assert api.post(f"/sessions/{session}/actions", taken).status_code == 201


def test_an_idempotency_key_too_long_for_an_index_is_refused_with_the_limit(
    api: Program, session: str
) -> None:
    def sent(key: str) -> Any:
        return api.post(f"/sessions/{session}/actions", {"kind": "event"}, **{"Idempotency-Key": key})

    digits = "".join(hashlib.sha256(bytes([place])).hexdigest() for place in range(100))
    answer = sent(digits[:6_000])
    assert (answer.status_code, answer.json()["facts"]["limit_bytes"]) == (422, 2_000)
    assert [sent(digits[:2_000]).json() for _ in range(2)] == [{"sequences": [3]}] * 2


def test_a_file_with_overlong_record_ids_is_imported(api: Program) -> None:
    long = "".join(chr(0x10000 + 37 * place) for place in range(900))
    times = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}
    run = {
        "id": long,
        "trace_id": "t",
        "name": "n",
        "run_type": "chain",
        "inputs": {},
        "outputs": {},
        **times,
    }
    child = {**run, "id": "b", "parent_run_id": long}
    answer = api.raw("/import?format=langsmith", json.dumps([run, child]))
    assert (answer.status_code, answer.json()["sessions"][0]["actions"]) == (201, 2)
