"""The model calls of a comparison, grouped by the agent that made them and by the tools that they called."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.db.models import QuerySet

from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.pure.cells import NOISE, Cell
from timemachine.replay.comparison.pure.metrics import AGREEMENT, SAME_ARGUMENTS, SAME_TOOLS, Measure
from timemachine.replay.comparison.pure.statistics.intervals import mean
from timemachine.replay.runs.models import ReplayStep

By = Literal["agent", "tool"]
NO_TOOL: Final = "no tool"
_STEP: Final = ("verdict", "replay__run__arm", "replay__run__repeat", "evidence__tools", "action__agent")


class GroupVariant(Schema):
    """How far one variant agrees with the recorded calls of a group. None: there is no call to say it of."""

    arm: int
    calls: int
    same_action: float | None
    same_tools: float | None
    same_arguments: float | None


class CallGroup(Schema):
    """The model calls of one agent, or those that called one tool, for each variant. A call of several tools is in several groups."""

    by: By
    name: str | None
    arms: list[GroupVariant]


@dataclass(frozen=True, slots=True)
class _Key:
    by: By
    name: str | None


def groups_of(comparison: Comparison) -> list[CallGroup]:
    """Return the groups of a comparison's model calls."""
    return groups_in(ReplayStep.objects.filter(replay__run__comparison=comparison))


def groups_in(steps: QuerySet[ReplayStep]) -> list[CallGroup]:
    """Return the groups of the model calls among these steps of a comparison, those with most calls first, those by agent
    before those by tool. One query; none without model calls.

    A single group by agent, or by tool, says nothing that the totals do not, and is left out.
    """
    found: dict[_Key, dict[int, list[Cell]]] = defaultdict(lambda: defaultdict(list))
    for row in steps.filter(kind=MODEL_CALL).values(*_STEP):
        if row["verdict"] is not None and row["replay__run__repeat"] != NOISE:
            cell = Cell(
                arm=row["replay__run__arm"], verdict=row["verdict"], called=bool(row["evidence__tools"])
            )
            for key in _keys(row):
                found[key][cell.arm].append(cell)
    return [group for by in ("agent", "tool") for group in _groups(found, by)]


def _keys(row: Mapping[str, Any]) -> Iterator[_Key]:
    yield _Key("agent", row["action__agent"])
    for tool in row["evidence__tools"] or [NO_TOOL]:
        yield _Key("tool", tool)


def _groups(found: Mapping[_Key, Mapping[int, Sequence[Cell]]], by: str) -> list[CallGroup]:
    of_kind = [(key, arms) for key, arms in found.items() if key.by == by]
    if len(of_kind) == 1:
        return []
    of_kind.sort(key=lambda each: (-sum(map(len, each[1].values())), each[0].name or ""))
    return [
        CallGroup(
            by=key.by, name=key.name, arms=[_variant(arm, cells) for arm, cells in sorted(arms.items())]
        )
        for key, arms in of_kind
    ]


def _variant(arm: int, cells: Sequence[Cell]) -> GroupVariant:
    return GroupVariant(
        arm=arm,
        calls=len(cells),
        same_action=_share(AGREEMENT, cells),
        same_tools=_share(SAME_TOOLS, cells),
        same_arguments=_share(SAME_ARGUMENTS, cells),
    )


def _share(measure: Measure, cells: Sequence[Cell]) -> float | None:
    values = [value for cell in cells if (value := measure.read(cell).value) is not None]
    return mean(values) if values else None
