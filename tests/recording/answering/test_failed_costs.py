"""Costs of failed asks: zero if nothing was sent or the model is free, unknown if the call may have been billed."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.builders import recorded_session, replayed
from tests.provider_failures import ANSWER, MODELS, as_vendors
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Cancelled, TimeMachineError
from timemachine.knowledge.commands import NewFrame, get_or_create_collection, put_frames
from timemachine.knowledge.find import Query
from timemachine.llm.pure.cancellation import Cancellation, Listening
from timemachine.recording.answering.commands import AskObserver, ask
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import ReplayOut

NOWHERE = "http://127.0.0.1:9/v1"
OLLAMA = "ollama:stub-model"
FREE = Decimal(0)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    monkeypatch.setattr(Cancellation, "pause", lambda *_: None)  # between attempts
    with as_vendors(monkeypatch) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{server.url}/v1")
        yield server


@pytest.fixture
def session(project: Project) -> Session:
    collection = get_or_create_collection(project, "handbook", by="test")
    put_frames(collection, [NewFrame(text=ANSWER)], by="test")
    return start_session(project, name="s", by="test", collection=collection)


def failed_ask(session: Session, model: str) -> Action:
    """The recorded action of a failed ask."""
    collection = session.collection
    assert collection is not None
    with pytest.raises(TimeMachineError):
        ask(session.project, collection, Query(text="How long?"), use_model=model, session=session)
    return Action.objects.get(session=session, kind="ask")


def test_a_call_to_an_unreachable_server_cost_nothing(
    session: Session, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", NOWHERE)
    failed = failed_ask(session, MODELS[0])
    assert (failed.error_type, failed.cost_usd, failed.has_unknown_cost) == (
        "model_unreachable",
        FREE,
        False,
    )


def test_a_failed_call_of_a_free_model_cost_nothing(session: Session, stub: StubModelServer) -> None:
    stub.script(Script(mode="closed", answer=ANSWER))
    failed = failed_ask(session, OLLAMA)
    assert (failed.error_type, failed.cost_usd, failed.has_unknown_cost) == (
        "model_interrupted",
        FREE,
        False,
    )
    assert failed.prices is not None
    assert failed.prices["source"] == "local"


def test_a_free_model_with_an_operator_price_is_not_free(
    session: Session, stub: StubModelServer, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[[prices]]\nmodel = "ollama:stub-model"\ninput = 1\noutput = 2\n')
    settings.MODEL_PRICES = str(file)
    stub.script(Script(mode="closed", answer=ANSWER))
    failed = failed_ask(session, OLLAMA)
    assert (failed.cost_usd, failed.has_unknown_cost) == (None, True)


def test_an_ask_cancelled_before_anything_was_sent_cost_nothing(
    session: Session, stub: StubModelServer
) -> None:
    listening = Listening()
    assert session.collection is not None
    with pytest.raises(Cancelled, match="before anything was sent"):
        ask(
            session.project,
            session.collection,
            Query(text="How long?"),
            use_model=MODELS[0],
            session=session,
            observer=AskObserver(found=lambda _: listening.cancellation.cancel(), listening=listening),
        )
    assert stub.calls() == []
    session.refresh_from_db()
    assert (session.cost_usd, session.unknown_cost_calls) == (FREE, 0)
    recorded = Action.objects.get(session=session, kind="ask")
    assert (recorded.error_type, recorded.cost_usd) == ("cancelled", FREE)
    assert "it cost nothing" in (recorded.error_message or "")


@pytest.mark.parametrize("mode", ["closed", "500", "garbage"])
def test_a_call_that_may_have_been_billed_has_an_unknown_cost(
    session: Session, stub: StubModelServer, mode: str
) -> None:
    stub.script(Script(mode=mode, answer=ANSWER))  # type: ignore[arg-type]  # one of its modes
    failed = failed_ask(session, MODELS[0])
    assert (failed.cost_usd, failed.has_unknown_cost) == (None, True)


@pytest.mark.parametrize("status", [400, 401, 404, 429])
def test_a_call_that_its_provider_refused_cost_nothing(
    session: Session, stub: StubModelServer, status: int
) -> None:
    stub.script(Script(mode="error", status=status, body='{"error": {"message": "No."}}'))
    failed = failed_ask(session, MODELS[0])
    assert (failed.error_type, failed.cost_usd, failed.has_unknown_cost) == ("model_failed", FREE, False)


def test_a_call_that_was_refused_after_it_failed_otherwise_may_have_been_billed(
    session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="500", times=1))
    stub.script(Script(mode="error", status=404, body='{"error": {"message": "No such model."}}'))
    assert failed_ask(session, MODELS[0]).cost_usd is None


def test_a_server_that_answered_before_becoming_unreachable_may_have_billed(
    session: Session, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StubModelServer() as dying:
        dying.script(Script(mode="500"))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{dying.url}/v1")
        monkeypatch.setattr(Cancellation, "pause", lambda *_: dying.__exit__(None, None, None))
        failed = failed_ask(session, MODELS[0])
        assert len(dying.calls()) == 1
    assert (failed.error_type, failed.cost_usd) == ("model_unreachable", None)


def test_a_replay_without_a_reachable_server_made_no_calls(
    project: Project, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recorded_session(project, questions=["How long?"])
    stub.script(Script(mode="closed", answer=ANSWER))
    free = replayed(session, ReplayOptions(audit=True, reason="r", use_model=OLLAMA))
    billed = replayed(session, ReplayOptions(audit=True, reason="r", use_model=MODELS[0]))
    monkeypatch.setenv("OPENAI_BASE_URL", NOWHERE)
    unsent = replayed(session, ReplayOptions(audit=True, reason="r", use_model=MODELS[0]))
    documents = [ReplayOut.of(each).model_dump() for each in (free, billed, unsent)]
    assert [each["verdicts"] for each in documents] == [{"error": 1}] * 3
    assert [each["unknown_cost_calls"] for each in documents] == [0, 1, 0]
    assert Decimal(str(documents[0]["cost_usd"])) == 0
