"""Runs of AutoGen and AG2."""

from decimal import Decimal

import pytest

from tests.recording.importing.chats.samples import AUTOGEN, AUTOGEN_BY_AGENT, AUTOGEN_CHAT
from tests.recording.importing.sample_files import document, lines, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.draft import Usage


@pytest.mark.parametrize(
    "data", [document(AUTOGEN), document(AUTOGEN["messages"]), lines(*AUTOGEN["messages"])]
)
def test_messages_of_a_team_have_their_agents_calls_and_tokens(data: bytes) -> None:
    (session,) = read(data).sessions
    assert [(each.kind, each.agent, each.name or each.tool) for each in session.actions][:8] == [
        ("message", None, None),
        ("message", "planner", "thinking"),
        ("llm_call", "planner", None),
        ("tool_call", "planner", "find"),
        ("tool_result", "planner", "find"),
        ("llm_call", "writer", None),
        ("message", "writer", None),
        ("event", "writer", "MemoryQueryEvent"),
    ]
    call, tool, result = session.actions[2:5]
    assert (call.usage, call.model) == (Usage(input_tokens=50, output_tokens=5), None)
    assert (tool.parent, tool.input) == (call.id, {"id": 7})
    assert (result.parent, result.error_message) == (tool.id, "no 7")


def test_a_chat_has_its_cost_once() -> None:
    found = read(document(AUTOGEN_CHAT))
    (session,) = found.sessions
    assert [(each.kind, each.agent) for each in session.actions] == [
        ("message", "user_proxy"),
        ("tool_call", "helper"),
        ("tool_result", "user_proxy"),
        ("event", None),
    ]
    assert session.actions[2].parent == session.actions[1].id
    assert session.actions[-1].cost_usd == Decimal("0.02")
    assert session.actions[-1].usage == Usage(input_tokens=80, output_tokens=9, total_tokens=89)
    assert len(found.report.skipped) == 1


@pytest.mark.parametrize(("cost", "expected"), [(0.03, Decimal("0.05")), (0, None)])
def test_a_chat_states_what_all_models_used_without_cached_answers(
    cost: float, expected: Decimal | None
) -> None:
    one, other = (
        {"cost": each, "prompt_tokens": 80, "completion_tokens": 9, "total_tokens": 89}
        for each in (0.02, cost)
    )
    chat = AUTOGEN_CHAT | {
        "cost": {
            "usage_including_cached_inference": {"total_cost": 9, "gpt-x": one | {"cost": 9}},
            "usage_excluding_cached_inference": {"total_cost": 0.02 + cost, "gpt-x": one, "ours": other},
        }
    }
    (session,) = read(document(chat)).sessions
    assert session.actions[-1].cost_usd == expected
    assert session.actions[-1].usage == Usage(input_tokens=160, output_tokens=18, total_tokens=178)


def test_messages_by_agent_are_a_session_for_each() -> None:
    helper, nobody = read(document(AUTOGEN_BY_AGENT)).sessions
    assert (helper.agent, len(helper.actions), nobody.metadata["partner"]) == ("helper", 3, "nobody")


def test_other_files_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no AutoGen message"):
        read(document([7]), "autogen")
