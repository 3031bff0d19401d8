"""Number fields whose error is one sentence with their name and limits; Django's own messages name no field."""

from typing import Any, Final

from django import forms

_WRONG: Final = ("required", "invalid", "min_value", "max_value")
_PROTECTS_THE_DATABASE: Final = 2**53


class WholeNumber(forms.IntegerField):
    """A whole number."""

    def __init__(
        self, *, label: str, min_value: int | None = None, max_value: int | None = None, **more: Any
    ) -> None:
        said = _sentence(label, "a whole number", min_value, max_value)
        super().__init__(label=label, min_value=min_value, max_value=max_value, error_messages=said, **more)


class Number(forms.FloatField):
    """A number."""

    def __init__(
        self, *, label: str, min_value: float | None = None, max_value: float | None = None, **more: Any
    ) -> None:
        said = _sentence(label, "a number", min_value, max_value)
        super().__init__(label=label, min_value=min_value, max_value=max_value, error_messages=said, **more)


def _sentence(label: str, what: str, least: float | None, most: float | None) -> dict[str, str]:
    """Return one sentence for all errors. A limit that only protects the database is not mentioned."""
    if least is None:
        limits = ""
    elif most is None or most >= _PROTECTS_THE_DATABASE:
        limits = f" of at least {least:,}"
    else:
        limits = f" from {least:,} to {most:,}"
    return dict.fromkeys(_WRONG, f"“{label}” must be {what}{limits}.")
