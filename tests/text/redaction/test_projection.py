"""A recorded step without what the rules withhold: every field with its text is redacted, and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.text.redaction.pure.paths import parse_path, withhold
from timemachine.text.redaction.pure.profile import RULES
from timemachine.text.redaction.pure.projection import MEASURED, redact_action, redact_session
from timemachine.text.redaction.pure.rules import Rules, read_rules

CANARY = "kanari-31337"
EMAIL = "jane.doe@example.com"
ANSWER = f"First. Write to {EMAIL}. Then 😀 wait."
BY = read_rules(
    {"detect": ["email"], "patterns": [{"name": "canary", "pattern": "kanari-[0-9]+", "ignore_case": True}]}
)
FIELD = "[withheld: field]"
LABEL = "repeats what is withheld"
REPEATED = f"[withheld: {LABEL}]"


def sentence(text: str, **fields: Any) -> dict[str, Any]:
    start = ANSWER.index(text)
    return {
        "text": text,
        "start": start,
        "end": start + len(text),
        "grounded": False,
        "missing": ["jane"],
        **fields,
    }


def document(**fields: Any) -> dict[str, Any]:
    """Return a step in which every field that can contain a text contains the canary."""
    return {
        "sequence": 31337,
        "id": f"id {CANARY}",
        "kind": "ask",
        "layer": "agent",
        "role": "agent",
        "agent": CANARY,
        "name": CANARY,
        "tool": CANARY,
        "call_id": CANARY,
        "copied_from": {"session": CANARY, "step": CANARY},
        "metadata": {"by": CANARY},
        "parent": CANARY,
        "significance": "normal",
        "importance": 0.72,
        "iteration": 31337,
        "tags": [CANARY, "b"],
        "started_at": "2026-11-22T00:00:00Z",
        "duration_ms": 31337.0,
        "input": {"question": CANARY, CANARY: [CANARY]},
        "output": f"{ANSWER} {CANARY}",
        "error": {"type": CANARY, "message": f"failed at {CANARY}"},
        "model": f"x:{CANARY}",
        "parameters": {"stop": [CANARY]},
        "usage": {"input_tokens": 31337},
        "cost_usd": 0.5,
        "prices": {"source": CANARY, "output": 31337},
        "cached": True,
        "saved_usd": None,
        "cached_from": {"session": CANARY, "at": "2026-11-22T00:00:00Z"},
        "grounding": {
            "score": 0.5,
            "label": "MEDIUM",
            "note": CANARY,
            "sentences": [
                sentence("First.", missing=None),
                sentence(f"Write to {EMAIL}.", frame=1, passage_start=4, passage_end=24),
                sentence("Then 😀 wait.", missing=[CANARY], frame=2, passage_start=0, passage_end=3),
            ],
        },
        "retrieval": {
            "mode": "hybrid",
            "top_k": 4,
            "as_of": CANARY,
            "below": {"title": CANARY},
            "hits": [
                {
                    "rank": 1,
                    "score": 31337.0,
                    "scores": {CANARY: 31337.0},
                    "frame": 1,
                    "title": CANARY,
                    "uri": f"https://x.org/{CANARY}",
                    "metadata": {"author": CANARY},
                    "sha256": "ab" * 32,
                    "text": f"{CANARY} or write to it",
                    "matched": {"terms": {"kanari": 1.0}},
                },
                {
                    "rank": 2,
                    "frame": 2,
                    "title": "b",
                    "sha256": "cd" * 32,
                    "text": "b",
                    "matched": {"terms": {}},
                },
            ],
        },
        "source": {"line": CANARY},
        **fields,
    }


def test_nothing_withheld_remains_anywhere() -> None:
    found = redact_action(document(), BY)
    written = json.dumps(found.document)
    assert CANARY not in written
    assert EMAIL not in written
    assert "kanari" not in written
    assert found.touched == tuple(name for name in document() if name not in MEASURED)
    assert found.tally["canary", "canary"] > 15
    assert found.tally["e-mail", "e-mail"] > 0


def test_measurements_and_vocabulary_values_are_kept() -> None:
    by = read_rules({"patterns": [{"name": "all", "pattern": "(?s).+"}]})
    found = redact_action(document(), by).document
    assert {name: found[name] for name in MEASURED} == {name: document()[name] for name in MEASURED}
    assert found["retrieval"]["top_k"] == 4
    assert [hit["score"] for hit in found["retrieval"]["hits"][:1]] == [31337.0]
    assert found["grounding"]["score"] == 0.5
    assert redact_action(document(), BY).document["retrieval"]["mode"] == "hybrid"
    assert redact_action(document(parent=12345), by).document["parent"] == 12345


def test_sentences_are_cut_from_the_redacted_answer() -> None:
    found = redact_action(document(), BY).document
    output = found["output"]
    for each in found["grounding"]["sentences"]:
        assert output[each["start"] : each["end"]] == each["text"]
    first, second, third = found["grounding"]["sentences"]
    assert (first["text"], second["text"], third["text"]) == (
        "First.",
        "Write to [withheld: e-mail].",
        "Then 😀 wait.",
    )
    assert (second["missing"], third["missing"]) == (None, ["[withheld: canary]"])
    hit = found["retrieval"]["hits"][0]["text"]
    assert hit[second["passage_start"] : second["passage_end"]] == "[withheld: canary] or write to"
    assert (third["passage_start"], third["passage_end"]) == (0, 3)


def test_a_secret_that_crosses_a_sentence_boundary_is_in_neither_sentence() -> None:
    output = "One. -----BEGIN PRIVATE KEY-----\nabc. def.\n-----END PRIVATE KEY----- Two."
    cuts = [(0, 4), (5, 37), (38, 42), (43, len(output))]
    sentences = [{"text": output[a:b], "start": a, "end": b} for a, b in cuts]
    found = redact_action(document(output=output, grounding={"sentences": sentences}), RULES).document
    assert [each["text"] for each in found["grounding"]["sentences"]] == [
        "One.",
        "[withheld: secret]",
        "[withheld: secret]",
        "[withheld: secret] Two.",
    ]


@pytest.mark.parametrize("output", [{"answer": ANSWER, "by": EMAIL}, f"other {EMAIL}"])
def test_sentences_with_unknown_offsets_are_withheld_with_their_answer(output: Any) -> None:
    found = redact_action(document(output=output), BY).document["grounding"]["sentences"]
    assert [(each["text"], each["start"], each["end"]) for each in found] == [(REPEATED, None, None)] * 3


def test_sentences_are_kept_if_nothing_in_their_answer_is_withheld() -> None:
    grounding = {"sentences": [sentence("First."), {"text": CANARY, "start": "?"}, {"score": 1}, CANARY, 7]}
    found = redact_action(document(output=ANSWER.replace(EMAIL, "nobody"), grounding=grounding), BY).document
    assert found["grounding"]["sentences"] == [
        sentence("First."),
        {"text": "[withheld: canary]", "start": "?"},
        {"score": 1},
        "[withheld: canary]",
        7,
    ]


def test_hashes_and_words_that_would_reveal_a_text_are_withheld_with_it() -> None:
    first, second = redact_action(document(), BY).document["retrieval"]["hits"]
    assert (first["sha256"], first["matched"]) == ("[withheld: hash]", {"withheld": REPEATED})
    assert (second["sha256"], second["text"]) == ("cd" * 32, "b")
    assert second["matched"] == {"withheld": REPEATED}, (
        "its words are those of the question, which is withheld"
    )
    plain_question = document(input="plain")
    assert redact_action(plain_question, BY).document["retrieval"]["hits"][1]["matched"] == {"terms": {}}


def test_rules_are_not_applied_to_hashes_and_ids_of_the_product() -> None:
    digits = read_rules({"patterns": [{"name": "customer", "pattern": "[0-9]{4}"}]})
    generated = {
        "parameters": {"prompt_sha256": "1234" * 16},
        "cached_from": {"session": "12345678-1234-7234-8234-123456789012"},
        "retrieval": {"hits": [{"rank": 1, "sha256": "5678" * 16, "text": "plain"}]},
        "grounding": None,
    }
    found = redact_action(generated, digits)
    assert (found.document, found.touched) == (generated, ())
    recorded = {"input": {"sha256": "1234" * 16}, "parameters": {"prompt_sha256": "1234"}}
    assert redact_action(recorded, digits).touched == ("input", "parameters")


def test_fields_are_withheld_by_their_paths() -> None:
    paths = [
        "agent",
        "tags",
        "error",
        "output",
        "retrieval.hits[*].text",
        "retrieval.hits[*].metadata.author",
        "input.question",
    ]
    found = redact_action(document(), read_rules({"fields": [*paths, "source", "session.user", "call_id"]}))
    shown = found.document
    assert (shown["agent"], shown["tags"], shown["error"]) == (FIELD, [FIELD], {"withheld": FIELD})
    assert (shown["output"], shown["source"], shown["input"]["question"]) == (FIELD, FIELD, FIELD)
    assert [hit["text"] for hit in shown["retrieval"]["hits"]] == [FIELD, FIELD]
    assert [hit["sha256"] for hit in shown["retrieval"]["hits"]] == ["[withheld: hash]"] * 2
    assert [each["text"] for each in shown["grounding"]["sentences"]] == [REPEATED] * 3
    assert {each["passage_start"] for each in shown["grounding"]["sentences"][1:]} == {None}
    assert found.tally == {("field", "field"): 10, ("hash", "hash of withheld text"): 2, (LABEL, LABEL): 5}
    assert "call_id" in found.touched


@pytest.mark.parametrize(
    "path", ["retrieval", "retrieval.hits", "grounding", "grounding.sentences", "retrieval.hits[0]"]
)
def test_an_entire_structure_can_be_withheld(path: str) -> None:
    by = read_rules({"fields": [path]})
    once = redact_action(document(), by)
    assert FIELD in json.dumps(once.document[path.split(".", maxsplit=1)[0]])
    assert redact_action(once.document, by).document == once.document


def test_a_step_without_a_finding_is_unchanged() -> None:
    by = read_rules(
        {"patterns": [{"name": "never", "pattern": "nothing of the kind"}], "fields": ["session.user"]}
    )
    found = redact_action(document(), by)
    assert (found.document, found.touched, found.tally) == (document(), (), {})
    bare = {"sequence": 1, "grounding": None, "retrieval": None, "output": None}
    assert redact_action(bare, BY).document == bare
    odd = document(retrieval={"hits": None}, grounding={"sentences": None})
    assert redact_action(odd, BY).document["retrieval"] == {"hits": None}
    older = document(retrieval={"hits": [{"text": "a", "matched": None}, {"text": "b"}]})
    assert redact_action(older, by).document == older
    frames = document(grounding={"sentences": [sentence("First.", frame=[1])]})
    assert redact_action(frames, by).document == frames


def test_a_session_is_redacted_by_the_same_rules() -> None:
    fields = {
        "key": f"k-{CANARY}",
        "name": EMAIL,
        "agent": None,
        "user": "u",
        "metadata": {"a": {"b": 1}},
        "tags": ["x"],
    }
    by = read_rules(BY.as_json() | {"fields": ["session.user", "session.metadata", "agent"]})
    found = redact_session(fields, by)
    assert found.document == {
        "key": "k-[withheld: canary]",
        "name": "[withheld: e-mail]",
        "agent": None,
        "user": FIELD,
        "metadata": {"withheld": FIELD},
        "tags": ["x"],
    }
    assert found.touched == ("key", "name", "user", "metadata")


pieces = st.lists(st.sampled_from([CANARY, EMAIL, " ", ". ", "😀", "\ud83d", "x"]), max_size=6).map("".join)


@given(
    output=pieces,
    hit=pieces,
    question=pieces,
    cut=st.integers(0, 40),
    by=st.sampled_from([BY, RULES, Rules(detect=("email",))]),
)
def test_redacting_a_step_twice_equals_redacting_it_once(
    output: str, hit: str, question: str, cut: int, by: Rules
) -> None:
    cut = min(cut, len(output))
    sentences = [
        {
            "text": output[:cut],
            "start": 0,
            "end": cut,
            "frame": 1,
            "passage_start": 0,
            "passage_end": len(hit),
        },
        {"text": output[cut:], "start": cut, "end": len(output), "missing": [hit]},
    ]
    hits = [{"frame": 1, "text": hit, "sha256": "ab" * 32, "matched": {"terms": {question: 1}}}]
    given = document(
        output=output, input=question, grounding={"sentences": sentences}, retrieval={"hits": hits}
    )
    once = redact_action(given, by)
    twice = redact_action(once.document, by)
    assert twice.document == once.document
    assert (twice.touched, twice.tally) == ((), {})
    assert set(once.touched) == {name for name in given if given[name] != once.document[name]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("output", "[erased: field]"),
        ("error", {"type": None, "message": "[erased: field]"}),
        ("retrieval", {"mode": None, "hits": [{"rank": 1, "text": None}]}),
        ("retrieval.hits", {"hits": [{"rank": 1, "text": None}]}),
        ("session.metadata", {}),
        ("copied_from", {"session": None, "step": None}),
        ("session.key", "erased-0123abcd"),
    ],
)
def test_erased_text_is_not_withheld_again(path: str, value: Any) -> None:
    found = parse_path(path)
    assert found is not None
    assert withhold(value, found) == (value, 0)
