"""Turn a span into an action.

Each span is one action with the id `trace-span`. Its parent is named by the same kind of id, so children may arrive
first. The complete span is the action's source.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure import claude_code, kinds, llama_index
from timemachine.recording.otel.pure.attributes import COPIED, Attributes, cached_of, saved_of, was_recorded
from timemachine.recording.otel.pure.kinds import Kind, kind_of
from timemachine.recording.otel.pure.messages import input_of, output_of
from timemachine.recording.otel.pure.model_calls import (
    conditions_of,
    cost_of,
    model_of,
    parameters_of,
    settings_of,
    usage_of,
)
from timemachine.recording.otel.pure.passages import retrieval_of
from timemachine.recording.otel.pure.span import STATUS_ERROR, Span
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import copied_from_in

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def draft_of(span: Span) -> ActionDraft:
    """Return the action of a span."""
    attributes = Attributes(claude_code.with_common_names(span) | llama_index.common_names(span))
    kind = kind_of(span)
    error_type, error_message = _error(span, attributes)
    is_call = kind == kinds.CALL
    # other spans state the sums of their calls; `sums` decides whether these count
    is_counted = is_call or kind.kind == "event"
    is_timed = was_recorded(attributes, "duration_ms") and span.began and span.ended >= span.began
    duration_ms = (span.ended - span.began) / 1e6 if is_timed else None
    return ActionDraft(
        kind=kind.kind,
        layer=kind.layer,
        role=kind.role,
        id=action_id(span.trace, span.id),
        parent=action_id(span.trace, span.parent) if span.parent else None,
        name=span.name or None,
        agent=agent_of(attributes),
        tool=_tool(kind, span, attributes),
        call_id=attributes.text("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"),
        copied_from=copied_from_in(attributes.value(COPIED)),
        tags=_tags(attributes),
        started_at=moment(span.began) if was_recorded(attributes, "started_at") else None,
        duration_ms=duration_ms,
        input=input_of(span, attributes),
        output=output_of(span, attributes),
        error_type=error_type,
        error_message=error_message,
        model=model_of(attributes) if is_counted else None,
        parameters=_parameters(attributes, is_call=is_call) if is_counted else None,
        usage=usage_of(attributes, is_call=is_call, scope=span.scope.get("name")) if is_counted else None,
        cost_usd=cost_of(attributes) if is_counted else None,
        cached=cached_of(attributes) if is_call else None,
        saved_usd=saved_of(attributes) if is_call else None,
        retrieval=retrieval_of(attributes) if kind.kind == "find" else None,
        metadata=claude_code.request_metadata(span),
        source=span.document,
    )


def resent_event(draft: ActionDraft, sha256: str) -> ActionDraft:
    """Return an event, placed under the first action, for a span that was sent again with other content. `sha256` is
    that of its source."""
    return ActionDraft(
        kind="event",
        id=f"{draft.id}-{sha256[:12]}",
        parent=draft.id,
        name=f"{draft.name or 'span'} (sent again with different content)",
        started_at=draft.started_at,
        duration_ms=draft.duration_ms,
        source=draft.source,
    )


def action_id(trace: str, span: str) -> str:
    """Return the id of a span's action in its session."""
    return f"{trace}-{span}"


def agent_of(attributes: Attributes) -> str | None:
    """Return the agent that the span names."""
    return attributes.text(
        "gen_ai.agent.name", "agent.name", "agent_name", "gen_ai.agent.id", "ai.telemetry.functionId"
    )


def moment(nanoseconds: int) -> datetime | None:
    """Return a time of a span, cut to microseconds (its source has all digits). None for 0, which means not recorded."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000) if nanoseconds else None


def _parameters(attributes: Attributes, *, is_call: bool) -> JsonObject | None:
    if is_call:
        return parameters_of(attributes)
    return {**settings_of(attributes), **(conditions_of(attributes) or {})} or None


def _tool(kind: Kind, span: Span, attributes: Attributes) -> str | None:
    if kind != kinds.TOOL:
        return None
    return (
        attributes.text(
            "gen_ai.tool.name",
            "tool.name",
            "traceloop.entity.name",
            "tool_call.function.name",
            "ai.toolCall.name",
        )
        or span.name
        or None
    )


def _tags(attributes: Attributes) -> tuple[str, ...]:
    found = attributes.value("tag.tags", "langfuse.trace.tags")
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()


def _error(span: Span, attributes: Attributes) -> tuple[str | None, str | None]:
    """Return type and message if the span failed. An exception that did not fail the span is only in its source."""
    if (stated := claude_code.failure_of(span)) is not None:
        return stated
    if span.status != STATUS_ERROR:
        return None, None
    raised = Attributes(
        next((each.attributes for each in span.events if each.name == "exception"), span.attributes)
    )
    kind = attributes.text("error.type") or raised.text("exception.type")
    message = span.status_message or raised.text("exception.message")
    return (kind or "error"), message or None
