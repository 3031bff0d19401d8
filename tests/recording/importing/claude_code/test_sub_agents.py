"""Claude Code sub-agents: who they are, and the calls that they are recorded under."""

from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import (
    actions_of,
    answer,
    line,
    result,
    session_of,
    text,
    user,
)

TASK = {
    "type": "tool_use",
    "id": "t1",
    "name": "Task",
    "input": {"subagent_type": "surveyor", "prompt": "Survey the barn."},
}
CALLED = answer(TASK)


def side(content: Any, uuid: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return user(content, uuid, isSidechain=True, parentUuid=parent, **fields)


def side_answer(words: str, uuid: str, parent: str, **fields: Any) -> dict[str, Any]:
    return answer(
        text(words), uuid=uuid, message={"id": f"m-{uuid}"}, isSidechain=True, parentUuid=parent, **fields
    )


def placed(*records: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The id, kind, role, agent and parent of the steps of sub-agents."""
    return [
        (each.id, each.kind, each.role, each.agent, each.parent)
        for each in actions_of(*records)
        if "sidechain" in each.tags
    ]


def test_lines_of_a_sub_agent_stand_under_the_call_with_its_prompt() -> None:
    found = placed(
        user("Tour the farm."),
        CALLED,
        side("Survey the barn.", "s1"),
        side_answer("It has doors.", "s2", "s1"),
        user([result("It has doors.")], "u2"),
    )

    assert found == [
        ("s1", "message", "agent", "surveyor", "a1/1"),
        ("s2", "llm_call", "agent", "surveyor", "a1/1"),
        ("s2/1", "message", "agent", "surveyor", "s2"),
    ]


def test_two_sub_agents_of_one_type_are_two_agents_under_two_calls() -> None:
    second = {**TASK, "id": "t2"}
    found = placed(
        answer(TASK, second),
        side("Survey the barn.", "s1"),
        side("Survey the barn.", "s2"),
        side_answer("One.", "s3", "s1"),
        side_answer("Two.", "s4", "s2"),
    )

    assert [(each[0], each[3], each[4]) for each in found if each[1] != "llm_call"] == [
        ("s1", "surveyor", "a1/1"),
        ("s2", "surveyor-2", "a1/2"),
        ("s3/1", "surveyor", "s3"),
        ("s4/1", "surveyor-2", "s4"),
    ]


def test_a_sub_agent_of_no_call_has_no_parent() -> None:
    found = placed(side("Warm up", "s1"), side("", "s2"), {**side("more", "s3"), "parentUuid": "gone"})

    assert [(each[3], each[4]) for each in found] == [
        ("sub-agent", None),
        ("sub-agent-2", None),
        ("sub-agent-2", None),
    ]


@pytest.mark.parametrize(
    "naming",
    [
        [user([result("Done.")], "u2", toolUseResult={"agentId": "a1b2"})],
        [user([result([text("Done."), text("agentId: a1b2 (for resuming)")])], "u2")],
        [
            line(
                "progress",
                uuid="p1",
                parentToolUseID="t1",
                data={"type": "agent_progress", "agentId": "a1b2"},
            )
        ],
    ],
)
def test_the_session_names_the_sub_agent_of_another_file(naming: list[dict[str, Any]]) -> None:
    session = session_of(CALLED, *naming)

    (anchor,) = session.anchors
    assert (anchor.id, anchor.kind, anchor.agent, anchor.parent, anchor.output) == (
        "agent-a1b2", "event", "claude-code", "a1/1", {"agentId": "a1b2"},
    )  # fmt: skip
    assert session.awaited_calls == {}
    assert [each.metadata for each in session.actions if each.kind == "tool_result"] == [
        {"agent_id": "a1b2"} for record in naming if record["type"] == "user"
    ]


@pytest.mark.parametrize(
    "record",
    [
        user([result("agentId: a1b2", "other")], "u2"),
        user([{"type": "tool_result", "content": "agentId: a1b2"}], "u2"),
        user([result("Done.")], "u2", toolUseResult="agentId: a1b2"),
        line("progress", uuid="p1", data={"type": "agent_progress", "agentId": "a1b2"}),
        line("progress", uuid="p1", parentToolUseID="t1", data={"type": "hook_progress", "agentId": "a1b2"}),
        user([result("Done.", "elsewhere")], "u2", toolUseResult={"agentId": "a1b2"}),
    ],
)
def test_a_sub_agent_that_no_call_of_the_file_started_has_no_anchor(record: dict[str, Any]) -> None:
    assert session_of(CALLED, answer({"type": "tool_use", "name": "Task"}, uuid="b1"), record).anchors == ()


def test_the_file_of_a_sub_agent_waits_for_its_call() -> None:
    session = session_of(
        side("Survey the barn.", "s1", agentId="a1b2"),
        side_answer("It has doors.", "s2", "s1", agentId="a1b2", attributionAgent="surveyor"),
    )

    assert [(each.agent, each.parent) for each in session.actions] == [
        ("surveyor-a1b2", "agent-a1b2"),
        ("surveyor-a1b2", "agent-a1b2"),
        ("surveyor-a1b2", "s2"),
    ]
    assert session.awaited_calls == {"agent-a1b2": {"agent_id": "a1b2"}}
    assert session.name == session.key


def test_a_sub_agent_whose_type_is_unknown_is_named_by_its_id() -> None:
    assert placed(side("Go", "s1", agentId="a1b2"))[0][3] == "agent-a1b2"


def test_the_type_is_that_of_the_call_or_of_its_result() -> None:
    returned = user([result("Done.")], "u2", toolUseResult={"agentId": "a1b2", "agentType": "Explore"})
    own = side("Survey the barn.", "s1", agentId="a1b2")

    assert placed(CALLED, own, returned)[0][3:] == ("Explore-a1b2", "a1/1")
    assert placed(CALLED, own)[0][3:] == ("surveyor-a1b2", "a1/1")


def test_a_sub_agent_that_is_given_more_work_stays_under_the_call_that_started_it() -> None:
    again = answer({**TASK, "id": "t2"}, uuid="b1", message={"id": "m2"})
    returned = [
        user([result("Done.", call)], uuid, toolUseResult={"agentId": "a1b2"})
        for call, uuid in (("t1", "u2"), ("t2", "u3"))
    ]

    (anchor,) = session_of(CALLED, returned[0], again, returned[1]).anchors
    assert anchor.parent == "a1/1"


def test_a_sub_agent_of_a_sub_agent_stands_under_its_call() -> None:
    inner = {**TASK, "id": "t2", "input": {"prompt": "Count the doors."}}
    session = session_of(
        side("Survey the barn.", "s1", agentId="a1"),
        answer(inner, uuid="s2", isSidechain=True, agentId="a1", parentUuid="s1"),
        side([result("Two.", "t2")], "s3", "s2", agentId="a1", toolUseResult={"agentId": "b2"}),
    )

    (anchor,) = session.anchors
    assert (anchor.id, anchor.agent, anchor.parent) == ("agent-b2", "agent-a1", "s2/1")


@pytest.mark.parametrize("agent_id", ["a" * 101, "a\n", "ä", "", 7])
def test_an_id_that_cannot_be_looked_up_is_none(agent_id: Any) -> None:
    assert placed(side("Go", "s1", agentId=agent_id))[0][3:] == ("sub-agent", None)
    assert session_of(answer(message={"id": agent_id})).actions[0].metadata is None


def test_an_overlong_type_is_not_a_name() -> None:
    assert placed(side("Go", "s1", agentId="a1", attributionAgent="x" * 101))[0][3] == "agent-a1"


def test_a_step_is_not_its_own_parent() -> None:
    assert placed(side("Go", "agent-a1", agentId="a1"))[0][4] is None
