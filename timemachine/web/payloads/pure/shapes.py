"""Recognise what a recorded payload is: messages, calls, changes of files, to-do lists, terminal output, images, tables, or fields.

A shape counts only if the whole value has it. Anything else is shown as its fields or its text.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from timemachine.llm.pure.requests.recorded import read_messages
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.llm.pure.requests.recorded_requests import read_request
from timemachine.web.payloads.pure import conversation, patches, tables, terminal
from timemachine.web.payloads.pure.images import Image, image_in, images
from timemachine.web.payloads.pure.partial_json import Number, Unreadable, indented, read
from timemachine.web.payloads.pure.pieces import (
    Field,
    Fields,
    Picture,
    Piece,
    Plain,
    Prose,
    Terminal,
    Todo,
    Todos,
)

Reads = Literal["request", "answer", "prose", "plain"]
"""What a payload is read as: the request or the answer of a model call, text written for a reader, or anything else."""
MOST_LEAVES: Final = 200
_JSON: Final = "application/json"
_BLOCKS: Final = frozenset({"text", "input_text", "output_text"})
_STATES: Final = frozenset(
    {"pending", "in_progress", "completed", "cancelled", "done", "todo", "not-started", "in-progress"}
)
_TODO_TEXTS: Final = ("content", "step", "title", "text", "task", "description")
_TODO_LISTS: Final = ("todos", "plan", "todoList", "todo_list", "tasks", "items")
_COMMANDS: Final = frozenset({"command", "cmd", "argv"})
_SHELL: Final = 3
_LITERALS: Final[Mapping[Any, str]] = {None: "null", True: "true", False: "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The pieces of a payload. `json`: it is JSON. If a request is known in full, `pieces` has only the last of its `messages`."""

    pieces: Sequence[Piece]
    json: bool = False
    messages: int = 0
    tools: int = 0


class _TooMany(Exception):
    """More leaves than anybody reads one by one."""


def reading(media_type: str, text: str, *, cut: bool = False, reads: str = "plain") -> Reading:
    """Return what a payload is; `text` is its beginning if it was `cut`."""
    if media_type != _JSON:
        reader = Reader.of(text, prose=reads != "plain")
        return Reading(pieces=reader.text(text, cut=cut))
    try:
        value = read(text, cut=cut)
    except Unreadable:
        return Reading(pieces=[Plain(indented(text))], json=True)
    reader = Reader.of(value, prose=reads in ("request", "answer", "prose"))
    found = _of_call(reader, value, reads, cut=cut)
    return found or Reading(pieces=reader.whole(value, text), json=True)


def leaves(media_type: str, text: str) -> list[tuple[str, str]] | None:
    """Return all values of a whole JSON payload with their paths, however many, as a print has them; None for any other text."""
    if media_type != _JSON:
        return None
    try:
        return list(_leaves(read(text), ""))
    except (Unreadable, RecursionError):
        return None


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    inner = _members(value, path)
    if not inner:
        yield path, value if isinstance(value, str) else _literal(value)
    for name, each in inner:
        yield from _leaves(each, name)


def _members(value: Any, path: str) -> list[tuple[str, Any]]:
    """Return the values in an object or a list with their paths; none for any other value."""
    if isinstance(value, dict):
        return [(f"{path}.{name}" if path else name, each) for name, each in value.items()]
    if isinstance(value, list):
        return [(f"{path}[{place}]", each) for place, each in enumerate(value)]
    return []


def images_of(media_type: str, text: str) -> list[Image]:
    """Return the images of a whole payload; the number of a `Picture` is the index."""
    return list(images(_value_of(text) if media_type == _JSON or text[:1] in "{[" else text))


def _value_of(text: str, *, cut: bool = False) -> Any:
    try:
        return read(text, cut=cut)
    except Unreadable:
        return text


def _of_call(reader: "Reader", value: Any, reads: str, *, cut: bool) -> Reading | None:
    """Return the payload of a model call, None for any other value or an unknown form."""
    if reads == "answer":
        answer = read_answer(value)
        if answer is None or not answer.parts:
            return None
        return Reading(pieces=conversation.parts(reader, answer.parts), json=True)
    request = read_request(value) if reads == "request" else None
    if request is None or not request.messages:
        return None
    shown = request.messages if cut else request.messages[-1:]
    return Reading(
        pieces=conversation.messages(reader, shown),
        json=True,
        messages=0 if cut else len(request.messages),
        tools=0 if cut else len(request.tools),
    )


