"""Words and numbers as people read them. Pure."""

from collections.abc import Sequence
from typing import Any

from timemachine.cli.times import local
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted, spaced, times

_SECOND, _MINUTE = 1_000, 60_000
_FIRST_LETTER = 0x20
_CONTROLS = [number for number in (*range(_FIRST_LETTER), *range(0x7F, 0xA0)) if chr(number) not in "\n\t"]
_TURNING = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SHOWN = {number: chr(0x2400 + number) if number < _FIRST_LETTER else "\ufffd" for number in _CONTROLS} | {
    number: f"⟨U+{number:04X}⟩" for number in _TURNING
}


def visible(text: str) -> str:
    """The text with its control characters as pictures (␛), and what turns the direction of reading by its number: a recorded text must not move the cursor, recolour or stand in another order."""
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """The text on one line, its control characters visible."""
    return visible(" ".join(text.split()))


def bar(done: int, total: int) -> str:
    """How much of a whole is done, before the whole: `[####................] 40 of`."""
    full = 20 * done // total if total else 20
    return f"[{'#' * full}{'.' * (20 - full)}] {done:,} of"


def listed(counts: dict[str, int]) -> str:
    """Counts of things by their names in one line: `9 messages, 1 tool call`."""
    return ", ".join(counted(count, spaced(name)) for name, count in counts.items() if count)


def listed_words(counts: dict[str, int]) -> str:
    """Counts by the words that they count: `9 identical, numbers differ in 2`."""
    return ", ".join(times(count, name) for name, count in counts.items() if count)


def shortened(text: str, most: int = 60) -> str:
    """The text on one line, cut to so many characters with an ellipsis."""
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def duration(milliseconds: float | None) -> str:
    """0.075 ms, 12 ms, 1.9 s, 2 min 5 s; "not recorded" where there is none."""
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


def tokens(usage: dict[str, Any] | None) -> str:
    """What a model read and wrote: `1,200 in, 45 out`; "unknown" where nobody counted."""
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
    """A score with four digits behind the point."""
    return UNKNOWN if value is None else f"{value:.4f}"


def steps(sequences: Sequence[int]) -> str:
    """Steps by their numbers: `step 4`, `steps 4 to 9`; they stand in their order."""
    first, last = sequences[0], sequences[-1]
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def frame_name(frame: int | str | None, *, rank: int | None = None) -> str:
    """A frame of ours by its number (`#3`), another tool's by what it called it, else by the rank that it had."""
    if frame is None:
        return f"rank {rank}"
    return f"#{frame}" if isinstance(frame, int) else frame


def ending(cut_by: str | None) -> str:
    """Which rule ended a list of hits."""
    if cut_by is None:
        return f"the rule that cut is {NOT_RECORDED}"
    return "all that were found" if cut_by == "all" else f"cut by {spaced(cut_by)}"


def tombstone(deleted: dict[str, Any]) -> str:
    """When, by whom and why a turn was deleted."""
    return f"deleted {local(deleted['at'])} by {one_line(deleted['by'])}: {one_line(deleted['reason'])}"
