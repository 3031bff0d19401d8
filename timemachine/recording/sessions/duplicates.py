"""Actions that come again under an id that the session has: whether they are the ones that it has."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.content import content_of
from timemachine.recording.sessions import action_rows
from timemachine.recording.sessions.environments import as_kept
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft

_PRICED: Final = ("cost_usd", "prices", "saved_usd")
"""What is computed where the sender does not say it."""
_MEASURED: Final = ("started_at", "duration_ms")
"""When it was and how long it took is what was measured that time, not what it is."""
_OF_HIT: Final = (*action_rows.OF_HIT, "sha256")


def repeated(session: Session, drafts: Sequence[ActionDraft], sequences: Sequence[int]) -> dict[int, int]:
    """The places of those that were there already when the session was read, or stood before in the same request; the sequence of each."""
    last, found = session.last_sequence, {}
    for place, (draft, sequence) in enumerate(zip(drafts, sequences, strict=True)):
        if draft.id is not None and sequence <= last:
            found[place] = sequence
        last = max(last, sequence)
    return found


def differing(session: Session, drafts: Sequence[ActionDraft], again: Mapping[int, int]) -> list[int]:
    """The places of those that say something else than the action of their id, which stays as it is. One query, none where there are none,

    and one more where passages were found.
    """
    if not again:
        return []
    there = Action.objects.filter(session=session, sequence__in=set(again.values()))
    columns = ("id", "sequence", *action_rows.SAID, "input__sha256", "output__sha256")
    told = {row.pop("sequence"): row for row in there.values(*columns)}
    hits = _hits(row["id"] for row in told.values() if row["retrieval"] is not None)
    known = {at: row | {"hits": hits.get(row.pop("id"), [])} for at, row in told.items()}
    return [place for place, at in again.items() if not _is_same(as_kept(drafts[place]), known.get(at))]


def _is_same(draft: ActionDraft, row: dict[str, Any] | None) -> bool:
    if row is None:
        return False
    said = action_rows.said(draft) | {
        "input__sha256": _sha256(draft.input),
        "output__sha256": _sha256(draft.output),
        "hits": [_hit(each) for each in (draft.retrieval.hits if draft.retrieval else ())],
    }
    unsaid = {name for name in _PRICED if said[name] is None}
    return all(_exact(said[name]) == _exact(row[name]) for name in said.keys() - unsaid - {*_MEASURED})


def _hits(action_ids: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
    """The passages that were found, by their action."""
    found: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    if ids := list(action_ids):
        for row in Hit.objects.filter(action__in=ids).order_by("rank").values("action_id", *_OF_HIT):
            found[row.pop("action_id")].append(row)
    return found


def _hit(hit: HitDraft) -> dict[str, Any]:
    told = {name: getattr(hit, name) for name in _OF_HIT}
    return told if hit.text is None else told | {"sha256": _sha256(hit.text)}


def _exact(value: Any) -> Any:
    """The value with its numbers as decimals: the database writes `1e30` as a whole number."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return Decimal(repr(value))
    if isinstance(value, list | tuple):
        return [_exact(each) for each in value]
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    return value


def _sha256(value: Any) -> str | None:
    return None if value is None else content_of(value).sha256
