"""`put`, `find` and `ask` record into the open session of their collection, and say so."""

import pytest

from tests.cli.terminal import Here
from timemachine.recording.sessions.models import Action, Session

ASK = ("ask", "handbook", "--question", "How long?", "--use-model", "local:extractive-1")
FIND = ("find", "handbook", "--query", "refunds")


@pytest.fixture
def started(tm: Here) -> Here:
    tm.json("put", "handbook", "-", given="Refunds are paid within 14 days.")
    assert not Action.objects.exists()
    tm.json("session", "start", "handbook", "--name", "First", "--key", "first")
    return tm


def test_what_is_done_in_a_collection_is_recorded_in_its_open_session(started: Here) -> None:
    assert "Recorded as step 1 of first." in started.run("put", "handbook", "-", given="More.").out
    assert "Recorded as step 2 of first." in started.run(*FIND).out
    asked = started.run(*ASK)
    assert "recorded   as step 3 of first" in asked.out
    assert asked.err == ""
    assert started.json(*FIND)["sequence"] == 5
    assert list(Action.objects.order_by("sequence").values_list("kind", flat=True)) == [
        *("put", "find", "ask", "find", "find")
    ]
    started.run("session", "end")
    assert started.json(*FIND)["sequence"] is None


def test_another_session_or_none_can_be_chosen(started: Here) -> None:
    started.json("session", "start", "other", "--name", "Other", "--key", "other")
    assert started.json(*FIND, "--no-session")["sequence"] is None
    assert started.json(*ASK, "--no-session")["sequence"] is None
    assert started.json("put", "handbook", "-", "--no-session", given="Even more.")["sequences"] == []
    assert "of other." in started.run(*FIND, "--session", "other").out
    assert "--no-session, not both" in started.run(*FIND, "--session", "other", "--no-session").err
    assert Session.objects.get(key="first").last_sequence == 0


def test_with_several_open_sessions_nothing_is_recorded_and_they_are_named(started: Here) -> None:
    started.json("session", "start", "handbook", "--name", "Second", "--key", "second")
    ran = started.run(*FIND)
    assert ran.code == 0
    assert "Recorded" not in ran.out
    assert ran.err == (
        "Not recorded, because several sessions are open: second, first. Choose one with --session.\n"
    )
    assert not Action.objects.exists()


def test_a_key_that_cannot_record_still_finds(started: Here) -> None:
    ran = started.run(*FIND, TIMEMACHINE_API_KEY=started.key("read"))
    assert ran.code == 0
    assert "Refunds are paid" in ran.out
    assert ran.err.startswith("Not recorded in session first: This key lacks the scope `record`.")
    assert not Action.objects.exists()


def test_a_key_that_cannot_list_sessions_still_puts(started: Here) -> None:
    put = ("put", "handbook", "-")
    ran = started.run(*put, given="By a recorder.", TIMEMACHINE_API_KEY=started.key("record"))
    assert ran.code == 0
    assert "Recorded" not in ran.out
    assert not Action.objects.exists()


def test_a_named_session_that_cannot_record_is_an_error(started: Here) -> None:
    started.run("session", "end", "first")
    assert "has ended" in started.refused(*FIND, "--session", "first")
