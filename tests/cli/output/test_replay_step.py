"""Output of a single replay step, in forms that a small recording does not produce."""

from typing import Any

import pytest

from timemachine.cli.output.replay_step import step_lines

AUDIT: dict[str, Any] = {"kind": "audit", "options": {}}
DEBUG: dict[str, Any] = {"kind": "debug", "options": {}}


def original(**changes: Any) -> dict[str, Any]:
    """A recorded ask, with changes."""
    return {
        "input": "Why?",
        "output": "Because.",
        "answer": None,
        "model": "openai:gpt-5",
        "usage": None,
        "cost_usd": None,
        "duration_ms": None,
        "grounding": None,
    } | changes


def step(**changes: Any) -> dict[str, Any]:
    """An audit step in which no model was called, with changes."""
    return {
        "sequence": 1234,
        "kind": "ask",
        "status": "done",
        "context": "verified",
        "frames": [],
        "retrieval": None,
        "original": original(),
        "new": None,
        "verdict": None,
        "evidence": None,
    } | changes


def frame(**changes: Any) -> dict[str, Any]:
    return {"rank": 1, "frame": 3, "verdict": "verified", "since": "unchanged"} | changes


def retrieval(**changes: Any) -> dict[str, Any]:
    return {
        "verdict": "changed",
        "gained": [],
        "lost": [],
        "moved": [],
        "overlap": None,
        "mode": "hybrid",
        "top_k": 8,
        "adaptive": False,
        "as_of": None,
        "cut_by": None,
    } | changes


def shown(found: Any, replay: Any = AUDIT, **more: Any) -> list[str]:
    return list(step_lines(found, replay, more.pop("recorded", None), with_diff=more.pop("with_diff", False)))


def fact(name: str, lines: list[str]) -> str:
    """The value of a fact in the output."""
    return next(line.removeprefix(f"  {name}").strip() for line in lines if line.startswith(f"  {name}  "))


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"verdict": "numbers_differ"}, "numbers differ"),
        ({"retrieval": retrieval()}, "changed"),
        ({}, "verified"),
        ({"status": "failed", "verdict": "error"}, "error"),
        ({"status": "skipped"}, "skipped"),
        ({"status": "cancelled", "context": None}, "cancelled"),
    ],
)
def test_the_first_line_shows_the_outcome_of_the_step(changes: dict[str, Any], outcome: str) -> None:
    assert shown(step(**changes))[0] == f"Step 1,234 · ask · {outcome}"


@pytest.mark.parametrize(
    ("grounding", "says"),
    [
        ({}, "without a label"),
        ({"label": None, "score": None}, "none: the answer makes no claim"),
        ({"score": 0.5}, "without a label 0.50"),
        ({"label": 3, "score": "high", "sentence_count": None}, "3"),
        (
            {"label": "LOW", "score": 0, "sentence_count": 1, "grounded_sentences": 0},
            "LOW 0.00 (0 of 1 sentence supported)",
        ),
    ],
)
def test_a_recorded_grounding_of_any_form_is_shown(grounding: dict[str, Any], says: str) -> None:
    lines = shown(step(original=original(grounding=grounding)), recorded={"retrieval": None})
    assert says in fact("recorded call", lines).split("; ")


def test_a_problem_with_a_frame_is_shown() -> None:
    frames = [
        frame(),
        frame(frame=4, verdict="altered", since="updated"),
        frame(frame="doc-7", since=None, verdict="not_recorded"),
        frame(frame=None, rank=4, verdict="missing"),
    ]
    assert fact("frozen frames", shown(step(frames=frames))) == (
        "4: #3, #4 altered (updated since), doc-7 not recorded, rank 4 missing"
    )
    assert fact("frozen frames", shown(step())) == "none"


