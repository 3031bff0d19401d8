"""Writing to a terminal or a pipe: always UTF-8, and no recorded text can control the terminal."""

import json
import os
import shutil
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import click

from timemachine.cli.failure import Failure, Interrupted, OutputClosed, OutputFailed
from timemachine.cli.formatting import one_line, visible


def use_utf8() -> None:
    """Write UTF-8 in any locale; what UTF-8 cannot encode (half a surrogate pair) becomes an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def report_bug(kind: type[BaseException], why: BaseException, trace: TracebackType | None) -> None:
    """Print an unexpected exception with its place in one line; a `sys.excepthook`."""
    place = traceback.extract_tb(trace)[-1:]
    where = "".join(f" at {Path(each.filename).name}:{each.lineno}" for each in place)
    print_error(f"This is a bug in the command ({kind.__name__}: {why}{where}). Please report it.")


def print_line(line: str) -> None:
    """Print a line, or a text of several lines."""
    _write(sys.stdout, visible(line) + "\n")


def announce(line: str) -> None:
    """Print a line about work that follows; the work is done even if nobody reads the output."""
    with suppress(OutputClosed):
        print_line(line)


def print_lines(lines: Iterable[str]) -> None:
    """Print each line as soon as it is made."""
    for line in lines:
        print_line(line)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write(text: str) -> None:
    """Write a part of a text to standard output and flush it."""
    _write(sys.stdout, visible(text))


def remember(context: click.Context, option: click.Parameter, value: bool) -> None:
    """Keep in the context of the command whether an option was given; the callback of the option."""
    context.meta[f"{__name__}.{option.name}"] = value


def wants_json() -> bool:
    """Whether the command was called with `--json`."""
    return _is_given("as_json")


def show(document: Any, lines: Iterable[str]) -> None:
    """Print the document of the API with `--json`, else the same as lines for people."""
    if wants_json():
        _write(sys.stdout, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    else:
        print_lines(lines)


@contextmanager
def checked_when_shown(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` after the block, also if the reader of the output closed it: scripts need the exit code."""
    try:
        yield
    except OutputClosed:
        check()
        raise
    check()


def print_error(message: str) -> None:
    """Print one line to standard error."""
    try:
        _write(sys.stderr, one_line(message) + "\n")
    except (OutputClosed, OutputFailed):  # nobody can read it
        return


def confirm(question: str, preview: Iterable[str] = (), *, otherwise: str = "Nothing was deleted.") -> None:
    """Print the preview and the question, and read the answer, unless the command was called with `--yes`.

    Raises `Failure` with `otherwise` if the next line of standard input is neither `y` nor `yes`.
    """
    if _is_given("yes"):
        return
    for line in preview:
        print_error(line)
    _write(sys.stderr, visible(f"{question} [y/N] "))
    answer = "" if sys.stdin is None else sys.stdin.buffer.readline().decode("utf-8", "replace")
    if answer.strip().lower() not in ("y", "yes"):
        raise Failure(f'{otherwise} Answer "yes" or use --yes.')


class Progress:
    """One line on standard error that is overwritten, and removed at the end; nothing unless it is a terminal."""

    def __init__(self) -> None:
        self._stream: TextIO | None = sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.update("")

    def update(self, line: str) -> None:
        """Replace the line."""
        if self._stream is not None:
            _write(self._stream, f"\r\x1b[K{one_line(line)}")


class Replaced:
    """Lines of a terminal that are replaced when they change. The oldest stay as they are when there are many."""

    _MOST = 5

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def put(self, name: str, line: str) -> None:
        """Print a line, or replace the one with this name."""
        width = max(shutil.get_terminal_size().columns, 1)
        rows = sum(-(-_cells(each) // width) for each in self._lines.values())
        self._lines[name] = one_line(line)
        up = f"\x1b[{rows}A\r\x1b[J" if rows else ""
        _write(sys.stdout, up + "".join(f"{each}\n" for each in self._lines.values()))
        if len(self._lines) > self._MOST:
            del self._lines[next(iter(self._lines))]

    def leave(self) -> None:
        """Leave the lines as they are, because something else was printed below them."""
        self._lines.clear()


def _cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


@contextmanager
def waiting(interrupted: str) -> Iterator[Progress]:
    """A progress line during work on the server, which Ctrl-C does not stop: it raises `Interrupted` with this message."""
    try:
        with Progress() as progress:
            yield progress
    except KeyboardInterrupt as why:
        raise Interrupted(interrupted) from why


def flush() -> None:
    """Write what is still buffered. Raises `OutputClosed`, `OutputFailed`."""
    _write(sys.stdout, "")


def discard_output() -> None:
    """Send standard output to the null device, because Python flushes it again when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _is_given(option: str) -> bool:
    return bool(click.get_current_context().meta.get(f"{__name__}.{option}"))


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # closed before we started
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError as why:
        raise OutputClosed from why
    except OSError as why:
        raise OutputFailed(f"Cannot write the output: {why.strerror}.") from why
