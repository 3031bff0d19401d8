"""The messages of calls that were logged as events inside them, and arrived when the call was already recorded."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from timemachine.core.payloads.queries import value
from timemachine.recording.otel.pure.messages import MESSAGE_EVENTS
from timemachine.recording.sessions.models import Action, Session


def events_inside(
    session: Session, calls: Iterable[Action], through: int | None = None
) -> dict[int, list[Action]]:
    """Return the events with messages, up to a step, inside those of the calls that have none, by the number of the call."""
    without: dict[str | None, int] = {
        call.client_id: call.sequence for call in calls if call.input_id is None and call.client_id
    }
    found: defaultdict[int, list[Action]] = defaultdict(list)
    if not without:
        return found
    events = session.actions.filter(parent_id_given__in=without, name__in=MESSAGE_EVENTS, input__isnull=False)
    shown = events if through is None else events.filter(sequence__lte=through)
    for event in shown.select_related("input").order_by("started_at", "sequence"):
        found[without[event.parent_id_given]].append(event)
    return found


def messages_in(events: Iterable[Action]) -> list[Any]:
    """Return the messages of the events, one after the other."""
    inputs = [value(each.input) for each in events]
    return [message for each in inputs for message in (each if isinstance(each, list) else [each])]
