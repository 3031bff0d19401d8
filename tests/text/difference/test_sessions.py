import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference import sessions
from timemachine.text.pure.difference.sessions import StepPair, align_by_sequence, align_steps
from timemachine.text.pure.difference.steps import StepFacts, differing

STEPS = st.builds(
    StepFacts,
    sequence=st.just(1),
    kind=st.sampled_from(["tool_call", "message", "ask"]),
    tool=st.sampled_from([None, "read", "write"]),
    role=st.sampled_from([None, "user"]),
    name=st.sampled_from([None, "n"]),
    input=st.sampled_from([None, "a", "b"]),
    output=st.sampled_from([None, "x", "y"]),
    error=st.sampled_from([None, "failed"]),
    frames=st.sampled_from([(), ("f",), ("f", "g")]),
    words=st.sampled_from(["", "read the file", "read another file", "nothing of the kind"]),
    answered=st.booleans(),
)
RUNS = st.lists(STEPS, max_size=9).map(
    lambda steps: [replace(step, sequence=place) for place, step in enumerate(steps, 1)]
)


def call(number: int, tool: str, arguments: str, **fields: Any) -> StepFacts:
    return StepFacts(sequence=number, kind="tool_call", tool=tool, input=arguments, words=arguments, **fields)


def message(number: int, text: str, role: str = "user") -> StepFacts:
    return StepFacts(sequence=number, kind="message", role=role, output=text, words=text)


def summary(pairs: Sequence[StepPair]) -> list[tuple[str, int | None, int | None]]:
    return [
        (
            pair.status,
            pair.left.sequence if pair.left else None,
            pair.right.sequence if pair.right else None,
        )
        for pair in pairs
    ]


@given(RUNS, RUNS)
def test_every_step_of_both_runs_appears_in_order_in_exactly_one_pair(
    left: list[StepFacts], right: list[StepFacts]
) -> None:
    found = align_steps(left, right)
    assert [pair.left for pair in found if pair.left] == left
    assert [pair.right for pair in found if pair.right] == right
    for pair in found:
        if pair.left and pair.right:
            assert pair.differs_in == differing(pair.left, pair.right)
            assert pair.status == ("modified" if pair.differs_in else "same")
        elif pair.status != "moved":
            assert pair.status == ("only_left" if pair.left else "only_right")
            assert (pair.differs_in, pair.moved) == ((), None)


@given(RUNS, RUNS)
def test_a_moved_step_is_listed_at_both_positions_and_no_other_step_is(
    left: list[StepFacts], right: list[StepFacts]
) -> None:
    found = align_steps(left, right)
    moved_left = {(pair.left.sequence, pair.moved) for pair in found if pair.status == "moved" and pair.left}
    moved_right = {
        (pair.moved, pair.right.sequence) for pair in found if pair.status == "moved" and pair.right
    }
    assert moved_left == moved_right
    for one, other in moved_left:
        assert left[one - 1].doing == right[int(other or 0) - 1].doing
    rest = [{each.fingerprint for each in side if each} for side in _only(found)]
    assert not {each for each in rest[0] & rest[1] if any(each[3:7])}


def _only(found: Sequence[StepPair]) -> tuple[list[StepFacts | None], list[StepFacts | None]]:
    return (
        [pair.left for pair in found if pair.status == "only_left"],
        [pair.right for pair in found if pair.status == "only_right"],
    )


def mirrored(pairs: Sequence[StepPair]) -> list[tuple[str, int | None, int | None]]:
    turned = {"only_left": "only_right", "only_right": "only_left"}
    return sorted(
        ((turned.get(status, status), right, left) for status, left, right in summary(pairs)),
        key=lambda each: (str(each[1]), str(each[2])),
    )


@given(RUNS, RUNS)
def test_swapping_the_runs_gives_the_mirror_image(left: list[StepFacts], right: list[StepFacts]) -> None:
    forth = sorted(summary(align_steps(left, right)), key=lambda each: (str(each[1]), str(each[2])))
    assert mirrored(align_steps(right, left)) == forth


@given(RUNS)
def test_a_run_compared_with_itself_has_no_differences(steps: list[StepFacts]) -> None:
    assert {pair.status for pair in align_steps(steps, steps)} <= {"same"}


@given(RUNS, st.lists(STEPS, min_size=3, max_size=3), st.data())
def test_three_inserted_steps_are_exactly_the_three_reported(
    steps: list[StepFacts], new: list[StepFacts], data: st.DataObject
) -> None:
    grown = list(steps)
    inserted = [replace(step, name=f"new {number}") for number, step in enumerate(new)]
    for step in inserted:
        grown.insert(data.draw(st.integers(0, len(grown))), step)
    grown = [replace(step, sequence=place) for place, step in enumerate(grown, 1)]
    found = align_steps(steps, grown)
    only = [pair.right for pair in found if pair.status == "only_right"]
    assert sorted(str(step.name) for step in only if step) == ["new 0", "new 1", "new 2"]
    assert [pair.status for pair in found if pair.status != "only_right"] == ["same"] * len(steps)


