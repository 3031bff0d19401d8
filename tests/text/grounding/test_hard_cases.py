"""Answers that must never be HIGH, whatever surrounds them, and answers that must not be flagged."""

import pytest

from timemachine.text.pure.grounding.passages import Passage
from timemachine.text.pure.grounding.schemas import GroundingOut
from timemachine.text.pure.grounding.support import ground

GOOD = [
    "The harbour bridge was opened in 1932 after eight years of work.",
    "It carries eight lanes of traffic and two railway tracks.",
    "The steel came from two mills in England and one in Australia.",
    "Sixteen workers died during the building of the bridge.",
    "The arch rises 134 metres above the water.",
]
BRIDGE = " ".join(GOOD)


def grounded(answer: str, *texts: str) -> GroundingOut:
    return ground(answer, [Passage(frame=frame, text=text) for frame, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("claim", "passage", "reason"),
    [
        ("Bolt bought Acme.", "Acme bought Bolt.", "name"),
        ("Bolt bought Acme for 2 million.", "In 2020 Acme bought Bolt for 2 million dollars.", "name"),
        ("Acme was bought by Bolt.", "Acme bought Bolt.", "name"),
        ("Globex Corporation acquired Initech.", "Initech acquired Globex Corporation in 2019.", "name"),
        ("The bank sued Acme Corp.", "Acme Corp sued the bank.", "name"),
        ("The seller paid the buyer.", "The buyer paid the seller.", "no_support"),
        ("The buyer was paid by the seller.", "The buyer paid the seller.", "no_support"),
        ("The tenant sued the landlord in 2020.", "The landlord sued the tenant in 2020.", "no_support"),
        ("The dog bit the man.", "The man bit the dog.", "no_support"),
        (
            "The employee owes the employer 500 dollars.",
            "The employer owes the employee 500 dollars.",
            "no_support",
        ),
        ("The student taught the teacher a song.", "The teacher taught the student a song.", "no_support"),
        ("Cancer causes smoking.", "Smoking causes cancer.", "name"),
    ],
)
def test_swapped_roles_are_never_high(claim: str, passage: str, reason: str) -> None:
    alone = grounded(claim, passage)
    assert (alone.label, alone.sentences[0].reason, alone.sentences[0].frame) == ("LOW", reason, 0)
    assert alone.sentences[0].swapped
    assert grounded(f"{BRIDGE} {claim}", BRIDGE, passage).label == "LOW"


def test_a_different_name_is_not_reported_as_swapped() -> None:
    (found,) = grounded(
        "The rival, Acme, bought Bolt.", "Initech bought Bolt last year.", "She met Acme people."
    ).sentences
    assert (found.reason, found.frame, found.swapped) == ("name", 0, False)


@pytest.mark.parametrize(
    ("claim", "partly"),
    [
        ("The harbour bridge was praised after quarrels.", True),
        ("The harbour museum sells postcards.", False),
        ("The arch rises 143 metres above the water.", False),
        ("The arch rises 134 metres above the water.", False),
    ],
)
def test_a_sentence_that_passages_support_in_large_part_is_partly_supported(claim: str, partly: bool) -> None:
    assert grounded(claim, BRIDGE).sentences[0].partly is partly


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Bolt was bought by Acme.", "Acme bought Bolt."),
        ("The seller was paid by the buyer.", "The buyer paid the seller."),
        ("The landlord was sued by the tenant.", "In 2020 the tenant sued the landlord."),
        ("Copper is similar to silver.", "Silver is similar to copper."),
        (
            "When Outlook is opened next, the mail is sent.",
            "The mail is sent the next time you open Outlook.",
        ),
    ],
)
def test_the_same_roles_in_another_order_are_supported(claim: str, passage: str) -> None:
    assert grounded(claim, passage).sentences[0].grounded


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The harbour bridge was not opened in 1932.", "negation"),
        ("The harbour bridge was never opened.", "negation"),
        ("No workers died during the building of the bridge.", "negation"),
        ("The harbour bridge was opened in 1933 after eight years of work.", "number"),
        ("It carries six lanes of traffic and two railway tracks.", "number"),
        ("The arch rises 143 metres above the water.", "number"),
        ("It is not true that the arch rises 134 metres above the water.", "negation"),
        ("The arch rises 134 metres below the water.", "negation"),
        ("The steel came from two mills in England and one in Canada.", "name"),
        ("Sixteen workers died during the building of the Tower Bridge.", "name"),
        ("The toll was raised by the harbour authority to fund a tunnel.", "no_support"),
    ],
)
def test_one_false_sentence_in_a_long_answer_is_never_high(claim: str, reason: str) -> None:
    for at in range(len(GOOD) + 1):
        found = grounded("\n".join([*GOOD[:at], claim, *GOOD[at:]]), BRIDGE)
        assert found.label in ("LOW", "MEDIUM")
        assert (found.sentences[at].grounded, found.sentences[at].reason) == (False, reason)
        assert found.grounded_sentences == len(GOOD)


