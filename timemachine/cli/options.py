"""Options that several commands share."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import click

from timemachine.core.pure.conditions import NAMES, Condition, parse_condition

type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

as_json: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, the API's own."
)
recorded_in: Decorator = click.option(
    "--session", metavar="ID", help="Record it in this session (its id or key)."
)
top_k: Decorator = click.option("--top-k", type=int, metavar="N", help="How many passages at most.")
mode: Decorator = click.option(
    "--mode", type=click.Choice(["hybrid", "semantic", "lexical"]), help="How to look for passages."
)
embedding_model: Decorator = click.option(
    "--embedding-model",
    metavar="M",
    help="Another embedding model that the collection has vectors of.",
)
adaptive: Decorator = click.option(
    "--adaptive", is_flag=True, help="Cut where the passages stop being relevant."
)
relative: Decorator = click.option(
    "--relative", type=float, metavar="SHARE", help="Adaptive: cut below this share of the best score."
)
cliff: Decorator = click.option(
    "--cliff", type=float, metavar="SHARE", help="Adaptive: cut below this share of the score before."
)
min_score: Decorator = click.option(
    "--min-score", type=float, metavar="SCORE", help="Leave out what scores less."
)
use_model: Decorator = click.option(
    "--use-model", metavar="M", help="The model that answers, as provider:model."
)
session_argument: Decorator = click.argument("session", metavar="[ID]", required=False)


system_prompt: Decorator = click.option(
    "--system-prompt", metavar="TEXT", help="Another system prompt than the recorded one."
)
prompt_template: Decorator = click.option(
    "--prompt-template",
    metavar="TEXT",
    help="Another prompt, with {passages} and {question} where these belong.",
)
temperature: Decorator = click.option("--temperature", type=float, metavar="T", help="Between 0 and 2.")
seed: Decorator = click.option("--seed", type=int, metavar="N", help="Where the provider takes one.")
max_tokens: Decorator = click.option(
    "--max-tokens", type=int, metavar="N", help="The longest answer, in tokens."
)
as_of: Decorator = click.option(
    "--as-of", type=click.Choice(["recorded", "now"]), help="The collection as it was then, or as it is now."
)
skip_asks: Decorator = click.option("--skip-asks", is_flag=True, help="Leave the asks out.")
skip_finds: Decorator = click.option("--skip-finds", is_flag=True, help="Leave the finds out.")


def together(*options: Decorator) -> Decorator:
    """One decorator for all of these options, in their order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


of_call: Decorator = together(system_prompt, prompt_template, temperature, seed, max_tokens)
of_retrieval: Decorator = together(relative, cliff, min_score, embedding_model, as_of)
of_replay: Decorator = together(adaptive, top_k, mode, of_call, of_retrieval, skip_asks, skip_finds)


class ShareType(click.FloatRange):
    """A number from 0 to 1; `nan` is none."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; anything else is wrong usage."""
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no number from 0 to 1.", param, ctx)
        return found


class ConditionType(click.ParamType[Condition]):
    """A `--fail-on` condition: one of these names, or a cost."""

    name = "condition"

    def __init__(self, names: Sequence[str] = NAMES) -> None:
        self._names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Condition:
        """The condition that was written; anything else is wrong usage."""
        found = value if isinstance(value, Condition) else parse_condition(value, self._names)
        if found is None:
            self.fail(f"{value!r} is none of {', '.join(self._names)}, cost:USD.", param, ctx)
        return found
