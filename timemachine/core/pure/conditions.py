"""The conditions of `--fail-on`: parse them, and check them against a replay, a variant of a comparison, or a suite
run.

They are in `core` because both the command and the server parse and check them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from timemachine.core.pure.numbers import counted, money, spaced
from timemachine.core.pure.verdicts import CONTEXTS, RETRIEVALS, VERDICTS

NAMES: Final = tuple(dict.fromkeys((*CONTEXTS, *VERDICTS, *RETRIEVALS)))
SINCE_LAST_RUN: Final = (
    "new_failure",
    "worse",
    "other_verdict",
    "answer_differs",
    "passages_differ",
    "not_reached",
    "step_gone",
    "new_step",
    "reached_again",
    "failure_gone",
    "better",
)
"""How a step of a suite run can differ from the previous run."""
SUITE_NAMES: Final = (*NAMES, *SINCE_LAST_RUN, "left_out")
_COST = "cost:"
_COUNTED: Final = {"context": "context", "retrieval": "retrieval", "verdicts": "answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition for failing: a verdict by its name, or a cost above this many US dollars."""

    name: str
    most_usd: Decimal | None = None


def parse_condition(text: str, names: Collection[str] = NAMES) -> Condition | None:
    """Parse a condition; spaces and hyphens count as underscores. Return None if it is not one of `names`."""
    name = text.strip().lower()
    if name.startswith(_COST):
        most = _dollars(name.removeprefix(_COST))
        return None if most is None else Condition(name="cost", most_usd=most)
    name = name.replace(" ", "_").replace("-", "_")
    return Condition(name=name) if name in names else None


def format_condition(condition: Condition) -> str:
    """Return the condition in the form that `parse_condition` reads."""
    return condition.name if condition.most_usd is None else f"{_COST}{condition.most_usd}"


def reasons_to_fail(conditions: Sequence[Condition], document: Mapping[str, Any]) -> list[str]:
    """Return a reason for each condition that the document of a replay, a variant or a run meets."""
    found = [_reason(condition, document) for condition in dict.fromkeys(conditions)]
    return [reason for reason in found if reason is not None]


def _reason(condition: Condition, document: Mapping[str, Any]) -> str | None:
    if condition.most_usd is not None:
        return _too_expensive(condition.most_usd, document)
    if condition.name == "error":
        return _in_steps("error", max(document["verdicts"].get("error", 0), document["steps"]["failed"]))
    if condition.name == "left_out":
        left_out = document.get("left_out", 0)
        return f"{counted(left_out, 'replay')} left out" if left_out else None
    return _in_parts(condition.name, document)


def _too_expensive(most: Decimal, document: Mapping[str, Any]) -> str | None:
    """Return the reason if the cost exceeds the limit, or may do so because some costs are unknown."""
    limit, unknown = money(most), document["unknown_cost_calls"] + document["uncertain_calls"]
    what = "run" if "left_out" in document else "arm" if "arm" in document else "replay"
    if Decimal(str(document["cost_usd"])) > most:
        return f"the {what} cost {money(document['cost_usd'])}, more than {limit}"
    if unknown:
        return f"the cost of {counted(unknown, 'call')} is not known, so it may be more than {limit}"
    return None


def _in_steps(name: str, count: int) -> str | None:
    return f"{spaced(name)} in {counted(count, 'step')}" if count else None


def _in_parts(name: str, document: Mapping[str, Any]) -> str | None:
    """Return how many steps have the verdict, by part if it occurs in several: one step can be in each of them."""
    if name in SINCE_LAST_RUN:
        return _in_steps(name, (document.get("since") or {}).get(name, 0))
    counts = {noun: (document.get(part) or {}).get(name, 0) for part, noun in _COUNTED.items()}
    found = {noun: number for noun, number in counts.items() if number}
    if len(found) < 2:  # noqa: PLR2004  # several
        return _in_steps(name, sum(found.values()))
    return f"{spaced(name)}: {', '.join(counted(number, noun) for noun, number in found.items())}"


def _dollars(text: str) -> Decimal | None:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None
