"""Change the significance of a step from the form on its page."""

from dataclasses import dataclass

from django.http import QueryDict

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.annotations.significance.commands import UNCHANGED, change
from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSignificance:
    """The submitted values, to show them again, and why they were refused."""

    significance: str
    importance: str
    why: str
    status: int


def change_significance(
    session: Session, step: int, said: QueryDict, *, by: str
) -> RefusedSignificance | None:
    """Change the significance of the step; return None, or what was refused. Raises `NotFound` for a missing step, `Conflict` for a deleted one."""
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
        return RefusedSignificance(
            significance=significance, importance=importance, why=why.message, status=why.status
        )
    return None


def _stands(said: QueryDict, name: str) -> bool:
    """Return whether a field is unchanged, so that another person's change in the meantime is kept."""
    return name not in said or str(said[name]).strip() == said.get(f"{name}_was", "\0")


def _importance(written: str) -> float | None:
    if not written:
        return None
    try:
        return float(written)
    except ValueError as why:
        raise InvalidInput(
            f"{written[:40]!r} is not an importance. Enter a number from 0 to 1, for example 0.9.",
            code="invalid_field",
            field="importance",
        ) from why
