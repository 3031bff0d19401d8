"""The scores around a cut-off as a chart, and pages whose record has no curve or a malformed one."""

import math
from typing import Any

import pytest
from django.test import Client

from tests.core.accounts.people import member
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, create_collection, put_frames
from timemachine.knowledge.find import Query
from timemachine.recording.answering.commands import ask
from timemachine.recording.sessions.commands import start_session
from timemachine.web.hits import cut_words, drawn_curve, without_curve


@pytest.mark.parametrize(
    "retrieval",
    [
        None,
        {},
        {"curve": None},
        {"curve": "high"},
        {"curve": {"scores": []}},
        {"curve": {"scores": "12"}},
        {"curve": {"scores": [1, "2"]}},
        {"curve": {"scores": [math.inf]}},
        {"curve": {"scores": [1.0] * 1_000}},
    ],
)
def test_an_invalid_curve_is_not_drawn(retrieval: Any) -> None:
    assert drawn_curve(retrieval) is None


def test_the_best_score_is_the_highest_bar_and_what_was_left_out_is_marked() -> None:
    curve = drawn_curve(
        {"cut_by": "cliff", "curve": {"leg": "lexical", "scores": [8, 4, -1], "kept": 1}, "below": 3}
    )
    assert curve is not None
    assert [(bar.rank, bar.kept, bar.height) for bar in curve.bars] == [
        (1, True, 40),
        (2, False, 20),
        (3, False, 0.5),
    ]
    assert (curve.cut, curve.kept, curve.below) == ("cut off at a drop in scores", 1, None)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("relative", "cut off below 60% of the best score"),
        ("cliff", "cut off below 40% of the previous score"),
        ("floor", "cut off below the minimum score"),
        ("top_k", "cut off at top k"),
    ],
)
def test_a_cut_names_its_threshold_if_it_was_recorded(rule: str, words: str) -> None:
    assert cut_words(rule, {"relative": 0.6, "cliff": 0.4, "floor": "low"}) == words


def test_a_rule_of_another_tool_is_shown_by_its_name() -> None:
    assert (cut_words("my_rule"), cut_words(None)) == ("my rule", "not recorded")
    assert without_curve({"mode": "x", "curve": {}, "below": None}) == {"mode": "x"}


def test_a_step_shows_why_its_passages_were_found_and_where_the_list_was_cut(
    client: Client, project: Project
) -> None:
    collection = create_collection(project, "handbook", by="test")
    facts = [
        "Invoices are kept for ten years.",
        "It fails in parser.js:42.",
        "Apple trees are cut in spring.",
    ]
    put_frames(collection, [NewFrame(title=f"T{n}", text=fact) for n, fact in enumerate(facts)], by="test")
    session = start_session(project, name="Why", collection=collection, by="test")
    ask(project, collection, Query(text="Are invoices kept in parser.js:42?", top_k=2), session=session)
    client.force_login(member(project, "viewer").user)
    shown = client.get(f"/sessions/{session.id}/?step=1&tab=context").content.decode()
    assert "cut off at top k" in shown
    assert "2 of 3 kept" in shown
    assert "next:" in shown
    assert '<span class="mono identifier">parser.js:42</span>' in shown
    assert '<a href="/collections/handbook/frames/1/?version=1">Frame 1</a>' in shown
    tried = client.get("/collections/handbook/?q=pruning&mode=hybrid&top_k=1").content.decode()
    assert "No words in common; found by meaning." in tried
    meant = client.get("/collections/handbook/?q=invoices&mode=semantic&top_k=1").content.decode()
    assert "No words in common" not in meant  # a semantic search does not compare words
