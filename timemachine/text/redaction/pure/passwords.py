"""Passwords and keys found by their context: arguments of commands, configuration, pieces of private keys; and keys of vendors."""

from collections.abc import Iterator
from typing import Any, Final

from timemachine.text.redaction.pure import arguments, assigned, handed, key_pieces, vendors
from timemachine.text.redaction.pure.engine import compiled, spans
from timemachine.text.redaction.pure.placeholders import is_code

ARGUMENT: Final = "password of a command"
ASSIGNED: Final = "password or key by its name"
SHORTEST: Final = 4
"""The characters of the shortest text in which anything can be found: an option and a password."""
_TRAILS: Final = ",.;:!?])}"
_PLAIN_ENDS: Final = "'\"`)]}"


def passwords_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of passwords and keys with their kinds. They may overlap. `text` must be readable for the engine."""
    if len(text) >= SHORTEST:
        yield from arguments_in(text)
        yield from _assigned_in(text)
        yield from _keys_in(text)


def _assigned_in(text: str) -> Iterator[tuple[int, int, str]]:
    if compiled(assigned.TRIGGER).search(text):
        for expression, is_one in assigned.RULES:
            for start, end in _values(expression, text):
                if is_one(text[start:end]) and not is_code(text, start, end):
                    yield start, end, ASSIGNED


def _keys_in(text: str) -> Iterator[tuple[int, int, str]]:
    for trigger, forms in ((key_pieces.TRIGGER, key_pieces.FORMS), (vendors.ANY, vendors.FORMS)):
        if compiled(trigger).search(text):
            for what, expression in forms:
                for start, end in spans(compiled(expression), text):
                    yield start, end, what


def arguments_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of passwords among the arguments of commands."""
    for trigger, rules in ((arguments.TRIGGER, arguments.RULES), (handed.TRIGGER, handed.RULES)):
        if compiled(trigger).search(text):
            for expression, is_one in rules:
                for start, end in _values(expression, text):
                    if is_one(text[start:end]):
                        yield start, end, ARGUMENT
    yield from _options_in(text)


def _options_in(text: str) -> Iterator[tuple[int, int, str]]:
    if not compiled(arguments.TRIGGER).search(text):
        return
    for match in compiled(arguments.LONG).finditer(text):
        start, end = _trimmed(match, text)
        if arguments.is_value_of(match.group(1), text[start:end]):
            yield start, end, ARGUMENT


def _values(expression: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the last group that matched in each match."""
    for match in compiled(expression).finditer(text):
        yield _trimmed(match, text)


def _trimmed(match: Any, text: str) -> tuple[int, int]:
    """Return the span of the value: the last group that matched, without the punctuation of a sentence after it."""
    start, end = match.span(match.lastindex)
    quoted = text[end : end + 1] in tuple(_PLAIN_ENDS)
    while not quoted and end - start > 1 and text[end - 1] in _TRAILS:
        end -= 1
    return start, end
