"""Proposed significance: which rule proposes it, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.memory.transcripts.pure.proposal_rules import LONGEST_QUOTED, Line, Proposal, proposals


def message_line(sequence: int, text: str, *, by_agent: bool = True) -> Line:
    return Line(sequence=sequence, kind="message", of_agent=by_agent, text=text)


def call(
    sequence: int, tool: str, error: str | None = None, kind: str = "tool_result", given: object = "prod"
) -> Line:
    return Line(
        sequence=sequence, kind=kind, of_agent=kind == "tool_call", call=tool, error=error, given=given
    )


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
        ("The problem was a missing index.", "root_cause"),
        ("The root cause of the crash is a leak.", "root_cause"),
        ("We agreed on Postgres.", "decision"),
        ("Let's use Postgres.", "decision"),
        ("It might be the pool.", "hypothesis"),
        ("The login bug is fixed.", "solved"),
        ("I suspect the database is slow.", "hypothesis"),
        ("Hypothesis: the disk is full", "hypothesis"),
        ("My guess is a stale lock.", "hypothesis"),
        ("That fixed it.", "solved"),
        ("The upload works now.", "solved"),
        ("All 12 tests pass.", "solved"),
    ],
)
def test_explicit_wording_is_proposed(text: str, rule: str) -> None:
    (found,) = proposals([message_line(1, text)])
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
        "The cause is unclear.",
        "The root cause is not known.",
        "The root cause is still unclear.",
        "Let me see whether the bug is fixed.",
        "That's why I'm asking for your reservation ID.",
        "I found it in the docs folder.",
        "It turns out nothing is wrong.",
        "The column width is fixed at 100px.",
        "The path is resolved relative to the root.",
        "Make sure all tests pass before you commit.",
        "Once all tests pass, I will commit.",
        "Hopefully this fixed the bug.",
        "Nothing here is fixed.",
        "We will go with whichever option you choose.",
        "Should we go with option B or C.",
    ],
)
def test_questions_negations_and_plain_words_propose_nothing(text: str) -> None:
    assert rules(message_line(1, text)) == []


def test_only_the_wording_of_the_agent_counts() -> None:
    assert rules(message_line(1, "We decided to pay.", by_agent=False)) == []
    assert rules(Line(sequence=1, kind="event", of_agent=True, text="We decided to pay.")) == []


def test_the_first_of_several_failed_steps_is_proposed_with_the_number_of_later_ones() -> None:
    found = proposals([message_line(1, "Hello."), call(2, "a", "Boom\n now"), call(3, "b", "Bang")])
    assert [(each.sequence, each.rule, each.significance) for each in found] == [(2, "first_error", "error")]
    assert found[0].reason == "the first step that failed: “Boom now”; 1 more failed after it"
    assert proposals([call(2, "a", "Boom")])[0].reason.endswith("no other step failed")


def test_a_failed_call_that_is_retried_and_keeps_succeeding_is_proposed() -> None:
    lines = [
        call(1, "deploy", "pool exhausted"),
        message_line(2, "Another look."),
        call(3, "deploy", "pool exhausted"),
        message_line(4, "I close the connection after each job."),
        call(5, "deploy", kind="tool_call"),
        call(6, "deploy"),
        call(7, "deploy"),
    ]
    (_, solved) = proposals(lines)
    assert (solved.sequence, solved.rule, solved.significance) == (6, "error_gone", "solution")
    assert solved.reason == "deploy failed in step 3 with “pool exhausted”; tried again here, it succeeded"


@pytest.mark.parametrize(
    "second",
    [
        call(2, "a", given="other"),
        call(2, "a", given=None),
        call(2, "b"),
        call(2, "a", "x"),
    ],
)
def test_another_call_or_one_that_fails_again_solves_nothing(second: Line) -> None:
    assert rules(call(1, "a", "x"), second) == [(1, "first_error", "error")]


def test_a_call_with_mostly_the_same_arguments_is_the_same() -> None:
    one, other = {"env": "prod", "tag": "v1", "wait": True}, {"env": "prod", "tag": "v2", "wait": True}
    found = rules(call(1, "a", "x", given=one), call(2, "a", given=other))
    assert found == [(1, "first_error", "error"), (2, "error_gone", "solution")]


def test_a_call_that_fails_again_later_is_not_solved() -> None:
    assert rules(call(1, "a", "x"), call(2, "a"), call(3, "a", "x")) == [(1, "first_error", "error")]


def test_calls_without_results_count_themselves() -> None:
    lines = [call(1, "a", "x", kind="tool_call"), message_line(2, "Hm."), call(3, "a", kind="tool_call")]
    assert rules(*lines) == [(1, "first_error", "error"), (3, "error_gone", "solution")]


def test_a_call_refused_by_a_person_is_not_a_failure() -> None:
    assert rules(call(1, "a", "tool_error: The user doesn't want to proceed with this tool use.")) == []


def test_a_declined_rule_lets_the_next_one_apply() -> None:
    lines = [message_line(1, "We decided to look. The root cause is a leak.")]
    found = proposals(lines, {(1, "root_cause")})
    assert [(each.rule, each.significance) for each in found] == [("decision", "decision")]
    assert proposals(lines, {(1, "root_cause"), (1, "decision")}) == []


def test_the_most_significant_of_several_rules_applies_to_a_step() -> None:
    assert rules(message_line(1, "I suspect a leak. We decided to look. The root cause is a leak.")) == [
        (1, "root_cause", "breakthrough")
    ]


def test_a_long_sentence_is_quoted_in_part() -> None:
    (found,) = proposals([message_line(1, "We decided to " + "wait and " * 100)])
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
def test_each_step_has_at_most_one_proposal_and_all_are_in_the_session(lines: list[Line]) -> None:
    ordered = sorted(lines, key=lambda line: line.sequence)
    found: list[Proposal] = proposals(ordered)
    sequences = [each.sequence for each in found]
    assert sequences == sorted(set(sequences))
    assert set(sequences) <= {line.sequence for line in lines}
    assert found == proposals(ordered)
