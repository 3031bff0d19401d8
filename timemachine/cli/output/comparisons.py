"""Comparisons, their progress and the verdicts of judge models, as text. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from timemachine.cli.formatting import duration, listed_words, one_line, shortened, visible
from timemachine.cli.launching import busy_calls, spending
from timemachine.cli.output.table import facts, table
from timemachine.core.pure.model_steps import ModelSteps
from timemachine.core.pure.numbers import (
    NOT_RECORDED,
    UNKNOWN,
    counted,
    money,
    money_or_unknown,
    progress,
    spaced,
    total_cost,
)

if TYPE_CHECKING:
    from timemachine.client.generated import types

type _Share = Literal["agreement", "same_tools", "same_arguments", "grounding"]
_SHARES: Final[tuple[_Share, ...]] = ("agreement", "same_tools", "same_arguments", "grounding")
_FIGURES: Final = ("cost", "latency p50", "latency p95")
_NO_TOOL: Final = "no tool"
_GROUP_HEADS: Final = ("agent or tool", "variant", "calls", "same action", "same tools", "same arguments")


def comparison_lines(found: types.ComparisonResults, address: str) -> Iterator[str]:
    """A comparison as text: its finding, what it is, a row for each column, a sentence for each metric of each pair of columns."""
    if found["summary"]:
        yield visible(found["summary"])
        yield ""
    yield from facts(
        [
            ("comparison", found["id"]),
            ("status", found["status"]),
            ("reason", found["reason"]),
            ("steps", f"{_compared(found)}, each {counted(found['repeats'], 'time')} per variant"),
            ("answers", _answered(found["answers"])),
            ("spent", _spent(found)),
            ("page", address),
        ]
    )
    yield ""
    if found["columns"] is None:
        yield "The statistics could not be computed. See the worker's log."
        return
    names = ["recording", *(f"{arm['arm']} {arm['name']}" for arm in found["arms"])]
    shares = [each for each in _SHARES if any(column[each] is not None for column in found["columns"])]
    rows = [_row(name, column, shares) for name, column in zip(names, found["columns"], strict=True)]
    right = ("answers", *map(spaced, shares), *_FIGURES)
    heads = ["column", *right, "verdicts", "missing"]
    if found["partings"]:
        heads.append("first diverges")
        rows = [[*row, _first_parts(found["partings"], arm)] for arm, row in enumerate(rows)]
    yield from table(heads, rows, right=right)
    yield from _missing_answers(found["missing_answers"], names)
    yield from _groups(found["groups"], names)
    for pair in found["pairs"] or ():
        yield from _pair(names[pair["a"]], names[pair["b"]], pair)
    for pair in found["noise"] or ():
        yield from _pair(names[pair["a"]], "the same variant again (noise floor)", pair)


def _compared(found: types.ComparisonResults) -> str:
    """What is compared: `12 asks and 35 model calls`."""
    return ModelSteps(asks=found["asks"], model_calls=found["model_calls"]).words


def comparison_progress(found: types.ComparisonResults) -> str:
    """The progress of a comparison in one line."""
    spent = total_cost(found["cost_usd"], found["unknown_cost_calls"])
    return f"{found['status']}: {_answered(found['answers'])}, {spent}{busy_calls(found['waiting'])}"


def listed_comparisons(items: list[types.ComparisonOut]) -> Iterator[str]:
    rows = [
        [
            each["id"],
            each["status"],
            shortened(", ".join(arm["name"] for arm in each["arms"])),
            money(each["cost_usd"]),
            shortened(each["reason"], 40),
        ]
        for each in items
    ]
    none = "No comparisons yet. Create one with `timemachine comparison create SESSION --model M --model M`."
    yield from table(("id", "status", "variants", "cost", "reason"), rows, right=("cost",), none=none)


def judging_progress(judges: types.JudgesOut) -> str:
    """The progress of the judge models in one line."""
    busy = busy_calls(judges["busy"])
    return f"{counted(judges['waiting'], 'answer')} waiting for the judge model, {judges['asking']:,} in progress{busy}"


def judging_estimate(about: types.JudgeEstimateOut) -> str:
    calls = f"{counted(about['cells'], 'answer')} in {counted(about['calls'], 'call')}"
    return f"{calls}, about {money_or_unknown(about['cost_usd'])}, by {about['basis']}."


def opinion_lines(
    found: types.ComparisonResults, requested: types.JudgeQueued, opinions: Sequence[types.OpinionOut]
) -> Iterator[str]:
    judges = found["judges"]
    yield from facts(
        [
            ("asked about", counted(requested["cells"], "answer")),
            (
                "relation",
                listed_words(Counter(each["relation"] or f"judge {each['state']}" for each in opinions)),
            ),
            (
                "new answer",
                listed_words(Counter(each["preference"] for each in opinions if each["preference"])),
            ),
            ("all judge models", total_cost(judges["cost_usd"], judges["unknown_cost_calls"])),
        ]
    )
    failed = next((each["error"]["message"] for each in opinions if each["error"]), None)
    if failed:
        yield visible(f"At least one failed: {failed}")


def _answered(answers: types.AnswerCounts) -> str:
    failed, cancelled = answers.get("failed", 0), answers.get("cancelled", 0)
    not_asked = answers["finished"] - answers["answered"] - failed - cancelled
    rest = {"failed": failed, "not asked": not_asked, "cancelled": cancelled}
    return progress(answers["answered"], f"{answers['total']:,} answered", rest)


def _spent(found: types.ComparisonResults) -> str:
    parts = spending(found, found["spend_limit_usd"])
    if found["uncertain_calls"]:
        parts.append(f"{counted(found['uncertain_calls'], 'interrupted call')} may have been billed")
    if found["answers"].get("skipped"):
        parts.append(f"{counted(found['answers']['skipped'], 'answer')} skipped")
    return ", ".join(parts)


def _groups(groups: Sequence[types.CallGroup], names: Sequence[str]) -> Iterator[str]:
    """The model calls by agent and by the tool that the recorded call called."""
    if not groups:
        return
    rows = [
        [
            group["name"] if group["name"] == _NO_TOOL else f"{group['by']} {group['name'] or NOT_RECORDED}",
            names[each["arm"]],
            f"{each['calls']:,}",
            *(_share(each[share]) for share in ("same_action", "same_tools", "same_arguments")),
        ]
        for group in groups
        for each in group["arms"]
    ]
    yield ""
    yield from table(_GROUP_HEADS, rows, right=_GROUP_HEADS[2:])


def _row(name: str, column: types.ColumnOut, shares: Sequence[_Share]) -> list[str]:
    cost = column["cost"]["total"]
    return [
        name,
        f"{column['answers']:,}",
        *(_share(column[each]) for each in shares),
        total_cost(cost, column["unknown_cost"]) if cost is not None or column["unknown_cost"] else UNKNOWN,
        _took(column["latency"]["p50"]),
        _took(column["latency"]["p95"]),
        listed_words(column["verdicts"]),
        listed_words(column["missing"]),
    ]


def _first_parts(partings: Sequence[types.Parting], arm: int) -> str:
    """Where the runs of an arm first part from the recording: `step 7`, or `step 7, step 12` for several."""
    found = (each["first_divergence"] for each in partings if each["arm"] == arm)
    steps = sorted({each["sequence"] for each in found if each is not None})
    return shortened(", ".join(f"step {step:,}" for step in steps))


def _pair(a: str, b: str, pair: types.VariantPairOut) -> Iterator[str]:
    yield ""
    yield visible(f"A: {a}, B: {b}")
    yield from facts([(spaced(each["metric"]), each["sentence"]) for each in pair["metrics"]])


def _missing_answers(found: Sequence[types.MissingAnswers], names: Sequence[str]) -> Iterator[str]:
    if found:
        yield ""
    for each in found:
        missing = f"{counted(each['answers'], 'answer')} missing"
        yield one_line(f"{names[each['arm']]}: {missing}: {each['reason']}")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _took(milliseconds: float | None) -> str:
    return UNKNOWN if milliseconds is None else duration(milliseconds)
