"""What a file begins with, looked at once for all formats: at most its first megabyte, however long it is. Pure."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from timemachine.core.pure.content import MAX_DEPTH, parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.zip_files import Archive, is_zip, names_in
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents

LOOKED_AT: Final = 1024 * 1024
_MOST_LINES: Final = 100
_TOKEN: Final = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([{}\[\],:])|([^\s"{}\[\],:]+))', re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The begin of a file.

    `lines` are the objects among its first 100 lines, `document` is the JSON document that it is, as far as the first megabyte
    goes (None where it is none), `members` are the names in it where it is a ZIP archive that can be opened.
    """

    lines: tuple[dict[str, Any], ...] = ()
    document: Any = None
    members: frozenset[str] = frozenset()

    @property
    def records(self) -> tuple[dict[str, Any], ...]:
        """The objects of JSON lines, or of a list of them."""
        if isinstance(self.document, list):
            return tuple(each for each in self.document[:_MOST_LINES] if isinstance(each, dict))
        return self.lines

    @property
    def fields(self) -> dict[str, Any]:
        """The document where it is an object, else an empty one."""
        return self.document if isinstance(self.document, dict) else {}


def opening_of(data: Contents) -> Opening:
    """What the bytes begin with."""
    if is_zip(data):
        return Opening(members=names_in(data))
    head = data[:LOOKED_AT]
    whole = len(head) == len(data)
    written = lines_of(head if whole else head[: head.rfind(b"\n") + 1])
    lines = tuple(each.record for each in islice(written, _MOST_LINES) if isinstance(each, Line))
    document = _document(head.decode("utf-8-sig", "ignore"))
    if not lines and isinstance(document, dict):  # one line, and it is longer than what is looked at
        lines = (document,)
    return Opening(lines=lines, document=document)


def unreadable(data: Contents) -> str | None:
    """Why nothing can be read from bytes that are in no format: a sentence's end, or None where they are merely something else.

    Raises `InvalidInput` (`unsafe_archive`) for an archive that may not be opened.
    """
    if not data[:LOOKED_AT].strip():
        return "it is empty." if len(data) <= LOOKED_AT else "its first megabyte is blank."
    if is_zip(data):
        Archive(data)
        return None
    try:
        text = data[:LOOKED_AT].decode("utf-8-sig", "strict" if len(data) <= LOOKED_AT else "ignore")
    except UnicodeDecodeError:
        return "it is not text in UTF-8."
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
    """The document that a text begins, as if it ended after its last whole value; None where more follows its end."""
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
