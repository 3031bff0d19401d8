"""`find` and `ask`, against a real server."""

import json
import re

from tests.cli.terminal import Here
from tests.cli.test_records import handbook
from timemachine.cli.formatting import local
from timemachine.core.pure.clock import written
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.models import Action


def test_find_prints_its_hits_and_search_mode(tm: Here) -> None:
    ran = tm.run(
        "find", handbook(tm), "--query", "When are refunds paid?", "--top-k", "2", "--mode", "lexical"
    )
    assert ran.code == 0
    first, excerpt, scores, words, *_, last = ran.out.splitlines()
    assert first.startswith("  1  ")
    assert first.endswith("  #0 version 1  Refunds")
    assert excerpt == "     Refunds are paid within 14 days of the return."
    assert re.fullmatch(r"     scores  lexical \d\.\d{4}", scores)
    assert re.fullmatch(r"     words   refunds \d\.\d{4}, paid \d\.\d{4}", words)
    assert "by lexical search" in last


def test_find_explains_why_each_passage_was_found(tm: Here) -> None:
    lines = [
        {"text": "The parser broke at parser.js:42 and said ERR_CONN_RESET."},
        {"text": "A cable broke in two."},
        {"text": "Cats sleep."},
    ]
    tm.run("put", "log", tm.file("log.jsonl", "\n".join(map(json.dumps, lines))))
    arguments = ("find", "log", "--query", "What broke at parser.js:42?", "--mode", "hybrid")
    first, second, third = (hit for hit in tm.json(*arguments)["hits"])
    assert first["scores"].keys() == {"lexical", "semantic", "identifier"}
    assert {*first["matched"]["identifiers"]} == {"parser.js", "parser.js:42"}
    assert third["matched"] is None
    output = tm.run(*arguments).out.splitlines()
    reasons = [line.strip().partition("  ") for line in output if line.startswith("     ")]
    assert [name for name, _, _ in reasons if name in ("scores", "words", "identifiers")] == [
        *("scores", "words", "identifiers"),
        *("scores", "words"),
        *("scores", "words"),
    ]
    scores = [line for line in output if line.startswith("     scores       lexical ")]
    assert len({(line.index("semantic"), line.index("identifier"), len(line)) for line in scores}) == 1
    parts = [f"{name} {part:.4f}" for name, part in first["matched"]["identifiers"].items()]
    assert f"     identifiers  {', '.join(parts)}" in output
    assert "     words        none in common; found by meaning" in output
    assert len(second["matched"]["terms"]) == 1


def test_a_find_with_many_words_lists_the_most_important_ones(tm: Here) -> None:
    words = [f"wort{chr(97 + n)}" for n in range(15)]
    tm.run("put", "words", "-", given=" ".join(words))
    output = tm.run("find", "words", "--query", " ".join(words), "--mode", "lexical").out
    assert output.count("wort") == 15 + 12
    assert "… and 3 more" in output


def test_find_as_json_is_the_api_document(tm: Here) -> None:
    found = tm.json("find", handbook(tm), "--query", "guarantee", "--top-k", "1", "--adaptive")
    assert (found["top_k"], found["adaptive"], found["sequence"]) == (1, True, None)
    assert [hit["title"] for hit in found["hits"]] == ["Guarantee"]


def test_ask_accepts_the_thresholds_of_find(tm: Here) -> None:
    question = ("ask", handbook(tm), "--question", "guarantee", "--use-model", "local:extractive")
    thresholds = ("--adaptive", "--relative", "0", "--cliff", "0", "--min-score", "0")
    assert len(tm.json(*question)["hits"]) == len(tm.json(*question, *thresholds)["hits"]) == 3
    assert len(tm.json(*question, "--adaptive", "--relative", "0.9")["hits"]) == 1
    refused = tm.run(*question, "--relative", "0.9")
    assert (refused.code, "adaptive" in refused.err) == (1, True)


def test_find_reports_an_empty_collection(tm: Here) -> None:
    tm.json("session", "start", "empty", "--name", "n")
    assert tm.run("find", "empty", "--query", "anything", "--no-session").out.splitlines() == [
        "No results in empty by hybrid search.",
        "The collection has no frames yet. Put some into it.",
    ]


