"""The page of training pairs, and its files."""

import json

import pytest
from django.test import Client

from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft


@pytest.fixture
def viewer(project: Project) -> Client:
    return browser_of(project, VIEWER)


def test_without_a_solution_there_are_no_pairs(viewer: Client) -> None:
    shown = viewer.get("/training/").text
    assert "No pairs yet" in shown
    assert viewer.get("/training/pairs.jsonl").getvalue() == b""


def test_the_first_pairs_are_shown_and_each_part_can_be_downloaded(viewer: Client, project: Project) -> None:
    session = start_session(project, name="Bug", by="test", key="bug")
    turns = (
        ("user", "It is <b>red</b>", None),
        ("agent", "try x", "hypothesis"),
        ("user", "Red still.", "error"),
        ("agent", "do y", "solution"),
    )
    append(session.id, [ActionDraft(kind="message", role=r, output=o, significance=s) for r, o, s in turns])
    end_session(session.id)
    shown = viewer.get("/training/?form=dpo&shares=100,0,0").text
    assert "<b>1 pair</b>" in shown
    assert "It is &lt;b&gt;red&lt;/b&gt;" in shown
    assert "step 2 was rejected: failed" in shown
    assert "Train, 1 pair</a>" in shown
    assert "train 100%, valid 0%, test 0%" in shown
    answer = viewer.get("/training/pairs.jsonl?form=dpo&part=train&shares=100,0,0")
    assert 'filename="training-dpo-resolution-train.jsonl"' in answer["Content-Disposition"]
    assert json.loads(answer.getvalue())["rejected"][0]["content"] == "try x"
    assert viewer.get("/training/pairs.jsonl?form=dpo&part=test&shares=100,0,0").getvalue() == b""


def test_the_page_says_why_solutions_give_no_preference_pair_and_links_to_chats(
    viewer: Client, project: Project
) -> None:
    session = start_session(project, name="Bug", by="test", key="bug")
    turns = (("user", "It is red", None), ("agent", "do y", "solution"))
    append(session.id, [ActionDraft(kind="message", role=r, output=o, significance=s) for r, o, s in turns])
    end_session(session.id)
    start_session(project, name="Open", by="test", key="open")
    shown = viewer.get("/training/?form=dpo").text
    assert "<b>0 pairs</b> from 0 sessions; 2 sessions examined." in shown
    assert "<dt>1 solution</dt>" in shown
    assert "<dt>1 session</dt>" in shown
    assert "No pairs yet" not in shown
    assert "A preference pair needs a failed attempt" in shown
    assert '<a href="?form=chat' in shown


def test_invalid_parameters_are_refused(viewer: Client) -> None:
    wrong = viewer.get("/training/?shares=1")
    assert (wrong.status_code, "add up to 100" in wrong.text) == (422, True)
    assert viewer.get("/training/?redaction=none").status_code == 404
