"""The formats of other tools that can be imported, by name. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from timemachine.base.errors import InvalidInput
from timemachine.exchange import claude_code
from timemachine.exchange.report import Imported


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One tool's format: its name, what a file of it is called, how it is recognised and how it is read."""

    name: str
    title: str
    recognises: Callable[[bytes], bool]
    read: Callable[[bytes], Imported]


FORMATS: Final = {
    "claude_code": Format(
        name="claude_code",
        title=claude_code.TITLE,
        recognises=claude_code.recognises,
        read=claude_code.read,
    ),
}


def recognise(data: bytes, filename: str | None = None) -> str:
    """The name of the format that the bytes are in; raises `InvalidInput` (`unknown_format`) where they are in none.

    Only the content decides; the file's name is there for the message.
    """
    for name, each in FORMATS.items():
        if each.recognises(data):
            return name
    expected = ", or ".join(each.title for each in FORMATS.values())
    raise InvalidInput(
        f"{filename or 'This file'} is no transcript that can be imported; send {expected}.",
        code="unknown_format",
        known=list(FORMATS),
    )


# `format` is the word of the API and the command line.
def read(data: bytes, format: str | None = None, filename: str | None = None) -> Imported:  # noqa: A002
    """The sessions in the file and the report about its lines; without a format's name it is recognised.

    Raises `InvalidInput` (`unknown_format`) for a name that is not known and for a file that is no transcript.
    """
    name = format or recognise(data, filename)
    if name not in FORMATS:
        raise InvalidInput(
            f"There is no format {name!r}; known formats: {', '.join(FORMATS)}.",
            code="unknown_format",
            known=list(FORMATS),
        )
    return FORMATS[name].read(data)
