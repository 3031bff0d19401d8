"""Which significance the rules propose, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.weight.rules import LONGEST_QUOTED, Line, Proposal, proposals


def said(sequence: int, text: str, *, by_agent: bool = True) -> Line:
    return Line(sequence=sequence, kind="message", of_agent=by_agent, text=text)


def call(sequence: int, tool: str, error: str | None = None, kind: str = "tool_result") -> Line:
    return Line(sequence=sequence, kind=kind, of_agent=kind == "tool_call", call=tool, error=error)


def rules(*lines: Line) -> list[tuple[int, str, str]]:
    return [(each.sequence, each.rule, each.significance) for each in proposals(lines)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("We decided to close the connection.", "decision"),
        ("Looked at both. I'll go with the second plan.", "decision"),
        ("Decision: keep the pool small.", "decision"),
        ("**Decision:** keep the pool small.", "decision"),
        ("We decided not to wait.", "decision"),
        ("Let's go with Postgres.", "decision"),
        ("The root cause is that workers keep their connections.", "root_cause"),
        ("It turns out the cache was never cleared.", "root_cause"),
        ("Found the bug: an off-by-one.", "root_cause"),
        ("I suspect the database is slow.", "hypothesis"),
        ("Hypothesis: the disk is full", "hypothesis"),
        ("My guess is a stale lock.", "hypothesis"),
        ("That fixed it.", "solved"),
        ("The upload works now.", "solved"),
        ("All 12 tests pass.", "solved"),
    ],
)
def test_wording_that_says_it_is_proposed(text: str, rule: str) -> None:
    (found,) = proposals([said(1, text)])
    assert found.rule == rule
    assert found.reason.startswith("it says “")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We have not decided yet.",
        "Have we decided to close it?",
        "If that fixed it, close the ticket.",
        "That never fixed it.",
        "Until the upload works now and then, wait.",
        "The weather is nice.",
        "The decision tree has four leaves.",
        "Suspects were listed.",
    ],
)
def test_questions_negations_and_plain_words_propose_nothing(text: str) -> None:
    assert rules(said(1, text)) == []


def test_only_what_the_agent_says_is_read_for_its_wording() -> None:
    assert rules(said(1, "We decided to pay.", by_agent=False)) == []
    assert rules(Line(sequence=1, kind="event", of_agent=True, text="We decided to pay.")) == []


def test_the_first_of_several_failed_steps_is_proposed_with_how_many_followed() -> None:
    found = proposals([said(1, "Hello."), call(2, "a", "Boom\n now"), call(3, "b", "Bang")])
    assert [(each.sequence, each.rule, each.significance) for each in found] == [(2, "first_error", "error")]
    assert found[0].reason == "the first step that failed: “Boom now”; 1 more failed after it"
    assert proposals([call(2, "a", "Boom")])[0].reason.endswith("no other step failed")


def test_what_the_agent_did_before_a_failing_call_went_well_for_good_is_proposed() -> None:
    lines = [
        call(1, "deploy", "pool exhausted"),
        said(2, "Another look."),
        call(3, "deploy", "pool exhausted"),
        said(4, "I close the connection after each job."),
        call(5, "deploy", kind="tool_call"),
        call(6, "deploy"),
        call(7, "deploy"),
    ]
    (_, gone) = proposals(lines)
    assert (gone.sequence, gone.rule, gone.significance) == (4, "error_gone", "solution")
    assert gone.reason == (
        "“pool exhausted” came for the last time in step 3; deploy went well in step 6 and did not fail again"
    )


def test_a_call_that_went_well_with_nothing_between_is_proposed_itself() -> None:
    assert rules(call(1, "a", "x"), call(2, "a")) == [
        (1, "first_error", "error"),
        (2, "error_gone", "solution"),
    ]


def test_calls_without_results_count_themselves() -> None:
    lines = [call(1, "a", "x", kind="tool_call"), said(2, "Hm."), call(3, "a", kind="tool_call")]
    assert rules(*lines) == [(1, "first_error", "error"), (2, "error_gone", "solution")]


def test_a_call_that_failed_last_has_no_solution() -> None:
    assert rules(call(1, "a"), call(2, "a", "x")) == [(2, "first_error", "error")]


def test_of_several_rules_the_one_that_weighs_most_speaks_for_a_step() -> None:
    assert rules(said(1, "I suspect a leak. We decided to look. The root cause is a leak.")) == [
        (1, "root_cause", "breakthrough")
    ]


def test_a_long_sentence_is_quoted_in_part() -> None:
    (found,) = proposals([said(1, "We decided to " + "wait and " * 100)])
    assert found.reason.endswith("…”")
    assert len(found.reason) < LONGEST_QUOTED + 20


@given(
    st.lists(
        st.builds(
            Line,
            sequence=st.integers(1, 60),
            kind=st.sampled_from(["message", "tool_call", "tool_result", "event"]),
            of_agent=st.booleans(),
            text=st.sampled_from(["We decided.", "That fixed it.", "Hm.", ""]),
            call=st.sampled_from([None, "a", "b"]),
            error=st.sampled_from([None, "x"]),
        ),
        unique_by=lambda line: line.sequence,
    )
)
def test_each_step_has_at_most_one_proposal_and_all_stand_in_the_session(lines: list[Line]) -> None:
    ordered = sorted(lines, key=lambda line: line.sequence)
    found: list[Proposal] = proposals(ordered)
    sequences = [each.sequence for each in found]
    assert sequences == sorted(set(sequences))
    assert set(sequences) <= {line.sequence for line in lines}
    assert found == proposals(ordered)
