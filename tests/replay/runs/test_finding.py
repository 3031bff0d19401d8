"""The sentence that opens the page of a replayed step."""

from typing import Any

import pytest

from timemachine.replay.runs.pure.fact_changes import brief
from timemachine.replay.runs.pure.finding import (
    PassageChanges,
    RankedPassage,
    StepResult,
    finding,
)
from timemachine.text.pure.difference.verdict import answer_verdict


def result(**changes: Any) -> StepResult:
    known: dict[str, Any] = {
        "status": "done",
        "verdict": None,
        "context": "verified",
        "evidence": {},
        "is_call": False,
    }
    return StepResult(**known | changes)


def passages(**changes: Any) -> PassageChanges:
    known: dict[str, Any] = {
        "mattered": RankedPassage(title="Fees", recorded=3, now=3),
        "rests_on": None,
        "gained": (),
        "lost": 0,
        "moved": 0,
        "cut": 8,
        "cut_now": 8,
        "answered": True,
    }
    return PassageChanges(**known | changes)


@pytest.mark.parametrize(
    ("verdict", "evidence", "sentence"),
    [
        ("identical", {}, "Answer unchanged."),
        ("adds", {"added": ["It snowed."]}, "The new answer adds “It snowed”."),
        ("adds", {}, "The new answer adds something."),
        (
            "omits",
            {"omitted": ["One.", "Two.", "Three."]},
            "The new answer leaves out “One” and 2 more sentences.",
        ),
        (
            "numbers_differ",
            {"only_recorded": ["12"], "only_new": ["35"]},
            "The new answer has 35, the recorded one 12.",
        ),
        ("numbers_differ", {"only_new": ["1", "2", "3", "4"]}, "The new answer also has 1, 2, 3 and 1 more."),
        ("names_differ", {"only_recorded": ["Acme"]}, "The new answer lacks Acme."),
        ("names_differ", {"only_recorded": "withheld"}, "The new answer has different names."),
        (
            "polarity_differs",
            {"new": ["Prices fell."], "recorded": ["Prices rose."]},
            "The new answer says the opposite: “Prices fell”, recorded “Prices rose”.",
        ),
        ("polarity_differs", {}, "The new answer says the opposite in at least one sentence."),
        ("changed", {"only_new": ["x" * 100]}, f"The new answer says something different: “{'x' * 90}…”."),
        (
            "other_arguments",
            {"differing": [{"tool": "Bash"}, {"tool": "Bash"}, 3]},
            "The new model calls Bash with different arguments.",
        ),
        ("other_arguments", {}, "The new model calls the same tools with different arguments."),
        ("other_tool", {"only_new": ["cat"]}, "The new model makes more calls: cat only in the new answer."),
        (
            "other_tool",
            {"only_new": ["cat"], "only_recorded": ["ls"]},
            "The new model makes different calls: ls only in the recording, cat only in the new answer.",
        ),
        ("calls_instead", {}, "The recorded model answered; the new one calls a tool."),
        (None, {"not_asked": "no prompt"}, "It was not sent again for the reason below."),
        (None, {}, "No model was called."),
    ],
)
def test_the_sentence_says_what_became_of_the_answer(
    verdict: str | None, evidence: dict[str, Any], sentence: str
) -> None:
    assert finding(result(verdict=verdict, evidence=evidence), None).sentence == sentence


