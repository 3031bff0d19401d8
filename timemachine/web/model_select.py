"""A select for models; unavailable models are disabled, with the reason."""

from collections.abc import Sequence
from typing import Any

from django import forms

from timemachine.llm.pure.listing import Choice


class ModelSelect(forms.Select):
    """A select for models; `offer` fills it."""

    unusable: frozenset[str] = frozenset()

    def offer(self, models: Sequence[Choice], empty: str) -> None:
        """Offer these models, after the text for choosing none."""
        self.choices = [("", empty), *(_option(choice) for choice in models)]
        self.unusable = frozenset(str(choice.name) for choice in models if not choice.usability.usable)

    def create_option(
        self,
        name: str,
        value: Any,
        label: int | str,
        selected: bool,
        index: int,
        subindex: int | None = None,
        attrs: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        option = super().create_option(name, value, label, selected, index, subindex, attrs)
        if str(value) in self.unusable:
            option["attrs"]["disabled"] = True
        return option


def _option(choice: Choice) -> tuple[str, str]:
    why_not = "" if choice.usability.usable else f": {choice.usability.why_not}"
    return str(choice.name), f"{choice.name} · {choice.label}{why_not}"
