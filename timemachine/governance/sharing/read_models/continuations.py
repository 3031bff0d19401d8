"""What the branch of a continuation continues, and how that ended, as a visitor sees it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from pydantic import ValidationError

from timemachine.core.payloads.queries import value
from timemachine.governance.sharing.read_models.links import session_name
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.continuation.queries import branch_steps
from timemachine.replay.runs.branch_ends import COUNTED
from timemachine.replay.runs.pure.endings import Ending
from timemachine.text.redaction.pure.marks import REPEATS, mark


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedContinuation:
    """The session that a branch continues, None if it was deleted, from which step, and with which model.

    `recorded` and `supplied` are the shown steps with results of tools from the record and from a person, `messages` and
    `written` those with messages of the user from the record and by a person, `naming` those that name who supplied or
    accepted them. `finding` is how the run
    ended, as step `end` says; None if the link does not show that.
    """

    session: str | None
    step: int | None
    model: str | None
    recorded: tuple[int, ...]
    supplied: tuple[int, ...]
    messages: tuple[int, ...]
    written: tuple[int, ...]
    naming: tuple[int, ...]
    end: int | None
    finding: str | None


def shared_continuation(
    branch: Session, shown: QuerySet[Action], redactor: Redactor
) -> SharedContinuation | None:
    """Return what a branch continues, and what its shown steps say about it; None for any other session. At most three queries."""
    origin = branch.continues
    if not isinstance(origin, Mapping):
        return None
    found = branch_steps(shown)
    ends = shown.select_related("output")
    end = None if found.end is None else ends.filter(sequence=found.end).first()
    step, model = origin.get("step"), origin.get("model")
    return SharedContinuation(
        session=_name(branch, origin.get("session"), redactor),
        step=step if isinstance(step, int) else None,
        model=redactor.text(model) if isinstance(model, str) else None,
        recorded=found.recorded,
        supplied=found.supplied,
        messages=found.messages,
        written=found.written,
        naming=found.naming,
        end=found.end,
        finding=None if end is None else _finding(end, redactor),
    )


def _name(branch: Session, continued: object, redactor: Redactor) -> str | None:
    parent = branch.parent
    if parent is None or str(parent.id) != continued:
        return None
    return session_name(parent.name, redactor)


def _finding(end: Action, redactor: Redactor) -> str | None:
    """Return how the run ended; under a profile with a mark instead of quotes of calls, which a rule for another field may withhold."""
    recorded: Any = value(end.output)
    output: Any = redactor.document({"output": recorded})["output"]
    if not isinstance(output, Mapping):
        return None if output is None else str(output)
    if redactor.rules is not None and output.keys() >= COUNTED:
        counts = {name: recorded[name] for name in COUNTED}
        with suppress(ValidationError):  # altered
            ending = Ending.model_validate({**counts, "detail": mark(REPEATS), "unanswered": []})
            plain = ending.model_copy(update={"detail": None}).finding
            return plain if plain == recorded.get("finding") else ending.finding
        return None
    finding = output.get("finding")
    return None if finding is None else str(finding)