@pytest.mark.parametrize(
    ("recorded", "new", "sentence"),
    [
        ("Refunds take 14 days.", "I like 12 horses.", "says something different: “I like 12 horses”"),
        (
            "Refunds take 14 days.",
            "Refunds take 14 days. A refund costs 3 dollars.",
            "adds “A refund costs 3 dollars”",
        ),
        (
            "Refunds take 14 days. A refund costs 3 dollars.",
            "Refunds take 14 days.",
            "leaves out “A refund costs 3 dollars”",
        ),
        (
            "Refunds take 14 days. The fee is 3 dollars.",
            "Refunds take 14 days. Shipping takes 10 days.",
            "adds “Shipping takes 10 days” and leaves out “The fee is 3 dollars”",
        ),
        ("Refunds take 14 days.", "Refunds take 10 days.", "has 10 days, the recorded one 14 days"),
        (
            "Cards abroad cost 1.5 percent.",
            "Cards abroad cost 1.5 percent and take 5 working days.",
            "also has 5 working days",
        ),
        ("It usually ships in days.", "It usually ships in 5 to 7 days.", "also has 5 to 7 days"),
        (
            "In 2025, 10 cards failed.",
            "In 2026, 12 cards failed.",
            "has 2026, 12 cards, the recorded one 2025, 10 cards",
        ),
        ("There were 5 of them in the box.", "There were 7 of them in the box.", "has 7, the recorded one 5"),
        ("14", "35", "has 35, the recorded one 14"),
        ("It takes 14 days.", "35", "has 35, the recorded one 14 days"),
        ("Section 5 applies here.", "Section 6 applies here.", "has 6, the recorded one 5"),
        ("Only 3 largest cities.", "Only 4 largest cities.", "has 4, the recorded one 3"),
        ("Delivery takes 14 days.", "Delivery takes 10 to 14 days.", "also has 10 to 14 days"),
        (
            "It was 5 degrees, he said.",
            "It was 15 degrees, he said.",
            "has 15 degrees, the recorded one 5 degrees",
        ),
        (
            "Luggage is free, up to 23 kilograms.",
            "Luggage is free, except for 15 euros.",
            "adds 15 euros and leaves out 23 kilograms",
        ),
        ("It takes 1 day.", "It takes 3 days.", "has 3 days, the recorded one 1 day"),
        ('I said "5 dollars".', 'I said "6 dollars".', "has 6 dollars, the recorded one 5 dollars"),
        ("The card of Acme costs 3.", "The card of Globex costs 3.", "has Globex, the recorded one Acme"),
    ],
)
def test_other_numbers_are_shown_with_what_was_added_or_left_out(
    recorded: str, new: str, sentence: str
) -> None:
    verdict = answer_verdict(recorded, new)
    assert verdict.name in {"numbers_differ", "names_differ"}
    step = result(verdict=verdict.name, evidence=verdict.evidence, recorded=recorded, new=new)
    assert finding(step, None).sentence == f"The new answer {sentence}."


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "stays at rank 3; the same passages in the same order"),
        ({"moved": 2}, "stays at rank 3; the same passages in a different order"),
        (
            {"gained": [9, 12], "lost": 1, "cut_now": 9},
            "stays at rank 3; 2 passages came in at ranks 9 and 12, below the recorded cut of 8, 1 passage was lost",
        ),
        (
            {"gained": [9, 10, 11]},
            "stays at rank 3; 3 passages came in at ranks 9 to 11, below the recorded cut of 8",
        ),
        ({"gained": [9, 1, 4]}, "stays at rank 3; 3 passages came in at ranks 1, 4 and 9"),
        ({"gained": [1, 4, 9, 2]}, "stays at rank 3; 4 passages came in between ranks 1 and 9"),
        (
            {"mattered": RankedPassage(title="Fees", recorded=3, now=12), "lost": 2},
            "moved from rank 3 to 12, below the recorded cut of 8; 2 passages were lost",
        ),
        (
            {"mattered": RankedPassage(title="Fees", recorded=None, now=12), "gained": [12]},
            "came in at rank 12, below the recorded cut of 8",
        ),
        (
            {"mattered": RankedPassage(title="Fees", recorded=None, now=12), "gained": [9, 12]},
            "came in at rank 12, below the recorded cut of 8; 1 more passage came in at rank 9, below the recorded cut of 8",
        ),
        (
            {"mattered": RankedPassage(title="Fees", recorded=None, now=None)},
            "is in neither list; the same passages in the same order",
        ),
        (
            {"mattered": RankedPassage(title="Fees", recorded=3, now=None), "lost": 1, "cut_now": 4},
            "is lost: it had rank 3 and is not among the 4 found now; 1 passage was lost",
        ),
        (
            {"mattered": RankedPassage(title="Fees", recorded=3, now=None), "cut_now": 2, "chosen": True},
            "is lost: it had rank 3 and is not among the 2 chosen now; the same passages in the same order",
        ),
    ],
)
def test_the_passage_that_mattered_is_named_with_its_ranks(changes: dict[str, Any], sentence: str) -> None:
    found = finding(result(verdict="identical"), passages(**changes))
    assert found.sentence == f"Answer unchanged; the passage that mattered, “Fees”, {sentence}."
    assert not found.is_bad


def test_a_new_answer_that_rests_on_another_passage_names_that_one() -> None:
    new = RankedPassage(title="Abroad", recorded=None, now=12)
    found = finding(result(verdict="numbers_differ"), passages(rests_on=new, gained=[12]))
    assert "it now rests on “Abroad”, which came in at rank 12, below the recorded cut of 8" in found.sentence


def test_which_passage_mattered_is_unknown_without_support_and_not_said_of_a_find() -> None:
    unknown = finding(result(verdict="identical"), passages(mattered=None)).sentence
    assert "it is unknown which passage mattered" in unknown
    assert finding(result(), passages(mattered=None, answered=False)).sentence == (
        "The same passages in the same order."
    )


def test_dangers_and_failures_are_marked_and_come_first() -> None:
    altered = finding(result(verdict="identical", context="altered"), None)
    assert altered.sentence == "The stored context is not what was recorded. Answer unchanged."
    failed = finding(result(status="failed"), passages())
    assert failed.sentence == "This step failed."
    opposed = finding(result(verdict="polarity_differs"), None)
    assert all(each.is_bad for each in (altered, failed, opposed))
    assert not finding(result(verdict="numbers_differ", context="altered", is_call=True), None).is_bad


