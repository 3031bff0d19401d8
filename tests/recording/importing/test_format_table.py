"""The table of what each format contains, in docs/importing.md, against the first sample of the format."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.samples import SAMPLES
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft

EARLIER = {
    "agentos", "atif", "claude_code", "codex", "dakera", "devduck", "inspect", "langfuse", "langsmith", "memvid",
    "openai_chat", "otlp_json", "swe_agent", "tau_bench", "timemachine", "who_and_when",
}  # fmt: skip
"""Formats that the table does not describe: their samples do not have all that they can contain."""
PAGE = Path(__file__).parents[3] / "docs" / "importing.md"
HEAD = "| format | messages | tool calls | tokens | cost | sub-agents | times |"


def table() -> dict[str, list[str]]:
    """The cells of each row by the name of its format."""
    after = PAGE.read_text(encoding="utf-8").partition(HEAD)[2].strip().splitlines()[1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in after[: after.index("")]]
    return {name.strip("`"): cells for name, *cells in rows}


def degree(values: Iterable[Any]) -> str:
    """Whether all, none or some of the values are there."""
    there = [value is not None and value is not False for value in values]
    return "no" if not any(there) else "yes" if all(there) else "partly"


def sub_agents(sessions: Iterable[SessionDraft], actions: Iterable[ActionDraft]) -> str:
    """Sub-agents have sessions of their own, or are only named at steps."""
    if any(session.forked_from for session in sessions):
        return "yes"
    named = {action.agent for action in actions if action.role == "agent" and action.agent}
    tagged = any(tag.startswith(("agent:", "sidechain")) for action in actions for tag in action.tags)
    return "partly" if len(named) > 1 or tagged else "no"


def contents(name: str) -> list[str]:
    sessions = FORMATS[name].read(SAMPLES[name][0]).sessions
    actions = [action for session in sessions for action in session.actions]
    calls = [action for action in actions if action.kind in {"llm_call", "ask"}]
    counted = [action for action in actions if action.kind not in {"llm_call", "ask"}]
    tools = [action for action in actions if action.kind in {"tool_call", "tool_result"}]
    spoken = [action for action in actions if action.kind != "event"]

    def of_calls(field: str) -> str:
        per_call = degree(getattr(action, field) for action in calls)
        for_the_run = any(getattr(action, field) is not None for action in counted)
        return "partly" if per_call == "no" and for_the_run else per_call

    return [
        degree([any(action.kind == "message" for action in actions)]),
        degree(action.input is not None if action.kind == "tool_call" else action.parent for action in tools),
        of_calls("usage"),
        of_calls("cost_usd"),
        sub_agents(sessions, actions),
        degree(action.started_at for action in spoken),
    ]


def test_every_format_of_an_agent_has_a_row() -> None:
    assert table().keys() == FORMATS.keys() - EARLIER


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - EARLIER))
def test_the_row_of_a_format_is_what_its_sample_contains(name: str) -> None:
    assert table()[name] == contents(name)
