"""How the arms of a comparison are written in a terminal: a model, and behind it what only that arm is asked with."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "temperature": float,
    "seed": int,
    "max_tokens": int,
    "system_prompt": str,
    "prompt_template": str,
}
_TEXTS: Final = ("system_prompt", "prompt_template")


_OF_EVERY_ARM: Final = (
    click.option(
        "--temperature", type=float, metavar="T", help="Of every arm; without it as it was recorded."
    ),
    click.option("--seed", type=int, metavar="S", help="Of every arm; without it as it was recorded."),
    click.option("--max-tokens", type=int, metavar="N", help="Of every arm: the longest answer, in tokens."),
    click.option("--system-prompt", metavar="TEXT", help="Of every arm; without it as it was recorded."),
    click.option(
        "--prompt-template",
        metavar="TEXT",
        help="Of every arm: another prompt, with {passages} and {question} where these belong.",
    ),
)


def of_every_arm(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that hold for each arm which says nothing else."""
    for option in reversed(_OF_EVERY_ARM):
        command = option(command)
    return command


class ArmType(click.ParamType[dict[str, Any]]):
    """An arm as the API takes it, written as in a shell: `openai:gpt-4o temperature=0 system-prompt=@brief.txt`."""

    name = "arm"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """The arm that was written; anything else is wrong usage."""
        if isinstance(value, dict):
            return value
        try:
            model, *settings = shlex.split(value)
        except ValueError:
            self.fail(f"{value!r} names no model, or a quote in it is not closed.", param, ctx)
        arm: dict[str, Any] = {"model": model}
        for setting in settings:
            name, equals, text = setting.partition("=")
            name = name.lower().replace("-", "_")
            if not equals or name not in _READ or name in arm:
                names = ", ".join(_READ)
                self.fail(
                    f"{setting!r} in {value!r} is not one of {names} with =VALUE, each once.", param, ctx
                )
            arm[name] = self._read(name, text, param, ctx)
        return arm

    def _read(self, name: str, text: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if name in _TEXTS and text.startswith("@"):
            return self._of_file(text[1:], param, ctx)
        try:
            return _READ[name](text)
        except ValueError:
            self.fail(f"{name}={text} is no number.", param, ctx)

    def _of_file(self, path: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError) as why:
            self.fail(f"{path} cannot be read as UTF-8 text: {why}.", param, ctx)
