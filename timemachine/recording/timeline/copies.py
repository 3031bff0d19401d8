"""Copied steps: context that happened in an earlier session or file, and which step it was there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What a step was copied from. `key` names its session, None if unknown; `session` is None if it is not here.

    `sequence` is the step in that session, None if it is unknown or not here.
    """

    key: str | None
    session: Session | None
    sequence: int | None


def original_of(session: Session, copied_from: Mapping[str, Any] | None) -> Original | None:
    """Return what a step of the session was copied from; None for a step that happened in it. At most two queries."""
    if copied_from is None:
        return None
    key, step = copied_from["session"], copied_from["step"]
    found = None if key is None else Session.objects.of(session.project).filter(key=key).first()
    if found is None or step is None:
        return Original(key=key, session=found, sequence=None)
    named = {"sequence": step} if isinstance(step, int) else {"client_id": step}
    sequence = found.actions.filter(**named).values_list("sequence", flat=True).first()
    return Original(key=key, session=found, sequence=sequence)
