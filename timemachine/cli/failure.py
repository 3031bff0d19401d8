"""The ways in which a command fails, each with its message and exit code."""

from typing import ClassVar

import click


class Failure(click.ClickException):
    """Refused or failed: one line on standard error says why and what to do next."""

    exit_code: ClassVar[int] = 1


class ConditionHeld(Failure):
    """A `--fail-on` condition applies."""

    exit_code: ClassVar[int] = 3


class NotEvidence(Failure):
    """A file that cannot be verified at all. 1 means that verification found a problem, 3 that nobody checked the signer: the codes
    of `tm_verify.py`.
    """

    exit_code: ClassVar[int] = 2


class Unreadable(Failure):
    """A file that cannot be read; `why` is the reason alone."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"Cannot read {file} ({why}). Nothing was sent.")
        self.why = why


class Interrupted(Failure):
    """Ctrl-C was pressed, and work continues on the server or was cancelled there."""

    exit_code: ClassVar[int] = 130


class OutputFailed(Failure):
    """Our own output cannot be written: the disk is full, or the device is gone."""


class OutputClosed(Exception):
    """The reader of our output closed it. This is not a failure."""
