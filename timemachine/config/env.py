"""Every environment variable that Time Machine reads, in one place. `docs/settings.md` says what each is for."""

import os

TRUE = {"1", "true", "yes", "on"}


def text(name: str, default: str = "") -> str:
    """The variable, or the default where it is absent or empty."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool) -> bool:
    """The variable as yes or no."""
    value = os.environ.get(name, "").strip().lower()
    return value in TRUE if value else default


def number(name: str, default: int) -> int:
    """The variable as a whole number."""
    return int(text(name, str(default)))


def names(name: str) -> list[str]:
    """The variable as a list: its parts between commas."""
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
