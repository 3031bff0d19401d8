"""The table of what is read, in docs/importing.md: every cell against a small input for its row."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.every_format.table_inputs import DIALECTS, inputs_of
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft

DOCS = Path(__file__).parents[4] / "docs"
HEAD = "| format or dialect | messages | tool calls | tokens | cost | sub-agents | times | tested on a real file |"
DESCRIPTIONS = "| format (`--format`) | tested with | imported as | not available |"
OF_DIALECTS = "| dialect | call | around calls | tool | messages | tokens and cost |"


def table(page: str, head: str) -> dict[str, list[str]]:
    """The cells of each row of a table by its first cell."""
    after = (DOCS / page).read_text(encoding="utf-8").partition(head)[2].strip().splitlines()[1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in after[: after.index("")]]
    return {name: cells for name, *cells in rows}


ROWS = {name.strip("`").removeprefix("OTel: "): cells for name, cells in table("importing.md", HEAD).items()}


def degree(values: Iterable[Any]) -> str:
    """Whether all, none or some of the values are there."""
    there = [value is not None and value is not False for value in values]
    return "no" if not any(there) else "yes" if all(there) else "partly"


def sub_agents(sessions: Iterable[SessionDraft], actions: Iterable[ActionDraft]) -> str:
    """Sub-agents have sessions of their own, or are only named at steps."""
    if any(session.forked_from for session in sessions):
        return "yes"
    acting = [action for action in actions if action.layer == "agent" and action.role in ("agent", None)]
    named = {action.agent for action in acting if action.agent}
    tagged = any(tag.startswith(("agent:", "sidechain")) for action in actions for tag in action.tags)
    return "partly" if len(named) > 1 or tagged else "no"


def messages(actions: Iterable[ActionDraft], calls: Iterable[ActionDraft]) -> str:
    """Messages are steps, or the input and output of calls, or only those of the run."""
    if any(action.kind == "message" for action in actions):
        return "yes"
    if any(call.input is not None or call.output is not None for call in calls):
        return "in calls"
    around = [action for action in actions if action.kind == "event" and action.layer == "agent"]
    return "partly" if any(each.input is not None or each.output is not None for each in around) else "no"


def is_part_of_its_call(result: ActionDraft, actions: Iterable[ActionDraft]) -> bool:
    """Whether call and result were recorded as one, with one time."""
    calls = (each for each in actions if each.id == result.parent)
    return result.kind == "tool_result" and result.source is None and any(call.started_at for call in calls)


def contents(row: str) -> list[str]:
    name, files = inputs_of(row)
    sessions = [session for file in files for session in FORMATS[name].read(file).sessions]
    actions = [action for session in sessions for action in session.actions]
    calls = [action for action in actions if action.kind in {"llm_call", "ask"}]
    counted = [action for action in actions if action.kind not in {"llm_call", "ask"}]
    tools = [action for action in actions if action.kind in {"tool_call", "tool_result"}]
    spoken = [action for action in actions if action.kind != "event"]

    def of_calls(field: str) -> str:
        per_call = degree(getattr(action, field) for action in calls)
        for_the_run = any(getattr(action, field) is not None for action in counted)
        return "partly" if per_call == "no" and for_the_run else per_call

    told = degree(
        action.input is not None if action.kind == "tool_call" else action.parent for action in tools
    )
    return [
        messages(actions, calls),
        "partly" if tools and told == "no" else told,
        of_calls("usage"),
        of_calls("cost_usd"),
        sub_agents(sessions, actions),
        degree(action.started_at or is_part_of_its_call(action, actions) for action in spoken),
    ]


def test_every_format_and_every_dialect_has_a_row() -> None:
    dialects = {name.partition(", with")[0] for name in table("opentelemetry.md", OF_DIALECTS)}
    assert DIALECTS.keys() == dialects
    assert ROWS.keys() == FORMATS.keys() | dialects


@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_what_its_input_contains(row: str) -> None:
    assert ROWS[row][:-1] == contents(row)


def test_the_table_and_the_descriptions_agree_on_what_was_tested_on_real_files() -> None:
    described = {name: cells[0] for name, cells in table("importing.md", DESCRIPTIONS).items()}
    for name in FORMATS:
        (tested_with,) = [cell for row, cell in described.items() if f"(`{name}`)" in row]
        assert ROWS[name][-1].startswith("yes") == tested_with.startswith("real"), name
