"""Saying at a step of the timeline how much it matters: what the form sent, done or refused."""

from dataclasses import dataclass

from django.http import QueryDict

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.annotations.significance.commands import UNCHANGED, change
from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWeight:
    """What was written in the form, for the form to show it again, and why it was refused."""

    significance: str
    importance: str
    why: str
    status: int


def weigh(session: Session, step: int, said: QueryDict, *, by: str) -> RefusedWeight | None:
    """Say how much the step matters; None where that is done. Raises `NotFound` for a step that there is not, `Conflict` for a deleted one."""
    significance, importance = said.get("significance", "").strip(), said.get("importance", "").strip()
    try:
        change(
            session,
            step,
            by=by,
            significance=UNCHANGED if _stands(said, "significance") else significance or None,
            importance=UNCHANGED if _stands(said, "importance") else _importance(importance),
        )
    except InvalidInput as why:
        return RefusedWeight(
            significance=significance, importance=importance, why=why.message, status=why.status
        )
    return None


def _stands(said: QueryDict, name: str) -> bool:
    """Whether a field was left as the form showed it, so that somebody else's change meanwhile stays."""
    return name not in said or str(said[name]).strip() == said.get(f"{name}_was", "\0")


def _importance(written: str) -> float | None:
    if not written:
        return None
    try:
        return float(written)
    except ValueError as why:
        raise InvalidInput(
            f"{written[:40]!r} is no importance; write a number from 0 to 1, as 0.9.",
            code="invalid_field",
            field="importance",
        ) from why
