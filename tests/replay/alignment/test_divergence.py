"""Where two runs part: the first pair of steps in which the agent did something else."""

from collections.abc import Sequence
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.alignment.divergence import Divergence, first_divergence
from timemachine.replay.alignment.queries import aligned

pytestmark = pytest.mark.django_db


def user(text: str) -> ActionDraft:
    return ActionDraft(kind="message", role="user", output=text)


def call(tool: str, /, **given: Any) -> ActionDraft:
    return ActionDraft(kind="tool_call", tool=tool, input=given)


def answer(output: Any) -> ActionDraft:
    return ActionDraft(kind="llm_call", model="openai:gpt-4o", output=output)


def calling(tool: str, /, **given: Any) -> ActionDraft:
    block = {"type": "tool_use", "id": "a", "name": tool, "input": given}
    return answer({"role": "assistant", "content": [block]})


def session(project: Project, steps: Sequence[ActionDraft]) -> Session:
    made = start_session(project, name="a run", by="test")
    append(made.id, list(steps))
    return made


def parted(project: Project, left: Sequence[ActionDraft], right: Sequence[ActionDraft]) -> Divergence | None:
    sides = [session(project, steps).key for steps in (left, right)]
    return first_divergence(aligned(project, *sides))


def brief(found: Divergence | None) -> tuple[int | None, int | None, str] | None:
    return None if found is None else (found.left, found.right, found.why)


def test_runs_that_do_the_same_do_not_part(project: Project) -> None:
    steps = [user("Go."), answer("I look."), call("read", path="x"), answer("Done.")]
    assert parted(project, steps, steps) is None


def test_what_others_did_is_no_divergence(project: Project) -> None:
    left = [user("Go."), ActionDraft(kind="tool_result", output="a"), call("read", path="x")]
    right = [user("Go on."), ActionDraft(kind="tool_result", output="b"), call("read", path="x")]
    assert parted(project, left, right) is None


def test_other_arguments_are_named_by_their_places(project: Project) -> None:
    left = [user("Go."), call("read", path="x", lines=[1, 2]), call("write", path="x")]
    right = [user("Go."), call("read", path="y", lines=[1, 3]), call("write", path="y")]
    assert brief(parted(project, left, right)) == (
        2,
        2,
        "tool call read with different arguments: /path, /lines/1",
    )


def test_only_the_first_places_of_many_are_named(project: Project) -> None:
    left, right = ({f"k{place}": value for place in range(5)} for value in (0, 1))
    found = parted(project, [call("run", **left)], [call("run", **right)])
    assert found is not None
    assert found.why == "tool call run with different arguments: /k0, /k1, /k2 and 2 more"


def test_long_arguments_that_are_equal_by_their_structure_are_no_divergence(project: Project) -> None:
    text = "x" * 4_000
    left = [call("write", text=text, mode=1), call("run")]
    right = [call("write", mode=1.0, text=text), call("stop")]
    assert brief(parted(project, left, right)) == (
        2,
        2,
        "tool call run only on the left, tool call stop only on the right",
    )


def test_another_tool_is_named_on_either_side(project: Project) -> None:
    left = [user("Go."), call("read", path="x"), answer("Done.")]
    right = [user("Go."), call("list", path="x"), answer("Done.")]
    assert brief(parted(project, left, right)) == (
        2,
        2,
        "tool call read only on the left, tool call list only on the right",
    )


def test_the_sentence_pairs_steps_as_the_list_does(project: Project) -> None:
    left = [user("Go."), call("read", path="x"), answer("It has 3.")]
    right = [user("Go."), call("list", path="y"), answer("It has 4.")]
    one, other = session(project, left), session(project, right)
    found = aligned(project, one.key, other.key)
    statuses = [pair.status for pair in found.pairs]
    divergence = first_divergence(found)
    assert divergence is not None
    assert (statuses[divergence.place], statuses[divergence.place + 1]) == ("only_left", "only_right")
    assert divergence.why == "tool call read only on the left, tool call list only on the right"


