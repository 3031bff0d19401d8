"""Running asks whose session, sweeper or database interferes."""

from collections.abc import Callable, Generator
from datetime import timedelta
from typing import Any

import pytest
from django.db import Error, connection

from tests.database_roles import as_owner
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.pure import log_context
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, ModelFailed, NotFound, TimeMachineError
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import FindResult, Query
from timemachine.llm.pure.cancellation import Listening
from timemachine.recording.answering import commands, running_asks
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.answering.running_asks import SILENT_FOR, record_lost
from timemachine.recording.answering.streaming import ask_events
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session

MODEL = "openai:gpt-4o-mini"
QUESTION = "How long are invoices kept?"
ANSWER = "Ten years."


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Generator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        server.script(Script(answer=ANSWER))
        yield server


@pytest.fixture
def session(project: Project) -> Session:
    collection = get_or_create_collection(project, "handbook", by="test")
    commands.put(
        collection, [NewFrame(title="Retention", text="Invoices are kept for ten years.")], by="test"
    )
    return start_session(project, name="s", by="test", collection=collection)


def run_ask(
    session: Session, *, meanwhile: Callable[[], object], on_text: Callable[[str], None] | None = None
) -> AskDone:
    """An ask with an interruption before the model is called."""
    assert session.collection is not None

    def interrupt(_: FindResult) -> None:
        meanwhile()

    listening = Listening() if on_text is None else Listening(on_text=on_text)
    with running_asks.active_ask(session.project, QUESTION, session=session) as mine:
        return commands.ask(
            session.project,
            session.collection,
            Query(text=QUESTION),
            use_model=MODEL,
            session=session,
            observer=AskObserver(found=interrupt, listening=listening, ask=mine.id),
        )


def steps(session: Session) -> list[tuple[str, str | None]]:
    found = Action.objects.filter(session=session).order_by("sequence")
    return [(each.kind, each.error_type) for each in found]


def treat_as_lost() -> None:
    """The sweeper treats the running ask as lost."""
    AskUnderWay.objects.update(seen_at=now() - SILENT_FOR * 2)
    assert record_lost() == 1


def test_a_paid_answer_is_recorded_even_if_its_session_ended_meanwhile(
    session: Session, stub: StubModelServer
) -> None:
    done = run_ask(session, meanwhile=lambda: end_session(session.id))
    assert (done.answered.text, done.sequence) == (ANSWER, 1)
    assert steps(session) == [("ask", None), ("find", None)]
    assert len(stub.calls()) == 1


def test_an_ask_of_an_erased_session_warns_that_it_may_have_been_billed(
    session: Session, stub: StubModelServer
) -> None:
    with pytest.raises(NotFound, match="may have been billed") as refused:
        run_ask(session, meanwhile=lambda: erase_session(session))
    assert refused.value.code == "session_not_found"
    assert len(stub.calls()) == 1
    assert not Action.objects.exists()


def test_the_provider_error_is_reported_even_if_it_cannot_be_recorded(
    session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="error", status=401))
    with pytest.raises(ModelFailed, match="returned 401") as failed:
        run_ask(session, meanwhile=lambda: erase_session(session))
    assert "sequence" not in failed.value.facts


def test_a_failure_is_recorded_even_if_its_session_ended_meanwhile(
    session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="error", status=401))
    with pytest.raises(ModelFailed) as failed:
        run_ask(session, meanwhile=lambda: end_session(session.id))
    assert failed.value.facts["sequence"] == 1
    assert steps(session) == [("ask", "model_failed"), ("find", None)]


def test_an_ask_is_recorded_either_as_answered_or_as_lost(session: Session, stub: StubModelServer) -> None:
    with pytest.raises(Conflict, match="recorded as lost"):
        run_ask(session, meanwhile=treat_as_lost)
    assert steps(session) == [("ask", "ask_lost")]
    assert run_ask(session, meanwhile=lambda: None).sequence == 2
    assert record_lost() == 0
    assert steps(session)[1:] == [("ask", None), ("find", None)]


def test_the_model_is_stored_before_it_is_called(session: Session, stub: StubModelServer) -> None:
    noted: list[str | None] = []

    def note(*_: Any) -> None:
        noted.append(AskUnderWay.objects.get().model)

    run_ask(session, meanwhile=note, on_text=note)
    assert (noted[0], set(noted[1:])) == (None, {MODEL})


@pytest.mark.parametrize("question", ["", "x" * 100_001], ids=["empty", "too long"])
def test_a_question_that_cannot_be_asked_leaves_no_row(project: Project, question: str) -> None:
    with pytest.raises(InvalidInput), running_asks.active_ask(project, question):
        pytest.fail("it was let through")
    assert AskUnderWay.objects.count() == 0


def test_an_ask_survives_a_database_outage_and_is_still_ended(
    transactional_db: None,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(running_asks, "LOOK_SECONDS", 0.05)
    with running_asks.active_ask(project, QUESTION) as mine:
        with as_owner() as cursor:
            cursor.execute("ALTER TABLE tm_ask_under_way RENAME TO away")
            try:
                wait_until(lambda: "could not update its heartbeat" in caplog.text)
            finally:
                cursor.execute("ALTER TABLE away RENAME TO tm_ask_under_way")
        long_ago = now() - timedelta(hours=1)
        AskUnderWay.objects.update(seen_at=long_ago)
        wait_until(lambda: AskUnderWay.objects.get().seen_at > long_ago)
        running_asks.cancel(project, mine.id)
        wait_until(lambda: mine.cancellation.requested)


def test_an_ask_that_could_not_be_recorded_is_left_to_the_sweeper(
    transactional_db: None, session: Session
) -> None:
    with (
        pytest.raises(Error),
        running_asks.active_ask(session.project, QUESTION, session=session),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT 1 / 0")
    treat_as_lost()
    assert steps(session) == [("ask", "ask_lost")]


def test_an_internal_error_in_a_stream_is_logged(
    transactional_db: None, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    def make(_: AskObserver) -> AskDone:
        raise RuntimeError("the fault")

    *_, last = ask_events(project, QUESTION, make)
    assert isinstance(last, TimeMachineError)
    assert "in the server's log" in last.message
    assert "RuntimeError: the fault" in caplog.text


def test_a_failure_of_the_database_in_a_stream_has_its_cause_and_the_request_id(
    transactional_db: None, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    ids: list[str | None] = []

    def make(_: AskObserver) -> AskDone:
        ids.append(log_context.current().request_id)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 10")
            cursor.execute("SELECT pg_sleep(10)")
        raise AssertionError

    log_context.begin_request("asked-1")
    *_, last = ask_events(project, QUESTION, make)
    log_context.end_request()
    assert isinstance(last, TimeMachineError)
    assert (last.code, ids) == ("database_timeout", ["asked-1"])
    assert "an ask failed (database_timeout): canceling statement" in caplog.text
    assert "Traceback" not in caplog.text
