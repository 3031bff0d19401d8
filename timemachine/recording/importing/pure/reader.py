"""Read a file: its beginning, which decides its format; then, as one format, its JSON, the account of its records, and the
keys of its sessions."""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeGuard, cast

from timemachine.core.pure.content import MAX_DEPTH, canonical_json, parse_json, sha256_hex
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip, names_in
from timemachine.recording.importing.pure.contents import Contents, Line, check_lines, count_in, lines_of
from timemachine.recording.importing.pure.report import ImportReportOut, LineSkipped, ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import list_at
from timemachine.recording.sessions.pure.validation import key_of
from timemachine.recording.sessions.pure.vocabulary import Kind

LOOKED_AT: Final = 1024 * 1024
"""Bytes of a file that decide its format."""
_MOST_LINES: Final = 100
_TOKEN: Final = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([{}\[\],:])|([^\s"{}\[\],:]+))', re.DOTALL)
_SQLITE: Final = b"SQLite format 3\x00"
_MOST_LISTED: Final = 5
_CLOSING: Final = {"{": "}", "[": "]"}
MOST_VALUES: Final = 20_000_000
"""Maximum number of JSON values per file: an empty list has two bytes but takes sixty in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The beginning of a file.

    `lines` are the objects among its first 100 lines. `document` is the JSON document as far as the first megabyte
    goes, or None. `members` are the names in a readable ZIP archive. `text` is the first megabyte of a file without
    any of these.
    """

    lines: tuple[JsonObject, ...] = ()
    document: Any = None
    members: frozenset[str] = frozenset()
    text: str = ""

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
    text = head.decode("utf-8-sig", "ignore") if not lines and document is None else ""
    return Opening(lines=lines, document=document, text=text)


def why_unreadable(data: Contents) -> str | None:
    """Return why a file in no known format cannot be read, as the end of a sentence, or None if it is merely something
    else.

    Raises `InvalidInput` (`unsafe_archive`) for an archive that must not be opened.
    """
    if not data[:LOOKED_AT].strip():
        return "it is empty." if len(data) <= LOOKED_AT else "its first megabyte is blank."
    if is_zip(data):
        return _what_is_in(Archive(data))
    if data[: len(_SQLITE)] == _SQLITE:
        return "it is an SQLite database. Export the session with its own tool (Goose: `goose session export`, OpenCode: `opencode export`)."
    try:
        text = data[:LOOKED_AT].decode("utf-8-sig", "strict" if len(data) <= LOOKED_AT else "ignore")
    except UnicodeDecodeError:
        return "it is not UTF-8 text."
    if text.lstrip()[:1] in _CLOSING and len(data) <= LOOKED_AT and not _are_lines(text):
        try:
            parse_json(text)
        except InvalidInput as why:
            return f"its JSON cannot be read: {_problem(why)}"
    return None


def _are_lines(text: str) -> bool:
    """Return whether the first line of a longer text is JSON, so that it is not a single document."""
    first, _, rest = text.strip().partition("\n")
    try:
        parse_json(first)
    except InvalidInput:
        return False
    return bool(rest)


def _what_is_in(archive: Archive) -> str:
    names = archive.names
    listed = ", ".join(repr(name[:80]) for name in names[:_MOST_LISTED])
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return f"it is a ZIP archive in an unknown format, with {listed or 'no files'}{more}. Unpack it and import the files in it."


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


class Reader:
    """A file that is being read. Every record of it is counted once, as used or as skipped.

    A file that cannot be read raises `InvalidInput` (`unknown_format`) with the place and the reason, and one that
    would take far more memory than its size `TooLarge`.
    """

    def __init__(self, data: Contents, *, name: str, title: str) -> None:
        self.data = data
        self.notes: list[str] = []
        self._name, self._title = name, title
        self._records = self._values = 0
        self._skipped: list[LineSkipped] = []
        self._keys: Counter[str] = Counter()

    def text(self) -> str:
        """Return the file as text in UTF-8."""
        try:
            return self.data[:].decode("utf-8-sig")
        except UnicodeDecodeError as why:
            raise self.refusal(f"it is not UTF-8 text: byte {why.start + 1} is invalid.") from why

    def document(self, member: bytes | None = None) -> Any:
        """Return the file, or a member of its archive, as one JSON document in UTF-8."""
        data = self.data if member is None else member
        # An upper bound: commas and brackets inside texts are counted too.
        values = sum(count_in(data, sign) for sign in (b",", b"[", b"{"))
        self._values = values if member is None else self._values + values
        if self._values > MOST_VALUES:
            raise TooLarge(
                f"The file has {self._values:,} JSON values; the maximum is {MOST_VALUES:,}. Split it.",
                limit=MOST_VALUES,
            )
        try:
            return parse_json(data[:].decode("utf-8-sig"))
        except UnicodeDecodeError as why:
            raise self.refusal(f"it is not UTF-8 text: byte {why.start + 1} is invalid.") from why
        except InvalidInput as why:
            raise self.refusal(_problem(why)) from why

    def document_or_none(self) -> Any:
        """Return the file as one JSON document, or None if it is not one, such as JSON lines. Raises `TooLarge`."""
        try:
            return self.document()
        except TooLarge:
            raise
        except InvalidInput:
            return None

    def json_object(self, member: bytes | None = None) -> JsonObject:
        """Return the document, which must be an object."""
        found = self.document(member)
        if not isinstance(found, dict):
            raise self.refusal("it is JSON but not an object.")
        return found

    def lines(
        self,
        usable: Callable[[JsonObject], bool],
        otherwise: str,
        *,
        identity: Callable[[Line], Hashable] = lambda _: None,
    ) -> list[Line]:
        """Return the usable JSON lines, at least one, and count all lines. `otherwise` is why the others are skipped.

        A line with the same `identity` as an earlier one only repeats it and is skipped; None is no identity.
        """
        found = []
        first_with: dict[Hashable, int] = {}
        for line in lines_of(self.data):
            self.use()
            if not isinstance(line, Line):
                self._skipped.append(line)
            elif not usable(line.record):
                self._skipped.append(LineSkipped.model_construct(line=line.number, reason=otherwise))
            elif (name := identity(line)) is not None and first_with.setdefault(
                name, line.number
            ) != line.number:
                reason = f"It repeats line {first_with[name]:,}."
                self._skipped.append(LineSkipped.model_construct(line=line.number, reason=reason))
            else:
                found.append(line)
        if not found:
            first = next(iter(self._skipped), None)
            raise self.refusal(f"line {first.line}: {first.reason}" if first else "it is empty.")
        return found

    def records(
        self, usable: Callable[[JsonObject], bool], otherwise: str, *, inside: str = ""
    ) -> Iterator[JsonObject]:
        """Yield the usable objects of a JSON list, JSON lines, an object with the list under `inside`, or a single object.

        The others are skipped; `otherwise` says why.
        """
        for place, record in self._all_records(inside):
            if isinstance(record, LineSkipped):
                self.skip(record.reason, line=record.line)
            elif not isinstance(record, dict):
                self.skip("It is not an object.", line=place)
            elif usable(record):
                yield record
            else:
                self.skip(otherwise, line=place)

    def groups(
        self,
        key: Callable[[JsonObject], str],
        usable: Callable[[JsonObject], bool],
        otherwise: str,
        *,
        inside: str,
    ) -> dict[str, list[JsonObject]]:
        """Return the usable records, counted, by their keys."""
        found: dict[str, list[JsonObject]] = {}
        for record in self.records(usable, otherwise, inside=inside):
            self.use()
            found.setdefault(key(record), []).append(record)
        return found

    def use(self, records: int = 1) -> None:
        """Count records that became an action or a part of one."""
        self._records += records

    def skip(self, reason: str, *, line: int | None = None) -> None:
        """Count a record that became no action. `line` is its place in the file, by default after those counted so far."""
        self._records += 1
        self._skipped.append(
            LineSkipped.model_construct(line=self._records if line is None else line, reason=reason)
        )

    def takes(self, record: Any, called: str) -> TypeGuard[JsonObject]:
        """Count a record, as used if it is an object, and return whether it is. `called` is what it should be: "a step"."""
        if isinstance(record, dict):
            self.use()
            return True
        self.skip(f"It is not an object, so it is not {called}.")
        return False

    def key(self, recorded: str | None, record: Any) -> str:
        """Return the recorded id, or without one the format's name and 12 hex digits of the record's SHA-256.

        If a session occurs twice, the second key ends in `.2`.
        """
        digest = f"{self._name}-{sha256_hex(canonical_json(record))[:12]}" if not recorded else ""
        key = key_of(recorded, self._name) if recorded else digest
        self._keys[key] += 1
        times = self._keys[key]
        return key if times == 1 else key_of(f"{key}.{times}", self._name)

    def refusal(self, problem: str) -> InvalidInput:
        """Return the error for a file in which nothing can be used. `problem` ends its last sentence."""
        return InvalidInput(
            f"Nothing in this file can be imported. Expected: {self._title}. Found: {problem}",
            code="unknown_format",
        )

    def parsed(self, sessions: Iterable[SessionDraft]) -> ParsedFile:
        """Return the sessions with the report, in which kinds are listed in the order in which they first appear."""
        all_sessions = tuple(sessions)
        became = Counter(action.kind for session in all_sessions for action in session.actions)
        report = ImportReportOut.model_construct(
            lines=self._records,
            became=cast("dict[Kind, int]", dict(became)),
            skipped=self._skipped,
            notes=self.notes,
        )
        return ParsedFile(sessions=all_sessions, report=report)

    def _all_records(self, inside: str) -> list[tuple[int, Any]]:
        """Return the records of the file with their places, and a `LineSkipped` for each line that cannot be read."""
        try:
            value = self.document()
        except TooLarge:
            raise
        except InvalidInput:
            lines = list(lines_of(self.data))
            if any(isinstance(each, Line) for each in lines[:2]):
                return [
                    (each.number, each.record) if isinstance(each, Line) else (each.line, each)
                    for each in lines
                ]
            raise
        if isinstance(value, dict):
            value = list_at(value, inside) or [value]
        if not isinstance(value, list) or not value:
            raise self.refusal("it is JSON but not a list of records.")
        check_lines(len(value))
        return list(enumerate(value, start=1))


def identity_by_id(line: Line) -> Hashable:
    """Return the identity of a line with an `id`: an equal line with the same id was written twice."""
    return line.digest if "id" in line.record else None


def _problem(why: InvalidInput) -> str:
    """Return what is wrong with a JSON text, as the end of a sentence."""
    cause = why.__cause__
    if isinstance(cause, json.JSONDecodeError):
        where = f"line {cause.lineno}, character {cause.colno}"
        return f"it is truncated or not JSON: {cause.msg.removesuffix(' at')} at {where}."
    return why.message
