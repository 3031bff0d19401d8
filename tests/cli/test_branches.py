"""`timemachine session branches`, and what `session view` says that a session adds up to."""

from tests.builders import recorded_session
from tests.cli.terminal import Here
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft


def test_the_tree_of_a_session_is_shown(tm: Here) -> None:
    first = recorded_session(tm.project, key="first")
    second = start_session(tm.project, name="Second", key="second", by="test", parent=(first, 4))
    start_session(tm.project, name="Third", key="third", by="test", parent=(second, None))
    lines = tm.run("session", "branches", "second").out.splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["first", first.name.split()[0], *lines[1].split()[2:4]],
        ["└─", "second", "step", "4"],
        ["└───", "third", "the", "end"],
    ]
    assert [each["depth"] for each in tm.json("session", "branches", "third")["items"]] == [0, 1, 2]
    start_session(tm.project, name="Alone", key="alone", by="test")
    assert "No session went on" in tm.run("session", "branches", "alone").out


def test_a_session_says_how_long_it_took_and_what_it_called(tm: Here) -> None:
    session = start_session(tm.project, name="Tools", key="tools", by="test")
    calls = [ActionDraft(kind="tool_call", tool=name, iteration=3) for name in ("grep", "ls", "ls")]
    append(session.id, [*calls, ActionDraft(kind="llm_call", model="openai:gpt-4o-mini")])
    shown = tm.run("session", "view", "tools").out
    assert "ls × 2, grep × 1" in shown
    assert "openai:gpt-4o-mini × 1" in shown
    assert "3 at most" in shown