def test_find_before_the_first_frame_reports_when_it_was_added(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    tm.json("find", "notes", "--query", "anything", "--session", "s1")
    tm.json("put", "notes", "-", given="the first note")
    added_at = written(Frame.objects.get().valid_from) or ""
    arguments = ("find", "notes", "--query", "note", "--as-of", "s1:1", "--no-session")
    assert tm.run(*arguments).out.splitlines() == [
        "No results in notes by hybrid search.",
        f"The collection was empty at that time. Its first frame was added at {local(added_at)}.",
    ]
    assert tm.json(*arguments)["empty"] == {
        "why": "no_frames_then",
        "message": f"The collection had no frames at that time; the first was added at {added_at}.",
        "first_frame_at": added_at,
    }
    assert [
        hit["frame"] for hit in tm.json("find", "notes", "--query", "note", "--as-of", added_at)["hits"]
    ] == [0]


def test_find_as_of_a_step_searches_the_collection_as_of_that_step(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    tm.json("put", "notes", "-", "--session", "s1", given="the first note")
    tm.json("put", "notes", "-", "--session", "s1", given="the second note")
    then = tm.json("find", "notes", "--query", "note", "--as-of", "s1:1")
    assert [hit["text"] for hit in then["hits"]] == ["the first note"]
    assert len(tm.json("find", "notes", "--query", "note")["hits"]) == 2


def test_ask_prints_the_answer_and_then_its_cost_and_duration(tm: Here) -> None:
    ran = tm.run(
        "ask", handbook(tm), "--question", "When are refunds paid?", "--use-model", "local:extractive-1"
    )
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "Refunds are paid within 14 days of the return."
    rows = {line.split("  ", 1)[0]: line.split("  ", 1)[1].strip() for line in lines[2:]}
    assert rows["model"] == "local:extractive-1"
    assert rows["cost"] == "$0"
    assert rows["grounding"].startswith("HIGH 1.00 (1 of 1 sentence supported)")
    assert rows["passages"].startswith("#0")
    assert "tokens" in rows


def test_ask_in_a_session_is_recorded_with_its_find(tm: Here) -> None:
    collection = handbook(tm)
    tm.json("session", "start", collection, "--name", "n", "--key", "s1")
    answer = tm.json("ask", collection, "--question", "How long is the guarantee?", "--session", "s1")
    assert answer["sequence"] == 1
    assert list(Action.objects.order_by("sequence").values_list("kind", flat=True)) == ["ask", "find"]


def test_ask_reports_cache_savings_and_no_cache_bypasses_the_cache(tm: Here) -> None:
    collection = handbook(tm)
    tm.json("session", "start", collection, "--name", "n", "--key", "s1")
    question = ("ask", collection, "--question", "How long is the guarantee?", "--session", "s1")
    assert tm.json(*question)["cached"] is False
    lines = tm.run(*question).out.splitlines()
    cost = next(line for line in lines if line.startswith("cost"))
    assert re.search(
        r"\$0, from the cache, saved \$0 and [\d.]+ ms \(first asked at step 1 of [0-9a-f-]{36}, ", cost
    )
    assert not any(line.startswith("tokens") for line in lines)
    assert tm.json(*question, "--no-cache")["cached"] is False
    tm.json("session", "end", "s1")
    assert "1 answer, saved $0" in tm.run("session", "view", "s1").out


def test_a_put_that_fails_at_a_large_frame_reports_what_was_stored(tm: Here) -> None:
    large = {"text": "x" * (8 * 1024 * 1024 + 1)}
    source = tm.file("many.jsonl", '{"text": "first"}\n' + json.dumps(large))
    ran = tm.run("put", "many", source)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith("1 passage before it was stored. Put the same file again to add only the rest.\n")
    assert Frame.objects.count() == 1
    alone = tm.file("large.jsonl", json.dumps(large))
    assert "Split it into several frames." in tm.refused("put", "many", alone)
