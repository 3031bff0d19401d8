"""What a converter leaves out, as sentences."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from timemachine.core.pure.numbers import counted
from timemachine.llm.pure.requests.json_values import non_empty
from timemachine.llm.pure.requests.neutral import ANTHROPIC, OPENAI, RESPONSES, Extra, Other, Part, Thinking

LABELS: Final[Mapping[str, str]] = {
    OPENAI: "OpenAI's chat completions",
    RESPONSES: "OpenAI's Responses API",
    ANTHROPIC: "Anthropic's Messages API",
}


def label(provider: str) -> str:
    """Return the name of an API in words."""
    return LABELS.get(provider, provider)


class Notes:
    """Collects what is left out of a request to one API, and how often."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self._counts: Counter[str] = Counter()

    def own(self, extra: Extra) -> dict[str, object]:
        """Return the fields that this API knows, and note the others."""
        for owner, fields in extra.items():
            if owner != self.provider:
                for name in non_empty(fields):
                    self.foreign(f"`{name}`", owner)
        return dict(extra.get(self.provider, {}))

    def foreign(self, what: str, owner: str) -> None:
        """Note something that only another API accepts."""
        self.note(f"{what} is not sent: only {label(owner)} accepts it.")

    def unknown(self, what: str) -> None:
        """Note something that this API has no place for."""
        self.note(f"{what} is not sent: {label(self.provider)} has no equivalent.")

    def part(self, part: Part) -> None:
        """Note a part that has no place in this type of message, or that only another API accepts."""
        if isinstance(part, Thinking):
            self.foreign("The reasoning", part.provider)
        elif isinstance(part, Other):
            self.foreign(f"A part of the type `{part.value.get('type')}`", part.provider)
        else:
            self.unknown(f"A part of the kind `{type(part).__name__}` in this type of message")

    def note(self, sentence: str) -> None:
        """Note a sentence of our own."""
        self._counts[sentence] += 1

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences in the order in which they first occurred; repeated ones once, with their count."""
        return tuple(
            sentence if number == 1 else f"{sentence.removesuffix('.')} ({counted(number, 'place')})."
            for sentence, number in self._counts.items()
        )
