"""The model calls of a replay as a table: what was recorded and what the model did now, a line for each call. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from timemachine.cli.formatting import json_or_text, shortened
from timemachine.cli.output.table import facts, table
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted, spaced
from timemachine.core.pure.verdicts import verdict_in_words

if TYPE_CHECKING:
    from timemachine.client.generated import types

MODEL_CALL: Final = "llm_call"
_LONGEST: Final = 44
"""The most characters of what a model did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """What the table shows of a model call. A replay can have thousands, with requests that are long."""

    sequence: int
    recorded: str
    new: str
    verdict: str
    context: str
    models: tuple[str, str]
    absent: Sequence[str]
    not_asked: str


def replayed_call(step: types.ReplayStepOut) -> ReplayedCall:
    """What the table shows of this step, a model call."""
    original, new, evidence = step["original"], step["new"], step["evidence"] or {}
    not_asked = evidence.get("not_asked") or ""
    ended = step["verdict"] or ("" if step["status"] == "done" else step["status"])
    return ReplayedCall(
        sequence=step["sequence"],
        recorded=shortened(_line(original), _LONGEST),
        new=shortened(_new(new, not_asked), _LONGEST),
        verdict=verdict_in_words(ended, evidence),
        context=spaced(step["context"] or UNKNOWN),
        models=(original["model"] or NOT_RECORDED, (new["model"] if new else None) or ""),
        absent=(evidence.get("request") or {}).get("absent", ()),
        not_asked=not_asked,
    )


def replayed_call_lines(calls: Sequence[ReplayedCall], mode: str) -> Iterator[str]:
    """The model calls of a replay: what applies to all of them, then a line for each."""
    yield from facts(
        [
            ("model calls", f"{len(calls):,}"),
            ("mode", mode),
            ("original model", _each(call.models[0] for call in calls)),
            ("model now", _each(call.models[1] for call in calls)),
            ("not recorded", _each(name for call in calls for name in call.absent)),
            ("not asked", _each(call.not_asked for call in calls)),
        ]
    )
    yield ""
    columns = {
        "step": [f"{call.sequence:,}" for call in calls],
        "recorded": [call.recorded for call in calls],
        "new": [call.new for call in calls],
        "verdict": [call.verdict for call in calls],
        "context": [call.context for call in calls],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    yield from table(list(shown), list(zip(*shown.values(), strict=True)), right=("step",))


def _line(side: types.RecordedStep | types.NewStep) -> str:
    answer = side["answer"]
    if answer is not None:
        return answer["line"]
    return NOT_RECORDED if side["output"] is None else json_or_text(side["output"])


def _new(new: types.NewStep | None, not_asked: str) -> str:
    if new is not None and new["error"]:
        return f"error: {new['error']['message']}"
    if new is not None and new["output"] is not None:
        return _line(new)
    return "not asked" if not_asked else ""


def _each(names: Iterable[str]) -> str:
    """The names, each once; with the number of their calls if there are several: `a (9 calls), b (1 call)`."""
    counts = Counter(name for name in names if name)
    if len(counts) == 1 or len(set(counts.values())) == 1:
        return ", ".join(counts)
    return ", ".join(f"{name} ({counted(number, 'call')})" for name, number in counts.most_common())
