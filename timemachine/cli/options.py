"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import click

from timemachine.cli.failure import Failure
from timemachine.cli.source import read_any_text
from timemachine.cli.terminal import remember
from timemachine.core.pure.conditions import NAMES, Condition, parse_condition

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
type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def combined(*options: Decorator) -> Decorator:
    """One decorator that adds all of these options in order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class ShareType(click.FloatRange):
    """A number from 0 to 1, and not `nan`."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises `BadParameter`."""
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number from 0 to 1.", param, ctx)
        return found


class ConditionType(click.ParamType[Condition]):
    """A `--fail-on` condition: one of these names, or a cost."""

    name = "condition"

    def __init__(self, names: Sequence[str] = NAMES) -> None:
        self._names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Condition:
        """The condition. Raises `BadParameter`."""
        found = value if isinstance(value, Condition) else parse_condition(value, self._names)
        if found is None:
            self.fail(f"{value!r} is not one of {', '.join(self._names)}, cost:USD.", param, ctx)
        return found


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
                    f"{setting!r} in {value!r} is not a setting. Use {names}, each with =VALUE and at most once.",
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
            return read_any_text(path)
        except Failure as why:
            self.fail(why.message, param, ctx)


def several(*names: str, help: str, of: str = "several", **more: Any) -> Decorator:  # noqa: A002  # click's name
    """An option that can be given several times."""
    return click.option(*names, multiple=True, help=f"{help}; repeat for {of}.", **more)


def fail_on(when: str, names: Sequence[str] = NAMES) -> Decorator:
    """The `--fail-on` option of a command that exits with 3 if one of these conditions is true."""
    return click.option(
        "--fail-on",
        multiple=True,
        type=ConditionType(names),
        metavar="CONDITION",
        help=f"Exit with 3 if this is true{when}.",
    )


as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    expose_value=False,
    callback=remember,
    help="Print the API's JSON document.",
)
"""`show` and `wants_json` read it from the context of the command."""
limit = click.option(
    "--limit",
    type=click.IntRange(1, 200),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of items.",
)
after = click.option(
    "--after", metavar="CURSOR", help="Continue after this cursor: the `next` value of the previous page."
)
page = combined(limit, after)
min_importance = click.option(
    "--min-importance", type=ShareType(), metavar="X", help="Minimum importance from 0 to 1."
)
yes = click.option(
    "--yes", is_flag=True, expose_value=False, callback=remember, help="Do not ask for confirmation."
)
"""`confirm` reads it from the context of the command."""
session_to_record_in = combined(
    click.option(
        "--session",
        metavar="ID",
        help="Record in this session (ID or key; default: the collection's one open session).",
    ),
    click.option("--no-session", is_flag=True, help="Do not record in a session."),
)
top_k = click.option("--top-k", type=int, metavar="N", help="Maximum number of passages.")
mode = click.option("--mode", type=click.Choice(["hybrid", "semantic", "lexical"]), help="How to search.")
embedding_model = click.option(
    "--embedding-model", metavar="M", help="Another of the collection's embedding models."
)
adaptive = click.option(
    "--adaptive", is_flag=True, help="Cut off the results where passages stop being relevant."
)
pool = click.option(
    "--pool",
    type=int,
    metavar="N",
    help="Adaptive: consider this many of the best passages (default: 100, whatever the top-k).",
)
relative = click.option(
    "--relative", type=float, metavar="SHARE", help="Adaptive: cut off below this share of the best score."
)
cliff = click.option(
    "--cliff", type=float, metavar="SHARE", help="Adaptive: cut off below this share of the previous score."
)
min_score = click.option("--min-score", type=float, metavar="SCORE", help="Minimum score.")
use_model = click.option("--use-model", metavar="M", help="The model that answers, as provider:model.")
session_argument = click.argument("session", metavar="[ID]", required=False)
system_prompt = click.option("--system-prompt", metavar="TEXT", help="Replace the recorded system prompt.")
prompt_template = click.option(
    "--prompt-template",
    metavar="TEXT",
    help="Replace the prompt; {passages} and {question} are filled in.",
)
temperature = click.option("--temperature", type=float, metavar="T", help="From 0 to 2.")
seed = click.option("--seed", type=int, metavar="N", help="Seed, for providers that support it.")
max_tokens = click.option(
    "--max-tokens", type=int, metavar="N", help="Maximum length of an answer in tokens."
)
as_of = click.option(
    "--as-of",
    type=click.Choice(["recorded", "now"]),
    help="Search the collection as it was when recorded, or as it is now.",
)
skip_asks = click.option("--skip-asks", is_flag=True, help="Skip ask steps.")
skip_finds = click.option("--skip-finds", is_flag=True, help="Skip find steps.")
skip_calls = click.option("--skip-calls", is_flag=True, help="Skip model calls.")
only = click.option(
    "--only",
    metavar="FILTER",
    help='Only steps that match this timeline filter, for example "tool:Bash status:error". A tool call selects the model call that led to it.',
)
sample = click.option(
    "--sample", type=int, metavar="N", help="At most N of the steps, the same ones every time."
)
spend_limit = click.option(
    "--spend-limit",
    "spend_limit_usd",
    type=float,
    metavar="USD",
    help="Make only calls whose expected cost stays within this limit. Needs models with known prices.",
)
diff = click.option(
    "--diff", "with_diff", is_flag=True, help="Show the differences between the answers word by word."
)
call_options = combined(system_prompt, prompt_template, temperature, seed, max_tokens)
search_options = combined(top_k, mode, embedding_model, adaptive, relative, cliff, min_score)
retrieval_options = combined(pool, relative, cliff, min_score, embedding_model, as_of)
chosen_steps = combined(skip_asks, skip_finds, skip_calls, only, sample)
replay_options = combined(adaptive, top_k, mode, call_options, retrieval_options, chosen_steps)

