"""The formats of other tools that can be imported, by name; each is found in `formats`, and none is named here. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure import formats
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening, opening_of, unreadable
from timemachine.recording.importing.pure.report import Imported


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One tool's format: its name, what a file of it is called, how it is recognised and how it is read."""

    name: str
    title: str
    recognises: Callable[[Opening], bool]
    read: Callable[[Contents], Imported]


class NoTranscript(InvalidInput):
    """A file that is in none of the formats; `briefly` says so without naming all of them."""

    def __init__(self, called: str) -> None:
        self.briefly = f"{called} is no transcript that can be imported."
        super().__init__(
            f"{self.briefly} Known formats: {', '.join(FORMATS)}.",
            code="unknown_format",
            known=list(FORMATS),
        )


def _found() -> dict[str, Format]:
    modules = [import_module(f"{formats.__name__}.{each.name}") for each in iter_modules(formats.__path__)]
    return {
        module.NAME: Format(
            name=module.NAME, title=module.TITLE, recognises=module.recognises, read=module.read
        )
        for module in modules
    }


FORMATS: Final = _found()
AUTO: Final = "auto"


def recognise(data: Contents, filename: str | None = None) -> str:
    """The name of the format that the bytes are in; raises `InvalidInput` (`unknown_format`) where they are in none, or in two,
    and for an archive that may not be opened `unsafe_archive`.

    Only what the file begins with decides, its first megabyte; its name is there for the message.
    """
    found = _knowing(opening_of(data))
    if len(found) == 1:
        return found[0]
    called = filename or "This file"
    if found:
        raise InvalidInput(
            f"{called} may be in one of several formats; say which: {', '.join(found)}.",
            code="unknown_format",
            known=found,
        )
    why = unreadable(data)
    if why is None:
        raise NoTranscript(called)
    raise InvalidInput(
        f"{called} is no transcript that can be imported; {why}", code="unknown_format", known=list(FORMATS)
    )


def known_formats() -> list[str]:
    """What can be imported, in people's words."""
    return [each.title for each in FORMATS.values()]


def chosen(name: str | None, data: Contents, filename: str | None = None) -> str:
    """The format of that name; with none, or with `auto`, the one that the bytes are in.

    Raises `InvalidInput` (`unknown_format`), also for a name that is not the one of the only format which knows the bytes.
    """
    if not name or name == AUTO:
        return recognise(data, filename)
    if name not in FORMATS:
        raise InvalidInput(
            f"There is no format {name!r}; known formats: {', '.join(FORMATS)}.",
            code="unknown_format",
            known=list(FORMATS),
        )
    found = _knowing(opening_of(data))
    if len(found) == 1 and found != [name]:
        raise InvalidInput(
            f"{filename or 'This file'} is {FORMATS[found[0]].title}, and not {FORMATS[name].title}: leave the format out, or name {found[0]}.",
            code="unknown_format",
            known=found,
        )
    return name


def _knowing(opening: Opening) -> list[str]:
    return [name for name, each in FORMATS.items() if each.recognises(opening)]


# `format` is the word of the API and the command line.
def read(data: Contents, format: str | None = None, filename: str | None = None) -> Imported:  # noqa: A002
    """The sessions in the file and the report about its lines; without a format's name it is recognised.

    Raises `InvalidInput`: `unknown_format` for a name that is not known and for a file that is no transcript, `unsafe_archive`.
    """
    return FORMATS[chosen(format, data, filename)].read(data)
