"""Repeated actions: compare actions whose id the session already has with what it has recorded."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.content import content_of
from timemachine.recording.sessions import action_rows
from timemachine.recording.sessions.environments import redact_checkpoint
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft

_PRICED: Final = ("cost_usd", "prices", "saved_usd")
"""Computed here if the sender does not send it."""
_MEASURED: Final = ("started_at", "duration_ms")
"""Time and duration are measurements of that attempt, not part of what the action is."""
_OF_HIT: Final = (*action_rows.OF_HIT, "sha256")


def repeated(session: Session, drafts: Sequence[ActionDraft], sequences: Sequence[int]) -> dict[int, int]:
    """Return the places of drafts that the session had before this request, or that repeat an earlier draft of it, each
    with its sequence."""
    last, found = session.last_sequence, {}
    for place, (draft, sequence) in enumerate(zip(drafts, sequences, strict=True)):
        if draft.id is not None and sequence <= last:
            found[place] = sequence
        last = max(last, sequence)
    return found


def changed_places(session: Session, drafts: Sequence[ActionDraft], repeats: Mapping[int, int]) -> list[int]:
    """Return the places of repeats that differ from the recorded action, which stays as it is.

    One query, none without repeats, and another one if passages were found.
    """
    if not repeats:
        return []
    there = Action.objects.filter(session=session, sequence__in=set(repeats.values()))
    columns = ("id", "sequence", *action_rows.SENT_COLUMNS, "input__sha256", "output__sha256")
    rows = {row.pop("sequence"): row for row in there.values(*columns)}
    hits = _hits(row["id"] for row in rows.values() if row["retrieval"] is not None)
    known = {at: row | {"hits": hits.get(row.pop("id"), [])} for at, row in rows.items()}
    return [
        place
        for place, at in repeats.items()
        if not _is_same(redact_checkpoint(drafts[place]), known.get(at))
    ]


def _is_same(draft: ActionDraft, row: action_rows.Row | None) -> bool:
    if row is None:
        return False
    sent = action_rows.sent_columns(draft) | {
        "input__sha256": _sha256(draft.input),
        "output__sha256": _sha256(draft.output),
        "hits": [_hit(each) for each in (draft.retrieval.hits if draft.retrieval else ())],
    }
    not_sent = {name for name in _PRICED if sent[name] is None}
    return all(_exact(sent[name]) == _exact(row[name]) for name in sent.keys() - not_sent - {*_MEASURED})


def _hits(action_ids: Iterable[int]) -> dict[int, list[action_rows.Row]]:
    found: defaultdict[int, list[action_rows.Row]] = defaultdict(list)
    if ids := list(action_ids):
        for row in Hit.objects.filter(action__in=ids).order_by("rank").values("action_id", *_OF_HIT):
            found[row.pop("action_id")].append(row)
    return found


def _hit(hit: HitDraft) -> action_rows.Row:
    columns = {name: getattr(hit, name) for name in _OF_HIT}
    return columns if hit.text is None else columns | {"sha256": _sha256(hit.text)}


def _exact(value: Any) -> Any:
    """Return the value with numbers as decimals: the database returns `1e30` as a whole number."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return Decimal(repr(value))
    if isinstance(value, list | tuple):
        return [_exact(each) for each in value]
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    return value


def _sha256(value: Any) -> str | None:
    return None if value is None else content_of(value).sha256
