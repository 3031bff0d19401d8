"""Text and numbers for people. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from timemachine.cli.times import local
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted, spaced, times

if TYPE_CHECKING:
    from timemachine.client.generated import types

_SECOND, _MINUTE = 1_000, 60_000
_FIRST_LETTER = 0x20
_CONTROLS = [number for number in (*range(_FIRST_LETTER), *range(0x7F, 0xA0)) if chr(number) not in "\n\t"]
_BIDIRECTIONAL = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_REPLACEMENTS = {
    number: chr(0x2400 + number) if number < _FIRST_LETTER else "\ufffd" for number in _CONTROLS
} | {number: f"⟨U+{number:04X}⟩" for number in _BIDIRECTIONAL}


def visible(text: str) -> str:
    """The text with control characters as pictures (␛) and bidirectional marks as code points.

    Recorded text must not move the cursor, change colours or reorder what is shown.
    """
    return text.translate(_REPLACEMENTS)


def one_line(text: str) -> str:
    """The text on one line, with control characters visible."""
    return visible(" ".join(text.split()))


def json_or_text(value: Any) -> str:
    """A recorded value as it is if it is a text, else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def bar(done: int, total: int, *, shown: int | None = None) -> str:
    """A progress bar up to the total, which the caller adds: `[####................] 40 of`. `shown` replaces the number."""
    full = 20 * done // total if total else 20
    return f"[{'#' * full}{'.' * (20 - full)}] {done if shown is None else shown:,} of"


def listed(counts: dict[str, int]) -> str:
    """Counts by name in one line: `9 messages, 1 tool call`."""
    return ", ".join(counted(count, spaced(name)) for name, count in counts.items() if count)


def listed_words(counts: Mapping[str, Any]) -> str:
    """Counts by verdict in one line: `9 identical, numbers differ in 2`."""
    return ", ".join(times(count, name) for name, count in counts.items() if count)


def shortened(text: str, most: int = 60) -> str:
    """The text on one line, cut to `most` characters with an ellipsis."""
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def duration(milliseconds: float | None) -> str:
    """`0.075 ms`, `12 ms`, `1.9 s`, `2 min 5 s`; "not recorded" for None."""
    if milliseconds is None:
        return NOT_RECORDED
    if milliseconds < 1:
        return f"{milliseconds:.2g} ms"
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    minutes, seconds = divmod(round(milliseconds / _SECOND), 60)
    return f"{minutes:,} min {seconds} s"


def tokens(usage: Mapping[str, Any] | None) -> str:
    """The tokens of a call: `1,200 in, 45 out`; "unknown" if they were not counted."""
    if usage is None:
        return UNKNOWN
    names = {
        "input_tokens": "in",
        "output_tokens": "out",
        "cached_tokens": "cached",
        "reasoning_tokens": "reasoning",
    }
    known = [f"{usage[name]:,} {word}" for name, word in names.items() if usage.get(name) is not None]
    return ", ".join(known) or UNKNOWN


def score(value: float | None) -> str:
    """A score with four decimals."""
    return UNKNOWN if value is None else f"{value:.4f}"


def recorded_tokens(counts: Mapping[str, Any]) -> str:
    """The input and output tokens; "not recorded" if neither is."""
    is_recorded = counts["input_tokens"] is not None or counts["output_tokens"] is not None
    return tokens(counts) if is_recorded else NOT_RECORDED


def listed_scores(scores: Mapping[str, Any]) -> str:
    """The score of each retriever in one line: `text 0.1200, semantic 0.8000`."""
    return ", ".join(f"{name} {score(value)}" for name, value in scores.items())


def steps(sequences: Sequence[int]) -> str:
    """A range of steps by number: `step 4`, `steps 4 to 9`."""
    first, last = sequences[0], sequences[-1]
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def frame_name(frame: int | str | None, *, rank: int | None = None) -> str:
    """A frame by number (`#3`), a passage of another tool by its name, else by rank."""
    if frame is None:
        return f"rank {rank}"
    return f"#{frame}" if isinstance(frame, int) else frame


def cut_off_rule(cut_by: str | None) -> str:
    """The rule that ended a list of hits."""
    if cut_by is None:
        return f"cut-off rule {NOT_RECORDED}"
    return "all matches" if cut_by == "all" else f"cut off by {spaced(cut_by)}"


def tombstone(deleted: types.TurnDeleted) -> str:
    """When, by whom and why a step was deleted."""
    return f"deleted {local(deleted['at'])} by {one_line(deleted['by'])}: {one_line(deleted['reason'])}"
