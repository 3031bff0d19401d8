"""Asking over HTTP: streamed answers, provider failures, and cancelling a running ask."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from tests.api.conftest import Program, program
from tests.builders import FACTS
from tests.provider_failures import ANSWER, MISBEHAVIOURS, MODELS, Misbehaviour, as_vendors
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.pure.server_sent import events_in
from timemachine.llm.concurrency import call_slots
from timemachine.llm.pure.cancellation import Cancellation
from timemachine.recording.answering import running_asks
from timemachine.recording.answering.models import AskUnderWay

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "How long are invoices kept?"
Events = list[tuple[str, Any]]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as server:
        yield server


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without waiting."""
    monkeypatch.setattr(Cancellation, "pause", lambda _, seconds: None)


@pytest.fixture
def handbook(api: Program) -> Program:
    """A session `s` with a collection."""
    frames = [{"title": title, "text": text} for title, text in FACTS]
    api.post("/collections/handbook/put", {"frames": frames})
    assert api.post("/sessions", {"name": "s", "key": "s", "collection": "handbook"}).status_code == 201
    return api


def ask(api: Program, model: str, **more: Any) -> Any:
    return api.post("/sessions/s/ask", {"question": QUESTION, "use_model": model, "no_cache": True, **more})


def events(response: Any) -> Events:
    assert response["Content-Type"] == "text/event-stream"
    return [(event.name, json.loads(event.data)) for event in events_in(response.streaming_content)]


def step(api: Program, sequence: int = 1) -> dict[str, Any]:
    return dict(api.get(f"/sessions/s/actions/{sequence}").json())


@pytest.mark.parametrize("model", MODELS)
def test_a_streamed_answer_ends_in_the_same_document(
    handbook: Program, stub: StubModelServer, model: str
) -> None:
    stub.script(Script(answer=ANSWER))
    stream_events = events(ask(handbook, model, stream=True))
    assert [name for name, _ in stream_events] == ["begun", "hits", *["text"] * 6, "done"]
    assert "".join(data["text"] for name, data in stream_events if name == "text") == ANSWER
    complete, streamed = ask(handbook, model).json(), stream_events[-1][1]
    assert streamed.keys() == complete.keys()
    same = ("answer", "model", "usage", "cost_usd", "grounding", "hits", "finish_reason", "cut_off")
    assert {name: streamed[name] for name in same} == {name: complete[name] for name in same}
    assert stream_events[1][1]["hits"] == complete["hits"]
    assert streamed["sequence"] == 1
    recorded = step(handbook)
    assert recorded["output"] == ANSWER
    assert recorded["parameters"]["first_text_ms"] > 0
    assert AskUnderWay.objects.count() == 0


def test_an_accept_header_requests_events_too(handbook: Program, stub: StubModelServer) -> None:
    stub.script(Script(answer=ANSWER))
    body = {"question": QUESTION, "use_model": MODELS[0], "no_cache": True}
    response = handbook.post("/sessions/s/ask", body, Accept="text/event-stream")
    assert events(response)[-1][0] == "done"
    response = handbook.post("/collections/handbook/ask", {**body, "stream": True})
    assert events(response)[-1][1]["sequence"] is None


def test_the_local_model_streams_as_well(handbook: Program) -> None:
    streamed = events(ask(handbook, "local:extractive-1", stream=True))
    assert [name for name, _ in streamed] == ["begun", "hits", "text", "done"]


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("model", MODELS)
def test_a_wait_for_a_busy_model_is_announced_before_the_retry(
    handbook: Program, stub: StubModelServer, model: str
) -> None:
    stub.script(Script(mode="429_then_ok", retry_after="3", answer=ANSWER))
    streamed = events(ask(handbook, model, stream=True))
    assert [name for name, _ in streamed][:4] == ["begun", "hits", "waiting", "text"]
    waited = streamed[2][1]
    assert waited["why"] == f"{model} returned 429: Too many requests; slow down."
    assert 3 <= waited["seconds"] < 3.3
    assert waited["attempt"] == 2
    assert streamed[-1][1]["answer"] == ANSWER


