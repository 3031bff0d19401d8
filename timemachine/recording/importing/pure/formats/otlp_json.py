"""OpenTelemetry traces and logs as a collector's file exporter writes them: OTLP JSON, one request per line, or one document.

The report counts spans and log records. A span belongs to the session that it names, else to the first that another span of its trace
names, else to a session for its trace. `/v1/traces` does the same, but here all spans are known before the first one
is placed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from timemachine.core.pure.content import content_of
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import session_draft
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.otel.pure import session_identity
from timemachine.recording.otel.pure.decoding import Refused, of_document
from timemachine.recording.otel.pure.drafts import draft_of, resent_event
from timemachine.recording.otel.pure.log_decoding import logs_of_document
from timemachine.recording.otel.pure.span import Span
from timemachine.recording.otel.pure.sums import counted_once
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import check_action, key_of

NAME: Final = "otlp_json"
TITLE: Final = (
    "OpenTelemetry traces or logs as JSON (object with resourceSpans or resourceLogs, or one per line)"
)


def recognises(opening: Opening) -> bool:
    """Return whether the document, or one of the first lines, has `resourceSpans` or `resourceLogs`."""
    return any(map(_has_steps, (opening.fields, *opening.records)))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions that the spans name. Raises `InvalidInput` (`unknown_format`) if there are none."""
    records = reader.records(_has_steps, "It has no `resourceSpans` or `resourceLogs`.")
    return sessions_of_spans(
        reader,
        (span for record in records for read in (of_document, logs_of_document) for span in read(record)),
    )


def sessions_of_spans(reader: Reader, spans: Iterable[Span | Refused]) -> ParsedFile:
    """Return the sessions that spans of any encoding name. Raises `InvalidInput` (`unknown_format`) if there are none."""
    found: list[tuple[Span, ActionDraft]] = []
    for span in spans:
        if isinstance(span, Refused):
            reader.skip(span.reason)
            continue
        draft = draft_of(span)
        try:
            check_action(draft)
        except InvalidInput as why:
            reader.skip(why.message)
        else:
            reader.use()
            found.append((span, draft))
    if not found:
        raise reader.refusal("it has no spans that can be recorded and no log records from an agent.")
    once = counted_once([draft for _, draft in found])
    found = [(span, draft) for (span, _), draft in zip(found, once, strict=True)]
    found.sort(key=lambda each: (*each[0].order, each[0].id))
    sessions = _sessions_of_traces([span for span, _ in found])
    groups: dict[str, list[tuple[Span, ActionDraft]]] = {}
    for span, draft in found:
        groups.setdefault(_session_named(span) or sessions[span.trace], []).append((span, draft))
    traces: dict[str, list[str]] = {}
    for trace, key in sessions.items():
        traces.setdefault(key, []).append(trace)
    return reader.parsed(
        replace(_session(key, group, reader), traces=tuple(traces.get(key, ())))
        for key, group in groups.items()
    )


def _has_steps(record: JsonObject) -> bool:
    return any(isinstance(record.get(name), list) for name in ("resourceSpans", "resourceLogs"))


def _session_named(span: Span) -> str | None:
    name = session_identity.session_named(span)
    return None if name is None else key_of(name, NAME)


def _sessions_of_traces(spans: Sequence[Span]) -> dict[str, str]:
    """Return the key of the session of each trace's unnamed spans: the first that is named, else the trace's id."""
    first: dict[str, str] = {}
    for span in spans:
        if (named := _session_named(span)) is not None:
            first.setdefault(span.trace, named)
    return {span.trace: first.get(span.trace, span.trace) for span in spans}


def _session(key: str, group: Sequence[tuple[Span, ActionDraft]], reader: Reader) -> SessionDraft:
    spans = [span for span, _ in group]
    root = session_identity.root_of(spans)
    return session_draft(
        key,
        _without_repeats([draft for _, draft in group], reader),
        name=(root.name if root else None) or session_identity.service_of(spans),
        agent=session_identity.agent_named(spans),
        user=session_identity.user_named(spans),
        metadata={"service": session_identity.service_of(spans)},
    )


def _without_repeats(drafts: Sequence[ActionDraft], reader: Reader) -> list[ActionDraft]:
    """Return the drafts without repeats: an identical span is merged, and a span with the same id but other content
    becomes an event.

    Parents stay as they are: another file can have them.
    """
    by_id: dict[str | None, list[ActionDraft]] = {}
    sha256: dict[str | None, str] = {}
    for draft in drafts:
        source = content_of(draft.source).sha256
        placed = draft if sha256.setdefault(draft.id, source) == source else resent_event(draft, source)
        by_id.setdefault(placed.id, []).append(placed)
    twice = sum(len(same) - 1 for same in by_id.values())
    if twice:
        reader.notes.append(f"{twice:,} spans were repeated unchanged. They are stored with the first one.")
    return [
        replace(
            same[0],
            source=same[0].source if len(same) == 1 else [each.source for each in same],
        )
        for same in by_id.values()
    ]