@dataclass(slots=True)
class Reader:
    """Reads values of one payload. `prose`: its texts are written for a reader. `numbers` are those of its images."""

    prose: bool
    numbers: Mapping[str, int] = field(default_factory=dict)
    leaves: int = 0

    @staticmethod
    def of(value: Any, *, prose: bool) -> "Reader":
        """Return a reader for a payload with this value; a text may be JSON itself."""
        if isinstance(value, str) and value[:1] in "{[":
            value = _value_of(value, cut=True)
        numbers: dict[str, int] = {}
        for number, each in enumerate(images(value)):
            numbers.setdefault(each.data, number)
        return Reader(prose=prose, numbers=numbers)

    def as_plain(self) -> "Reader":
        """Return a reader of what a program wrote in the same payload."""
        return Reader(prose=False, numbers=self.numbers)

    def whole(self, value: Any, text: str) -> list[Piece]:
        """Return the pieces of a value, or its JSON `text` indented if it has too many leaves to be read one by one."""
        self.leaves = 0
        try:
            return self.value(value)
        except (_TooMany, RecursionError):
            return [Plain(indented(text))]

    def text(self, text: str, *, cut: bool = False) -> list[Piece]:
        """Return the pieces of a text."""
        if patches.is_patch(text):
            return list(patches.patches(text))
        if terminal.is_terminal(text):
            return [Terminal(text, terminal.runs(text))]
        if text[:1] in ("{", "["):
            value = _value_of(text, cut=cut)
            if isinstance(value, dict | list) and value:
                return self.whole(value, text)
        image = image_in(text) if text.startswith("data:") else None
        table = tables.of_csv(text) if image is None and not cut else None
        if image is not None or table is not None:
            return [self.picture(image)] if image else [table] if table else []
        return [Prose(text) if self.prose else Plain(text)]

    def value(self, value: Any) -> list[Piece]:
        """Return the pieces of a value of JSON."""
        if isinstance(value, str) and not isinstance(value, Number):
            return self.text(value)
        return self.known(value) or [Fields(list(self._fields(value, "")))]

    def picture(self, image: Image) -> Piece:
        """Return an image of the payload."""
        number = self.numbers.get(image.data)
        if number is None:
            return Plain(f"{image.media_type}, {len(image.data):,} characters of base64")
        return Picture(number=number, media_type=image.media_type, shape=image.shape)

    def known(self, value: Any) -> list[Piece] | None:
        """Return the pieces of an object or a list with a known shape, None for any other value."""
        if isinstance(value, list):
            return self._list(value)
        if not isinstance(value, dict):
            return None
        image = image_in(value)
        changes = patches.changes_of(value)
        if image is not None or changes is not None:
            return [self.picture(image)] if image else list(changes or ())
        edits = patches.edits_of(value)
        if edits is not None:
            return [*edits[0], *self._others(value, edits[1])]
        for name in _TODO_LISTS:
            todos = _todos(value.get(name))
            if todos is not None:
                return [todos, *self._others(value, {name})]
        return None

    def _list(self, value: Sequence[Any]) -> list[Piece] | None:
        if not value or not all(isinstance(each, dict) for each in value):
            return None
        if all(isinstance(each.get("role"), str) and "content" in each for each in value):
            messages = read_messages(value)
            return None if messages is None else list(conversation.messages(self, messages))
        blocks = [self._block(each) for each in value]
        if all(block is not None for block in blocks):
            return [piece for block in blocks if block is not None for piece in block]
        todos = _todos(value)
        table = tables.of_objects(value) if todos is None else None
        return [todos] if todos is not None else [table] if table is not None else None

    def _block(self, value: Mapping[str, Any]) -> list[Piece] | None:
        """Return a block of the content of a message: text or an image."""
        if value.get("type") in _BLOCKS and isinstance(value.get("text"), str):
            return self.text(value["text"])
        image = image_in(value)
        return None if image is None else [self.picture(image)]

    def _others(self, value: Mapping[str, Any], used: set[str]) -> list[Piece]:
        others = {name: inner for name, inner in value.items() if name not in used}
        return [Fields(list(self._fields(others, "")))] if others else []

    def _fields(self, value: Any, path: str) -> Iterator[Field]:
        pieces = self.known(value) if path and isinstance(value, dict | list) and value else None
        if pieces is None and path.rpartition(".")[2] in _COMMANDS and _is_command(value):
            pieces = self._command(value)
        if pieces is not None:
            yield self._leaf(path, pieces)
        elif inner := _members(value, path):
            for name, each in inner:
                yield from self._fields(each, name)
        elif isinstance(value, str) and not isinstance(value, Number):
            yield self._leaf(path, self.text(value))
        else:
            yield self._leaf(path, [Plain(_literal(value))], literal=True)

    def _leaf(self, path: str, pieces: Sequence[Piece], *, literal: bool = False) -> Field:
        self.leaves += 1
        if self.leaves > MOST_LEAVES:
            raise _TooMany
        return Field(path=path, pieces=pieces, literal=literal)

    def _command(self, words: Sequence[str]) -> list[Piece]:
        """Return the words of a command as one would type them; a script that a shell runs stays as it is."""
        if len(words) == _SHELL and words[1].startswith("-") and words[1].endswith("c"):
            return [Plain(shlex.join(words[:2])), *self.text(words[2])]
        if words[0] == "apply_patch":
            return [Plain(words[0]), *self.text("\n".join(words[1:]))]
        return [Plain(shlex.join(words))]


def _is_command(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(type(each) is str for each in value)


def _literal(value: Any) -> str:
    if isinstance(value, Number):
        return str(value)
    return "{}" if value == {} else "[]" if value == [] else _LITERALS.get(value, str(value))


def _todos(value: Any) -> Todos | None:
    """Return a list of to-dos, None for any other value."""
    if not isinstance(value, list) or not value:
        return None
    items = [_todo(each) for each in value]
    return Todos([each for each in items if each is not None]) if None not in items else None


def _todo(value: Any) -> Todo | None:
    if not isinstance(value, dict) or value.get("status") not in _STATES:
        return None
    text = next((value[name] for name in _TODO_TEXTS if isinstance(value.get(name), str)), None)
    return None if text is None else Todo(text=text, state=value["status"])