def test_a_refusal_before_the_model_call_is_not_streamed(handbook: Program) -> None:
    response = ask(handbook, "nobody:nothing", stream=True)
    assert (response.status_code, response.json()["code"]) == (422, "unknown_model")
    handbook.post("/sessions/s/end")
    response = ask(handbook, "local:extractive", stream=True)
    assert (response.status_code, response.json()["code"]) == (409, "session_ended")


ONE_PER_CODE = {case.code: case for case in reversed(MISBEHAVIOURS)}
"""The first failure of each error code; tests/llm covers all of them."""


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("case", ONE_PER_CODE.values(), ids=str)
@pytest.mark.parametrize(("model", "streamed"), [*zip(MODELS, [True, False], strict=True)])
def test_every_provider_failure_is_recorded_in_the_session(
    handbook: Program, stub: StubModelServer, model: str, case: Misbehaviour, *, streamed: bool
) -> None:
    case.play(stub)
    response = ask(handbook, model, stream=streamed)
    answered = events(response)[-1][1] if streamed else response.json()
    recorded = step(handbook)
    assert len(stub.calls()) == case.calls
    assert [recorded["kind"], recorded["model"]] == ["ask", model]
    assert len(recorded["retrieval"]["hits"]) == len(FACTS)
    if case.code is None:
        assert answered["answer"] == recorded["output"]
        assert recorded["error"] is None
        return
    assert (answered["code"], answered["facts"]["sequence"]) == (case.code, 1)
    assert recorded["error"] == {"type": case.code, "message": answered["message"]}
    assert case.words in recorded["error"]["message"]
    refused = case.script.get("status") == 429
    assert (recorded["grounding"], recorded["usage"]) == (None, None)
    assert recorded["cost_usd"] == (0 if refused else None), "a refused request costs nothing"
    assert recorded["parameters"]["attempts"] == case.calls
    partial = recorded["output"] and recorded["output"]["partial_text"]
    assert partial is None if case.partial is None else partial.startswith(case.partial)


@pytest.mark.usefixtures("hasty")
def test_the_provider_error_is_recorded(handbook: Program, stub: StubModelServer) -> None:
    stub.script(Script(mode="500"))
    ask(handbook, MODELS[0], temperature=0.5)
    assert step(handbook)["parameters"] == {
        "temperature": 0.5,
        "status": 500,
        "attempts": 3,
        "provider_error": {"message": "The stub broke.", "type": "stub_error", "request_id": "req_stub"},
    }


@pytest.mark.usefixtures("hasty")
def test_a_failed_ask_adds_no_assistant_message(handbook: Program, stub: StubModelServer) -> None:
    stub.script(Script(mode="closed", answer=ANSWER))
    ask(handbook, MODELS[0])
    state = handbook.get("/sessions/s/state", at=2).json()
    assert [turn["role"] for turn in state["messages"]] == ["user"]
    found = handbook.get("/sessions/s").json()
    assert (found["errors"], found["unknown_cost_calls"]) == (1, 1)


@pytest.mark.parametrize("model", MODELS)
def test_a_truncated_answer_is_marked_as_truncated(
    handbook: Program, stub: StubModelServer, model: str
) -> None:
    stub.script(Script(mode="truncated", answer="Invoices are", times=1))
    stub.script(Script(answer=ANSWER))
    first, second = ask(handbook, model).json(), ask(handbook, model).json()
    assert (first["cut_off"], second["cut_off"]) == (True, False)
    assert first["finish_reason"] in {"length", "max_tokens"}
    assert [step(handbook, sequence)["parameters"].get("cut_off") for sequence in (1, 3)] == [True, None]


def running_ask_id() -> str:
    """The id of the running ask."""
    wait_until(AskUnderWay.objects.exists)
    return str(AskUnderWay.objects.get().id)


