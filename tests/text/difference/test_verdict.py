import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference.verdict import answer_verdict
from timemachine.text.pure.language.refusal import NO_ANSWER

ORDER = [
    "error",
    "refused",
    "newly_answered",
    "identical",
    "formatting",
    "numbers_differ",
    "adds",
    "omits",
    "names_differ",
    "polarity_differs",
    "reworded",
    "changed",
]


@pytest.mark.parametrize(
    ("recorded", "new", "verdict"),
    [
        ("It closed in May.", NO_ANSWER, "refused"),
        ("The passages do not say.", "It closed in May.", "newly_answered"),
        ("", "", "identical"),
        (NO_ANSWER, NO_ANSWER, "identical"),
        ("The deal closed.", "The deal closed.", "identical"),
        ("The deal closed.", "**the deal**  closed", "formatting"),
        ("- one\n- two", "1. One\n2. Two", "formatting"),
        ("2,000 people", "2000 people", "formatting"),
        ("Dogs pay half. [1] Cats are free [2].", "Dogs pay half. Cats are free.", "formatting"),
        ("Dogs pay half. [1]", "Dogs pay half. [2]", "reworded"),
        ("It returns rows.", "It returns rows[1].", "reworded"),
        ('{"ids": [1, 2], "ok": true}', '{"ids": [3], "ok": true}', "reworded"),
        ("The matching rows are [1, 4].", "The matching rows are [2, 7].", "reworded"),
        ("The deal was for $2 billion.", "The deal was for $9 billion.", "numbers_differ"),
        ("It closed in May.", "It closed in June.", "numbers_differ"),
        ("It closed on Friday.", "It closed on Monday.", "numbers_differ"),
        ("It grew.", "It grew by 5%.", "numbers_differ"),
        ("It was bought by Acme.", "It was bought by Beta.", "names_differ"),
        ("See parser.js:42", "See parser.js:43", "names_differ"),
        ("The deal closed.", "The deal did not close.", "polarity_differs"),
        ("Prices rose.", "Prices fell.", "polarity_differs"),
        ("Yes.", "No.", "polarity_differs"),
        ("Yes, they agreed to meet soon.", "No, that firm sells wooden chairs.", "polarity_differs"),
        ("The deal closed.", "The deal closed. Everybody was happy.", "adds"),
        ("", "Something happened.", "adds"),
        ("The deal closed. Everybody was happy.", "The deal closed.", "omits"),
        ("The deal closed.", "The deal closed. It was bought by Acme.", "adds"),
        ("The deal closed. It was bought by Acme.", "The deal closed.", "omits"),
        ("The deal closed on Friday.", "On Friday, the deal closed. It was bought by Acme.", "adds"),
        ("On Friday, the deal closed. It was bought by Acme.", "The deal closed on Friday.", "omits"),
        (
            "The deal closed. Prices rose.",
            "The deal closed. Prices fell. Acme was happy.",
            "polarity_differs",
        ),
        ("Anna Weber left in spring.", "Tom Beck left in spring. Acme was happy.", "names_differ"),
        ("Acme bought Beta in spring.", "Beta bought Acme in spring. We were happy about it.", "changed"),
        ("The deal closed.", "The deal closed. It cost $5.", "numbers_differ"),
        ("$2 billion", "$2B according to the documents", "reworded"),
        ("$2 billion", "The deal was valued at $2B.", "reworded"),
        ("The deal closed at $5 on Friday.", "On Friday, the deal was closed at $5.00.", "reworded"),
        ("I cannot answer this.", "The passages do not say.", "reworded"),
        ("First it rained. Then it snowed.", "Then it snowed. First it rained.", "reworded"),
        ("The deal was completed.", "The deal was cancelled.", "changed"),
        ("Paris is nice.", "Bananas are yellow.", "changed"),
        ("Acme bought Beta.", "Gamma bought Beta.", "changed"),
        ("Acme bought Beta.", "Beta bought Acme.", "changed"),
        ("It rained before it snowed.", "It snowed before it rained.", "changed"),
        ("It rained before it snowed.", "Before it snowed, it rained.", "reworded"),
        ("A has 5 and B has 7.", "A has 7 and B has 5.", "changed"),
        ("It failed.", "It failed because the old disk of the server had been full for hours.", "changed"),
        ("👍", "👎", "changed"),
        ("It rained. It rained.", "It rained.", "omits"),
        ("The number is 3. The second is 4.", "The number is 4. The second is 3.", "changed"),
    ],
)
def test_the_first_verdict_that_applies_is_given(recorded: str, new: str, verdict: str) -> None:
    assert answer_verdict(recorded, new).name == verdict


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_answers_get_a_listed_verdict_with_evidence(recorded: str, new: str) -> None:
    found = answer_verdict(recorded, new)
    assert found.name in ORDER
    assert found.evidence
    assert (found.name == "identical") == (recorded == new)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["The deal closed. ", "It cost $5. ", "He did not go. ", "Acme won. "]), max_size=4
    ).map("".join)
)
def test_an_answer_is_always_identical_to_itself(answer: str) -> None:
    assert answer_verdict(answer, answer).name == "identical"


