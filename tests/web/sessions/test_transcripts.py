"""The transcript page of a session."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
TURNS = (
    ("user", "It fails.", "error"),
    ("agent", "A guess.", "hypothesis"),
    ("agent", "Close it.", "solution"),
)


@pytest.fixture
def session_key(project: Project) -> str:
    session = start_session(project, name="Story", key="story", by="test")
    turns = [
        ActionDraft(kind="message", role=role, output=text, significance=word) for role, text, word in TURNS
    ]
    append(session.id, turns)
    return "story"


def page(viewer: Client, session: str, **query: Any) -> str:
    return viewer.get(f"/sessions/{session}/transcript/", query).content.decode()


def test_every_turn_is_shown_with_its_step_and_its_significance(viewer: Client, session_key: str) -> None:
    shown = page(viewer, session_key)
    assert [shown.index(text) for _, text, _ in TURNS] == sorted(shown.index(text) for _, text, _ in TURNS)
    assert "<b>3</b> of 3 turns" in shown
    assert shown.count('<span class="significance">') == 3
    address = f'href="/sessions/{Session.objects.get().id}/transcript/"'
    assert address in viewer.get("/sessions/story/").content.decode()


def test_selected_turns_are_shown_with_gap_markers_and_matching_downloads(
    viewer: Client, session_key: str
) -> None:
    shown = page(viewer, session_key, significance=["error", "solution"])
    assert ("It fails." in shown, "A guess." in shown, "Close it." in shown) == (True, False, True)
    assert ("<b>2</b> of 3 turns" in shown, "1 turn left out" in shown) == (True, True)
    assert "more for gap markers" in shown
    assert "more for gap markers" not in page(viewer, session_key)
    address = f"/sessions/{Session.objects.get().id}/transcript/messages?significance=error&amp;significance=solution"
    assert address in shown
    answer = viewer.get(address.replace("&amp;", "&"))
    assert answer["Content-Disposition"] == 'attachment; filename="story-messages.json"'
    downloaded = json.loads(answer.getvalue())["messages"]
    assert [each["content"] for each in downloaded] == ["It fails.", "[1 turn left out]", "Close it."]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"budget": "much"}, "is not a number of tokens"),
        ({"budget": "99999999999999"}, "Enter a whole number from 1 to "),
        ({"min_importance": "2"}, "is not an importance"),
        ({"significance": "great"}, "it must be one or more of normal"),
        ({"after": "x", "significance": "solution"}, "Invalid page"),
    ],
)
def test_an_invalid_filter_is_explained_and_every_turn_is_shown(
    viewer: Client, session_key: str, query: dict[str, str], words: str
) -> None:
    shown = page(viewer, session_key, **query)
    assert (words in shown, "A guess." in shown, "Every turn is shown" in shown) == (True, True, True)


def test_a_synonym_of_a_role_selects_that_role(viewer: Client, session_key: str) -> None:
    shown = page(viewer, session_key, role="assistant")
    assert ("It fails." in shown, "A guess." in shown, "Close it." in shown) == (False, True, True)
    assert '<option value="agent" selected>' in shown
    session = Session.objects.get().id
    assert f'href="/sessions/{session}/transcript/text?role=assistant"' in shown
    downloaded = viewer.get(f"/sessions/{session}/transcript/text", {"role": "assistant"}).getvalue().decode()
    assert ("It fails." in downloaded, "A guess." in downloaded) == (False, True)


def test_an_empty_transcript_says_why(viewer: Client, project: Project, session_key: str) -> None:
    assert "No turn matches." in page(viewer, session_key, role="system")
    assert "No matching turn fits into this budget." in page(viewer, session_key, budget="1")
    start_session(project, name="Empty", key="empty", by="test")
    assert "Nothing is recorded in this session yet." in page(viewer, "empty")


def test_a_long_session_is_paged_and_a_long_turn_is_cut_with_a_link_to_its_step(
    viewer: Client, project: Project
) -> None:
    session = start_session(project, name="Long", key="long", by="test")
    append(
        session.id, [ActionDraft(kind="message", role="agent", output=f"turn {at} ") for at in range(1, 251)]
    )
    append(session.id, [ActionDraft(kind="message", role="agent", output="x" * 5_000)])
    first, second = page(viewer, "long"), page(viewer, "long", after="200")
    assert ("turn 200<" in first, "turn 201<" in first, "after=200" in first) == (True, False, True)
    assert ("turn 200<" in second, "turn 201<" in second, "Next turns" in second) == (False, True, False)
    assert ("x" * 4_000 in second, "x" * 4_001 in second, "Open step" in second) == (True, False, True)


def test_an_unknown_format_is_not_found(viewer: Client, session_key: str) -> None:
    assert viewer.get("/sessions/story/transcript/poem").status_code == 404


@pytest.fixture
def agent_session(project: Project) -> str:
    calls = [
        {"type": "tool_use", "id": name, "name": "read", "input": {"path": f"{name}.md"}}
        for name in ("a", "b")
    ]
    first = [{"type": "text", "text": "I read both."}, *calls]
    session = start_session(project, name="Files", key="files", by="test")
    append(
        session.id,
        [
            ActionDraft(kind="message", role="user", output="Read them."),
            ActionDraft(kind="llm_call", id="one", role="agent", output={"content": first}),
            ActionDraft(kind="message", parent="one", role="agent", output="I read both."),
            *(
                ActionDraft(kind="tool_call", parent="one", role="agent", tool="read", input=each["input"])
                for each in calls
            ),
            ActionDraft(kind="llm_call", id="two", role="agent", output={"content": [*first, calls[0]]}),
            ActionDraft(kind="message", parent="two", role="agent", output="I read"),
        ],
    )
    return "files"


def test_the_answer_of_a_call_and_its_calls_of_tools_are_shown_once(
    viewer: Client, agent_session: str
) -> None:
    turns = re.findall(r'<p class="who">.*?</li>', page(viewer, agent_session), re.DOTALL)
    assert [text in turns[1] for text in ("I read both.", "calls read ×2", "tool_use")] == [True, True, False]
    assert re.search(r'The answer of <a href="[^"]*\?step=2">step 2</a>', turns[2])
    assert "I read both." not in turns[2]
    assert ["a.md" in turns[3], "b.md" in turns[4]] == [True, True]


def test_a_call_whose_calls_of_tools_are_no_steps_shows_them(viewer: Client, agent_session: str) -> None:
    turns = re.findall(r'<p class="who">.*?</li>', page(viewer, agent_session), re.DOTALL)
    assert turns[5].count("tool_use") == 3
    assert "I read" in turns[6], "Half a sentence is not the answer."
    assert "The answer of" not in turns[6]


def test_a_question_is_shown_once(viewer: Client, project: Project) -> None:
    session = start_session(project, name="Herons", key="herons", by="test")
    question = "Which heron was ringed in May?"
    append(
        session.id,
        [
            ActionDraft(kind="message", role="user", output=question),
            ActionDraft(kind="ask", id="ask", input=question, output="Number 12."),
            ActionDraft(kind="find", parent="ask", input=question),
            ActionDraft(kind="ask", input="And in June?", output="None."),
            ActionDraft(kind="find", input="herons June"),
        ],
    )
    shown = page(viewer, "herons")
    assert shown.count(question) == 1
    assert re.search(r'The question of <a href="[^"]*\?step=2">step 2</a>', shown)
    assert [text in shown for text in ("→ Number 12.", "And in June?", "→ None.", "herons June")] == [
        True
    ] * 4


def test_what_a_repeated_turn_has_besides_is_shown(viewer: Client, project: Project) -> None:
    session = start_session(project, name="Odd", key="odd", by="test")
    call = {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "rm -rf /data"}}
    append(
        session.id,
        [
            ActionDraft(kind="ask", id="ask", input="Which heron?", output="Number 12."),
            ActionDraft(kind="find", parent="ask", input="Which heron?", error_message="The index is down."),
            ActionDraft(kind="llm_call", id="one", output={"content": [call]}),
            ActionDraft(kind="tool_call", parent="one", tool="bash", input={"command": "ls"}),
        ],
    )
    shown = page(viewer, "odd")
    assert [text in shown for text in ("The index is down.", "rm -rf /data", "The question of")] == [
        True,
        True,
        False,
    ]