@pytest.mark.parametrize(("mode", "streamed"), [("slow", True), ("silent", False), ("slow_words", True)])
def test_an_ask_is_cancelled_while_its_provider_is_silent(
    handbook: Program, stub: StubModelServer, mode: Any, *, streamed: bool
) -> None:
    paused = threading.Event()
    stub.script(Script(mode=mode, seconds=20, answer=ANSWER, paused=paused))
    answered: list[Any] = []

    def make() -> None:
        try:
            answered.append(read(ask(handbook, MODELS[0], stream=streamed)))
        finally:
            connection.close()

    asking = threading.Thread(target=make)
    asking.start()
    ask_id = running_ask_id()
    (listed,) = handbook.get("/asks").json()["items"]
    assert (listed["id"], listed["session"], listed["question"]) == (ask_id, "s", QUESTION)
    stub.wait_for_calls(1)
    if mode == "slow_words":
        assert paused.wait(20)
    started = time.monotonic()
    assert handbook.post(f"/asks/{ask_id}/cancel").json() == {"id": ask_id, "cancel_wanted": True}
    asking.join(20)
    assert time.monotonic() - started < 10
    assert answered[0]["code"] == "cancelled"
    recorded = step(handbook)
    assert recorded["error"]["type"] == "cancelled"
    assert "may have been billed" in recorded["error"]["message"]
    assert recorded["output"] == ({"partial_text": "Invoices"} if mode == "slow_words" else None)
    assert handbook.post(f"/asks/{ask_id}/cancel").json()["code"] == "ask_not_found"


def read(response: Any) -> dict[str, Any]:
    return dict(events(response)[-1][1] if response.streaming else response.json())


def test_an_ask_of_another_project_cannot_be_cancelled(
    handbook: Program, stranger: Program, stub: StubModelServer
) -> None:
    go_on = threading.Event()
    stub.script(Script(held=go_on, answer=ANSWER))
    stream = iter(ask(handbook, MODELS[0], stream=True).streaming_content)
    next(stream)
    ask_id = running_ask_id()
    assert stranger.get("/asks").json()["items"] == []
    assert stranger.post(f"/asks/{ask_id}/cancel").status_code == 404
    assert (
        program(Project.objects.get(name="Prüfung"), "read").post(f"/asks/{ask_id}/cancel").status_code == 403
    )
    go_on.set()
    assert list(stream)[-1].startswith(b"event: done")


def test_an_ask_is_recorded_when_its_reader_disconnects(handbook: Program, stub: StubModelServer) -> None:
    stub.script(Script(mode="slow_words", seconds=0.1, answer=ANSWER))
    response = ask(handbook, MODELS[0], stream=True)
    next(iter(response.streaming_content))
    response.close()
    wait_until(lambda: not AskUnderWay.objects.exists())
    assert step(handbook)["output"] == ANSWER


def test_asks_beyond_the_concurrency_limit_are_refused(
    handbook: Program, settings: Settings, stub: StubModelServer
) -> None:
    settings.ASKS_AT_ONCE = 1
    call_slots.cache_clear()
    go_on = threading.Event()
    stub.script(Script(held=go_on, answer=ANSWER))
    first = iter(ask(handbook, MODELS[0], stream=True).streaming_content)
    next(first)
    for streamed in (True, False):
        refused = ask(handbook, MODELS[0], stream=streamed)
        assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (
            503,
            "too_many_asks",
            "5",
        )
    go_on.set()
    list(first)
    assert ask(handbook, "local:extractive").status_code == 200
    call_slots.cache_clear()


def test_a_session_ends_only_once_its_asks_are_recorded(
    handbook: Program, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    stub.script(Script(held=go_on, answer=ANSWER))
    stream = iter(ask(handbook, MODELS[0], stream=True).streaming_content)
    next(stream)
    running_ask_id()
    monkeypatch.setattr(running_asks, "PATIENCE_SECONDS", 0.1)
    refused = handbook.post("/sessions/s/end")
    assert (refused.status_code, refused.json()["code"]) == (409, "ask_under_way")
    monkeypatch.setattr(running_asks, "PATIENCE_SECONDS", 20)
    threading.Timer(0.3, go_on.set).start()
    assert handbook.post("/sessions/s/end").json()["status"] == "ended"
    assert step(handbook)["output"] == ANSWER
    assert list(stream)[-1].startswith(b"event: done")