def test_added_removed_and_moved_hits_are_listed() -> None:
    found = retrieval(
        gained=[7, "doc-1"], lost=[2], moved=[{"frame": 1, "from": 2, "to": 3}], overlap=0.5, adaptive=True
    )
    lines = shown(step(retrieval=found, new=None), DEBUG)
    assert (
        fact("retrieval", lines) == "changed (overlap 0.50): gained #7, doc-1; lost #2; #1 from rank 2 to 3"
    )
    assert fact("mode", lines) == "debug, hybrid search, top 8, adaptive, now"


def test_an_adaptive_search_says_what_is_next_and_which_options_find_it() -> None:
    found = retrieval(
        gained=[7],
        adaptive=True,
        pool=100,
        curve={"kept": 3},
        below={"frame": 12},
        below_needs={"relative": 0.25, "min_score": 0.1},
    )
    new = {"hits": [{"frame": 7, "rank": 3}], "model": None, "error": None, "output": None, "answer": None}
    lines = shown(step(retrieval=found, new=new), DEBUG)
    assert fact("retrieval", lines) == "changed: gained #7 at rank 3"
    assert fact("next", lines) == "#12 at rank 4 with --relative 0.25 --min-score 0.1"
    assert fact("mode", lines) == "debug, hybrid search, pool 100, adaptive, now"


def test_a_debug_step_without_a_search_shows_no_search_mode() -> None:
    assert fact("mode", shown(step(), DEBUG)) == "debug"


def test_unrecorded_values_are_marked_and_shown_without_a_diff() -> None:
    lines = shown(
        step(
            original=original(input=None, output=None, model=None),
            new={"output": "Now.", "answer": None, "model": "local:extractive-1", "error": None},
        ),
        with_diff=True,
    )
    assert fact("question", lines) == "not recorded"
    assert fact("original model", lines) == "not recorded"
    assert lines[-4:] == ["  original answer:", "    not recorded", "  new answer:", "    Now."]


def test_a_failed_or_not_asked_step_shows_the_reason() -> None:
    failed = step(
        status="failed",
        verdict="error",
        new={"error": {"type": "t", "message": "no\nkey"}, "model": None, "output": None, "answer": None},
    )
    assert fact("error", shown(failed)) == "no key"
    assert (
        fact("not asked", shown(step(evidence={"not_asked": "The limit was reached."})))
        == "The limit was reached."
    )


def test_an_answer_that_is_not_text_is_shown_as_json() -> None:
    lines = shown(step(original=original(output={"ü": [1]})))
    assert lines[-1] == '    {"ü": [1]}'


def test_an_answer_cannot_inject_terminal_escapes() -> None:
    assert shown(step(original=original(output="a\x1b[2Jb\r\nc")))[-2:] == ["    a␛[2Jb␍", "    c"]


def test_hits_of_another_tool_need_neither_score_nor_title() -> None:
    hit = {"rank": 1, "score": None, "scores": None, "frame": None, "title": None}
    lines = shown(step(), recorded={"retrieval": {"hits": [hit], "cut_by": None}})
    assert "  recorded hits (cut-off rule not recorded):" in lines
    assert "    rank    score  scores  frame   title" in lines
    assert "       1  unknown          rank 1" in lines
    assert fact("recorded call", lines) == "openai:gpt-5; tokens unknown; unknown; not recorded"


def test_a_step_without_any_retrieval_has_no_hits() -> None:
    lines = shown(step(kind="find", original=original(model=None)), recorded={"retrieval": None})
    assert lines[-1] == "    none"


@pytest.mark.parametrize(("depth", "to"), [(None, ""), (1_200, " down to rank 1,200")])
def test_the_rank_overlap_of_the_hits_is_shown_with_its_depth(depth: int | None, to: str) -> None:
    found = retrieval(overlap=0.125, k=8, rank_biased_overlap=1.0, rank_biased_depth=depth)
    result = fact("retrieval", shown(step(retrieval=found), DEBUG))
    assert result == f"changed (overlap@8 0.12, rank-biased 1.00{to})"
