"""Idempotency keys: a repeated request is executed once and gets the same answer, wherever something is recorded."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.conftest import Program
from tests.threads import in_a_thread
from timemachine.api.asks import stored
from timemachine.core.pure.errors import Conflict
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.idempotency import claim_key, storing_answer
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.models import Action, Delivery, Session

pytestmark = pytest.mark.django_db

BODIES: dict[str, dict[str, Any]] = {
    "put": {"text": "Receipts are kept for two years.", "title": "Receipts"},
    "find": {"query": "invoices"},
    "ask": {"question": "How long are invoices kept?"},
}


def sent(api: Program, path: str, body: Any, key: str = "k") -> tuple[int, Any]:
    for _ in range(100):
        answer = api.post(path, body, **{"Idempotency-Key": key})
        if answer.status_code not in (429, 503):
            break
    return answer.status_code, answer.json()


@pytest.mark.parametrize("what", BODIES)
def test_a_repeated_request_is_recorded_once_and_gets_the_same_answer(
    api: Program, session: str, what: str
) -> None:
    path = f"/sessions/{session}/{what}"
    status, first = sent(api, path, BODIES[what])
    recorded = Action.objects.count()
    assert (recorded, [sent(api, path, BODIES[what]) for _ in range(2)]) == (recorded, [(status, first)] * 2)
    assert Action.objects.count() == recorded
    other = BODIES[what] | {"collection": "handbook"}
    assert sent(api, path, other)[1]["code"] == "idempotency_key_reused"
    assert sent(api, path, BODIES[what], "another")[0] == status
    assert Action.objects.count() > recorded


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.django_db(transaction=True)
def test_concurrent_repeats_are_recorded_once_with_one_answer(api: Program, session: str, what: str) -> None:
    path = f"/sessions/{session}/{what}"
    with ThreadPoolExecutor(max_workers=10) as pool:
        futures = [in_a_thread(pool, lambda: sent(api, path, BODIES[what])) for _ in range(15)]
        answers = [each.result() for each in futures]
    assert len({json.dumps(each, sort_keys=True) for each in answers}) == 1
    assert answers[0][0] in (200, 201)
    assert Action.objects.count() == (2 if what == "ask" else 1)


@pytest.mark.django_db(transaction=True)
def test_fifty_concurrent_starts_with_one_key_create_one_session(api: Program) -> None:
    body = {"name": "Once", "collection": "new"}
    with ThreadPoolExecutor(max_workers=10) as pool:
        futures = [in_a_thread(pool, lambda: sent(api, "/sessions", body)) for _ in range(50)]
        answers = [each.result() for each in futures]
    assert len({(status, answer["id"]) for status, answer in answers}) == 1
    assert Session.objects.count() == 1
    assert sent(api, "/sessions", {"name": "Other"})[1]["code"] == "idempotency_key_reused"
    began = answers[0][1]["id"]
    assert sent(api, f"/sessions/{began}/actions", {"kind": "event"}) == (201, {"sequences": [1]})


def test_the_same_key_in_another_project_is_a_different_key(api: Program, stranger: Program) -> None:
    mine, theirs = (sent(each, "/sessions", {"name": "x"})[1] for each in (api, stranger))
    assert mine["id"] != theirs["id"]


def test_a_refused_request_can_be_retried_with_its_key(api: Program, session: str) -> None:
    bare = api.post("/sessions", {"name": "x"}).json()["id"]
    for what, body in BODIES.items():
        assert sent(api, f"/sessions/{bare}/{what}", body)[1]["code"] == "collection_needed"
    api.post("/collections/handbook/put", {"text": "x"})
    body = BODIES["find"] | {"collection": "handbook"}
    assert sent(api, f"/sessions/{bare}/find", body)[0] == 200
    no_such_model = BODIES["ask"] | {"use_model": "openai:x"}
    refused = api.post(f"/sessions/{session}/ask", no_such_model, **{"Idempotency-Key": "k"})
    assert refused.json()["code"] == "model_not_usable"
    assert sent(api, f"/sessions/{session}/ask", BODIES["ask"])[0] == 200


@pytest.mark.django_db(transaction=True)
def test_a_repeated_streaming_ask_gets_its_stored_answer_as_events(api: Program, session: str) -> None:
    body = BODIES["ask"] | {"stream": True}
    streams = [
        b"".join(api.post(f"/sessions/{session}/ask", body, **{"Idempotency-Key": "k"}).streaming_content)
        for _ in range(2)
    ]
    first, second = (json.loads(each.split(b"data: ")[-1]) for each in streams)
    assert first == second
    assert streams[1].startswith(b"event: done")
    assert Action.objects.count() == 2


def test_an_ask_whose_process_died_is_reported_as_lost(
    api: Program, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.recording.answering.idempotency.GRACE_SECONDS", 0.2)
    path = f"/sessions/{session}/ask"
    sent(api, path, BODIES["ask"])
    Delivery.objects.update(status=None, answer=None)
    assert sent(api, path, BODIES["ask"])[1]["code"] == "ask_lost"
    Delivery.objects.update(ask=None, created_at="2026-01-01T00:00:00Z")
    assert sent(api, path, BODIES["ask"])[0] == 200


def test_a_repeat_waits_for_the_running_ask_and_is_then_refused_for_now(
    api: Program, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.recording.answering.idempotency.PATIENCE_SECONDS", 0.2)
    path = f"/sessions/{session}/ask"
    sent(api, path, BODIES["ask"])
    row = Session.objects.get()
    ask = AskUnderWay.objects.create(project=row.project, session=row, question="q")
    Delivery.objects.update(status=None, answer=None, ask=ask.id)
    answer = api.post(path, BODIES["ask"], **{"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()["code"]) == (409, "request_under_way")
    assert answer["Retry-After"] == "2"


def test_an_erased_answer_is_not_returned_again(api: Program, session: str) -> None:
    sent(api, f"/sessions/{session}/find", BODIES["find"])
    assert "ten years" in json.dumps(Delivery.objects.get().answer)
    api.post(f"/sessions/{session}/end")
    delete_turn(Action.objects.get(), reason="private", by="ann")
    assert Delivery.objects.get().answer is None
    assert sent(api, f"/sessions/{session}/find", BODIES["find"])[1]["code"] == "idempotency_key_reused"


def test_an_answer_is_not_stored_when_its_turn_was_erased_meanwhile(api: Program, session: str) -> None:
    sent(api, f"/sessions/{session}/find", BODIES["find"])
    row = Session.objects.get()
    claim = claim_key(row, "asked", "its hash")

    def erased_meanwhile(_: AskObserver) -> AskDone:
        delete_turn(Action.objects.get(), reason="private", by="ann")
        raise Conflict("The model said: ten years.", code="model_failed", sequence=2)

    with pytest.raises(Conflict):
        storing_answer(claim, erased_meanwhile, stored)(AskObserver())
    assert Delivery.objects.get(key="asked").answer is None
    with pytest.raises(Conflict, match="has been erased"):
        claim_key(row, "asked", "its hash")


@pytest.mark.parametrize("key", ["", "  ", "x" * 2_001])
def test_an_empty_or_overlong_key_is_refused_with_advice(api: Program, session: str, key: str) -> None:
    paths = {"/sessions": {"name": "x"}, f"/sessions/{session}/actions": {"kind": "event"}}
    paths |= {f"/sessions/{session}/checkpoints": {"name": "x"}}
    for path, body in (
        paths | {f"/sessions/{session}/{what}": body for what, body in BODIES.items()}
    ).items():
        answer = api.post(path, body, **{"Idempotency-Key": key})
        assert (answer.status_code, answer.json()["facts"]["field"]) == (422, "Idempotency-Key")
    assert not Action.objects.exists()


def test_operations_without_idempotency_refuse_the_key(
    api: Program, session: str, document: dict[str, Any]
) -> None:
    knowing = {
        path.rsplit("/", 1)[-1]
        for path, operations in document["paths"].items()
        for each in operations.get("post", {}).get("parameters", [])
        if each["in"] == "header" and each["name"] == "Idempotency-Key"
    }
    assert knowing == {"sessions", "actions", "checkpoints", "put", "find", "ask"}
    refused = api.post("/collections/handbook/find", {"query": "x"}, **{"Idempotency-Key": "k"})
    assert (refused.status_code, refused.json()["facts"]["field"]) == (422, "Idempotency-Key")
