"""Writing to a terminal or a pipe, in UTF-8 whatever the locale, with nothing in a text that could steer the terminal."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from timemachine.cli.failure import NotWritten, ReaderGone
from timemachine.cli.formatting import one_line, visible


def prepare() -> None:
    """Write UTF-8, whatever the locale says; what UTF-8 has no place for (half a surrogate pair) is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def admit(kind: type[BaseException], why: BaseException, trace: TracebackType | None) -> None:
    """A fault of our own in one line, with its place; as `sys.excepthook`, where Python would print a traceback."""
    place = traceback.extract_tb(trace)[-1:]
    where = "".join(f" at {Path(each.filename).name}:{each.lineno}" for each in place)
    complain(f"This is a fault of the command ({kind.__name__}: {why}{where}); please report it.")


def say(line: str) -> None:
    """One line, or a text of several, to standard output."""
    _write(sys.stdout, visible(line) + "\n")


def announce(line: str) -> None:
    """One line to standard output about work that is done next, also where its reader left."""
    with suppress(ReaderGone):
        say(line)


def say_all(lines: Iterable[str]) -> None:
    """Line after line to standard output."""
    for line in lines:
        say(line)


def is_terminal() -> bool:
    """Whether standard output is a terminal, where somebody watches."""
    return sys.stdout is not None and sys.stdout.isatty()


def write(text: str) -> None:
    """A piece of a text to standard output, at once."""
    _write(sys.stdout, visible(text))


def show(document: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """The API's document as JSON, or the same in lines for people; the lines are made only where they are shown."""
    if as_json:
        _write(sys.stdout, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    else:
        say_all(lines)


@contextmanager
def judged(check: Callable[[], None]) -> Iterator[None]:
    """What is shown within is judged when it is shown, and also where its reader left: the exit code is for somebody else."""
    try:
        yield
    except ReaderGone:
        check()
        raise
    check()


def complain(message: str) -> None:
    """One line to standard error."""
    try:
        _write(sys.stderr, one_line(message) + "\n")
    except (ReaderGone, NotWritten):  # there is nobody left to tell
        return


def ask(question: str) -> None:
    """A question to standard error, the cursor behind it."""
    _write(sys.stderr, visible(question))


class Progress:
    """One line on standard error that is written over, where that is a terminal; gone when it is done."""

    def __init__(self) -> None:
        self._stream: TextIO | None = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over("")

    def tell(self, line: str) -> None:
        """How far it is now."""
        self._over(one_line(line))

    def _over(self, line: str) -> None:
        if self._stream is not None:
            _write(self._stream, f"\r\x1b[K{line}")


def finish() -> None:
    """Write out what is still held back. Raises `ReaderGone`, `NotWritten`."""
    _write(sys.stdout, "")


def give_up_output() -> None:
    """Point standard output nowhere, or Python fails again when it flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # the stream was closed before we started
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError as why:
        raise ReaderGone from why
    except OSError as why:
        raise NotWritten(f"The output could not be written ({why.strerror}).") from why
