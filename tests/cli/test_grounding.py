"""`timemachine ground`: a verdict for each line, and the reason why a sentence is not supported."""

import json

from tests.cli.terminal import Here

HANDBOOK = "\n".join(
    json.dumps(line, ensure_ascii=False)
    for line in [
        {
            "title": "Refunds",
            "uri": "handbook/1",
            "text": "Refunds are paid within 14 days of the return.",
            "year": 2026,
        },
        {"title": "Shipping", "text": "Parcels leave the warehouse in Köln every weekday at noon."},
        {"title": "Guarantee", "text": "The guarantee covers defects for three years."},
    ]
)

REFUSED: list[tuple[tuple[str, ...], bytes | None, str]] = [
    (("put", "handbook", "-"), b"", "Standard input is empty"),
    (("put", "handbook"), b" \n", "Standard input is empty"),
    (("put", "handbook", "-"), b"\xff\xfe", "not UTF-8 text"),
    (
        ("put", "handbook", "not-here.txt"),
        None,
        "not-here.txt (No such file or directory)",
    ),
    (("put", "a/b", "-"), b"text", "There is no collection 'a/b'"),
    (("put", "a?b", "-"), b"text", "is not a valid collection name"),
    (("put", "handbook", "-", "--session", "nobody"), b"text", "There is no session 'nobody'"),
    (("find", "nothing", "--query", "q"), None, "nothing"),
    (("find", "handbook", "--query", "q", "--top-k", "0"), None, "top_k"),
    (("find", "handbook", "--query", "q", "--as-of", "yesterday"), None, "`as_of` cannot be 'yesterday'"),
    (("find", "handbook", "--query", "q", "--session", "nobody"), None, "There is no session 'nobody'"),
    (("ask", "handbook", "--question", "q", "--use-model", "nobody:x"), None, "nobody"),
    (("ask", "handbook", "--question", "q", "--use-model", "openai:gpt-5"), None, "key"),
    (("ask", "nothing", "--question", "q"), None, "nothing"),
    (("ground", "not-here.jsonl"), None, "Cannot read"),
]


def test_ground_judges_each_line_and_warns(tm: Here) -> None:
    source = tm.file(
        "answers.jsonl",
        '{"context": ["The deal closed for 7 billion."], "answer": "The deal closed for 7 billion."}\n\n'
        '{"context": ["The deal closed for 7 billion."], "answer": "The deal closed for 9 billion."}\n',
    )
    items = tm.json("ground", source)["items"]
    assert [(each["label"], each["has_warning"]) for each in items] == [("HIGH", False), ("LOW", True)]
    lines = tm.run("ground", source).out.splitlines()
    assert lines[0].startswith("line 1: HIGH 1.00")
    assert lines[1].startswith("line 3: LOW")
    assert lines[2].startswith("Warning: grounding is LOW")
    assert lines[3] == "  not supported (number): The deal closed for 9 billion."
    assert lines[4:6] == [
        "    not in any passage: 9 billion",
        "    #0, characters 0 to 30: The deal closed for 7 billion.",
    ]
    assert lines[-1] == "2 answers, 1 with a warning."


def test_ground_quotes_the_contradicting_sentence(tm: Here) -> None:
    line = {
        "context": ["The weather was fine.", "In May the buyer paid the seller. Nobody else was there."],
        "answer": "In May the seller paid the buyer.",
    }
    lines = tm.run("ground", tm.file("swapped.jsonl", json.dumps(line))).out.splitlines()
    assert lines[0].startswith("line 1: LOW")
    assert lines[2:4] == [
        "  not supported (reversed in the passage): In May the seller paid the buyer.",
        "    #1, characters 0 to 33: In May the buyer paid the seller.",
    ]


def test_ground_reports_swapped_names(tm: Here) -> None:
    line = {"context": ["The bank acquired Nordkredit."], "answer": "Nordkredit acquired the bank."}
    lines = tm.run("ground", tm.file("names.jsonl", json.dumps(line))).out.splitlines()
    assert lines[2] == "  not supported (reversed in the passage): Nordkredit acquired the bank."


def test_ground_shows_what_is_missing_in_a_partly_supported_sentence(tm: Here) -> None:
    line = {
        "context": ["The harbour bridge was opened after eight years of work."],
        "answer": "The harbour bridge was praised after quarrels.",
    }
    lines = tm.run("ground", tm.file("partly.jsonl", json.dumps(line))).out.splitlines()
    assert lines[0].startswith("line 1: MEDIUM")
    assert lines[0].endswith("(0 of 1 sentence supported, 1 partly)")
    assert lines[1:3] == [
        "  partly supported: The harbour bridge was praised after quarrels.",
        "    not in any passage: praised, quarrels",
    ]


def test_ground_processes_any_number_of_lines_in_order(tm: Here) -> None:
    lines = (
        f'{{"context": ["There are {number} cats."], "answer": "There are {number + number % 2} cats."}}\n'
        for number in range(20, 140)
    )
    items = tm.json("ground", tm.file("many.jsonl", "".join(lines)))["items"]
    assert [each["label"] for each in items] == ["HIGH", "LOW"] * 60


def test_ground_splits_requests_and_reports_unread_text(tm: Here) -> None:
    line = json.dumps({"context": ["Cats sleep all day. " * 900] * 2, "answer": "Cats sleep all day."})
    long = json.dumps({"context": ["Cats sleep all day."], "answer": "Cats sleep all day. " * 2_000})
    lines = tm.run("ground", tm.file("long.jsonl", f"{line}\n" * 8 + f"{long}\n")).out.splitlines()
    assert [each.split()[2] for each in lines[:9]] == ["HIGH"] * 8 + ["MEDIUM"]
    assert lines[8].endswith("(30,000 characters of the answer not read)")


def test_an_answer_without_a_claim_has_no_grounding(tm: Here) -> None:
    source = tm.file("answers.jsonl", '{"context": ["a"], "answer": "The passages do not say."}')
    assert tm.run("ground", source).out.startswith("line 1: none: the answer makes no claim\n")
