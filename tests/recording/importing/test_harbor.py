"""Trajectories of Harbor's agents in ATIF: what they continue, and what their sums are of."""

from decimal import Decimal
from typing import Any

import pytest

from tests.recording.importing.sample_files import document
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import copy_of


def sessions_of(trajectory: dict[str, Any]) -> tuple[SessionDraft, ...]:
    return FORMATS["atif"].read(document({"schema_version": "ATIF-v1.7", **trajectory})).sessions


@pytest.mark.parametrize(
    ("session_id", "extra", "earlier"),
    [
        ("run-cont-1", {"continuation_index": 1}, "run"),
        ("run-cont-3", {"continuation_index": 3}, "run-cont-2"),
        ("run", {"continuation_index": 0}, None),
        ("run-cont-2", {"continuation_index": 1}, None),
        ("run-cont-1", {}, None),
        ("part", {"parent_session_id": "run", "summarization_index": 1}, "run"),
        ("part", {"parent_session_id": "a run"}, "atif-7666f0507e9b"),
    ],
)
def test_a_trajectory_of_harbor_continues_an_earlier_one(
    session_id: str, extra: dict[str, Any], earlier: str | None
) -> None:
    copied = {"source": "agent", "message": "Built.", "is_copied_context": True}
    sums = {"total_prompt_tokens": 2_000, "total_cost_usd": 0.5}
    trajectory = {
        "session_id": session_id,
        "agent": {"name": "terminus-2", "extra": extra},
        "steps": [copied],
    }
    (found,) = sessions_of(trajectory | {"final_metrics": sums})
    assert found.forked_from == earlier
    assert found.actions[0].copied_from == copy_of(earlier)
    is_of_series = bool(extra.get("continuation_index"))
    end = found.actions[-1]
    assert (end.usage is None, end.cost_usd is None) == (is_of_series, is_of_series)


def test_the_cost_of_sub_agents_in_other_files_is_not_spent_again() -> None:
    refers = {"results": [{"subagent_trajectory_ref": [{"session_id": "part"}]}]}
    own = {"source": "agent", "message": "Done.", "metrics": {"cost_usd": 0.1}}
    steps = [own, {"source": "system", "message": "Summarised.", "observation": refers}]
    trajectory = {"session_id": "s", "steps": steps, "final_metrics": {"total_cost_usd": 0.5}}
    (found,) = sessions_of(trajectory)
    assert [each.cost_usd for each in found.actions if each.cost_usd] == [Decimal("0.1")]


def test_a_nested_trajectory_was_copied_from_the_outer_one_if_it_names_one() -> None:
    copied = {"source": "agent", "message": "Built.", "is_copied_context": True}
    for extra, origin in (({}, None), ({"parent_session_id": "s"}, "outer")):
        inner = {"trajectory_id": "inner", "agent": {"extra": extra}, "steps": [copied]}
        outer = {
            "trajectory_id": "outer",
            "session_id": "s",
            "steps": [copied],
            "subagent_trajectories": [inner],
        }
        found = sessions_of(outer)[1]
        assert (found.forked_from, found.actions[0].copied_from) == ("outer", copy_of(origin))
