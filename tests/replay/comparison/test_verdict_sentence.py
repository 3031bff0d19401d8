"""The result of a comparison in two sentences: what each variant did and at what cost, and what may be chance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.pure.verdict_sentence import verdict_sentence

NAMES = ["a:one", "b:two", "c:three", "d:four"]
SESSION = UUID(int=1)


def cell(arm: int, verdict: str | None, *, repeat: int = 1, cost: float | None = 0.01) -> Cell:
    """One answer; without a verdict, its call failed."""
    missing = None if verdict else "error"
    unknown = int(cost is None)
    return Cell(
        arm=arm,
        repeat=repeat,
        verdict=verdict or "error",
        missing=missing,
        called=True,
        cost_usd=cost,
        spent_usd=cost,
        unknown_calls=unknown,
    )


def call(number: int, runs: Sequence[Cell], *, called: bool | None = True) -> Ask:
    return Ask(
        session=SESSION,
        session_name="s",
        sequence=number,
        action=number,
        label="",
        recorded=Cell(arm=0, called=called),
        runs={(each.arm, each.repeat): each for each in runs},
    )


def compared(*arms: Sequence[Cell], called: bool | None = True) -> Findings:
    """The findings of variants with one answer at each step."""
    steps = [call(number, runs, called=called) for number, runs in enumerate(zip(*arms, strict=True), 1)]
    return findings(steps, len(arms), noise_floor=False)


def arm(number: int, verdicts: Mapping[str | None, int], cost: float | None = 0.01) -> list[Cell]:
    return [cell(number, verdict, cost=cost) for verdict, times in verdicts.items() for _ in range(times)]


def test_it_says_what_each_did_at_what_cost_and_what_may_be_chance() -> None:
    found = compared(
        arm(1, {"identical": 20, "same_action": 4, "other_arguments": 8, "other_tool": 3}, 0.02),
        arm(2, {"identical": 22, "answers_instead": 13}),
    )
    assert verdict_sentence(found, NAMES[:2]) == (
        "a:one does what was recorded in 24 of 35 model calls for $0.70, b:two in 22 for $0.35. That a:one agrees more often "
        "may be chance, but that b:two is cheaper is more than chance."
    )


def test_one_variant_can_be_ahead_in_both() -> None:
    found = compared(arm(1, {"identical": 20}, 0.02), arm(2, {"changed": 20}, 0.03))
    assert verdict_sentence(found, NAMES[:2]).endswith(
        " That a:one agrees more often and is cheaper is more than chance."
    )


def test_too_few_calls_are_named_as_the_reason() -> None:
    found = compared(
        arm(1, {"identical": 1, "other_tool": 1, "changed": 1}),
        arm(2, {"other_tool": 3}, 0.005),
        called=None,
    )
    assert verdict_sentence(found, NAMES[:2]) == (
        "a:one answers as recorded in 1 of 3 asks for $0.03, b:two in none for $0.015. That a:one agrees more often and b:two "
        "is cheaper may be chance: 3 asks are too few to tell."
    )


def test_a_single_call_is_too_few() -> None:
    found = compared(arm(1, {"identical": 1}), arm(2, {"changed": 1}))
    assert verdict_sentence(found, NAMES[:2]).endswith("may be chance: 1 model call is too few to tell.")


def test_a_tie_is_no_claim() -> None:
    found = compared(arm(1, {"identical": 3}), arm(2, {"identical": 3}))
    assert verdict_sentence(found, NAMES[:2]) == (
        "a:one does what was recorded in 3 of 3 model calls for $0.03, b:two in 3 for $0.03."
    )


def test_failures_and_unknown_costs_are_said() -> None:
    found = compared(arm(1, {"identical": 2, None: 1}, None), arm(2, {"identical": 3}, None))
    assert verdict_sentence(found, NAMES[:2]) == (
        "a:one does what was recorded in 2 of 2 model calls (1 failed) at an unknown cost, b:two in 3 of 3 at an unknown "
        "cost."
    )


def test_a_variant_without_any_answer_is_said_last() -> None:
    found = compared(arm(1, {None: 3}), arm(2, {"identical": 3}), arm(3, {"not_recorded": 3}, 0.0))
    assert verdict_sentence(found, NAMES[:3]) == (
        "b:two does what was recorded in 3 of 3 model calls for $0.03; a:one answered none of 3 model calls: 3 failed; "
        "c:three answered for $0, but there is no recorded answer to compare it with."
    )


def test_calls_that_were_never_made_have_no_cost() -> None:
    absent = [Cell(arm=1, missing="cancelled", called=True)]
    found = findings([call(1, absent)], 2, noise_floor=False)
    assert verdict_sentence(found, NAMES[:2]) == (
        "a:one answered none of 1 model call: 1 cancelled; b:two answered none of 1 model call."
    )


def test_repeated_runs_are_counted_as_answers() -> None:
    runs = [cell(number, "identical", repeat=repeat) for number in (1, 2) for repeat in (1, 2)]
    found = findings([call(1, runs), call(2, runs, called=None)], 2, noise_floor=False)
    assert verdict_sentence(found, NAMES[:2]).startswith("a:one agrees with the recording in 4 of 4 answers")


def test_of_many_variants_the_best_is_described_with_the_range_of_the_others() -> None:
    found = compared(
        arm(1, {"identical": 2, "other_tool": 8}),
        arm(2, {"identical": 9, "other_tool": 1}),
        arm(3, {"other_tool": 10}, 0.002),
        arm(4, {"identical": 8, "other_tool": 2}),
    )
    assert verdict_sentence(found, NAMES) == (
        "Of 4 variants, b:two does what was recorded in 9 of 10 model calls for $0.10, "
        "the others in 0% to 80%. That b:two agrees most often may be chance, but that c:three is the cheapest at $0.02 is "
        "more than chance."
    )


def test_the_range_of_others_that_are_alike_is_one_number() -> None:
    found = compared(
        *(arm(number, {"identical" if number == 2 else "other_tool": 10}) for number in range(1, 5))
    )
    assert "b:two does what was recorded in 10 of 10 model calls for $0.10, the others in 0%. " in (
        verdict_sentence(found, NAMES)
    )


def test_without_pairs_nothing_is_said_of_chance() -> None:
    found = compared(arm(1, {"identical": 3}), arm(2, {"changed": 3}))
    alone = Findings(asks=found.asks, columns=found.columns, ordered=[], noise=[])
    assert "chance" not in verdict_sentence(alone, NAMES[:2])


def test_what_was_sent_incomplete_is_not_compared_with_the_recording_by_cost() -> None:
    incomplete = [replace(each, incomplete=True) for each in arm(1, {"identical": 8})]
    found = compared(incomplete, arm(2, {"identical": 8}, 0.02))
    assert verdict_sentence(found, NAMES[:2]).endswith(
        " 8 of 8 requests were not recorded completely and sent without the missing parts, so cost, latency and tokens are not "
        "compared with the recording."
    )
    with_recording, between = (
        {each.metric: each for each in pair.results}
        for pair in found.pairs
        if pair.b in {1, 2} and (pair.a, pair.b) != (0, 2)
    )
    assert with_recording["cost"].n == 0
    assert with_recording["cost"].excluded == {"A: request not recorded completely": 8}
    assert between["cost"].n == 8
    (one,) = [replace(each, incomplete=True) for each in arm(1, {"identical": 1})]
    assert " 1 of 1 request was not recorded completely" in verdict_sentence(compared([one]), NAMES[:1])
