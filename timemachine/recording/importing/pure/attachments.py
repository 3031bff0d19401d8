"""Replace `attachment://ID` references by the text that the file holds under that id."""

from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted

_REFERENCE: Final = "attachment://"
MOST_SET_IN: Final = 256 * 1024 * 1024
"""Maximum number of characters inserted per file: a text can be referenced any number of times."""
MOST_IN_ONE: Final = 8 * 1024 * 1024
"""Maximum number of characters inserted per message or event, so that it stays small enough to be recorded."""


class Attachments:
    """The texts of a file by id. Counts the references that were replaced, missing, or too large."""

    def __init__(self, most: int = MOST_SET_IN, most_in_one: int = MOST_IN_ONE) -> None:
        self._texts: JsonObject = {}
        self._remaining, self._most_in_one, self._remaining_in_one = most, most_in_one, 0
        self._replaced = self._missing = self._too_large = 0

    def use(self, texts: JsonObject) -> None:
        """Replace the texts."""
        self._texts = texts

    def resolve(self, value: Any) -> Any:
        """Return a message or event with its references replaced by their texts. A reference without a text stays."""
        self._remaining_in_one = self._most_in_one
        return self._with_texts(value)

    def notes(self) -> list[str]:
        """Return sentences for the report."""
        outcomes = (
            (self._replaced, "was replaced with its text; the source keeps the reference."),
            (self._missing, "does not match an attachment in the file and was not replaced."),
            (
                self._too_large,
                f"was not replaced: at most {MOST_IN_ONE:,} characters are inserted per message or event, {MOST_SET_IN:,} per file.",
            ),
        )
        return [
            f"{counted(count, 'reference')} to attachments: each {text}" for count, text in outcomes if count
        ]

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
        if len(text) > min(self._remaining, self._remaining_in_one):
            self._too_large += 1
            return reference
        self._remaining -= len(text)
        self._remaining_in_one -= len(text)
        self._replaced += 1
        return text