def test_a_failed_call_is_an_error_whatever_was_recorded() -> None:
    assert answer_verdict("a", "a", error="429 from the provider").evidence == {
        "error": "429 from the provider"
    }
    assert answer_verdict(None, None, error="").name == "error"


@pytest.mark.parametrize(
    ("recorded", "new", "missing"),
    [(None, "a", ["recorded"]), ("a", None, ["new"]), (None, None, ["recorded", "new"])],
)
def test_without_two_answers_nothing_is_compared(
    recorded: str | None, new: str | None, missing: list[str]
) -> None:
    found = answer_verdict(recorded, new)
    assert (found.name, found.evidence) == ("not_recorded", {"missing": missing})


@pytest.mark.parametrize(
    ("new", "stated"),
    [("The given context does not answer this question.", (False, False)), ("No comment.", (False, True))],
)
def test_a_refusal_is_reported_where_nothing_was_recorded(new: str, stated: tuple[bool, bool]) -> None:
    found = answer_verdict(None, new, stated=stated)
    assert (found.name, found.evidence) == (
        "not_recorded",
        {"missing": ["recorded"], "new_refuses": True},
    )


@pytest.mark.parametrize(
    ("recorded", "new", "evidence"),
    [
        ("a", "a", {"characters": 1}),
        ("a b", "a  b", {"differs_in": ["white_space"]}),
        ("a b", "A b", {"differs_in": ["case"]}),
        ("a b", "A  b", {"differs_in": ["case", "white_space"]}),
        ("a b", "a b!", {"differs_in": ["punctuation_or_markdown"]}),
        ("Dogs pay half. Cats do not.", "Dogs pay half. [1] Cats do not.[2]", {"differs_in": ["citations"]}),
        (
            "It rained. The deal was for $2 billion.",
            "It rained. The deal was for $9 billion.",
            {
                "only_recorded": ["$2 billion"],
                "only_new": ["$9 billion"],
                "recorded_at": [[28, 38]],
                "new_at": [[28, 38]],
            },
        ),
        ("It was by Acme.", "It was by us.", {"only_recorded": ["Acme"], "recorded_at": [[10, 14]]}),
        (
            "It rained. The deal closed.",
            "It rained. The deal did not close.",
            {"turned": ["negation"], "recorded": ["The deal closed."], "new": ["The deal did not close."]},
        ),
        (
            "I cannot say.",
            "I don't know.",
            {"both_refuse": True, "recorded": ["I cannot say."], "new": ["I don't know."]},
        ),
        ("It rained.", "It rained. It snowed.", {"added": ["It snowed."]}),
        ("It rained. It snowed.", "It rained.", {"omitted": ["It snowed."]}),
        (
            "It rained on Friday.",
            "On Friday, it rained. Acme was happy.",
            {"added": ["Acme was happy."]},
        ),
        ("It rained. It snowed.", "It snowed. It rained.", {"differs_in": ["order_of_sentences"]}),
        ("Acme bought Beta.", "Beta bought Acme.", {"order": [["Acme bought Beta.", "Beta bought Acme."]]}),
    ],
)
def test_a_verdict_includes_its_evidence(recorded: str, new: str, evidence: dict[str, object]) -> None:
    assert answer_verdict(recorded, new).evidence == evidence


def test_a_number_in_a_shared_sentence_is_not_missing() -> None:
    recorded = "It cost $5. The five was paid late by all."
    assert answer_verdict(recorded, "It cost $5. It was paid late by all.").name == "reworded"


def test_a_long_list_of_evidence_is_cut_and_counted() -> None:
    found = answer_verdict(
        "Start.", "Start. " + " ".join(f"Number {number} came." for number in range(1_000, 1_080))
    )
    assert (len(found.evidence["only_new"]), found.evidence["only_new_count"]) == (50, 80)


def test_a_long_entry_of_evidence_is_cut() -> None:
    (added,) = answer_verdict("It rained.", "It rained. It " + "really " * 1_000 + "did.").evidence["added"]
    assert len(added) == 1_001
    assert added.endswith("…")


def test_answers_with_thousands_of_altered_sentences_are_changed_not_reworded() -> None:
    recorded = "".join(
        f"the {letter}{number}x ran home today\n" for number in range(1_100) for letter in "ab"
    )
    found = answer_verdict(recorded, recorded.replace("today", "now"))
    assert found.name == "changed"
    assert found.evidence["only_recorded_count"] >= 200


@pytest.mark.parametrize("unit", ["1,", "`a", "Acme bought Beta, "])
def test_an_answer_of_one_endless_sentence_is_compared_within_seconds(unit: str) -> None:
    answer = unit * (15_000 // len(unit))
    started = time.process_time()
    answer_verdict(answer, answer[:-10] + " end")
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("stated", "verdict"),
    [((False, True), "refused"), ((True, False), "newly_answered"), ((True, True), "reworded")],
)
def test_a_refusal_reported_by_the_provider_needs_no_refusal_wording(
    stated: tuple[bool, bool], verdict: str
) -> None:
    assert answer_verdict("Sorry, no.", "It closed in May.", stated=stated).name == verdict
