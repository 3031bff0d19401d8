"""Print to a terminal that can be closed while we run."""

import os
import sys
from typing import TextIO


def print_line(line: str) -> None:
    """Print a line to standard output."""
    _write(sys.stdout, line)


def print_error(line: str) -> None:
    """Print a line to standard error."""
    _write(sys.stderr, line)


def _write(stream: TextIO, line: str) -> None:
    try:
        print(line, file=stream, flush=True)
    except OSError:  # nobody reads; redirect it, because Python flushes it again when it exits
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
