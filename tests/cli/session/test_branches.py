"""`timemachine session branches`, and the totals shown by `session view`."""

import re

from tests.builders import recorded_session
from tests.cli.terminal import Here
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft


def test_the_tree_of_a_session_is_shown(tm: Here) -> None:
    first = recorded_session(tm.project, key="first")
    second = start_session(tm.project, name="Second", key="second", by="test", parent=(first, 4))
    third = start_session(tm.project, name="Third", key="third", by="test", parent=(second, None))
    start_session(tm.project, name="Fourth", key="fourth", by="test", parent=(third, None))
    start_session(tm.project, name="Fifth", key="fifth", by="test", parent=(second, 1))
    start_session(tm.project, name="Sixth", key="sixth", by="test", parent=(first, 5))
    lines = tm.run("session", "branches", "second").out.splitlines()
    assert [match[0] for line in lines[1:] if (match := re.match("[│├└─ ]*[a-z]+", line))] == [
        "first",
        "├─ second",
        "├─── fifth",
        "├─── third",
        "├───── fourth",
        "└─ sixth",
    ]
    assert "step 4" in lines[2]
    assert "the end" in lines[4]
    start_session(tm.project, name="Seventh", key="seventh", by="test", parent=(first, 0))
    assert "the beginning" in tm.run("session", "branches", "first").out
    assert [each["depth"] for each in tm.json("session", "branches", "third")["items"]] == [
        0,
        1,
        1,
        2,
        2,
        3,
        1,
    ]
    start_session(tm.project, name="Alone", key="alone", by="test")
    assert "No branches." in tm.run("session", "branches", "alone").out


def test_a_session_shows_its_duration_and_its_calls(tm: Here) -> None:
    session = start_session(tm.project, name="Tools", key="tools", by="test")
    calls = [ActionDraft(kind="tool_call", tool=name, iteration=3) for name in ("grep", "ls", "ls")]
    append(session.id, [*calls, ActionDraft(kind="llm_call", model="openai:gpt-4o-mini")])
    shown = tm.run("session", "view", "tools").out
    assert "ls × 2, grep × 1" in shown
    assert "openai:gpt-4o-mini × 1" in shown
    assert "up to 3" in shown


def test_deleting_a_session_keeps_its_branches_with_their_origin(tm: Here) -> None:
    first = recorded_session(tm.project, key="first")
    start_session(tm.project, name="Second", key="second", by="test", parent=(first, 4))
    assert f"step 4 of {first.id}" in tm.run("session", "view", "second").out
    refused = tm.run("session", "delete", "first", given="no\n")
    assert (refused.code, "Its branch stays, without the session" in refused.err) == (1, True)
    assert "Its branch stays." in tm.run("session", "delete", "first", "--yes").out
    assert "step 4 of a deleted session" in tm.run("session", "branches", "second").out
    assert "step 4 of a deleted session" in tm.run("session", "view", "second").out