@pytest.mark.parametrize("most", [0, 1, 4, 20])
@settings(max_examples=25)
@given(left=RUNS, right=RUNS)
def test_runs_too_long_for_a_step_by_step_comparison_are_aligned_too(
    most: int, left: list[StepFacts], right: list[StepFacts]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "_COMPARED", max(most, 1))
        found = align_steps(left, right)
        assert [pair.left for pair in found if pair.left] == left
        assert [pair.right for pair in found if pair.right] == right
        assert {pair.status for pair in align_steps(left, left)} <= {"same"}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([], [], []),
        ([call(1, "read", "a.py")], [], [("only_left", 1, None)]),
        (
            [call(1, "read", "a.py", output="1")],
            [call(1, "read", "a.py", output="2")],
            [("modified", 1, 1)],
        ),
        (
            [call(1, "read", "a.py")],
            [call(1, "write", "a.py")],
            [("only_left", 1, None), ("only_right", None, 1)],
        ),
        (
            [message(1, "book a flight to Rome on Friday")],
            [message(1, "book a flight to Rome on Monday")],
            [("modified", 1, 1)],
        ),
        (
            [message(1, "book a flight to Rome")],
            [message(1, "thank you very much")],
            [("only_left", 1, None), ("only_right", None, 1)],
        ),
        (
            [message(1, "hello there", role="user")],
            [message(1, "hello there", role="agent")],
            [("only_left", 1, None), ("only_right", None, 1)],
        ),
        (
            [call(1, "read", "a.py"), call(2, "read", "b.py")],
            [call(1, "read", "b.py"), call(2, "read", "c.py")],
            [("only_left", 1, None), ("same", 2, 1), ("only_right", None, 2)],
        ),
        (
            [call(1, "read", "a.py", output="1"), call(2, "read", "b.py"), call(3, "read", "c.py")],
            [call(1, "read", "b.py"), call(2, "read", "c.py"), call(3, "read", "a.py", output="2")],
            [("moved", 1, None), ("same", 2, 1), ("same", 3, 2), ("moved", None, 3)],
        ),
        (
            [message(1, ""), call(2, "read", "b.py"), call(3, "read", "c.py")],
            [call(1, "read", "b.py"), call(2, "read", "c.py"), message(3, "")],
            [("only_left", 1, None), ("same", 2, 1), ("same", 3, 2), ("only_right", None, 3)],
        ),
        (
            [call(1, "find", "where is it", output="1"), message(2, "it is in the cellar behind the door")],
            [
                message(1, "one moment please"),
                call(2, "find", "where is it", output="2"),
                message(3, "it is in the attic behind the door"),
            ],
            [("only_right", None, 1), ("modified", 1, 2), ("modified", 2, 3)],
        ),
    ],
)
def test_steps_are_paired_by_their_identity(
    left: list[StepFacts], right: list[StepFacts], expected: list[tuple[str, int | None, int | None]]
) -> None:
    assert summary(align_steps(left, right)) == expected


def test_a_pair_states_in_what_it_differs() -> None:
    one = StepFacts(sequence=1, kind="ask", input="q", output="a", model="m", frames=("f",), name="n")
    other = replace(one, output="b", model="o", frames=("g",), error="failed")
    assert differing(one, other) == ("output", "error", "model", "frames")
    assert differing(one, replace(other, answered=False)) == ("frames",)
    assert differing(one, replace(other, frames=None)) == ("output", "error", "model")
    assert differing(one, replace(one, sequence=7, words="others")) == ()


def test_words_can_be_dropped_after_the_alignment() -> None:
    step = StepFacts(sequence=1, kind="message", words="the invoice is late")
    step.drop_words()
    assert step == StepFacts(sequence=1, kind="message")


@given(RUNS, RUNS)
def test_runs_of_one_session_are_paired_by_their_sequence(
    left: list[StepFacts], right: list[StepFacts]
) -> None:
    found = align_by_sequence(left, right)
    both = min(len(left), len(right))
    pairs = [(pair.left.sequence, pair.right.sequence) for pair in found if pair.left and pair.right]
    assert pairs == [(number, number) for number in range(1, both + 1)]
    assert len(found) == max(len(left), len(right))


def test_steps_of_one_session_that_only_one_run_has_appear_where_they_belong() -> None:
    steps = [call(number, "read", f"{number}.py") for number in range(1, 6)]
    assert summary(align_by_sequence([steps[0], steps[2], steps[4]], [steps[1], steps[2]])) == [
        ("only_left", 1, None),
        ("only_right", None, 2),
        ("same", 3, 3),
        ("only_left", 5, None),
    ]


def test_two_runs_of_2000_steps_are_aligned_within_seconds() -> None:
    dice = random.Random(5)
    words = [f"word{number}" for number in range(500)]

    def text() -> str:
        return " ".join(dice.choices(words, k=30))

    left = [call(number, "run", text()) for number in range(2_000)]
    alike = [
        replace(step, output="new") if dice.random() < 0.2 else step for step in left if dice.random() > 0.05
    ]
    other = [call(number, "run", text()) for number in range(2_000)]
    for right in (alike, other):
        started = time.process_time()
        found = align_steps(left, right)
        assert time.process_time() - started < 10
        assert len([pair for pair in found if pair.left]) == len(left)
    paired = [pair for pair in align_steps(left, alike) if pair.status in {"same", "modified"}]
    assert len(paired) == len(alike)
