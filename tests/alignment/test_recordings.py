"""Four trials of one task, recorded by others: the same tool calls pair up."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from timemachine.accounts.models import Project
from timemachine.alignment.queries import Aligned, aligned
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Session

ROLES = {"assistant": "agent"}


def drafts_of(message: dict[str, Any]) -> list[ActionDraft]:
    """What one message of a transcript says, then the tools that it calls."""
    role = ROLES.get(message["role"], message["role"])
    if role == "tool":
        return [ActionDraft(kind="tool_result", tool=message["name"], output=message["content"])]
    said = [ActionDraft(kind="message", role=role, output=message["content"])] if message["content"] else []
    calls = [each["function"] for each in message.get("tool_calls") or []]
    return said + [
        ActionDraft(kind="tool_call", tool=each["name"], input=json.loads(each["arguments"]))
        for each in calls
    ]


@pytest.fixture
def trials(project: Project, recordings: Path) -> dict[int, list[Session]]:
    found: dict[int, list[Session]] = {}
    file = recordings / "tau_bench" / "airline_tasks_0_to_7.json"
    for trial in json.loads(file.read_text(encoding="utf-8")):
        session = start_session(project, name=f"task {trial['task_id']} trial {trial['trial']}", by="test")
        append(session.id, [draft for message in trial["traj"] for draft in drafts_of(message)])
        found.setdefault(trial["task_id"], []).append(session)
    return found


def calls_of(found: Aligned, side: str) -> Counter[tuple[str, ...]]:
    steps = [getattr(pair, side) for pair in found.pairs]
    return Counter(step.doing for step in steps if step and step.kind == "tool_call")


def test_the_same_tool_calls_of_four_trials_pair_up(
    project: Project, trials: dict[int, list[Session]]
) -> None:
    shared = paired = 0
    for sessions in trials.values():
        assert len(sessions) == 4
        for one, other in combinations(sessions, 2):
            found = aligned(project, one.key, other.key)
            both = calls_of(found, "left") & calls_of(found, "right")
            same = Counter(
                pair.left.doing
                for pair in found.pairs
                if pair.status == "same" and pair.left and pair.left.kind == "tool_call"
            )
            assert same <= both
            shared += both.total()
            paired += same.total()
            assert all(pair.left.sort == pair.right.sort for pair in found.pairs if pair.left and pair.right)
    # the rest were made in another order
    assert shared > 150
    assert paired / shared > 0.9, (paired, shared)
