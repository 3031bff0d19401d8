"""What a command says when it stops short, and the exit code that goes with it."""

from typing import ClassVar

import click


class Failure(click.ClickException):
    """Refused or failed: one line on standard error that says why and what to do."""

    exit_code: ClassVar[int] = 1


class ConditionHeld(Failure):
    """A `--fail-on` condition held."""

    exit_code: ClassVar[int] = 3


class NotABundle(Failure):
    """A file that cannot be checked at all, as `tm_verify.py` ends with it; 1 says that a fault was found."""

    exit_code: ClassVar[int] = 2


class Unreadable(Failure):
    """A file that cannot be read; `why` is the system's reason, or that its name can be none."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"{file} cannot be read ({why}); nothing was sent.")
        self.why = why


class Interrupted(Failure):
    """Somebody pressed Ctrl-C, and there is something to say about it."""

    exit_code: ClassVar[int] = 130


class NotWritten(Failure):
    """Our own output could not be written: the disk is full, or the device is gone."""


class ReaderGone(Exception):
    """Whoever read our output has closed it: there is nobody to write for, and nothing is wrong."""
