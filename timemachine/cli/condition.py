"""The conditions of `--fail-on`: read from the command line, and looked for in what a replay came to. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from timemachine.base.wording import money
from timemachine.cli.wording import plural, words

CONTEXTS = ("altered", "missing", "not_recorded", "verified")
RETRIEVALS = ("same", "reordered", "changed")
ANSWERS = (
    "error",
    "refused",
    "newly_answered",
    "identical",
    "formatting",
    "numbers_differ",
    "names_differ",
    "polarity_differs",
    "adds",
    "omits",
    "reworded",
    "changed",
    "equivalent",
    "contradicts",
)
NAMES = tuple(dict.fromkeys((*CONTEXTS, *ANSWERS, *RETRIEVALS)))
_COST = "cost:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What must not be: a verdict by its name, or a cost above so many US dollars."""

    name: str
    most_usd: Decimal | None = None


def read_condition(text: str) -> Condition | None:
    """The condition that the text names, in whatever spelling (`numbers differ`, `numbers-differ`); None where it is none."""
    name = text.strip().lower()
    if name.startswith(_COST):
        most = _dollars(name.removeprefix(_COST))
        return None if most is None else Condition(name="cost", most_usd=most)
    name = name.replace(" ", "_").replace("-", "_")
    return Condition(name=name) if name in NAMES else None


def held(conditions: Sequence[Condition], replay: dict[str, Any]) -> list[str]:
    """Why each condition that holds of the replay does: empty where none does."""
    found = [_held(condition, replay) for condition in dict.fromkeys(conditions)]
    return [reason for reason in found if reason is not None]


def _held(condition: Condition, replay: dict[str, Any]) -> str | None:
    if condition.most_usd is not None:
        return _too_dear(condition.most_usd, replay)
    if condition.name == "error":
        return _counted("error", max(replay["verdicts"].get("error", 0), replay["steps"]["failed"]))
    counts = [replay[part].get(condition.name, 0) for part in ("context", "retrieval", "verdicts")]
    return _counted(condition.name, sum(counts))


def _too_dear(most: Decimal, replay: dict[str, Any]) -> str | None:
    """A cost that is not known cannot be shown to stay below a limit, so it holds against it."""
    limit, unknown = money(most), replay["unknown_cost_calls"] + replay["uncertain_calls"]
    if Decimal(str(replay["cost_usd"])) > most:
        return f"the replay cost {money(replay['cost_usd'])}, more than {limit}"
    if unknown:
        return f"the cost of {plural(unknown, 'call')} is not known, so it may be more than {limit}"
    return None


def _counted(name: str, count: int) -> str | None:
    return f"{words(name)} in {plural(count, 'step')}" if count else None


def _dollars(text: str) -> Decimal | None:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None
