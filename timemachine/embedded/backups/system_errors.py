"""What the operating system refuses, as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from timemachine.core.pure.errors import Unavailable


@contextmanager
def system_errors(attempt: str, outcome: str) -> Iterator[None]:
    """Raise `Unavailable` in place of an `OSError`: what was attempted, why it failed, and what that leaves."""
    try:
        yield
    except OSError as why:
        file = f": {why.filename}" if why.filename and str(why.filename) not in attempt else ""
        raise Unavailable(f"Cannot {attempt} ({why.strerror or why}{file}). {outcome}".rstrip()) from why
