"""A text is shown once: a find inside an ask has the ask's question, and its step leads there."""

import re

from django.test import Client

from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

QUESTION = "Which heron was ringed in May?"


def step_of(browser: Client, session: Session, sequence: int) -> str:
    return browser.get(f"/sessions/{session.id}/?step={sequence}").text


def test_the_query_of_a_find_is_folded_where_it_repeats_the_question_of_its_ask(project: Project) -> None:
    session, browser = start_session(project, name="Herons", by="test"), browser_of(project)
    append(
        session.id,
        [
            ActionDraft(kind="ask", id="ask", input=QUESTION, output="Number 12."),
            ActionDraft(kind="find", parent="ask", input=QUESTION),
            ActionDraft(kind="find", parent="ask", input="herons ringed in spring"),
            ActionDraft(kind="find", input=QUESTION),
        ],
    )
    same = step_of(browser, session, 2)
    assert re.search(r'Query: same text as <a href="[^"]*step=1[^"]*">step 1</a>', same)
    folded = re.search(
        r"<details class=\"more\">\s*<summary>Show it here too</summary>(.*?)</details>", same, re.DOTALL
    )
    assert folded
    assert QUESTION in folded[1]
    for own_words in (1, 3, 4):
        assert "Show it here too" not in step_of(browser, session, own_words)
