"""`patterns`, and the recorder's pattern queries, against a real server."""

import pytest

from tests.cli.terminal import Here
from tests.memory.patterns.recorded import agent_message, failed, read, session_of
from timemachine.client import TimeMachine
from timemachine.client.errors import Refused

SHORT = "gift card balance is not enough"
LONG = "not enough balance in payment method gift_card_8190333"


@pytest.fixture
def recorded(tm: Here) -> str:
    """Two sessions with the same error, which the first one solved; the id of the pattern."""
    session_of(
        tm.project,
        failed(SHORT),
        agent_message("Take the \x1b[31mother card.", significance="solution"),
        key="first",
    )
    session_of(tm.project, failed(LONG), failed(SHORT), key="second")
    read(tm.project)
    found: str = tm.json("patterns", "list")["items"][0]["id"]
    return found


def test_patterns_are_listed_and_shown_with_their_sessions(tm: Here, recorded: str) -> None:
    listed = tm.run("patterns", "list").out
    assert f"error  Error: {SHORT}\n  3 times in 2 sessions, last " in listed
    assert f", solved in 1  {recorded}" in listed
    shown = tm.run("patterns", "view", recorded).out
    assert "solved in  1 session\n" in shown
    assert "  also  Error: not enough balance in payment method gift_card_<id>  (1 step)" in shown
    assert "second  second\n  steps 1, 2, last " in shown
    assert "  not solved in this session's steps" in shown
    assert "  solved: step 2 is marked as the solution" in shown
    for words in (("--kind", "question"), ("--query", "nowhere"), ("--unsolved",), ("--min-sessions", "3")):
        assert (
            tm.run("patterns", "list", *words).out
            == "No error or question occurs in more than one session.\n"
        )
    assert tm.json("patterns", "list", "--solved", "--since", "2026-01-01")["items"][0]["id"] == recorded


def test_lists_continue_where_they_ended(tm: Here, recorded: str) -> None:
    first = tm.run("patterns", "view", recorded, "--limit", "1")
    assert f"There are more: timemachine patterns view {recorded} --limit 1 --after " in first.err
    after = first.err.rpartition(" ")[2].strip()
    assert "\nfirst  first\n" in tm.run("patterns", "view", recorded, "--after", after).out
    one = tm.run("patterns", "list", "--min-sessions", "1", "--limit", "1")
    assert one.err == ""


def test_a_step_or_a_text_is_matched_to_a_known_solution(tm: Here, recorded: str) -> None:
    session_of(tm.project, failed(LONG), key="new")
    output = tm.run("patterns", "similar", "new:1").out
    assert "same wording, in 2 other sessions" in output
    assert "solved: step 2 is marked as the solution (first: " in output
    assert "\x1b" not in output
    assert "1 step waiting to be analysed" in output
    assert tm.json("patterns", "similar", "--text", f"Error: {SHORT}")["items"][0]["id"] == recorded
    assert tm.run("patterns", "similar", "--text", "nothing of that").out.startswith(
        "No similar pattern in other sessions.\n"
    )
    assert tm.run("patterns", "similar").code == 2
    assert tm.run("patterns", "similar", "new:9").code == 1
    empty = tm.run("patterns", "similar", "--text", "")
    assert (empty.code, "`text` is empty" in empty.err) == (1, True)


def test_a_watch_rule_raises_alerts_that_can_be_dismissed(tm: Here, recorded: str) -> None:
    assert tm.run("patterns", "rule", "list").out.startswith("No rules.")
    assert tm.run("patterns", "alerts").out == "No alerts.\n"
    made = tm.run("patterns", "rule", "add", "--sessions", "2", "--window", "week", "--kind", "error").out
    assert made.startswith("Rule added: errors in 2 sessions of a week.\nid  ")
    session_of(tm.project, failed(SHORT))
    read(tm.project)
    assert "  in 3 sessions of the week from " in tm.run("patterns", "alerts").out
    alert = tm.json("patterns", "alerts")["items"][0]["id"]
    assert tm.run("patterns", "seen", alert).out == "Dismissed by key laptop.\n"
    assert ", dismissed by key laptop" in tm.run("patterns", "alerts").out
    rule = tm.json("patterns", "rule", "list")["items"][0]["id"]
    assert tm.run("patterns", "rule", "list").out == f"{rule}  errors in 2 sessions of a week\n"
    assert tm.run("patterns", "rule", "delete", rule).out == "Rule deleted.\n"


def test_the_recorder_lists_patterns_and_matches_a_step_or_a_text(tm: Here, recorded: str) -> None:
    machine = TimeMachine()
    try:
        assert [each["id"] for each in machine.patterns(kind="error")] == [recorded]
        assert machine.patterns(limit=1)[0]["sessions"] == 2
        [text] = machine.similar_to(f"Error: {LONG}")
        [step] = machine.similar_to("second", 1)
        assert [each["resolution"] and each["resolution"]["solved_by"] for each in (text, step)] == [2, 2]
        with machine.session("New", key="new") as session:
            session.record("tool", f"Error: {LONG}", "error")
            assert machine.similar_to(session, 1)[0]["id"] == recorded
            assert machine.similar_to("über " * 20_000) == []
            assert machine.similar_to(f"Error: {LONG}" + " \n" * 50_000)[0]["id"] == recorded
            with pytest.raises(Refused, match="`text` is empty"):
                machine.similar_to("")
            with pytest.raises(TypeError):
                machine.similar_to(session)
    finally:
        machine.close()
