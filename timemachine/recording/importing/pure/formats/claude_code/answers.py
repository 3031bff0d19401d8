"""What the lines of one answer add: blocks, and tokens, which they count while it is written."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from timemachine.core.pure.content import canonical_json
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    record_at,
    usage_of,
    with_cached_input,
)
from timemachine.recording.sessions.pure.draft import Usage


def added_blocks(group: Sequence[Line]) -> dict[int, list[tuple[int, Any]]]:
    """Skip blocks that an earlier line of the answer has: some versions repeat the complete answer."""
    seen: set[bytes] = set()
    added = {}
    for line in group:
        blocks = [(place, block, canonical_json(block)) for place, block in enumerate(_blocks(line), start=1)]
        added[line.number] = [(place, block) for place, block, written in blocks if written not in seen]
        seen.update(written for _, _, written in blocks)
    return added


def _blocks(line: Line) -> list[Any]:
    message = record_at(line.record, "message")
    if isinstance(message.get("content"), str):
        return [{"type": "text", "text": message["content"]}]
    return list_at(message, "content")


def final_usage(messages: Sequence[JsonObject]) -> JsonObject | None:
    """Return the usage with the most output tokens, the later of two equal ones."""
    recorded = [found for message in messages if isinstance(found := message.get("usage"), dict)]
    return max(reversed(recorded), key=lambda usage: count_at(usage, "output_tokens") or 0, default=None)


def tokens_of(recorded: JsonObject) -> Usage:
    """Return the tokens. Anthropic does not include those read from or written to the cache in `input_tokens`; we do."""
    stated = usage_of(
        recorded,
        read=["input_tokens"],
        written=["output_tokens"],
        total=(),
        cached=["cache_read_input_tokens"],
        cache_write=["cache_creation_input_tokens"],
    )
    found = with_cached_input(stated) or Usage()
    all_read, output = found.input_tokens, found.output_tokens
    return replace(
        found,
        total_tokens=None if all_read is None or output is None else all_read + output,
        reasoning_tokens=count_at(record_at(recorded, "output_tokens_details"), "thinking_tokens"),
    )
