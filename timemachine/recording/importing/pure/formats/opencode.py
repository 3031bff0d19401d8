"""Sessions of OpenCode, as `opencode export` prints them: `{info, messages: [{info, parts}]}`.

The forms of messages and parts are those of
https://github.com/sst/opencode/blob/dev/packages/opencode/src/session/message-v2.ts. The report counts messages, and
the rest of the file, which becomes an `event`.

A fork is a new session with the messages of another one, up to some point. It names no origin, and its messages have new
ids, but the times of the others. So the ids of steps are made from times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import (
    Ids,
    id_with_digest,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts, written
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    cost_at_their_price,
    count_at,
    list_at,
    milliseconds_between,
    model_name,
    moment_after_1970,
    number,
    record_at,
    short_text_at,
    sum_of,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "opencode"
TITLE: Final = "OpenCode session (JSON from opencode export)"
_AGENT: Final = "opencode"
_OF_THE_FILES: Final = frozenset({"step-start", "step-finish", "snapshot", "patch"})
"""Parts that are in the source of their message only."""


def recognises(opening: Opening) -> bool:
    """Return whether it has a session and messages with parts."""
    return isinstance(opening.fields.get("info"), dict) and any(
        isinstance(each, dict) and isinstance(each.get("info"), dict) and isinstance(each.get("parts"), list)
        for each in list_at(opening.fields, "messages")
    )


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if it has no messages."""
    found = reader.json_object()
    if not list_at(found, "messages"):
        raise reader.refusal("it has no `messages`.")
    about = record_at(found, "info")
    ids = Ids()
    rest = {name: value for name, value in found.items() if name != "messages"}
    reader.use()
    name = ids.claim(f"session-{short_text_at(about, 'id')}")
    actions = [system_event("session", name, rest, rest)]
    for message in list_at(found, "messages"):
        if reader.takes(message, "a message"):
            actions += _message_actions(message, ids)
    session = session_draft(
        reader.key(short_text_at(about, "id"), found),
        actions,
        name=text_at(about, "title"),
        agent=_AGENT,
        started_at=_at(record_at(about, "time"), "created"),
        ended_at=_at(record_at(about, "time"), "updated"),
        metadata={
            name: text_at(about, name) for name in ("version", "directory", "projectID", "parentID", "slug")
        },
        forked_from=short_text_at(about, "parentID"),
    )
    return reader.parsed([replace(session, ids_are_global=True)])


def _at(times: JsonObject, name: str) -> Any:
    return moment_after_1970(times.get(name), seconds_each=0.001)


def _name(about: JsonObject) -> str | None:
    """Return the role and the time of a message, which it keeps if a fork copies it; without a time its id, which is then
    another one."""
    created = number(record_at(about, "time").get("created"))
    if created is None:
        return short_text_at(about, "id")
    return f"{short_text_at(about, 'role') or 'message'}-{int(created)}"


def _message_actions(message: JsonObject, ids: Ids) -> list[ActionDraft]:
    about = record_at(message, "info")
    times = record_at(about, "time")
    base = ActionDraft(
        kind="message",
        id=ids.claim(_name(about) or id_with_digest("message", message)),
        started_at=_at(times, "created"),
        source=message,
    )
    parts = [each for each in list_at(message, "parts") if isinstance(each, dict)]
    if about.get("role") != "assistant":
        is_user = about.get("role") == "user"
        said = replace(speaker("user", base), role="user" if is_user else None)
        return turn_or_parts(said, _parts(said, parts), ids)
    stem = replace(speaker("agent", base), agent=short_text_at(about, "agent", "mode") or _AGENT)
    tools = [each for each in parts if each.get("type") == "tool"]
    failure = record_at(about, "error")
    model = model_name(short_text_at(about, "modelID"), short_text_at(about, "providerID"))
    usage = _usage(about, parts)
    call = replace(
        stem,
        kind="llm_call",
        model=model,
        usage=usage,
        cost_usd=cost_at_their_price(about.get("cost"), usage, model),
        # while tools run, the message is not complete
        duration_ms=None if tools else milliseconds_between(stem.started_at, _at(times, "completed")),
        output=written(
            content="\n".join(text for each in parts if (text := _text(each, "text"))),
            tool_calls=[
                {
                    "id": each.get("callID"),
                    "name": each.get("tool"),
                    "input": record_at(each, "state").get("input"),
                }
                for each in tools
            ],
        ),
        error_type=(short_text_at(failure, "name") or "error") if failure else None,
        error_message=text_at(record_at(failure, "data"), "message") or text_at(failure, "message"),
    )
    return turn_or_parts(call, _parts(stem, parts), ids)


