"""What a program is refused: unreadable input, missing scopes, and what belongs to another project."""

import json

import pytest

from tests.api.conftest import Program, program
from timemachine.core.accounts.commands.keys import make_api_key, revoke_api_key
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.models import ShareLink
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.models import Replay

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def api(shared_api: Program) -> Program:
    """Shared by the file: each test rolls its changes back."""
    return shared_api


@pytest.fixture(scope="module")
def session(shared_session: str) -> str:
    return shared_session


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/sessions/nope/end", {}, 404, "no session 'nope'"),
        ("/sessions", {}, 422, "`name` is missing"),
        ("/sessions", {"name": "x", "colour": "red"}, 422, "no field `colour`"),
        ("/sessions", {"name": "x", "key": "a b"}, 422, "is not valid"),
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
        ("/recall", {"queries": ["q"] * 200}, 422, "`queries` must list at most 20."),
        ("/recall", {"queries": []}, 422, "`queries` must list 1 or more."),
        ("/recall", {"queries": ["q"], "min_importance": 2}, 422, "`min_importance` must be 1 or less."),
        ("/comparisons", {"sessions": "x"}, 422, "`sessions` must be a list."),
    ],
)
def test_wrong_input_gets_one_clear_sentence_and_changes_nothing(
    api: Program, session: str, path: str, body: object, status: int, says: str
) -> None:
    before = everything()
    answer = api.post(path, body)
    assert (answer.status_code, set(answer.json())) == (status, {"code", "message", "facts", "request_id"})
    assert says in answer.json()["message"]
    assert everything() == before


@pytest.mark.parametrize(
    "body", ['{"name": "x"', "", '{"name": NaN}', b"\xff\xfe\x00", '{"a":1,"a":2}', "[1, 2]", '"text"']
)
def test_a_truncated_document_is_refused(api: Program, session: str, body: str | bytes) -> None:
    answer = api.raw("/sessions", body)
    assert answer.status_code == 422
    assert answer.json()["message"]
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    "data", [b"", b"just text", b'{"half', b"\x89PNG\r\n", json.dumps({"a": 1}).encode()]
)
def test_a_file_that_is_not_a_transcript_is_refused(api: Program, session: str, data: bytes) -> None:
    answer = api.client.post("/api/import", data, content_type="application/x-ndjson", headers=api._headers)
    assert answer.status_code == 422
    assert answer.json()["message"]
    assert Session.objects.count() == 1


def test_an_invalid_key_and_a_missing_key_get_different_errors(api: Program, project: Project) -> None:
    revoked, plain = make_api_key(project, name="old", scopes=["read"])
    revoke_api_key(revoked)
    for key in ("tmk_nope_nope", "nonsense", plain, api.key + "x"):
        answer = Program(key=key, client=api.client).get("/sessions")
        assert (answer.status_code, answer.json()["code"]) == (401, "key_not_valid")
    without = api.client.get("/api/sessions")
    assert (without.status_code, without.json()["code"]) == (401, "not_signed_in")


def test_an_unknown_address_is_not_found(api: Program) -> None:
    for path in ("/nope", "/sessions/run-1/nope"):
        answer = api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_key_without_the_scope_is_told_which_one_it_lacks(project: Project) -> None:
    answer = program(project, "read", "admin").post("/sessions", {"name": "x"})
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert answer.json()["facts"] == {"scope": "record", "scopes": ["read", "admin"]}


def everything() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Session, Action, Frame, Replay, ShareLink))


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/nowhere", 404, "not_found"),
        ("get", "/sessions/a/b/c/d", 404, "not_found"),
        ("put", "/sessions", 405, "method_not_allowed"),
        ("post", "/suites/x/runs/1", 405, "method_not_allowed"),
    ],
)
def test_unknown_addresses_and_methods_use_the_usual_error_format(
    api: Program, method: str, path: str, status: int, code: str
) -> None:
    answer = getattr(api, method)(path, *([{}] if method == "put" else []))
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().keys() == {"code", "message", "facts", "request_id"}
    allowed = {"/sessions": {"POST", "GET"}, "/suites/x/runs/1": {"GET"}}.get(path, {""})
    assert set(answer.get("Allow", "").split(", ")) == allowed
