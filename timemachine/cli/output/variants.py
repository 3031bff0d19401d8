"""The variants of a comparison on the command line: a model, then settings for this variant only."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

if TYPE_CHECKING:
    from timemachine.client.generated import types

_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "temperature": float,
    "seed": int,
    "max_tokens": int,
    "system_prompt": str,
    "prompt_template": str,
}
_TEXTS: Final = ("system_prompt", "prompt_template")


class VariantType(click.ParamType["types.VariantIn"]):
    """A variant as the API expects it, written as in a shell: `openai:gpt-4o temperature=0 system-prompt=@brief.txt`."""

    name = "variant"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> types.VariantIn:
        """The variant. Raises `BadParameter`."""
        if isinstance(value, dict):
            return cast("types.VariantIn", value)
        try:
            model, *settings = shlex.split(value)
        except ValueError:
            self.fail(f"{value!r} has no model or an unclosed quote.", param, ctx)
        variant: dict[str, object] = {"model": model}
        for setting in settings:
            name, equals, text = setting.partition("=")
            name = name.lower().replace("-", "_")
            if not equals or name not in _READ or name in variant:
                names = ", ".join(_READ)
                self.fail(
                    f"{setting!r} in {value!r} is not a setting. Use {names} with =VALUE, each once.",
                    param,
                    ctx,
                )
            variant[name] = self._read(name, text, param, ctx)
        return cast("types.VariantIn", variant)

    def _read(self, name: str, text: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if name in _TEXTS and text.startswith("@"):
            return self._file_text(text[1:], param, ctx)
        try:
            return _READ[name](text)
        except ValueError:
            self.fail(f"{name}={text} is not a number.", param, ctx)

    def _file_text(self, path: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError) as why:
            self.fail(f"Cannot read {path} as UTF-8 text: {why}.", param, ctx)
