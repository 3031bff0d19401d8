"""The formats that can be imported, by name. Each module of `formats` is one; none is named here."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure import formats
from timemachine.recording.importing.pure.contents import Contents
from timemachine.recording.importing.pure.reader import Opening, Reader, opening_of, why_unreadable
from timemachine.recording.importing.pure.report import ParsedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A tool's format: its name, what a file of it is called, how it is recognised, and how it is read."""

    name: str
    title: str
    recognises: Callable[[Opening], bool]
    read_with: Callable[[Reader], ParsedFile]

    def read(self, data: Contents) -> ParsedFile:
        """Return the sessions of a file and its report. Raises `InvalidInput` (`unknown_format`) if it has none."""
        return self.read_with(Reader(data, name=self.name, title=self.title))


class NotATranscript(InvalidInput):
    """A file in none of the formats, and why. `short_message` does not list all of them."""

    def __init__(self, called: str, why: str | None = None) -> None:
        self.short_message = f"{called} is not a transcript that can be imported{f': {why}' if why else '.'}"
        super().__init__(
            f"{self.short_message} Known formats: {', '.join(FORMATS)}.",
            code="unknown_format",
            known=list(FORMATS),
        )


def _load_formats() -> dict[str, Format]:
    modules = [import_module(f"{formats.__name__}.{each.name}") for each in iter_modules(formats.__path__)]
    return {
        module.NAME: Format(
            name=module.NAME, title=module.TITLE, recognises=module.recognises, read_with=module.read
        )
        for module in modules
    }


FORMATS: Final = _load_formats()
AUTO: Final = "auto"


def detect_format(data: Contents, filename: str | None = None) -> str:
    """Return the name of the format of a file, judged by its first megabyte. `filename` is used in messages only.

    Raises `InvalidInput`: `unknown_format` if no format or more than one matches, `unsafe_archive` if an archive must
    not be opened.
    """
    matching = _matching(opening_of(data))
    if len(matching) == 1:
        return matching[0]
    called = filename or "This file"
    if matching:
        raise InvalidInput(
            f"{called} matches more than one format. Choose one of: {', '.join(matching)}.",
            code="unknown_format",
            known=matching,
        )
    raise NotATranscript(called, why_unreadable(data))


def choose_format(name: str | None, data: Contents, filename: str | None = None) -> str:
    """Return the given format, or detect it if the name is empty or `auto`.

    Raises `InvalidInput` (`unknown_format`) for an unknown name, or if only another format matches the file.
    """
    if not name or name == AUTO:
        return detect_format(data, filename)
    if name not in FORMATS:
        raise InvalidInput(
            f"Unknown format {name!r}. Known formats: {', '.join(FORMATS)}.",
            code="unknown_format",
            known=list(FORMATS),
        )
    matching = _matching(opening_of(data))
    if len(matching) == 1 and matching != [name]:
        raise InvalidInput(
            f"{filename or 'This file'} looks like “{FORMATS[matching[0]].title}”, not “{FORMATS[name].title}”. Leave the format out or use {matching[0]}.",
            code="unknown_format",
            known=matching,
        )
    return name


def _matching(opening: Opening) -> list[str]:
    return [name for name, each in FORMATS.items() if each.recognises(opening)]
