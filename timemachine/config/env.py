"""Read environment variables. `docs/settings.md` describes all that Time Machine reads."""

import os
import sys
from pathlib import Path

_TRUE = {"1", "true", "yes", "on"}


def text(name: str, default: str = "") -> str:
    """Return the variable, or the default if it is absent or empty."""
    return os.environ.get(name, "").strip() or default


def text_or_file(name: str) -> str:
    """Return the variable, or the content of the file that `NAME_FILE` names. Ends the program if that cannot be read."""
    file = text(f"{name}_FILE")
    if not file:
        return text(name)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as why:
        sys.exit(f"{name}_FILE names {file}, which cannot be read ({why}).")


def flag(name: str) -> bool:
    """Return whether the variable is set to yes."""
    return text(name).lower() in _TRUE


def number(name: str, default: int) -> int:
    """Return the variable as an integer."""
    return int(text(name, str(default)))


def choice(name: str, default: str, *others: str) -> str:
    """Return the variable. Ends the program if it is none of these words."""
    chosen = text(name, default)
    if chosen not in (default, *others):
        sys.exit(f"{name} is {chosen!r}. Set it to {' or '.join((default, *others))}.")
    return chosen


def names(name: str) -> list[str]:
    """Return the comma-separated parts of the variable."""
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