@pytest.mark.parametrize(
    ("frames", "sentence"),
    [
        (1, "No model was called; the frozen passage has its recorded text."),
        (8, "No model was called; all 8 frozen passages have their recorded text."),
    ],
)
def test_a_check_without_a_model_says_what_was_checked(frames: int, sentence: str) -> None:
    assert finding(result(frames=frames), None).sentence == sentence


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"only_new": ["15 euros"]}, "adds 15 euros"),
        ({"only_recorded": ["5", "6", "7", "8"]}, "leaves out 5, 6, 7 and 1 more"),
        ({"only_recorded": ["Acme"], "only_new": ["Bolt"]}, "adds Bolt, leaves out Acme"),
        ({"only_new": "withheld"}, ""),
        ({}, ""),
    ],
)
def test_a_list_says_in_brief_which_facts_differ(evidence: dict[str, Any], words: str) -> None:
    assert brief(evidence) == words


def test_an_answer_with_other_numbers_that_says_the_opposite_is_reported_as_that() -> None:
    recorded, new = "Saver tickets cannot be changed.", "Saver tickets can be changed for 15 euros."
    verdict = answer_verdict(recorded, new)
    step = result(verdict=verdict.name, evidence=verdict.evidence, recorded=recorded, new=new)
    assert verdict.name == "numbers_differ"
    assert brief(verdict.evidence) == "says the opposite, adds 15 euros"
    assert finding(step, None).is_bad
    assert finding(step, None).sentence == (
        "The new answer says the opposite: “Saver tickets can be changed for 15 euros”, "
        "recorded “Saver tickets cannot be changed”; it also has 15 euros."
    )


@pytest.mark.parametrize(
    ("recorded", "new"),
    [
        ("It takes 14 days.", "It takes 12 days."),
        ("Refunds take 5 days.", "Refunds take no more than 7 days."),
        ("Bring no more than 2 bags.", "Bring 3 bags at most."),
        ("The fee is 5.", "The fee is not 5 but 6."),
        ("Come after 5 days, not earlier.", "Come after 7 days."),
        ("The desk of Acme is not open.", "The desk of Globex is open."),
    ],
)
def test_a_negation_that_may_belong_to_a_number_or_to_another_subject_is_no_opposite(
    recorded: str, new: str
) -> None:
    assert "turned" not in answer_verdict(recorded, new).evidence


@pytest.mark.parametrize(
    ("lost", "gained", "replaces"),
    [
        ("10 to 14 days", "3 days", True),
        ("5–7 days", "3 weeks", True),
        ("30 minutes", "2 hours", True),
        ("$5", "6 euros", True),
        ("19%", "7 percent", True),
        ("5 pm", "3 am", True),
        ("5 days", "7 working days", True),
        ("1 card", "2 cards", True),
        ("5", "7 days", True),
        ("23 kilograms", "15 euros", False),
        ("2 cards", "3 branches", False),
    ],
)
def test_a_number_replaces_another_only_if_both_can_count_the_same(
    lost: str, gained: str, replaces: bool
) -> None:
    evidence = {"only_recorded": [lost], "only_new": [gained]}
    step = result(verdict="numbers_differ", evidence=evidence)
    words = f"has {gained}, the recorded one {lost}" if replaces else f"adds {gained} and leaves out {lost}"
    assert finding(step, None).sentence == f"The new answer {words}."


def test_a_list_says_facts_with_their_units_and_ranges_if_it_knows_the_answers() -> None:
    recorded, new = "It takes 10 to 14 days.", "It takes 7 working days."
    evidence = answer_verdict(recorded, new).evidence
    assert brief(evidence, recorded, new) == "adds 7 working days, leaves out 10 to 14 days"


def test_an_answer_that_only_cites_otherwise_is_unchanged_except_for_its_citations() -> None:
    recorded, new = "Dogs pay half.", "Dogs pay half. [1]"
    found = answer_verdict(recorded, new)
    step = result(verdict=found.name, evidence=found.evidence, recorded=recorded, new=new)
    assert finding(step, None).sentence == "Answer unchanged except for its citations."
    moved = answer_verdict(recorded, recorded.upper())
    step = result(verdict=moved.name, evidence=moved.evidence, recorded=recorded, new=recorded.upper())
    assert finding(step, None).sentence == "Answer unchanged except for its formatting."


def test_an_answer_without_the_recorded_number_is_quoted() -> None:
    recorded, new = "Dogs pay 50 percent of the fare.", "Dogs pay the whole fare. [1]"
    found = answer_verdict(recorded, new)
    step = result(verdict=found.name, evidence=found.evidence, recorded=recorded, new=new)
    assert (
        finding(step, None).sentence == "The new answer says “Dogs pay the whole fare” and lacks 50 percent."
    )


def test_a_number_of_the_question_is_not_what_an_answer_adds() -> None:
    recorded = "Less than 24 hours before departure it costs 50 percent."
    new = "20 hours before departure it costs the full price."
    found = answer_verdict(recorded, new)
    question = "What does a cancellation twenty hours before departure cost?"
    assert brief(found.evidence, recorded, new) == "adds 20 hours, leaves out 24 hours, 50 percent"
    assert brief(found.evidence, recorded, new, question) == (
        "repeats 20 hours of the question, leaves out 24 hours, 50 percent"
    )
    step = result(verdict=found.name, evidence=found.evidence, recorded=recorded, new=new, question=question)
    assert (
        finding(step, None).sentence
        == "The new answer says “20 hours before departure it costs the full price” and lacks 24 hours, 50 percent."
    )
