"""`session transcript`, against a real server."""

import json

import pytest

from tests.cli.terminal import Here
from tests.client.other_server import answering, other_server
from timemachine.core.pure.streams import CUT_OFF
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

TURNS = (
    ("user", "It fails.", "error"),
    ("agent", "A guess.", "hypothesis"),
    ("agent", "Close it.", "solution"),
)


def append_turns(tm: Here) -> None:
    session = start_session(tm.project, name="Story", key="story", by="test")
    append(
        session.id,
        [
            ActionDraft(kind="message", role=role, output=text, significance=word)
            for role, text, word in TURNS
        ],
    )


def test_a_transcript_is_printed_as_text_for_a_prompt(tm: Here) -> None:
    append_turns(tm)
    head, *turns = tm.run("session", "transcript", "story").out.split("\n\n")
    assert head.startswith("Story (story), started ")
    assert turns == [
        "[1] user, error: It fails.",
        "[2] agent, hypothesis: A guess.",
        "[3] agent, solution: Close it.",
        "",
    ]
    chosen = tm.run(
        "session", "transcript", "story", "--significance", "error", "--significance", "solution"
    ).out
    assert chosen.split("\n\n")[1:] == [turns[0], "[1 turn left out]", turns[2], ""]
    assert "2 of 3 turns" in chosen


def test_a_transcript_is_printed_as_json_and_as_chat_messages(tm: Here) -> None:
    append_turns(tm)
    found = tm.json("session", "transcript", "story", "--min-importance", "0.9")
    assert ([each["sequence"] for each in found["items"]], found["turns"]) == (
        [3],
        {"kept": 1, "recorded": 3},
    )
    chat = json.loads(tm.run("session", "transcript", "story", "--role", "agent", "--as", "messages").out)
    assert [each["content"] for each in chat["messages"]] == ["[1 turn left out]", "A guess.", "Close it."]
    same = tm.run("session", "transcript", "story", "--role", "assistant", "--as", "messages").out
    assert json.loads(same)["messages"] == chat["messages"]
    both = tm.run("session", "transcript", "story", "--role", "human", "--role", "agent").out
    assert both == tm.run("session", "transcript", "story").out


def test_a_refused_transcript_gives_the_reason(tm: Here) -> None:
    append_turns(tm)
    refused = tm.run("session", "transcript", "story", "--significance", "great")
    assert (refused.code, "normal, hypothesis" in refused.err) == (1, True)
    assert tm.run("session", "transcript", "nobody").code == 1
    assert tm.run("session", "transcript", "story", "--budget", "0").code == 2


@pytest.mark.parametrize(
    ("options", "media_type"), [((), "text/plain"), (("--as", "messages"), "application/json")]
)
def test_an_incomplete_transcript_is_not_printed(tm: Here, options: tuple[str, ...], media_type: str) -> None:
    with other_server(answering(200, b"It fails.\n\n" + CUT_OFF, content_type=media_type)) as url:
        ran = tm.run("session", "transcript", "story", *options, TIMEMACHINE_URL=url)
    assert (ran.code, ran.out) == (1, "")
    assert "could not complete the answer" in ran.err
