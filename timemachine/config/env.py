"""Read environment variables. `docs/settings.md` describes all that Time Machine reads."""

import os
import sys
from collections.abc import Callable

from timemachine.core.pure import secret_settings
from timemachine.core.pure.errors import TimeMachineError

_TRUE = {"1", "true", "yes", "on"}


def text(name: str, default: str = "") -> str:
    """Return the variable, or the default if it is absent or empty."""
    return os.environ.get(name, "").strip() or default


def secret(name: str) -> str:
    """Return the variable, or the content of the file that `NAME_FILE` names. Ends the program if both are set, or if the
    file is empty or cannot be read.
    """
    return _or_end(lambda: secret_settings.secret(name))


def secret_keys() -> list[str]:
    """Return `SECRET_KEY` and then its fallbacks, or those in the data folder. Ends the program if a setting is wrong."""
    return _or_end(secret_settings.secret_keys)


def _or_end[T](read: Callable[[], T]) -> T:
    try:
        return read()
    except TimeMachineError as why:
        sys.exit(why.message)


def parsed[T](name: str, parse: Callable[[str], T]) -> T:
    """Return the parsed variable. Ends the program if `parse` raises a `TimeMachineError`."""
    return _or_end(lambda: parse(text(name)))


def flag(name: str) -> bool:
    """Return whether the variable is set to yes."""
    return text(name).lower() in _TRUE


def number(name: str, default: int) -> int:
    """Return the variable as an integer. Ends the program if it is not a whole number."""
    written = text(name, str(default))
    if not written.isdecimal():
        sys.exit(f"{name} is {written!r}. Set it to a whole number, such as {default}.")
    return int(written)


def choice(name: str, default: str, *others: str) -> str:
    """Return the variable. Ends the program if it is none of these words."""
    chosen = text(name, default)
    if chosen not in (default, *others):
        sys.exit(f"{name} is {chosen!r}. Set it to {' or '.join((default, *others))}.")
    return chosen


def checked(name: str, check: Callable[[str], object]) -> str:
    """Return the variable. Ends the program with the message of the check if it raises a `TimeMachineError`."""
    found = text(name)
    if found:
        _or_end(lambda: check(found))
    return found


def names(name: str) -> list[str]:
    """Return the comma-separated parts of the variable."""
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
