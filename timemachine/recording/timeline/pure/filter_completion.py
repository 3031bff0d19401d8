"""The part of a filter that is being typed (a field's name or a value), and the filter with a suggestion in its place."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from timemachine.recording.timeline.pure.filter import ALIASES, quoted, values_of

HINTS: Final[Mapping[str, str]] = {
    "kind": "ask, find, tool_call …",
    "status": "error, ok",
    "tool": "by name, * for anything",
    "model": "by name, * for anything",
    "agent": "by name, * for anything",
    "name": "by name, * for anything",
    "tag": "one of its tags",
    "metadata": "env=prod",
    "role": "user, agent …",
    "layer": "agent, tool, sys …",
    "significance": "decision, solution …",
    "took": ">2s",
    "tokens": ">=10k",
    "cost": "<0.01, unknown",
    "importance": ">0.9",
    "iteration": "3",
    "step": "100-200",
}
PHRASE: Final = '""'
MINUS: Final = "-"
_FIELD: Final = re.compile(r"-?(?P<name>[A-Za-z_]+):")


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A filter and its part being typed, from `first` up to `last`: a value of `field`, or a field's name if that is
    None.

    `words` is the part up to the caret, without quotation marks.
    """

    text: str
    first: int
    last: int
    field: str | None
    words: str

    def with_field(self, name: str) -> tuple[str, int]:
        """Return the filter with that field's name in place, and the caret after it."""
        return self._with(f"{name}:", "")

    def with_value(self, value: str) -> tuple[str, int]:
        """Return the filter with that value in place, quoted if necessary, and the caret after it."""
        return self._with(quoted(value), " " if self.last == len(self.text) else "")

    def with_piece(self, piece: str, caret: int) -> tuple[str, int]:
        """Return the filter with a piece of text in place, and the caret `caret` characters into it."""
        text, end = self._with(piece, "")
        return text, end - len(piece) + caret

    @property
    def is_negated(self) -> bool:
        """Return whether there is a minus in front of it."""
        return self.text[: self.first].endswith("-")

    def _with(self, piece: str, after: str) -> tuple[str, int]:
        text = self.text[: self.first] + piece + after + self.text[self.last :]
        return text, self.first + len(piece) + len(after)


def typed(text: str, at: int) -> Typed:
    """Return what is being typed at the caret of a filter."""
    at = min(max(at, 0), len(text))
    first, last = _piece(text, at, "", 0)
    field = _FIELD.match(text, first, at)
    if field is None:
        first += text[first:at].startswith("-")
        return Typed(text=text, first=first, last=last, field=None, words=text[first:at].strip('"'))
    name = ALIASES.get(field["name"]) or field["name"]
    begin, end = _piece(text, at, ",", field.end())
    words = text[begin:at]
    is_open = re.sub(r"\\.", "", words).count('"') % 2
    return Typed(text=text, first=begin, last=end, field=name, words=values_of(words + '"' * is_open)[0])


def fields_like(words: str) -> Iterator[str]:
    """Yield the field names that start with what was typed, then those that contain it."""
    prefix = words.lower()
    yield from (name for name in HINTS if name.startswith(prefix))
    yield from (name for name in HINTS if prefix in name and not name.startswith(prefix))


def _piece(text: str, at: int, between: str, start: int) -> tuple[int, int]:
    """Return where the part around the caret begins and ends; separators inside quotation marks do not count."""
    first, inside, place = start, False, start
    while place < len(text):
        letter = text[place]
        if letter == "\\" and inside:
            place += 1
        elif letter == '"':
            inside = not inside
        elif not inside and (letter in between or letter.isspace()):
            if place >= at:
                return first, place
            first = place + 1
        place += 1
    return first, len(text)