def test_a_call_that_only_one_run_makes_is_named_with_its_side(project: Project) -> None:
    left = [call("read", path="x"), call("read", path="y"), answer("Done.")]
    right = [call("read", path="x"), answer("Done.")]
    assert brief(parted(project, left, right)) == (2, None, "tool call read only on the left")
    assert brief(parted(project, right, left)) == (None, 2, "tool call read only on the right")


def test_what_the_other_run_did_instead_is_named_although_it_resembles_a_later_step(project: Project) -> None:
    left = [
        call("read", path="x"),
        calling("pay", amount=240),
        call("pay", amount=240),
        answer("The claim is paid."),
    ]
    right = [call("read", path="x"), calling("ask", text="The claim is paid?")]
    found = parted(project, left, right)
    assert brief(found) == (2, 2, "calls to other tools: pay only on the left, ask only on the right")
    found = parted(project, right, left)
    assert brief(found) == (2, 2, "calls to other tools: ask only on the left, pay only on the right")


def test_a_step_more_is_no_other_step(project: Project) -> None:
    left = [call("read", path="x"), call("list"), answer("It has 3.")]
    right = [call("read", path="x"), answer("**It has 3.**")]
    assert brief(parted(project, left, right)) == (2, None, "tool call list only on the left")
    right = [call("read", path="x"), answer("It has 4.")]
    assert brief(parted(project, left, right)) == (
        2,
        2,
        "tool call list only on the left, a model call only on the right",
    )


def test_a_call_that_comes_later_says_where(project: Project) -> None:
    steps = [call("a"), call("b"), call("c"), call("d")]
    found = parted(project, steps, [*steps[1:], steps[0]])
    assert brief(found) == (1, None, "tool call a only on the left; the other has it at step 4")


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ("It has 3.", "It has 4.", "different answers (numbers differ)"),
        ("It has 3.", "**It has 3.**", None),
        (
            {"content": [{"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}]},
            {"content": [{"type": "tool_use", "id": "b", "name": "read", "input": {"path": "x"}}]},
            None,
        ),
        (
            {"content": [{"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}]},
            {"content": [{"type": "text", "text": "It says x."}]},
            "the left calls a tool, the right answers",
        ),
        ({"vector": [1, 2]}, {"vector": [1, 2]}, None),
        ({"vector": [1, 2]}, {"vector": [1, 3]}, "different answers (values differ)"),
        ("It has 3.", None, None),
        (None, None, None),
    ],
)
def test_answers_part_by_what_they_say_and_call(
    project: Project, left: Any, right: Any, why: str | None
) -> None:
    found = parted(project, [user("Go."), answer(left)], [user("Go."), answer(right)])
    assert (found and found.why) == why


def test_a_failure_on_one_side_is_a_divergence(project: Project) -> None:
    failed = ActionDraft(kind="llm_call", model="openai:gpt-4o", error_type="busy", error_message="busy")
    assert brief(parted(project, [answer("Yes."), call("a")], [failed, call("a")])) == (
        1,
        1,
        "only the right failed; the list does not pair them",
    )


def test_the_agents_messages_count_where_no_model_calls_were_recorded(project: Project) -> None:
    def said(text: str) -> ActionDraft:
        return ActionDraft(kind="message", role="agent", output=text)

    assert brief(parted(project, [user("Go."), said("It has 3.")], [user("Go."), said("It has 4.")])) == (
        2,
        2,
        "different answers (numbers differ)",
    )


def test_arguments_that_only_one_run_recorded_are_not_told_as_other_ones(project: Project) -> None:
    found = parted(project, [call("run", path="x")], [ActionDraft(kind="tool_call", tool="run")])
    assert found is not None
    assert found.why == "tool call run with recorded arguments only on the left; the list does not pair them"


def test_the_divergence_of_two_runs_is_computed_once(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    one, other = session(project, [answer("It has 3.")]), session(project, [answer("It has 4.")])
    for queries in (2, 0):
        found = aligned(project, one.key, other.key)
        with django_assert_num_queries(queries):
            assert first_divergence(found) is not None
    append(other.id, [answer("More.")])
    found = aligned(project, one.key, other.key)
    with django_assert_num_queries(2):
        assert first_divergence(found) is not None
