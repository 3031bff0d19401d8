"""Claude Code tool results as children of their calls."""

from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import CALL, IMAGE, actions_of, answer, result, text, user
from timemachine.recording.sessions.pure.draft import ActionDraft


def test_a_result_is_a_child_of_its_call_with_tool_and_source_line() -> None:
    record = user([result("content of a.py")], toolUseResult={"file": {"numLines": 1}})

    found = actions_of(answer(CALL), record)[-1]

    assert found == ActionDraft(
        kind="tool_result",
        id="u1/1",
        layer="tool",
        role="tool",
        agent="claude-code",
        tool="Read",
        call_id="t1",
        parent="a1/1",
        output="content of a.py",
        source=record,
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (result("No such file", is_error=True), "No such file"),
        (result([text("No such"), IMAGE, "x", text("file")], is_error=True), "No such\nfile"),
        (result([IMAGE], is_error=True), None),
        (result(None, is_error=True), None),
    ],
)
def test_an_error_result_has_an_error(block: dict[str, Any], message: str | None) -> None:
    (found,) = actions_of(user([block]))

    assert (found.error_type, found.error_message) == ("tool_error", message)
    assert found.output == block["content"]


@pytest.mark.parametrize("flag", [False, None, "true"])
def test_a_successful_result_has_no_error(flag: Any) -> None:
    (found,) = actions_of(user([result([IMAGE], is_error=flag)]))

    assert (found.error_type, found.error_message, found.output) == (None, None, [IMAGE])


def test_a_result_without_its_call_has_no_parent() -> None:
    found = actions_of(answer(CALL), user([result("r", "t9"), result("r", call_id="")]))

    assert [(each.call_id, each.parent, each.tool) for each in found[-2:]] == [
        ("t9", None, None),
        (None, None, None),
    ]


def test_a_result_without_an_id_is_not_attached_to_a_call_without_one() -> None:
    found = actions_of(answer({"type": "tool_use", "name": "Read"}), user([{"type": "tool_result"}]))

    assert (found[-1].parent, found[-1].tool, found[-1].output) == (None, None, None)


def test_a_result_before_its_call_is_attached_to_the_first_call() -> None:
    found = actions_of(
        user([result("early")]),
        answer(CALL),
        answer({**CALL, "name": "Write"}, uuid="b1", message={"id": "m2"}),
    )

    assert (found[0].parent, found[0].tool) == ("a1/1", "Read")


def test_a_result_of_a_reused_call_id_is_attached_to_the_preceding_call() -> None:
    found = actions_of(
        answer(CALL),
        user([result("one")]),
        answer(CALL, uuid="b1", message={"id": "m2"}),
        user([result("two")], "u2"),
    )

    assert [(each.output, each.parent) for each in found if each.kind == "tool_result"] == [
        ("one", "a1/1"),
        ("two", "b1/1"),
    ]
