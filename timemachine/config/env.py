"""Read environment variables. `docs/settings.md` describes all that Time Machine reads."""

import os

_TRUE = {"1", "true", "yes", "on"}


def text(name: str, default: str = "") -> str:
    """Return the variable, or the default if it is absent or empty."""
    return os.environ.get(name, "").strip() or default


def flag(name: str) -> bool:
    """Return whether the variable is set to yes."""
    return text(name).lower() in _TRUE


def number(name: str, default: int) -> int:
    """Return the variable as an integer."""
    return int(text(name, str(default)))


def names(name: str) -> list[str]:
    """Return the comma-separated parts of the variable."""
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
