"""The one-sentence summary of a replay."""

from decimal import Decimal
from typing import Any

import pytest

from timemachine.core.pure.verdicts import CALLS_IN_TEXT
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.summary import FirstDivergence, FrequentError, Tally, sentence

NOTHING: dict[str, Any] = {
    "kind": "audit",
    "status": "done",
    "model": None,
    "asked": 0,
    "recorded_cost_usd": Decimal(0),
    "recorded_unknown_cost_calls": 0,
}


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"statuses": {"done": 2, "queued": 1}}, "2 steps of 3 checked, no model called"),
        (
            {"statuses": {"done": 2}, "contexts": {"verified": 1, "not_recorded": 1}, "uncertain_calls": 1},
            "2 steps of 2 checked; context verified 1 of 2 (1 not recorded); 1 lost attempt may have been billed",
        ),
        (
            {"statuses": {"done": 3}, "contexts": {"reconstructed": 2, "not_recorded": 1}},
            "nothing could be verified: 1 step without a recorded context, 2 steps whose request was not recorded but "
            "assembled from the steps before; no model called",
        ),
        (
            {"statuses": {"done": 2}, "contexts": {"reconstructed": 1, "altered": 1}},
            "2 steps of 2 checked, no model called; context verified 0 of 2 (1 altered, 1 reconstructed)",
        ),
        (
            {
                "kind": "retrieval",
                "statuses": {"done": 1, "failed": 1, "cancelled": 1},
                "retrievals": {"changed": 1, "same": 1},
                "failure": FrequentError(message="timeout", steps=1),
            },
            "2 steps of 3 replayed, no model called; retrieval 1 same, 1 changed; 1 step cancelled; error: timeout",
        ),
        (
            {
                "kind": "answer",
                "model": "stub:one",
                "asked": 2,
                "called": 2,
                "statuses": {"done": 2, "skipped": 1},
                "verdicts": {"reworded": 1, "identical": 1},
                "cut_off": 1,
                "cost_usd": Decimal("1.5"),
                "recorded_cost_usd": Decimal(1),
                "spend_limit_usd": Decimal(1),
            },
            "2 asks replayed with stub:one: 1 identical, 1 reworded; 1 step with an answer that is cut off; "
            "1 step not asked because of the spend limit; $1.50 (recorded $1.00); "
            "the spend limit of $1.00 was exceeded by $0.50",
        ),
        (
            {
                "model": "stub:one",
                "asked": 5,
                "sent": 4,
                "called": 5,
                "statuses": {"done": 5},
                "verdicts": {"same_action": 3, "other_tool": 2},
                "diverged": FirstDivergence(sequence=12, verdict="other_tool", in_words="more calls"),
            },
            "1 ask and 4 model calls replayed with stub:one: 3 the same action, calls differ in 2; the runs first diverge at "
            "step 12, where the model makes other calls; $0 (recorded $0)",
        ),
        (
            {
                "asked": 1,
                "sent": 1,
                "called": 1,
                "statuses": {"done": 1},
                "verdicts": {"other_arguments": 1},
                "diverged": FirstDivergence(
                    sequence=12, verdict="other_arguments", in_words="other arguments", earlier_unanswered=3
                ),
            },
            "1 model call replayed: other arguments in 1; the first replayed step that differs is step 12, where "
            "the model calls the tool with different arguments; $0 (recorded $0)",
        ),
    ],
)
def test_a_replay_has_a_one_sentence_summary(counts: dict[str, Any], text: str) -> None:
    assert sentence(Tally(**(NOTHING | counts))) == text


def test_a_replay_with_failed_or_cancelled_steps_can_be_retried() -> None:
    assert [
        Tally(**NOTHING, statuses={status: 1}).can_retry for status in ("failed", "cancelled", "done")
    ] == [True, True, False]


def test_only_finished_steps_count_as_finished() -> None:
    tally = Tally(**NOTHING, statuses={"done": 3, "failed": 1, "queued": 2})
    assert (tally.total, tally.finished) == (6, 4)
    assert tally.over_limit_usd is None


ENDING = Ending.model_construct(
    why="finished",
    calls=2,
    recorded_calls=2,
    recorded_results=1,
    supplied_results=0,
    unused_results=0,
    recorded_messages=0,
    supplied_messages=0,
    next_message=None,
    step=3,
    detail=None,
    unanswered=[],
)


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        (
            {"ending": ENDING, "asked": 1, "cost_usd": Decimal("0.5"), "contexts": {"verified": 1}},
            "Followed the recording to its end: 2 calls, 1 tool result from the record; context verified 1 of 1; $0.50",
        ),
        (
            {"model": "stub:one", "statuses": {"cancelled": 1}, "uncertain_calls": 1},
            "Continued with stub:one; cancelled; 1 lost attempt may have been billed",
        ),
        ({}, "Continued"),
        (
            {"statuses": {"failed": 1}, "failure": FrequentError(message="The worker stopped.", steps=1)},
            "Continued; error: The worker stopped.",
        ),
    ],
)
def test_the_sentence_of_a_continuation_begins_with_its_end(counts: dict[str, Any], text: str) -> None:
    assert sentence(Tally(**(NOTHING | {"kind": "continue"} | counts))) == text


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ({}, "$0.10 + 3 calls of unknown price"),
        ({"recorded_in_whole": 3}, "$0.10 + 3 calls of unknown price"),
        (
            {"recorded_in_whole": 2, "recorded_whole_usd": Decimal("1.15")},
            "$0.10 + 1 call of unknown price, and of 2 calls only for the whole session, $1.15",
        ),
        (
            {"called": 3, "recorded_in_whole": 3, "recorded_whole_usd": Decimal("1.15")},
            "only for the whole session, $1.15",
        ),
    ],
)
def test_a_cost_that_is_recorded_for_the_whole_session_is_named_as_such(
    recorded: dict[str, Any], words: str
) -> None:
    counts = {"recorded_cost_usd": Decimal("0.1"), "recorded_unknown_cost_calls": 3, "called": 4}
    assert Tally(**(NOTHING | counts | recorded)).recorded_cost_in_words == words


@pytest.mark.parametrize(
    ("absent", "inferred", "text"),
    [
        ({}, 0, None),
        ({"system prompt": 3}, 0, "sent without what was not recorded: system prompt"),
        ({"system prompt": 2}, 0, "sent without what was not recorded in 2 requests: system prompt"),
        (
            {"system prompt": 3, "tool definitions": 3},
            3,
            "sent without what was not recorded: system prompt; tools offered as the recorded calls show them, because their "
            "definitions were not recorded",
        ),
        (
            {"tool definitions": 3},
            1,
            "sent without what was not recorded: tool definitions; tools offered as the recorded calls show them, because their "
            "definitions were not recorded",
        ),
    ],
)
def test_the_summary_names_what_was_not_sent(absent: dict[str, int], inferred: int, text: str | None) -> None:
    counts = {**NOTHING, "asked": 3, "sent": 3, "model": "stub:one", "verdicts": {"identical": 3}}
    found = sentence(Tally(**counts, statuses={"done": 3}, absent=absent, inferred=inferred))
    assert found == f"3 model calls replayed with stub:one: 3 identical; {text + '; ' if text else ''}$0"


def test_the_summary_says_if_calls_are_in_the_text() -> None:
    counts = {**NOTHING, "asked": 3, "sent": 3, "model": "stub:one", "verdicts": {"reworded": 3}}
    found = sentence(Tally(**counts, statuses={"done": 3}, in_text=3))
    assert found == f"3 model calls replayed with stub:one: 3 reworded; {CALLS_IN_TEXT}; $0"
