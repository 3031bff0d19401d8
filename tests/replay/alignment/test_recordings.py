"""Four trials of one task recorded by other people: the same tool calls are paired."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Program, program
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

ROLES = {"assistant": "agent"}


def drafts_of(message: dict[str, Any]) -> list[ActionDraft]:
    """The text of a transcript message, followed by the tools it calls."""
    role = ROLES.get(message["role"], message["role"])
    if role == "tool":
        return [ActionDraft(kind="tool_result", tool=message["name"], output=message["content"])]
    messages = (
        [ActionDraft(kind="message", role=role, output=message["content"])] if message["content"] else []
    )
    calls = [each["function"] for each in message.get("tool_calls") or []]
    return messages + [
        ActionDraft(kind="tool_call", tool=each["name"], input=json.loads(each["arguments"]))
        for each in calls
    ]


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def trials(project: Project, recordings: Path) -> dict[int, list[Session]]:
    found: dict[int, list[Session]] = {}
    file = recordings / "tau_bench" / "airline_tasks_0_to_7.json"
    for trial in json.loads(file.read_text(encoding="utf-8")):
        session = start_session(project, name=f"task {trial['task_id']} trial {trial['trial']}", by="test")
        append(session.id, [draft for message in trial["traj"] for draft in drafts_of(message)])
        found.setdefault(trial["task_id"], []).append(session)
    return found


def tool_calls(session: Session) -> dict[int, str]:
    """The tool calls of a session, by sequence."""
    calls = session.actions.filter(kind="tool_call").select_related("input")
    return {each.sequence: f"{each.tool} {each.input.sha256 if each.input else None}" for each in calls}


def items(api: Program, one: Session, other: Session) -> list[dict[str, Any]]:
    """Every pair of steps, from the API."""
    found = api.get("/compare", a=one.key, b=other.key, limit=200).json()
    assert found["next"] is None
    listed: list[dict[str, Any]] = found["items"]
    return listed


def test_the_same_tool_calls_of_four_trials_are_paired(
    api: Program, trials: dict[int, list[Session]]
) -> None:
    shared = paired = moved = 0
    for sessions in trials.values():
        assert len(sessions) == 4
        for one, other in pairwise(sessions):
            left, right = tool_calls(one), tool_calls(other)
            both = Counter(left.values()) & Counter(right.values())
            listed = items(api, one, other)
            pairs = [
                (each["a"]["sequence"], each["b"]["sequence"]) for each in listed if each["a"] and each["b"]
            ]
            same = [here for here, there in pairs if here in left and left[here] == right.get(there)]
            moved_from = [each["a"]["sequence"] for each in listed if each["status"] == "moved" and each["a"]]
            shared += both.total()
            paired += len(same)
            moved += sum(here in left for here in moved_from)
            for each in listed:
                if each["a"] and each["b"]:
                    assert (each["a"]["kind"], each["a"]["tool"]) == (each["b"]["kind"], each["b"]["tool"])
    assert shared > 75
    assert paired / shared > 0.9, (paired, shared)
    assert moved > 0  # most unpaired calls were made in a different order
    assert 0.98 < (paired + moved) / shared <= 1
