"""Actions that come again under an id that the session has: whether they are the ones that it has."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from timemachine.base.content import content_of
from timemachine.recording.draft import ActionDraft
from timemachine.recording.environments import as_kept
from timemachine.recording.models import Action, Session

_COMPARED: Final = ("kind", "role", "name", "tool", "call_id", "model", "error_type", "error_message")


def repeated(session: Session, drafts: Sequence[ActionDraft], sequences: Sequence[int]) -> dict[int, int]:
    """The places of those that were there already when the session was read, or stood before in the same request; the sequence of each."""
    last, found = session.last_sequence, {}
    for place, (draft, sequence) in enumerate(zip(drafts, sequences, strict=True)):
        if draft.id is not None and sequence <= last:
            found[place] = sequence
        last = max(last, sequence)
    return found


def differing(session: Session, drafts: Sequence[ActionDraft], again: Mapping[int, int]) -> list[int]:
    """The places of those that say something else than the action of their id, which stays as it is. One query, none where there are none."""
    if not again:
        return []
    there = Action.objects.filter(session=session, sequence__in=set(again.values()))
    told = {
        row.pop("sequence"): row
        for row in there.values("sequence", *_COMPARED, "input__sha256", "output__sha256")
    }
    return [place for place, sequence in again.items() if _said(as_kept(drafts[place])) != told.get(sequence)]


def _said(draft: ActionDraft) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in _COMPARED} | {
        "input__sha256": _sha256(draft.input),
        "output__sha256": _sha256(draft.output),
    }


def _sha256(value: Any) -> str | None:
    return None if value is None else content_of(value).sha256