def test_a_denial_of_a_negated_statement_contradicts_it() -> None:
    found = grounded(
        "It is not true that a drawing may not be shown.", "A drawing may not be shown in daylight."
    )
    assert (found.label, found.sentences[0].reason) == ("LOW", "negation")


def test_a_statement_that_a_passage_both_makes_and_denies_is_not_contradicted() -> None:
    passage = "Use an ice pack in a towel (don't use it on bare skin) for twenty minutes."
    assert grounded("Use an ice pack in a towel.", passage).sentences[0].grounded


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Eight years of work went into the bridge, which opened in 1932.", BRIDGE),
        ("Two mills in England and one in Australia supplied the steel.", BRIDGE),
        ("During construction of the bridge 16 workers died.", BRIDGE),
        ("Traffic uses eight lanes, and there are two tracks for the railway.", BRIDGE),
        ("The letter was sent on Monday.", "She sends the letter on Monday."),
        ("The reduction of swelling was quick.", "Swelling reduced quickly."),
        ("Don't forget to empty the trash.", "Empty the trash when you are done."),
    ],
)
def test_a_close_paraphrase_is_not_low(claim: str, passage: str) -> None:
    assert grounded(claim, passage).label in ("HIGH", "MEDIUM")


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        (
            "The structure was financed through municipal bonds.",
            ("structure", "financed", "municipal", "bonds"),
        ),
        ("Its arch was painted grey in 1930 by Paul Hogan.", ("painted", "grey", "1930", "Paul Hogan")),
        ("Additionally, the toll is $4 and the toll is rising.", ("toll", "$4")),
        ("The bridge opened the years.", ()),
    ],
)
def test_an_unsupported_sentence_lists_what_no_passage_has(claim: str, missing: tuple[str, ...]) -> None:
    (found,) = grounded(claim, BRIDGE).sentences
    assert tuple(found.missing) == missing
    assert (found.grounded is False) == bool(missing)


def test_at_most_twelve_missing_items_are_listed() -> None:
    (found,) = grounded(" ".join(f"word{letter}" for letter in "abcdefghijklmnop"), BRIDGE).sentences
    assert found.missing == [f"word{letter}" for letter in "abcdefghijkl"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Unable to answer based on given passages.",
        "The passages do not mention who designed it.",
        "None of the passages provide information about the designer.",
        "I hope this helps!",
        "Let me know if you have any further questions.",
        "Sure! Here's the answer based on the given passages:",
        "If you are unsure, consult a professional engineer.",
    ],
)
def test_refusals_and_courtesies_are_not_flagged_wherever_they_occur(sentence: str) -> None:
    assert grounded(sentence, BRIDGE).score is None
    for at in (0, 2, len(GOOD)):
        found = grounded("\n".join([*GOOD[:at], sentence, *GOOD[at:]]), BRIDGE)
        assert (found.label, found.sentence_count) == ("HIGH", len(GOOD))


def test_a_clause_that_only_refuses_does_not_count() -> None:
    refusal = "The first passage states that the arch rises 134 metres above the water, but it does not mention the height of the pylons."
    (found,) = grounded(refusal, BRIDGE).sentences
    assert (found.grounded, found.text) == (True, refusal)


def test_the_unit_of_a_number_is_a_word_in_a_passage() -> None:
    found = ground(
        "It is escalated within 2 business days.", [Passage(frame=1, text="Hits older than 3 days wait.")]
    )
    assert "days" not in found.sentences[0].missing
    assert "business" in found.sentences[0].missing


def test_a_passage_that_says_little_about_a_claim_is_not_reported_as_contradicting_it() -> None:
    policy = (
        "Cash deposits of more than 10,000 EUR are reported to the FIU. Correspondent banking is reviewed."
    )
    invented = ground(
        "The bank reports them to the Moon Authority.", [Passage(frame=1, text=policy)]
    ).sentences[0]
    assert (invented.reason, invented.frame, invented.missing) == ("name", None, ["Moon Authority"])
    other = ground(
        "Cash deposits of more than 10,000 EUR are reported to the SEC.", [Passage(frame=1, text=policy)]
    )
    assert (other.sentences[0].reason, other.sentences[0].frame) == ("name", 1)
