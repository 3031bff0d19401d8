"""Terminal output: the colours and styles of ANSI escape sequences (ECMA-48 SGR) as names, and none of the others.

The 256 colours and true colours become the nearest of the sixteen, because a page has its own theme. "Conceal" is ignored: nothing
is hidden.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_SEQUENCE: Final = re.compile(
    r"\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|\x1b\[[0-9;:]*(?=…?\Z)"  # cut off
    r"|\x1b[ -/]*[0-~]"
)
_COLOURS: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_STYLES: Final = {1: "bold", 2: "faint", 3: "italic", 4: "underlined", 7: "reversed", 9: "struck"}
_ENDS: Final = {
    22: ("bold", "faint"),
    23: ("italic",),
    24: ("underlined",),
    27: ("reversed",),
    29: ("struck",),
    39: ("fg",),
    49: ("bg",),
}
_GROUNDS: Final = {
    first + colour: ground
    for first, ground in ((30, "fg"), (90, "fg"), (40, "bg"), (100, "bg"))
    for colour in range(8)
}
_EXTENDED: Final = {38: "fg", 48: "bg"}
_PALETTE: Final = 5
_TRUE: Final = 2
_GREY: Final = 232
_CUBE: Final = 16

Run = tuple[str, tuple[str, ...]]


def is_terminal(text: str) -> bool:
    """Return whether a text has escape sequences."""
    return "\x1b[" in text


def runs(text: str) -> list[Run]:
    """Return the text without its escape sequences, in runs with the names of their styles: `bold`, `fg-red`, `bg-blue`.

    A carriage return, which a terminal uses to write over a line, begins a new line: nothing is hidden.
    """
    found: list[Run] = []
    for piece, styles in _runs(text.replace("\r\n", "\n").replace("\r", "\n")):
        if found and found[-1][1] == styles:
            found[-1] = (found[-1][0] + piece, styles)
        else:
            found.append((piece, styles))
    return found


def plain(text: str) -> str:
    """Return the text without its escape sequences."""
    return "".join(piece for piece, _ in runs(text)) if is_terminal(text) else text


def _runs(text: str) -> Iterator[Run]:
    state: dict[str, str] = {}
    start = 0
    for found in _SEQUENCE.finditer(text):
        if found.start() > start:
            yield text[start : found.start()], tuple(state.values())
        start = found.end()
        if found[1] is not None:
            _apply(state, [int(each or 0) for each in re.split("[;:]", found[1][:200])])
    if start < len(text):
        yield text[start:], tuple(state.values())


def _apply(state: dict[str, str], codes: Sequence[int]) -> None:
    at = 0
    while at < len(codes):
        code = codes[at]
        if code not in _EXTENDED:
            _simple(state, code)
            at += 1
            continue
        number, at = _extended(codes, at + 1)
        if number is not None:
            _paint(state, _EXTENDED[code], number)


def _simple(state: dict[str, str], code: int) -> None:
    if code == 0:
        state.clear()
    elif code in _STYLES:
        state[_STYLES[code]] = _STYLES[code]
    elif code in _ENDS:
        for name in _ENDS[code]:
            state.pop(name, None)
    elif code in _GROUNDS:
        _paint(state, _GROUNDS[code], code % 10)


def _paint(state: dict[str, str], ground: str, number: int) -> None:
    state[ground] = f"{ground}-{_COLOURS[number]}"


def _extended(codes: Sequence[int], at: int) -> tuple[int | None, int]:
    """Return the nearest colour to one of 256 or to a true colour, and the place after it."""
    kind = codes[at] if at < len(codes) else None
    if kind == _PALETTE and at + 1 < len(codes):
        return _of_palette(codes[at + 1]), at + 2
    if kind == _TRUE and at + 3 < len(codes):
        return _nearest(codes[at + 1 : at + 4]), at + 4
    return None, len(codes)


def _of_palette(number: int) -> int:
    if number < _CUBE:
        return number % 8
    if number >= _GREY:
        return _nearest([(number - _GREY) * 10 + 8] * 3)
    cube = number - _CUBE
    return _nearest([cube // 36 * 51, cube // 6 % 6 * 51, cube % 6 * 51])


def _nearest(red_green_blue: Sequence[int]) -> int:
    """Return the colour whose parts are those that are more than half of the strongest one; dark grey is black."""
    strongest = max(red_green_blue)
    if strongest < 64:  # noqa: PLR2004
        return 0
    return sum((value * 2 > strongest) << place for place, value in enumerate(red_green_blue))
