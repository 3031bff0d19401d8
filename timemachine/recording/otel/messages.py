"""Find the messages of new calls in the events that were recorded before them, as log records."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F

from timemachine.core.payloads.stored import bytes_of
from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import TooLarge
from timemachine.recording.otel.pure.message_events import lacks_messages, with_messages
from timemachine.recording.otel.pure.messages import MESSAGE_EVENTS
from timemachine.recording.sessions import action_rows
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft

type Drafts = Mapping[UUID, Sequence[ActionDraft]]
"""Drafts by session."""


def add_messages(drafts: Drafts, *, empty: Collection[UUID] = ()) -> dict[UUID, list[ActionDraft]]:
    """Return the drafts; calls without messages have those of events inside them, unless the step would be too large.

    One query if a call lacks messages. `empty` sessions have no actions yet.
    """
    recorded = _recorded({session: some for session, some in drafts.items() if session not in empty})
    return {
        session: [
            new if new is old or _fits(new) else old
            for old, new in zip(some, with_messages(some, recorded[session]), strict=True)
        ]
        for session, some in drafts.items()
    }


def _recorded(drafts: Drafts) -> defaultdict[UUID, list[tuple[str, Any]]]:
    """Return the sources of recorded events inside the drafts, each with the id of the step around it. What was erased of
    an event does not come back: an event of which anything was is left out."""
    found: defaultdict[UUID, list[tuple[str, Any]]] = defaultdict(list)
    without = {
        session: [str(each.id) for each in some if lacks_messages(each)] for session, some in drafts.items()
    }
    names = {name for some in without.values() for name in some}
    if not names:
        return found
    there = Action.objects.filter(session__in=without, parent_id_given__in=names, name__in=MESSAGE_EVENTS)
    whole = there.exclude(session__erased_fields__sequence=F("sequence")).exclude(source=None)
    rows = whole.order_by("sequence")
    for session, around, data in rows.values_list("session", "parent_id_given", bytes_of("source")):
        found[session].append((str(around), parse_json(data)))
    return found


def _fits(draft: ActionDraft) -> bool:
    try:
        action_rows.contents_of(draft, settings.MAX_ACTION_BYTES)
    except TooLarge:
        return False
    return True
