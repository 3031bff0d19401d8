"""How a continuation ended, in words."""

from typing import Any, get_args

import pytest

from timemachine.replay.runs.pure.endings import Ending, Why

COUNTS: dict[str, Any] = {
    "calls": 3,
    "recorded_calls": 3,
    "recorded_results": 2,
    "supplied_results": 0,
    "unused_results": 0,
    "recorded_messages": 0,
    "supplied_messages": 0,
    "next_message": None,
    "step": 5,
    "detail": None,
    "unanswered": [],
}


def finding(why: str, **others: Any) -> str:
    ending = Ending.stored({"ending": {**COUNTS, "why": why, **others}})
    assert ending is not None
    return ending.finding


@pytest.mark.parametrize(
    ("why", "others", "said"),
    [
        ("finished", {}, "Followed the recording to its end: 3 calls, 2 tool results from the record"),
        (
            "finished",
            {"recorded_calls": 4, "unused_results": 1},
            "The model stopped: 3 calls (4 in the recording), 2 tool results from the record, "
            "1 recorded result not used",
        ),
        (
            "failed",
            {"detail": "No key.", "recorded_calls": None, "unused_results": None},
            "Stopped by an error: No key; 3 calls, 2 tool results from the record",
        ),
        ("call_limit", {}, "Stopped at the limit of 3 calls: 3 calls, 2 tool results from the record"),
        (
            "spend_limit",
            {"detail": "The limit was reached."},
            "Stopped at the spend limit: The limit was reached; 3 calls, 2 tool results from the record",
        ),
        (
            "cut_off",
            {"supplied_results": 1},
            "Stopped at step 5 of the branch, where the answer was cut off: 3 calls, 2 tool results from the record, "
            "1 result supplied by a person",
        ),
        (
            "user_message",
            {"detail": "it differs", "recorded_messages": 2, "supplied_messages": 1, "next_message": 9},
            "Stopped after step 5 of the branch, before the user's next message: it differs; 3 calls, 2 tool results from the record, "
            "2 user messages from the record, 1 message written by a person",
        ),
    ],
)
def test_the_finding_says_why_it_ended_and_what_was_used(why: str, others: Any, said: str) -> None:
    assert finding(why, **others) == said


def test_only_a_run_that_needs_a_result_a_message_or_a_higher_limit_can_go_on() -> None:
    endings = [Ending(**COUNTS, why=why) for why in get_args(Why)]
    assert [each.why for each in endings if each.can_go_on] == [
        "diverged",
        "user_message",
        "call_limit",
        "spend_limit",
    ]


def missing(nearest: dict[str, Any] | None, arguments: str | None = "{}") -> str:
    call = {"call_id": "c", "tool": "read", "arguments": arguments, "nearest": nearest}
    return finding("diverged", unanswered=[call]).partition(": ")[2].partition("; 3 calls")[0]


def test_a_missing_result_names_the_nearest_call() -> None:
    nearest = {"step": 1_234, "tool": "read", "arguments": '{"a":1}', "paths": ["/a", ""]}
    assert missing(nearest) == (
        'there is no recorded result for “read” {}; nearest recorded call: step 1,234 of the recording, “read” {"a":1} '
        "(differs at /a, the whole value)"
    )
    assert missing({**nearest, "paths": []}) == (
        "there is no recorded result for “read” {} left; the result of step 1,234 of the recording was already used"
    )
    assert missing(None, None) == (
        "there is no recorded result for “read” with arguments that are not JSON; the rest of the "
        "recording has no result from that tool"
    )
    assert missing(None, "x" * 300).count("x") == 200


def test_a_run_that_goes_on_has_no_ending() -> None:
    assert Ending.stored(None) is None
    assert Ending.stored({"request": {}}) is None


def test_an_ending_without_quotes_says_that_something_is_left_out_only_if_something_is() -> None:
    call = {"call_id": "c", "tool": "read", "arguments": "{}", "nearest": None}
    quoting = Ending.stored({"ending": {**COUNTS, "why": "diverged", "unanswered": [call]}})
    plain = Ending.stored({"ending": {**COUNTS, "why": "diverged"}})
    assert quoting is not None
    assert plain is not None
    counts = "3 calls, 2 tool results from the record"
    assert quoting.without_quotes("[left out]").finding.endswith(f": [left out]; {counts}")
    assert quoting.without_quotes().finding.endswith(f"branch: {counts}")
    assert plain.without_quotes("[left out]").finding == plain.finding
