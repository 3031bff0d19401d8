"""Text, numbers and times for people, and expiry times that people write. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from timemachine.core.pure.clock import parse_typed_time, written
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted, spaced
from timemachine.core.pure.verdicts import times

if TYPE_CHECKING:
    from timemachine.client.generated import types

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,6})([mhdw])")
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


def file_progress(name: str, found: types.FileImportOut | types.IntakeOut, noun: str) -> str:
    """The progress of the work on a file in one line."""
    if found["total"] is None:
        return f"{name}: {found['status']}"
    return f"{name}: {bar(found['done'], found['total'])} {counted(found['total'], noun)}"


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


def local(text: str | None, zone: tzinfo | None = None, *, seconds: bool = False) -> str:
    """An RFC 3339 time in the zone (default: this machine's), followed by UTC; empty for None."""
    clock = "%H:%M:%S" if seconds else "%H:%M"
    if text is None:
        return ""
    moment = datetime.fromisoformat(text)
    here, there = moment.astimezone(zone), moment.astimezone(UTC)
    if here.utcoffset() == timedelta(0):
        return f"{there:%Y-%m-%d {clock}} UTC"
    same_day = here.date() == there.date()
    return f"{here:%Y-%m-%d {clock}} ({there:{clock if same_day else f'%Y-%m-%d {clock}'}} UTC)"


def expiry_time(text: str, now: datetime) -> str:
    """The RFC 3339 time of a span from now (`30m`, `12h`, `14d`, `2w`), a time or a date. Raises `InvalidInput`."""
    span = _SPAN.fullmatch(text)
    if span is None:
        return written(_time(text)) or text
    try:
        return written(now + timedelta(**{_UNITS[span[2]]: int(span[1])})) or text
    except OverflowError as why:
        raise _not_a_time(text) from why


def _time(text: str) -> datetime:
    try:
        return parse_typed_time(text)
    except InvalidInput as why:
        raise _not_a_time(text) from why


def _not_a_time(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:60]!r} is not an expiry time. Use 30m, 12h, 14d or 2w from now, or a time like 2026-12-04T09:00:00Z.",
        code="not_a_time",
    )
