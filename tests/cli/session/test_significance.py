"""`session weigh`, `session proposals` and `session compress`, against a real server."""

import pytest

from tests.cli.terminal import Here
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

MADE = [
    ActionDraft(
        kind="message", role="user", output="It fails.", error_type="Pool", error_message="exhausted"
    ),
    ActionDraft(kind="message", role="agent", output="The root cause is the pool."),
    ActionDraft(kind="message", role="agent", output="Close it.", significance="solution"),
]


@pytest.fixture
def recorded(tm: Here) -> str:
    """An ended session of three turns."""
    session = start_session(tm.project, name="n", by="test", key="s1")
    append(session.id, MADE)
    end_session(session.id)
    return "s1"


def test_the_significance_of_a_step_is_set_and_reset_to_the_recorded_one(tm: Here, recorded: str) -> None:
    ran = tm.run("session", "weigh", recorded, "--step", "2", "--significance", "decision")
    assert ran.out.splitlines() == [
        "Step 2:",
        "significance  decision",
        "importance    0.92",
        "  recorded: none, importance not recorded",
    ]
    assert tm.json("session", "weigh", recorded, "--step", "2", "--importance", "0.5")["importance"] == 0.5
    back = tm.json(
        "session", "weigh", recorded, "--step", "2", "--importance", "recorded", "--significance", "recorded"
    )
    assert (back["significance"], "recorded" in back) == (None, False)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ((), "Use --significance or --importance."),
        (("--importance", "much"), "'much' is not an importance"),
        (("--significance", "grand"), "significance"),
    ],
)
def test_an_invalid_significance_or_importance_is_refused(
    tm: Here, recorded: str, more: tuple[str, ...], says: str
) -> None:
    ran = tm.run("session", "weigh", recorded, "--step", "1", *more)
    assert ran.code != 0
    assert says in ran.err


def test_proposals_are_listed_accepted_and_declined(tm: Here, recorded: str) -> None:
    ran = tm.run("session", "proposals", recorded)
    assert "step 1  error  (first_error)" in ran.out
    assert "  it says “The root cause is the pool.”" in ran.out
    assert "Accept one with: timemachine session proposals s1 --accept 1:first_error" in ran.err
    remaining = tm.run(
        "session", "proposals", recorded, "--accept", "2:root_cause", "--decline", "1:first_error"
    )
    assert remaining.out == "No suggestions.\n"
    assert tm.run("session", "proposals", recorded, "--accept", "root_cause").code == 2


def test_compressing_a_session_can_be_undone(tm: Here, recorded: str) -> None:
    seen = tm.run("session", "compress", recorded, "--preview").out
    assert seen.startswith("Preview:\nunchanged        1 turn, ")
    assert tm.run("session", "compress", recorded).out.startswith("Compressed.\n")
    assert tm.run("session", "compress", recorded).out.startswith("Already compressed.\n")
    undone = tm.run("session", "compress", recorded, "--undo").out
    assert undone == "Compression undone. Every step has its earlier importance again.\n"
    assert tm.json("session", "compress", recorded, "--preview")["compressed"] is False
    assert (
        tm.run("session", "compress", "--older-than", "1", "--preview").out
        == "It would compress 0 sessions.\n"
    )
    assert (
        tm.run("session", "compress", "--rule", "30").out
        == "Sessions are compressed 30 days after they end.\n"
    )
    assert tm.run("session", "compress", "--rule", "off").out == "No automatic compression.\n"
    assert tm.run("session", "compress").code == 2
    assert tm.run("session", "compress", "--rule", "soon").code == 2
    assert tm.run("session", "compress", "--older-than", "3", "--undo").code == 2


def test_a_session_is_summarised_into_a_collection(tm: Here, recorded: str) -> None:
    ran = tm.run("session", "summarise", recorded, "--collection", "lessons")
    assert ran.out.splitlines() == [
        "Summary stored in lessons, frame 0 version 1.",
        "model  local:extractive-5",
        "steps  1, 2, 3",
        "cost   $0",
    ]
    assert "Choose one for the summary" in tm.refused("session", "summarise", recorded)