_FILTERS: Final = (
    "q", "named", "agent", "user", "status", "tag", "tool", "kind", "model", "since", "until", "min_cost", "older_than_days",
)  # fmt: skip
query = click.option(
    "-q", "--query", "q", metavar="Q", help="Only sessions with this text in their name, key or content."
)
agent = click.option("--agent", metavar="AGENT", help="Only sessions of this agent.")
user = click.option("--user", metavar="USER", help="Only sessions of this user.")
tag = click.option("--tag", metavar="TAG", help="Only sessions with this tag.")
since = click.option("--since", metavar="WHEN", help="Started at or after this time (RFC 3339) or date.")
until = click.option("--until", metavar="WHEN", help="Started at or before this time (RFC 3339) or date.")
session_filters = combined(
    query,
    agent,
    user,
    tag,
    click.option(
        "--status", type=click.Choice(["recording", "ended"]), help="Only sessions with this status."
    ),
    click.option("--kind", metavar="KIND", help="Only sessions with a step of this kind."),
    click.option("--tool", metavar="TOOL", help="Only sessions with a call of this tool."),
    click.option("--model", metavar="M", help="Only sessions with a call of this model."),
    since,
    until,
    click.option("--min-cost", type=float, metavar="USD", help="Minimum cost in US dollars."),
)
filter_options = combined(
    session_filters,
    click.option("--named", metavar="TEXT", help="Only sessions with this text in their name or key."),
    click.option(
        "--older-than",
        "older_than_days",
        type=click.IntRange(1),
        metavar="DAYS",
        help="Only sessions in which nothing was recorded for this many days.",
    ),
)


def given_filters(options: Mapping[str, Any]) -> types.SessionSelection:
    """The filters that were given, by their names in the API."""
    given = {name: options[name] for name in _FILTERS if options.get(name) is not None}
    return cast("types.SessionSelection", given)


def filter_text(which: Mapping[str, object] | None) -> str:
    """The filters as text: `agent: claude, older than days: 30`."""
    return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in (which or {}).items())
