"""An ask as a stream of what happens: it is made in a thread of its own, and goes on to its record whoever stops reading."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from queue import Empty, SimpleQueue
from uuid import UUID

from django.db import connection

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import TimeMachineError
from timemachine.knowledge.find import Findings
from timemachine.llm.concurrency import release_connection
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.recording.answering.commands import AskDone, Audience
from timemachine.recording.answering.running_asks import under_way
from timemachine.recording.sessions.models import Session

log = logging.getLogger(__name__)

QUIET_SECONDS = 10.0
"""After so long without anything to tell, that is told: what stands between would take the silence for an end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The ask is under way, under this id."""

    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """Nothing happened for a while."""


type Happening = Begun | Findings | RetryWait | Written | Quiet | AskDone | TimeMachineError


def happenings(
    project: Project,
    question: str,
    make: Callable[[Audience], AskDone],
    *,
    session: Session | None = None,
) -> Iterator[Happening]:
    """What happens while `make` asks: it begins, passages are found, a busy model is waited for, text is written; the last is what it came to, or its error.

    Where nobody reads on, the ask goes on: it is paid for, and its record is wanted. Nothing is raised: that there are too
    many asks is an error that comes as the only happening.
    """
    told: SimpleQueue[Happening] = SimpleQueue()
    threading.Thread(target=_made, args=(project, question, session, make, told.put), daemon=True).start()
    release_connection()
    while True:
        try:
            happening = told.get(timeout=QUIET_SECONDS)
        except Empty:
            happening = Quiet()
        yield happening
        if isinstance(happening, AskDone | TimeMachineError):
            return


def once_begun(told: Iterator[Happening]) -> Iterator[Happening]:
    """The same happenings, once it is clear that the ask is made; raises what forbids it before a model is called."""
    first: list[Happening] = []
    for happening in told:
        if isinstance(happening, TimeMachineError):
            raise happening
        first.append(happening)
        if isinstance(happening, Findings | AskDone):
            break
    return chain(first, told)


def _made(
    project: Project,
    question: str,
    session: Session | None,
    make: Callable[[Audience], AskDone],
    tell: Callable[[Happening], None],
) -> None:
    outcome: AskDone | TimeMachineError = TimeMachineError(
        "This is a fault of ours; it is in the server's log."
    )
    try:
        with under_way(project, question, session=session) as mine:
            tell(Begun(id=mine.id))
            listening = Listening(
                on_text=lambda text: tell(Written(text=text)), on_wait=tell, cancellation=mine.cancellation
            )
            outcome = make(Audience(found=tell, listening=listening, ask=mine.id))
    except TimeMachineError as failed:
        outcome = failed
    except Exception:  # this thread has no caller who would log it
        log.exception("an ask failed")
    finally:
        tell(outcome)
        connection.close()
