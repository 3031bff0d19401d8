"""The beginning of a file, parsed once for all formats: at most its first megabyte."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from timemachine.core.pure.content import MAX_DEPTH, parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip, names_in
from timemachine.recording.importing.pure.contents import Contents, Line, lines_of
from timemachine.recording.importing.pure.values import list_at

LOOKED_AT: Final = 1024 * 1024
"""Bytes of a file that decide its format."""
_MOST_LINES: Final = 100
_TOKEN: Final = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([{}\[\],:])|([^\s"{}\[\],:]+))', re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The beginning of a file.

    `lines` are the objects among its first 100 lines. `document` is the JSON document as far as the first megabyte
    goes, or None. `members` are the names in a readable ZIP archive.
    """

    lines: tuple[JsonObject, ...] = ()
    document: Any = None
    members: frozenset[str] = frozenset()

    @property
    def records(self) -> tuple[JsonObject, ...]:
        """The objects of JSON lines, or of a JSON list."""
        if isinstance(self.document, list):
            return tuple(each for each in self.document[:_MOST_LINES] if isinstance(each, dict))
        return self.lines

    def records_inside(self, name: str) -> list[JsonObject]:
        """Return the objects of a JSON list, of JSON lines, and of a list with this name inside an object."""
        inside = [each for each in list_at(self.fields, name) if isinstance(each, dict)]
        return [*self.records, *self.lines, *inside]

    @property
    def fields(self) -> JsonObject:
        """The document if it is an object, else an empty dict."""
        return self.document if isinstance(self.document, dict) else {}


def opening_of(data: Contents) -> Opening:
    """Return the beginning of a file."""
    if is_zip(data):
        return Opening(members=names_in(data))
    head = data[:LOOKED_AT]
    whole = len(head) == len(data)
    written = lines_of(head if whole else head[: head.rfind(b"\n") + 1])
    lines = tuple(each.record for each in islice(written, _MOST_LINES) if isinstance(each, Line))
    document = _document(head.decode("utf-8-sig", "ignore"))
    if not lines and isinstance(document, dict):  # a single line that is longer than what is read here
        lines = (document,)
    return Opening(lines=lines, document=document)


def why_unreadable(data: Contents) -> str | None:
    """Return why a file in no known format cannot be read, as the end of a sentence, or None if it is merely something
    else.

    Raises `InvalidInput` (`unsafe_archive`) for an archive that must not be opened.
    """
    if not data[:LOOKED_AT].strip():
        return "it is empty." if len(data) <= LOOKED_AT else "its first megabyte is blank."
    if is_zip(data):
        Archive(data)
        return None
    try:
        text = data[:LOOKED_AT].decode("utf-8-sig", "strict" if len(data) <= LOOKED_AT else "ignore")
    except UnicodeDecodeError:
        return "it is not UTF-8 text."
    if text.lstrip()[:1] in _CLOSING and len(data) <= LOOKED_AT and "\n" not in text.strip():
        try:
            parse_json(text)
        except InvalidInput as why:
            return f"its JSON cannot be read: {why.message}"
    return None


def _document(text: str) -> Any:
    if text.lstrip()[:1] not in _CLOSING:
        return None
    try:
        return parse_json(text)
    except InvalidInput:
        return _beginning(text)


def _beginning(text: str) -> Any:
    """Return the document that a text begins, cut after its last complete value; None if text follows the document."""
    open_ones: list[str] = []
    place, end, closing = 0, 0, ""
    while (token := _TOKEN.match(text, place)) is not None and len(open_ones) <= MAX_DEPTH:
        sign = token[2]
        if sign in _CLOSING:
            open_ones.append(_CLOSING[sign])
        elif sign == ",":
            end, closing = token.start(2), "".join(reversed(open_ones))
        elif open_ones and sign == open_ones[-1]:
            open_ones.pop()
            if not open_ones:
                return None
        place = token.end()
        if sign in {"{", "[", "}", "]"}:
            end, closing = place, "".join(reversed(open_ones))
    try:
        return parse_json(text[:end] + closing)
    except InvalidInput:
        return None
