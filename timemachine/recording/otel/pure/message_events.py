"""Give calls the messages of events that were sent beside their spans, as log records.

The steps of such events are inside the step of the span. A step never changes: a call has the messages that are recorded before
or with it. Those that come later stay in their own steps, from which its request is read.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.messages import MESSAGE_EVENTS, input_of, output_of
from timemachine.recording.otel.pure.span import Span, SpanEvent
from timemachine.recording.sessions.pure.draft import ActionDraft


def lacks_messages(draft: ActionDraft) -> bool:
    """Return whether a call or the step of an agent has no input or no output."""
    can_have = draft.kind == "llm_call" or (draft.kind == "event" and draft.layer == "agent")
    return can_have and (draft.input is None or draft.output is None)


def with_messages(
    drafts: Sequence[ActionDraft], recorded: Iterable[tuple[str, Any]] = ()
) -> list[ActionDraft]:
    """Return the drafts; those that lack messages have those of the events inside them, among the drafts and recorded before.

    `recorded` are the sources of steps with events, each with the id of the step around it.
    """
    told: defaultdict[str, list[SpanEvent]] = defaultdict(list)
    new = ((str(each.parent), each.source) for each in drafts if each.name in MESSAGE_EVENTS)
    for around, source in (*recorded, *new):
        told[around] += _events(source)
    return [
        _with(each, told[str(each.id)]) if lacks_messages(each) and str(each.id) in told else each
        for each in drafts
    ]


def _with(draft: ActionDraft, events: Sequence[SpanEvent]) -> ActionDraft:
    in_time = tuple(sorted(events, key=lambda each: each.at))
    beside = Span(trace="", id="", parent=None, name="", began=0, ended=0, attributes={}, events=in_time)
    nothing = Attributes({})
    return replace(
        draft,
        input=draft.input if draft.input is not None else input_of(beside, nothing) or None,
        output=draft.output if draft.output is not None else output_of(beside, nothing) or None,
    )


def _events(source: Any) -> list[SpanEvent]:
    found = source.get("events") if isinstance(source, dict) else None
    return [
        SpanEvent(name=each["name"], at=each["at"], attributes=each["attributes"])
        for each in (found if isinstance(found, list) else [])
    ]
