"""Asking on the workbench: each provider failure becomes a readable step, with and without JavaScript."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.builders import FACTS
from tests.provider_failures import ANSWER, MISBEHAVIOURS, MODELS, Misbehaviour, as_vendors
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.server_sent import events_in
from timemachine.knowledge.commands import NewFrame, get_or_create_collection, put_frames
from timemachine.llm.pure.cancellation import Cancellation
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db(transaction=True)

# an answer, an error, and an error after the first words; the tests of the API cover all cases
ONE_OF_EACH_KIND = [case for case in MISBEHAVIOURS if case.mode in {"truncated", "html", "closed"}]
QUESTION = "How long are invoices kept?"
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    monkeypatch.setattr(Cancellation, "pause", lambda _, seconds: None)
    with as_vendors(monkeypatch) as server:
        yield server


@pytest.fixture
def session(project: Project) -> Session:
    collection = get_or_create_collection(project, "handbook", by="test")
    put_frames(collection, [NewFrame(title=title, text=text) for title, text in FACTS], by="test")
    return start_session(project, name="Fragen", key="fragen", by="test", collection=collection)


@pytest.fixture
def operator(project: Project) -> Client:
    return browser_of(project)


def send_ask(client: Client, session: Session, model: str, headers: dict[str, str] | None = None) -> Any:
    form = {
        "do": "ask",
        "text": QUESTION,
        "mode": "hybrid",
        "top_k": "8",
        "model": model,
        "no_cache": "on",
    }
    return client.post(f"/sessions/{session.id}/work/", form, headers=headers or {})


def sent_events(response: Any) -> list[tuple[str, Any]]:
    assert response["Content-Type"] == "text/event-stream"
    assert "Content-Encoding" not in response
    return [(event.name, json.loads(event.data)) for event in events_in(response.streaming_content)]


@pytest.mark.parametrize("case", ONE_OF_EACH_KIND, ids=str)
def test_the_pages_show_the_outcome_of_an_ask(
    operator: Client, session: Session, stub: StubModelServer, case: Misbehaviour
) -> None:
    case.play(stub)
    response = send_ask(operator, session, MODELS[0])
    shown = response if case.code else operator.get(response["Location"])
    assert response.status_code == (502 if case.code else 303)
    timeline = operator.get(f"/sessions/{session.id}/", {"step": 1})
    for page in (shown.content.decode(), timeline.content.decode()):
        assert case.words in page.replace("&#x27;", "'")
        assert ("not an answer" in page) is (case.partial is not None)
        assert (case.partial or "") in page
    assert len(stub.calls()) == case.calls
    assert session.actions.count() == 2


@pytest.mark.parametrize("case", ONE_OF_EACH_KIND, ids=str)
def test_a_script_is_directed_to_the_same_step(
    operator: Client, session: Session, stub: StubModelServer, case: Misbehaviour
) -> None:
    case.play(stub)
    events = sent_events(send_ask(operator, session, MODELS[1], EVENTS))
    assert [name for name, _ in events][:2] == ["begun", "found"]
    name, end = events[-1]
    assert (name, end.get("failed", False)) == ("end", case.code is not None)
    assert case.words in operator.get(end["address"]).content.decode().replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("refusal", "The provider reports that the model refused to answer (refusal)."),
        (
            "filtered",
            "The provider&#x27;s content filter removed all or part of the answer (content_filter).",
        ),
    ],
)
def test_a_refusal_stated_by_the_provider_is_shown_whatever_its_words(
    operator: Client, session: Session, stub: StubModelServer, mode: Any, words: str
) -> None:
    stub.script(Script(mode=mode, answer="Sorry, no."))
    shown = operator.get(send_ask(operator, session, MODELS[0])["Location"])
    timeline = operator.get(f"/sessions/{session.id}/", {"step": 1})
    assert words in shown.text
    assert words in timeline.text


def test_a_refusal_that_claims_nothing_has_no_empty_grounding(
    operator: Client, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="refusal"))
    shown = operator.get(send_ask(operator, session, MODELS[0])["Location"])
    timeline = operator.get(f"/sessions/{session.id}/", {"step": 1})
    for page in (shown.text, timeline.text):
        assert "I can&#x27;t help with that." in page
        assert "makes no claim that a passage could support" in page
        assert "legend-line" not in page


def test_the_providers_own_error_is_shown(operator: Client, session: Session, stub: StubModelServer) -> None:
    stub.script(Script(mode="500"))
    page = send_ask(operator, session, MODELS[1]).content.decode()
    for part in ("Provider error", "stub_error", "req_stub", "<dt>attempts</dt>"):
        assert part in page


def test_the_text_is_streamed_with_hidden_characters_made_visible(
    operator: Client, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Ten \u202eyears <b>"))
    events = sent_events(send_ask(operator, session, MODELS[0], EVENTS))
    assert "".join(data["text"] for name, data in events if name == "text") == "Ten ⟨U+202E⟩years <b>"


def test_a_wait_is_explained_with_its_reason_and_duration(
    operator: Client, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="429_then_ok", retry_after="3", answer=ANSWER))
    events = sent_events(send_ask(operator, session, MODELS[0], EVENTS))
    waits = [data["says"] for name, data in events if name == "waiting"]
    assert waits == [f"{MODELS[0]} returned 429: Too many requests; slow down. Retrying in 3 s (attempt 2)."]
    assert "failed" not in events[-1][1]


def test_an_ask_refused_before_the_model_call_returns_the_page_with_its_form(
    operator: Client, session: Session
) -> None:
    response = send_ask(operator, session, "nobody:nothing", EVENTS)
    assert response.status_code == 422
    assert "no model provider" in response.content.decode()


def test_a_running_ask_is_shown_on_and_cancelled_from_another_page(
    operator: Client, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="slow_words", seconds=5, answer=ANSWER))
    stream = events_in(send_ask(operator, session, MODELS[0], EVENTS).streaming_content)
    address = json.loads(next(stream).data)["cancel"]
    while next(stream).name != "text":
        pass
    page = operator.get(f"/sessions/{session.id}/work/").content.decode()
    assert "An ask has been running since" in page
    assert address in page
    assert operator.post(address).status_code == 303
    *_, end = stream
    assert json.loads(end.data)["failed"]
    shown = operator.get(json.loads(end.data)["address"]).content.decode()
    assert "was cancelled before it finished" in shown
    assert "Partial output (not an answer)" in shown
    assert AskUnderWay.objects.count() == 0
    assert operator.post(address).status_code == 404
