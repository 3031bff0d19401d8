"""Texts that a file holds once and refers to by `attachment://` and an id, set in where they were said. Pure."""

from typing import Any, Final

from timemachine.core.pure.numbers import counted

_REFERENCE: Final = "attachment://"
MOST_SET_IN: Final = 256 * 1024 * 1024
"""Characters that one file's references may become: a text may be referred to any number of times."""
MOST_IN_ONE: Final = 8 * 1024 * 1024
"""Characters that the references of one message or event may become: it has to be small enough to be recorded."""


class Attachments:
    """The texts of a file by their ids; it counts what was set in, what is not there, and what was too much."""

    def __init__(self, most: int = MOST_SET_IN, most_in_one: int = MOST_IN_ONE) -> None:
        self._texts: dict[str, Any] = {}
        self._left, self._most_in_one, self._left_in_one = most, most_in_one, 0
        self._set_in = self._missing = self._too_much = 0

    def of(self, texts: dict[str, Any]) -> None:
        """From here on these are the texts."""
        self._texts = texts

    def whole(self, value: Any) -> Any:
        """A message or an event with every text that is a reference replaced by what it refers to; one that leads nowhere stays."""
        self._left_in_one = self._most_in_one
        return self._with_texts(value)

    def notes(self) -> list[str]:
        """What the report says of them."""
        told = (
            (self._set_in, "was set in where it was said; the source keeps the reference."),
            (self._missing, "leads to no attachment of the file, and stays as it is."),
            (
                self._too_much,
                f"stays as it is: {MOST_IN_ONE:,} characters are set in at most in one message or event, {MOST_SET_IN:,} in a file.",
            ),
        )
        return [f"{counted(count, 'reference')} to attachments: each {says}" for count, says in told if count]

    def _with_texts(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value) if value.startswith(_REFERENCE) else value
        if isinstance(value, list):
            return [self._with_texts(each) for each in value]
        if isinstance(value, dict):
            return {name: self._with_texts(each) for name, each in value.items()}
        return value

    def _text(self, reference: str) -> str:
        text = self._texts.get(reference.removeprefix(_REFERENCE))
        if not isinstance(text, str):
            self._missing += 1
            return reference
        if len(text) > min(self._left, self._left_in_one):
            self._too_much += 1
            return reference
        self._left -= len(text)
        self._left_in_one -= len(text)
        self._set_in += 1
        return text