def _text(part: JsonObject, kind: str) -> str | None:
    return text_at(part, "text") if part.get("type") == kind else None


def _parts(stem: ActionDraft, parts: Sequence[JsonObject]) -> Iterator[ActionDraft]:
    for part in parts:
        kind = short_text_at(part, "type") or "unknown"
        base = replace(stem, started_at=_at(record_at(part, "time"), "start") or stem.started_at)
        if kind == "tool":
            yield from _tool(base, part)
        elif kind == "reasoning":
            yield thought(base, text_at(part, "text"))
        elif kind == "text":
            tags = (*base.tags, "meta") if part.get("synthetic") is True else base.tags
            yield replace(base, tags=tags, output=part.get("text"))
        elif kind == "file":
            yield replace(base, output=part)
        elif kind not in _OF_THE_FILES:
            yield _event(base, kind, part)


def _event(base: ActionDraft, kind: str, part: JsonObject) -> ActionDraft:
    """Return what happened between messages; a `retry` has the error of the attempt."""
    failure = record_at(part, "error")
    return replace(
        base,
        kind="event",
        layer="sys",
        role="system",
        name=kind[:80],
        started_at=_at(record_at(part, "time"), "created") or base.started_at,
        output=part,
        error_type=(short_text_at(failure, "name") or "error") if failure else None,
        error_message=text_at(record_at(failure, "data"), "message"),
    )


def _tool(base: ActionDraft, part: JsonObject) -> Iterator[ActionDraft]:
    state = record_at(part, "state")
    times = record_at(state, "time")
    tool, call_id = short_text_at(part, "tool"), short_text_at(part, "callID")
    base = replace(base, started_at=_at(times, "start") or base.started_at)
    yield tool_call(base, tool=tool, call_id=call_id, given=state.get("input"))
    failed = state.get("status") == "error"
    if failed or "output" in state:
        yield tool_result(
            replace(base, duration_ms=milliseconds_between(_at(times, "start"), _at(times, "end"))),
            tool=tool,
            call_id=call_id,
            output=state.get("output"),
            error_type="tool_error" if failed else None,
            error_message=text_at(state, "error") if failed else None,
        )


def _usage(about: JsonObject, parts: Sequence[JsonObject]) -> Usage | None:
    """Return the tokens of the message. If it took several requests, it states only those of the last; the sum of
    its `step-finish` parts is that of all."""
    finished = [each for each in parts if each.get("type") == "step-finish" and record_at(each, "tokens")]
    counts = [_counted(record_at(each, "tokens")) for each in finished]
    if len(counts) <= 1:
        counts = [_counted(record_at(about, "tokens"))]
    found = sum_of(counts)
    return None if found == Usage() else found


def _counted(tokens: JsonObject) -> Usage:
    """Return the tokens. `input` leaves out those of the cache. `output` leaves out reasoning in later versions, which
    the total shows; without a total, it includes reasoning if it can."""
    cache = record_at(tokens, "cache")
    fresh, output = count_at(tokens, "input"), count_at(tokens, "output")
    reasoning = count_at(tokens, "reasoning")
    cached, stored, total = count_at(cache, "read"), count_at(cache, "write"), count_at(tokens, "total")
    all_read = None if fresh is None else fresh + (cached or 0) + (stored or 0)
    if output is not None and reasoning:
        known = (all_read or 0) + output
        apart = output < reasoning if total is None else total >= known + reasoning
        output = output + reasoning if apart else output
    return Usage(
        input_tokens=all_read,
        output_tokens=output,
        total_tokens=total,
        cached_tokens=cached,
        cache_write_tokens=stored,
        reasoning_tokens=reasoning,
    )
