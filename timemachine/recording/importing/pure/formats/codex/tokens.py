"""What each `token_count` or `token_usage_record` line of a Codex rollout tells about one call.

In a `token_count`, `last_token_usage` is what the latest call used, `total_token_usage` the sum so far. Codex also writes
such a line when no call was made: to repeat the latest one, and at the beginning of a fork or sub-agent, with what the
parent had used. Since August 2026 it writes a `token_usage_record` for each response; from the first of these on, a
`token_count` only repeats them. Source: `TokenUsageRecord` in codex-rs/protocol/src/protocol.rs of openai/codex.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.codex.items import by_model
from timemachine.recording.importing.pure.values import count_at, record_at

RECORD: Final = "token_usage_record"


def usages_of(lines: Sequence[Line], fork: Sequence[Line]) -> dict[int, JsonObject]:
    """Return, by line number, the tokens of each line that tells what a call used.

    `fork` are the own lines of a fork or sub-agent, or none. A line without `last_token_usage` tells the difference to
    the sum before it.
    """
    found = {}
    so_far: JsonObject = {}
    early, is_late = _before_first_item(fork), _comes_after_items(fork)
    has_records = False
    for line in lines:
        if line.record["type"] == RECORD:
            has_records = True
            if any((used := record_at(line.record["payload"], "usage")).values()):
                found[line.number] = used
        if has_records or not _is_count(line):
            continue
        total = record_at(line.record, "payload", "info", "total_token_usage")
        used = record_at(line.record, "payload", "info", "last_token_usage") or _difference(total, so_far)
        is_repeated = bool(total) and total == so_far
        is_inherited = line.number in early and (is_late or (bool(total) and total != used))
        if any(used.values()) and not is_repeated and not is_inherited:
            found[line.number] = used
        so_far = total or so_far
    return found


def _is_count(line: Line) -> bool:
    return bool(line.record["type"] == "event_msg" and line.record["payload"].get("type") == "token_count")


def _before_first_item(lines: Sequence[Line]) -> frozenset[int]:
    """Return the numbers of the lines before the first item of a model. There, a fork tells what its parent had used."""
    early = takewhile(lambda line: not by_model(line.record), lines)
    return frozenset(line.number for line in early)


def _comes_after_items(lines: Sequence[Line]) -> bool:
    """Return whether counts come after the items of their call, as in every version that writes forks; 0.40 put them before."""
    last = next((line for line in reversed(lines) if _is_count(line) or by_model(line.record)), None)
    return last is not None and _is_count(last)


def _difference(total: JsonObject, so_far: JsonObject) -> JsonObject:
    """Return the counts of a sum less those of the sum before it. A smaller sum was counted from zero."""
    counts = {name: count for name in total if (count := count_at(total, name)) is not None}
    before = {name: count_at(so_far, name) or 0 for name in counts}
    started_over = any(count < before[name] for name, count in counts.items())
    return counts if started_over else {name: count - before[name] for name, count in counts.items()}


def calls_without_items(lines: Sequence[Line], usages: Mapping[int, JsonObject]) -> frozenset[int]:
    """Return the numbers of the lines that tell the tokens of a call of which there is no item, such as a compaction.

    Where counts come after the items of their call, that is each count for which no item is left.
    """
    told = (by_model(line.record) for line in lines if by_model(line.record) or line.number in usages)
    found = set()
    is_open = is_waiting = False
    for line in lines if next(told, False) else ():
        if by_model(line.record):
            is_waiting = is_waiting or not is_open
            is_open = True
        elif (is_record := line.record["type"] == RECORD) or _is_count(line):
            if line.number in usages and not is_waiting:
                found.add(line.number)
            is_waiting = is_waiting and not is_record and line.number not in usages
            is_open = is_open and not is_record
        elif line.record["type"] != "event_msg":
            is_open = False
            is_waiting = is_waiting and line.record["type"] != "turn_context"
    return frozenset(found)
