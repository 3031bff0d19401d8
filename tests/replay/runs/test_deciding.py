"""Decisions of a replay: valid options, its steps, what each step does, and the summary."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.runs.pure.context import FrozenFrameOut, context_verdict, frame_verdict
from timemachine.replay.runs.pure.engine import Intent, Recorded, intent, is_replayed, uses_own_passages
from timemachine.replay.runs.pure.options import RETRIEVAL_OPTIONS, ReplayOptions, check, check_reason
from timemachine.replay.runs.pure.summary import FrequentError, Tally, sentence

OTHER_VALUES: tuple[Any, ...] = (3, "lexical", True, 50, 0.5, 0.4, 0.1, "m", "now")
AUDIT = ReplayOptions(audit=True, reason="why", use_model="openai:gpt-4o")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        *[
            (ReplayOptions(audit=True, reason="r", **{name: value}), "retrieval_options_in_audit")
            for name, value in zip(RETRIEVAL_OPTIONS, OTHER_VALUES, strict=True)
        ],
        (ReplayOptions(audit=True, reason="r", use_model=""), "invalid_field"),
        (ReplayOptions(use_model=" "), "invalid_field"),
        (ReplayOptions(audit=True, reason="r", temperature=0.0), "model_needed"),
        (ReplayOptions(temperature=2.1), "invalid_field"),
        (ReplayOptions(sample=0), "invalid_field"),
        (ReplayOptions(only="tol:Bash"), "unknown_filter"),
        (ReplayOptions(seed=-1), "invalid_field"),
        (ReplayOptions(max_tokens=0), "invalid_field"),
        (ReplayOptions(top_k=0), "invalid_field"),
        (ReplayOptions(top_k=1001), "invalid_field"),
        (ReplayOptions(search_mode="psychic"), "invalid_field"),
        (ReplayOptions(relative=1.1), "invalid_field"),
        (ReplayOptions(cliff=-0.1), "invalid_field"),
        (ReplayOptions(adaptive=False, cliff=0.5), "invalid_field"),
        (ReplayOptions(adaptive=False, pool=50), "invalid_field"),
        (ReplayOptions(pool=0), "invalid_field"),
        (ReplayOptions(search_mode="lexical", embedding_model="m"), "invalid_field"),
        (ReplayOptions(spend_limit_usd=-1), "invalid_field"),
        (ReplayOptions(prompt_template="Say {question}."), "not_a_template"),
        (ReplayOptions(question="Why?"), "not_a_trial"),
        (ReplayOptions(frames=()), "not_a_trial"),
        (ReplayOptions(step=2, audit=True), "not_a_trial"),
        (ReplayOptions(step=2, frames=(1,), top_k=3), "passages_or_retrieval"),
        (ReplayOptions(step=2, frames=(1, 1)), "invalid_field"),
        (ReplayOptions(step=2, frames=(-1,)), "invalid_field"),
        (ReplayOptions(step=2, question=" "), "invalid_field"),
        (ReplayOptions(skip_asks=True, skip_finds=True, skip_calls=True), "nothing_to_replay"),
    ],
)
def test_invalid_options_are_refused_by_name(options: ReplayOptions, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(options)
    assert refused.value.code == code


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_a_launch_needs_a_reason(reason: str | None) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_reason(reason)
    assert refused.value.code == "reason_needed"
    check_reason("r")


@pytest.mark.parametrize(
    "options",
    [
        AUDIT,
        ReplayOptions(audit=True, reason="only check"),
        ReplayOptions(),
        ReplayOptions(step=2, question="Why?", frames=(3, "rank 2"), as_of="now"),
        ReplayOptions(step=2, prompt_template="{passages} {question}", top_k=2),
        ReplayOptions(
            top_k=20, search_mode="lexical", adaptive=False, as_of="recorded", use_model="local:extractive-1"
        ),
    ],
)
def test_valid_options_are_stored_and_read_back_unchanged(options: ReplayOptions) -> None:
    check(options)
    assert ReplayOptions(**options.as_json()) == options


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (ReplayOptions(step=2), "trial"),
        (ReplayOptions(continue_from=2), "continue"),
        (AUDIT, "audit"),
        (ReplayOptions(), "debug"),
    ],
)
def test_the_options_determine_the_kind_of_replay(options: ReplayOptions, kind: str) -> None:
    assert options.kind == kind


def test_unset_options_are_not_stored() -> None:
    assert ReplayOptions().as_json() == {}


def frame(recorded: str | None = "a" * 64, now: str | None = "a" * 64) -> FrozenFrameOut:
    verdict = frame_verdict(recorded, now)
    return FrozenFrameOut(
        rank=1, frame=1, version=1, verdict=verdict, since=None, sha256=recorded, sha256_now=now
    )


@pytest.mark.parametrize(
    ("frames", "verdict"),
    [
        ([], "not_recorded"),
        ([frame()], "verified"),
        ([frame(), frame(now="b" * 64)], "altered"),
        ([frame(), frame(now=None)], "missing"),
        ([frame(), frame(recorded=None)], "not_recorded"),
        ([frame(now=None), frame(now="b" * 64)], "altered"),
    ],
)
def test_a_context_is_as_good_as_its_worst_frame(frames: list[FrozenFrameOut], verdict: str) -> None:
    assert context_verdict(frames) == verdict


hashes = st.none() | st.sampled_from(["a" * 64, "b" * 64])


@given(st.lists(st.tuples(hashes, hashes), max_size=6))
def test_a_context_is_verified_only_if_all_frames_match_their_recorded_hash(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    found = context_verdict([frame(recorded, now) for recorded, now in pairs])
    assert (found == "verified") == (
        bool(pairs) and all(recorded and recorded == now for recorded, now in pairs)
    )


def recorded(**more: Any) -> Recorded:
    facts: dict[str, Any] = {
        "sequence": 5,
        "kind": "ask",
        "within_ask": False,
        "has_collection": True,
        "has_retrieval": True,
        "model": "openai:gpt-4o-mini",
    }
    return Recorded(**(facts | more))


@pytest.mark.parametrize(
    ("step", "options", "is_planned"),
    [
        (recorded(), ReplayOptions(), True),
        (recorded(kind="find"), ReplayOptions(), True),
        (recorded(kind="find", within_ask=True), ReplayOptions(), False),
        (recorded(kind="message"), ReplayOptions(), False),
        (recorded(kind="tool_call"), ReplayOptions(), False),
        (recorded(), ReplayOptions(skip_asks=True), False),
        (recorded(kind="find"), ReplayOptions(skip_asks=True), True),
        (recorded(kind="find"), ReplayOptions(skip_finds=True), False),
        (recorded(kind="llm_call"), ReplayOptions(skip_asks=True), True),
        (recorded(kind="llm_call"), ReplayOptions(skip_calls=True), False),
        (recorded(kind="llm_call", within_ask=True), ReplayOptions(), False),
        (recorded(), ReplayOptions(through_sequence=5), True),
        (recorded(), ReplayOptions(through_sequence=4), False),
        (recorded(), ReplayOptions(after_sequence=4), True),
        (recorded(), ReplayOptions(after_sequence=5), False),
        (recorded(), ReplayOptions(step=5), True),
        (recorded(), ReplayOptions(step=4), False),
        (recorded(kind="find", within_ask=True), ReplayOptions(step=5), True),
        (recorded(kind="message"), ReplayOptions(step=5), False),
    ],
)
def test_finds_and_asks_in_range_become_steps(
    step: Recorded, options: ReplayOptions, is_planned: bool
) -> None:
    assert is_replayed(step, options) is is_planned


@pytest.mark.parametrize(
    ("step", "options", "context", "frames", "find_again", "call"),
    [
        (recorded(), AUDIT, "verified", 1, False, "openai:gpt-4o"),
        (recorded(), AUDIT, "altered", 1, False, None),
        (recorded(), AUDIT, "missing", 1, False, None),
        (recorded(has_retrieval=False), AUDIT, "not_recorded", 1, False, None),
        (recorded(has_retrieval=True), AUDIT, "not_recorded", 0, False, "openai:gpt-4o"),
        (recorded(has_retrieval=True), AUDIT, "not_recorded", 1, False, None),
        (recorded(), ReplayOptions(audit=True, reason="r"), "verified", 1, False, None),
        (recorded(kind="find"), AUDIT, "verified", 1, False, None),
        (recorded(), ReplayOptions(), "verified", 1, True, "openai:gpt-4o-mini"),
        (recorded(), ReplayOptions(use_model="xai:grok"), "altered", 1, True, "xai:grok"),
        (recorded(kind="find"), ReplayOptions(), "verified", 1, True, None),
        (recorded(has_collection=False), ReplayOptions(), "verified", 1, False, None),
        (recorded(), ReplayOptions(step=5), "verified", 1, False, "openai:gpt-4o-mini"),
        (recorded(), ReplayOptions(step=5), "not_recorded", 0, False, "openai:gpt-4o-mini"),
        (recorded(), ReplayOptions(step=5), "altered", 1, False, None),
        (recorded(), ReplayOptions(step=5, frames=(1,)), "altered", 1, False, "openai:gpt-4o-mini"),
        (recorded(), ReplayOptions(step=5, top_k=3, use_model="a:b"), "verified", 1, True, "a:b"),
        (recorded(kind="find"), ReplayOptions(step=5), "verified", 1, True, None),
        (recorded(kind="llm_call"), AUDIT, "verified", 0, False, "openai:gpt-4o"),
        (recorded(kind="llm_call"), AUDIT, "reconstructed", 0, False, "openai:gpt-4o"),
        (recorded(kind="llm_call"), AUDIT, "altered", 0, False, None),
        (recorded(kind="llm_call"), AUDIT, "missing", 0, False, None),
        (recorded(kind="llm_call"), AUDIT, "not_recorded", 0, False, None),
        (recorded(kind="llm_call"), ReplayOptions(audit=True, reason="r"), "verified", 0, False, None),
        (recorded(kind="llm_call"), ReplayOptions(), "verified", 0, False, "openai:gpt-4o-mini"),
        (recorded(kind="llm_call"), ReplayOptions(step=5), "verified", 0, False, "openai:gpt-4o-mini"),
    ],
)
def test_a_step_does_what_its_recording_and_the_options_allow(
    step: Recorded, options: ReplayOptions, context: str, frames: int, find_again: bool, call: str | None
) -> None:
    decided = intent(step, options, context, frames)
    assert (decided.find_again, decided.call) == (find_again, call)


def test_a_step_without_a_call_gives_the_reason() -> None:
    assert "no longer matches its recorded hash" in str(intent(recorded(), AUDIT, "altered", 1).why_not)
    assert "missing" in str(intent(recorded(), AUDIT, "missing", 1).why_not)
    assert "collection" in str(intent(recorded(has_collection=False), ReplayOptions(), "verified", 1).why_not)
    assert "not recorded" in str(intent(recorded(model=None), ReplayOptions(), "verified", 1).why_not)
    no_model = intent(recorded(model=None), ReplayOptions(step=5), "verified", 1)
    assert (no_model.call, "not recorded" in str(no_model.why_not)) == (None, True)
    assert intent(recorded(), ReplayOptions(audit=True, reason="r"), "verified", 1) == Intent()
    call = recorded(kind="llm_call", model=None)
    assert "not recorded" in str(intent(call, ReplayOptions(), "verified", 0).why_not)
    assert intent(call, ReplayOptions(audit=True, reason="r"), "verified", 0) == Intent()
    assert "deleted" in str(intent(call, AUDIT, "missing", 0).why_not)


@pytest.mark.parametrize(
    ("kind", "options", "its_own"),
    [
        ("find", AUDIT, False),
        ("ask", AUDIT, False),
        ("find", ReplayOptions(), True),
        ("ask", ReplayOptions(), True),
        ("ask", ReplayOptions(step=5), False),
        ("ask", ReplayOptions(step=5, frames=(1,)), True),
        ("ask", ReplayOptions(step=5, top_k=3), True),
        ("find", ReplayOptions(step=5), True),
        ("llm_call", ReplayOptions(), False),
    ],
)
def test_an_audit_and_a_trial_with_frozen_passages_do_not_search(
    kind: str, options: ReplayOptions, its_own: bool
) -> None:
    assert uses_own_passages(kind, options) is its_own


@pytest.mark.parametrize(
    ("asked", "sent", "beginning"),
    [
        (12, 0, "12 asks replayed"),
        (12, 12, "12 model calls replayed"),
        (12, 11, "1 ask and 11 model calls replayed"),
    ],
)
def test_the_summary_says_asks_and_model_calls_apart(asked: int, sent: int, beginning: str) -> None:
    assert sentence(tally(asked=asked, sent=sent)).startswith(beginning)


def tally(**more: Any) -> Tally:
    facts: dict[str, Any] = {
        "kind": "audit",
        "status": "done",
        "model": "claude:x",
        "statuses": Counter(done=12),
        "asked": 12,
        "contexts": {"verified": 12},
        "verdicts": {"numbers_differ": 1, "identical": 9, "reworded": 2},
        "retrievals": {},
        "cost_usd": Decimal("0.021"),
        "unknown_cost_calls": 0,
        "recorded_cost_usd": Decimal("0.018"),
        "recorded_unknown_cost_calls": 0,
        "uncertain_calls": 0,
        "called": 12,
    }
    return Tally(**(facts | more))


@pytest.mark.parametrize(
    ("counts", "summary"),
    [
        (
            tally(),
            "12 asks replayed with claude:x: 9 identical, 2 reworded, numbers differ in 1; context verified 12 of 12; "
            "$0.021 (recorded $0.018)",
        ),
        (
            tally(
                asked=1,
                statuses=Counter(done=1),
                verdicts={"identical": 1},
                contexts={"altered": 1, "verified": 1},
            ),
            "1 ask replayed with claude:x: 1 identical; context verified 1 of 2 (1 altered); $0.021 (recorded $0.018)",
        ),
        (
            tally(
                cost_usd=Decimal(0),
                unknown_cost_calls=3,
                recorded_cost_usd=Decimal("4.1"),
                recorded_unknown_cost_calls=1,
            ),
            "12 asks replayed with claude:x: 9 identical, 2 reworded, numbers differ in 1; context verified 12 of 12; "
            "3 calls of unknown price (recorded $4.10 + 1 call of unknown price)",
        ),
        (
            tally(asked=0, model=None, verdicts={}, contexts={"verified": 12}, cost_usd=Decimal(0)),
            "12 steps of 12 checked, no model called; context verified 12 of 12",
        ),
        (
            tally(
                asked=0, statuses=Counter(done=2, cancelled=10), verdicts={}, contexts={}, cost_usd=Decimal(0)
            ),
            "2 steps of 12 checked, no model called; 10 steps cancelled",
        ),
        (
            tally(
                asked=0,
                statuses=Counter(cancelled=12),
                verdicts={},
                contexts={},
                cost_usd=Decimal(0),
                unknown_cost_calls=3,
                recorded_cost_usd=Decimal("0.00104"),
                called=3,
            ),
            "0 steps of 12 checked; 12 steps cancelled; 3 calls of unknown price (recorded $0.00104)",
        ),
        (
            tally(
                asked=0,
                statuses=Counter(cancelled=12),
                verdicts={},
                contexts={},
                cost_usd=Decimal(0),
                unknown_cost_calls=3,
                called=0,
            ),
            "0 steps of 12 checked; 12 steps cancelled; 3 calls of unknown price",
        ),
        (
            tally(
                statuses=Counter(failed=1_200),
                asked=1_200,
                verdicts={"error": 1_200},
                contexts={"verified": 1_200},
                failure=FrequentError(message="No key.", steps=1_100),
            ),
            "1,200 asks replayed with claude:x: 1,200 error; context verified 1,200 of 1,200; $0.021 (recorded $0.018); "
            "most frequent error (1,100 of 1,200): No key.",
        ),
        (
            tally(
                statuses=Counter(failed=1, done=11),
                failure=FrequentError(message="No key.", steps=1),
                verdicts={"identical": 11, "error": 1},
            ),
            "12 asks replayed with claude:x: 11 identical, 1 error; context verified 12 of 12; $0.021 (recorded $0.018); error: No key.",
        ),
        (
            tally(asked=0, statuses=Counter(skipped=12), verdicts={}, contexts={}, cost_usd=Decimal(0)),
            "0 steps of 12 checked, no model called; 12 steps not asked because of the spend limit",
        ),
        (
            tally(kind="debug", retrievals={"changed": 2, "same": 10}, uncertain_calls=1),
            "12 asks replayed with claude:x: 9 identical, 2 reworded, numbers differ in 1; context verified 12 of 12; "
            "retrieval 10 same, 2 changed; $0.021 (recorded $0.018); 1 lost attempt may have been billed",
        ),
    ],
)
def test_a_replay_is_summarised_in_one_sentence(counts: Tally, summary: str) -> None:
    assert sentence(counts) == summary
