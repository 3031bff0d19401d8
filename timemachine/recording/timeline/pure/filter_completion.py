"""What somebody is typing in a filter: a field's name or one of its values, and the filter with a suggestion in its place. Pure."""

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
    "role": "user, agent …",
    "layer": "agent, tool, sys …",
    "significance": "decision, solution …",
    "took": ">2s",
    "tokens": ">=10k",
    "cost": "<0.01",
    "importance": ">0.9",
    "iteration": "3",
    "step": "100-200",
}
_FIELD: Final = re.compile(r"-?(?P<name>[A-Za-z_]+):")


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A filter and the piece of it that is being typed, from `first` up to `last`: of that field, or a field's name where it is None.

    `words` is the piece as far as the caret, without its quotation marks.
    """

    text: str
    first: int
    last: int
    field: str | None
    words: str

    def with_field(self, name: str) -> tuple[str, int]:
        """The filter with that field's name in place of the piece, and where the caret then stands: at its value."""
        return self._with(f"{name}:", "")

    def with_value(self, value: str) -> tuple[str, int]:
        """The filter with that value in place of the piece, written so that it is read as itself, and the caret behind it."""
        return self._with(quoted(value), " " if self.last == len(self.text) else "")

    def _with(self, piece: str, after: str) -> tuple[str, int]:
        text = self.text[: self.first] + piece + after + self.text[self.last :]
        return text, self.first + len(piece) + len(after)


def typed(text: str, at: int) -> Typed:
    """What is typed where the caret stands in a filter."""
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
    """The names of fields for what was typed of one: those that begin so, then those that have it inside."""
    asked = words.lower()
    yield from (name for name in HINTS if name.startswith(asked))
    yield from (name for name in HINTS if asked in name and not name.startswith(asked))


def _piece(text: str, at: int, between: str, start: int) -> tuple[int, int]:
    """Where the piece around the caret begins and ends; what stands between pieces does not in quotation marks."""
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
