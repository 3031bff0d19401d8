"""Our few lines on a terminal, which may be gone: its window can be closed while we run."""

import os
import sys
from typing import TextIO


def say(line: str) -> None:
    """One line to standard output."""
    _write(sys.stdout, line)


def complain(line: str) -> None:
    """One line to standard error."""
    _write(sys.stderr, line)


def _write(stream: TextIO, line: str) -> None:
    try:
        print(line, file=stream, flush=True)
    except OSError:  # nobody reads; point it away, or Python fails again when it flushes at its end
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
