"""An ask as a stream of events. It runs in its own thread and is recorded even if nobody reads the stream."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue
from uuid import UUID

from django.db import connection

from timemachine.core.accounts.models import Project
from timemachine.core.database import failure_of
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.log_context import of_this_request
from timemachine.knowledge.find import FindResult
from timemachine.llm.concurrency import release_connection
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.running_asks import active_ask
from timemachine.recording.sessions.models import Session

log = logging.getLogger(__name__)

QUIET_SECONDS = 10.0
"""After this time without an event, `Quiet` is sent: proxies close connections that are silent for long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The ask is running, with this id."""

    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Nothing happened for a while."""


type AskEvent = Begun | FindResult | RetryWait | Written | Quiet | AskDone | TimeMachineError


def ask_events(
    project: Project,
    question: str,
    make: Callable[[AskObserver], AskDone],
    *,
    session: Session | None = None,
) -> Iterator[AskEvent]:
    """Yield the events of an ask that `make` runs: started, passages found, waiting for a busy model, text written;
    last, its result or error.

    If nobody reads on, the ask continues: it is paid for and must be recorded. Nothing is raised; too many asks are
    an error as the only event.
    """
    events: SimpleQueue[AskEvent] = SimpleQueue()
    # its log lines have the id of this request
    run = partial(copy_context().run, _run, project, question, session, make, events.put)
    threading.Thread(target=run, daemon=True).start()
    release_connection()
    while True:
        try:
            event = events.get(timeout=QUIET_SECONDS)
        except Empty:
            event = Quiet()
        yield event
        if isinstance(event, AskDone | TimeMachineError):
            return


def after_start(events: Iterator[AskEvent]) -> Iterator[AskEvent]:
    """Return the same events once the ask has started. Raises an error that prevents it before a model is called."""
    first: list[AskEvent] = []
    for event in events:
        if isinstance(event, TimeMachineError):
            raise event
        first.append(event)
        if isinstance(event, FindResult | AskDone):
            break
    return chain(first, events)


def _run(
    project: Project,
    question: str,
    session: Session | None,
    make: Callable[[AskObserver], AskDone],
    send: Callable[[AskEvent], None],
) -> None:
    outcome: AskDone | TimeMachineError = TimeMachineError(
        f"Internal error. Details are in the server's log{of_this_request()}."
    )
    try:
        with active_ask(project, question, session=session) as mine:
            send(Begun(id=mine.id))
            listening = Listening(
                on_text=lambda text: send(Written(text=text)), on_wait=send, cancellation=mine.cancellation
            )
            outcome = make(AskObserver(found=send, listening=listening, ask=mine.id))
    except TimeMachineError as failed:
        outcome = failed
    except Exception as why:  # this thread has no caller that would log it
        failure = failure_of(why)
        if failure:
            outcome = failure.refusal()
            log.error("an ask failed (%s): %s", failure.code, failure.details)  # noqa: TRY400  # its cause is known
        else:
            log.exception("an ask failed")
    finally:
        send(outcome)
        connection.close()
