"""What pages show of a session that no record has: totals, status and times.

Totals and the times of the steps are counted again from the steps. The parent of the branch of a continuation follows from what it continues, which is sealed. Status, start and end are signed with
each state of the tree, because a session ends after its records were sealed. A session that has ended never
goes on; only an import of a grown file moves the end, to a later time (`end_moved`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.evidence.log.project_log import SignedState
from timemachine.evidence.models import Seal
from timemachine.evidence.pure import checkpoint
from timemachine.recording.sessions.action_rows import COUNTERS
from timemachine.recording.sessions.counters import counted_again
from timemachine.recording.sessions.models import Session

UNKNOWN: Final = "unknown"
STATUS, STARTED, ENDED = "status", "started", "ended"
"""The names of the signed lines."""
TOTALS: Final = {
    "last_sequence": "number of steps",
    "error_count": "number of errors",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "cost_usd": "cost in US dollars",
    "unknown_cost_calls": "number of calls with unknown cost",
    "cached_calls": "number of answers from the cache",
    "saved_usd": "saved US dollars",
    "unknown_saved_calls": "number of cached answers with unknown savings",
}
TIMES: Final = {
    "last_action_at": "time of the last step",
    "first_step_at": "first start of a step",
    "last_step_ended_at": "last end of a step",
}
Report = Callable[[str, str], object]
"""Takes the code of a problem and its sentence."""


def signed_facts(session: Session) -> Mapping[str, str]:
    """Return what is signed about a session as it is now: its status, its start and, if it has ended, its end."""
    facts = {STATUS: session.status, STARTED: written(session.stated_start) or UNKNOWN}
    return facts | ({ENDED: written(session.ended_at) or UNKNOWN} if session.status == Session.ENDED else {})


def compare_totals(session: Session, report: Report) -> None:
    """Report each total, and each time of the steps, that differs from what the steps add up to. One query."""
    counted = counted_again(session)
    for name in COUNTERS:
        here, right = getattr(session, name), getattr(counted, name)
        if here == right:
            continue
        if name in TOTALS:
            says = (
                f"The session's {TOTALS[name]} ({name}) is {shown(here)}. Its steps add up to {shown(right)}."
            )
            report("total", says)
        else:
            report("time", _differs(TIMES[name], name, here, right))


def compare_signed(session: Session, seal: Seal, states: Sequence[SignedState], report: Report) -> None:
    """Report a status or a time that differs from the signed one. `states` are in the order of signing."""
    ended = [each for each in states if _says_ended(each)]
    if ended and session.status != Session.ENDED:
        report("status", _differs("status", STATUS, session.status, Session.ENDED))
    elif not ended and (says := _contradiction(session)):
        report("status", says)
    elif ended and (end := ended[-1].lines.get(ENDED)) is not None:
        here = written(session.ended_at) or UNKNOWN
        if here != end and not _is_to_be_signed(session, seal, end):
            report("time", _differs("end", "ended_at", here, end))
    started = written(session.stated_start) or UNKNOWN
    if sealed := next(_others(states, STARTED, started), None):
        report("time", _differs("start", "started_at", started, sealed))


def compare_origin(session: Session, report: Report) -> None:
    """Report a parent of the branch of a continuation that is not the session, or the step, that it continues."""
    origin = session.continues
    if not isinstance(origin, dict):
        return
    parent, step = origin.get("session"), origin.get("step")
    here = None if session.parent_id is None else str(session.parent_id)
    if here not in {None, parent}:  # it is None once the parent is deleted
        report("origin", _differs("parent", "parent", here, parent))
    if isinstance(step, int) and session.parent_sequence != step - 1:
        report("origin", _differs("parent's step", "parent_sequence", session.parent_sequence, step - 1))


def _is_to_be_signed(session: Session, seal: Seal, signed: str) -> bool:
    """Return whether an import moved the end to a later time than the signed one, which is not signed yet."""
    if seal.state != checkpoint.OPEN or session.imported_as is None or session.ended_at is None:
        return False
    return signed == UNKNOWN or session.ended_at > datetime.fromisoformat(signed)


def _says_ended(state: SignedState) -> bool:
    """Return whether a state says that the session has ended; earlier versions signed only that it is closed."""
    return state.lines.get(STATUS, state.lines.get("state")) in {Session.ENDED, checkpoint.CLOSED}


def _contradiction(session: Session) -> str | None:
    """Return how the status contradicts the end of a session whose end is not sealed, or None."""
    if session.status != Session.ENDED and session.ended_at is not None:
        return f"The session's status is {session.status}, but it has an end (ended_at), {shown(session.ended_at)}."
    if session.status == Session.ENDED and session.ended_at is None and session.imported_as is None:
        return f"The session's status is {session.status}, but it has no end (ended_at), which only an imported session can lack."
    return None


def _others(states: Sequence[SignedState], name: str, value: str) -> Iterator[str]:
    return (signed for each in states if (signed := each.lines.get(name, value)) != value)


def _differs(what: str, name: str, here: Any, right: Any) -> str:
    return f"The session's {what} ({name}) is {shown(here)}. It must be {shown(right)}."


def shown(value: Any) -> str:
    """Return a value of a row as the sentences of a check name it."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return (written(value) if isinstance(value, datetime) else None) or (
        UNKNOWN if value is None else f"{value}"
    )
