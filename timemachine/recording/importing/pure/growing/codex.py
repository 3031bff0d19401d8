"""What of a growing Codex rollout is settled, and what later lines need."""

from collections.abc import Sequence
from typing import Final

from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.codex.items import CALLS, by_model
from timemachine.recording.importing.pure.formats.codex.repeats import repeats_in, request_in
from timemachine.recording.importing.pure.formats.codex.tokens import RECORD
from timemachine.recording.importing.pure.values import short_text_at

_ENDS: Final = frozenset({"task_complete", "turn_complete", "turn_aborted"})
_LEADING: Final = frozenset({"event_msg", "turn_context", RECORD})


def held_from(lines: Sequence[Line], idle: float) -> int:  # noqa: ARG001  # a call has no mark of its end
    """Return the index of the first line that may still change: where the latest call begins, or after the end of its turn what
    begins the next one. Nothing is settled before a person or the model said something: forks and names are known then."""
    usable = [at for at, line in enumerate(lines) if _is_usable(line)]
    items = [at for at in usable if by_model(lines[at].record)]
    if not items and not any(request_in(lines[at].record["payload"]) for at in usable):
        return 0
    last_item = items[-1] if items else -1
    end = max((at for at in usable if at > last_item and _event(lines[at]) in _ENDS), default=None)
    if end is not None:
        return end + 1
    context = next((at for at in usable if at > last_item and _kind(lines[at]) == "turn_context"), None)
    if context is not None or not items:
        return len(lines) if context is None else context
    return _first_of_call(lines, usable, last_item)


def _first_of_call(lines: Sequence[Line], usable: Sequence[int], last: int) -> int:
    """Return the index of the first item of the call that has this item. Calls end where something else comes in between."""
    first = last
    for at in reversed(usable):
        if at > last or _kind(lines[at]) == "event_msg":
            continue
        if not by_model(lines[at].record):
            break
        first = at
    return first


def _is_usable(line: Line) -> bool:
    return isinstance(line.record.get("type"), str) and isinstance(line.record.get("payload"), dict)


def _kind(line: Line) -> str:
    return str(line.record["type"])


def _event(line: Line) -> str | None:
    """Return the type of an event."""
    return short_text_at(line.record["payload"], "type") if _kind(line) == "event_msg" else None


def needed(lines: Sequence[Line]) -> set[int]:
    """Return the indexes of the lines about the session and its turn, of the latest call, of calls that wait for results, and of
    the tokens so far."""
    usable = [at for at, line in enumerate(lines) if _is_usable(line)]
    kept = {at for at in usable if _kind(lines[at]) == "session_meta"}
    for is_so in (_is_context, _is_setting, _is_count):
        kept |= set([at for at in usable if is_so(lines[at])][-1:])
    for is_so in (_has_tokens, _is_record):  # whether tokens come before or after the items of a call
        kept |= set([at for at in usable if is_so(lines[at])][:1])
    kept |= _latest_call(lines, usable) | _waiting(lines, usable)
    return kept | _repeated(lines, usable, kept)


def _is_context(line: Line) -> bool:
    return _kind(line) == "turn_context"


def _is_setting(line: Line) -> bool:
    return bool(line.record["payload"].get("type") == "thread_settings_applied")


def _is_count(line: Line) -> bool:
    return _event(line) == "token_count"


def _is_record(line: Line) -> bool:
    return _kind(line) == RECORD


def _has_tokens(line: Line) -> bool:
    return _is_count(line) or by_model(line.record)


def _latest_call(lines: Sequence[Line], usable: Sequence[int]) -> set[int]:
    """Return the latest call, with the events and the turn before it, and everything after it."""
    last = next((at for at in reversed(usable) if by_model(lines[at].record)), None)
    if last is None:
        return set(usable)
    begins = _first_of_call(lines, usable, last)
    for at in reversed([each for each in usable if each < begins]):
        if _kind(lines[at]) not in _LEADING:
            break
        begins = at
    return {at for at in usable if at >= begins}


def _waiting(lines: Sequence[Line], usable: Sequence[int]) -> set[int]:
    waiting: dict[str, int] = {}
    for at in usable:
        payload = lines[at].record["payload"]
        call = short_text_at(payload, "call_id", "id")
        if call is None or _kind(lines[at]) != "response_item":
            continue
        if payload.get("type") in CALLS:
            waiting[call] = at
        else:
            waiting.pop(call, None)
    return set(waiting.values())


def _repeated(lines: Sequence[Line], usable: Sequence[int], kept: set[int]) -> set[int]:
    """Return the events that repeat items which are kept, and the items that such events repeat."""
    places = {lines[at].number: at for at in usable}
    found = repeats_in([lines[at] for at in usable])
    pairs = [(places[event], places[item]) for event, item in found.items()]
    return {each for pair in pairs if kept & set(pair) for each in pair}
