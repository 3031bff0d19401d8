"""`session delete` by step and filter, `session hold`, `session release` and retention, against a real server."""

import re

import pytest

from tests.cli.terminal import Here


@pytest.fixture
def recorded(tm: Here) -> str:
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1", "--agent", "clerk")
    for name in ("the first of two names", "b"):
        tm.json("session", "checkpoint", "s1", "--name", name)
    return "s1"


def test_a_turn_is_deleted_with_a_reason(tm: Here, recorded: str) -> None:
    words = ("session", "delete", recorded, "--step", "1")
    assert tm.run(*words, "--yes").code == 2
    prompted = tm.run(*words, "--reason", "asked for", given="n\n")
    assert (prompted.code, "Nothing was deleted" in prompted.err) == (1, True)
    done = tm.run(*words, "--reason", "asked for", "--yes")
    assert done.out == "Step 1 was deleted. A tombstone replaces it.\n"
    seen = tm.run("session", "view", recorded).out
    assert "the first of two names" not in seen
    assert "[erased" not in seen
    assert re.search(r"1  checkpoint +deleted 20\d\d-\d\d-\d\d \d\d:\d\d .*by .*: asked for", seen)
    assert "already been deleted" in tm.refused(*words, "--reason", "again", "--yes")


def test_a_held_session_is_not_deleted_before_its_release(tm: Here, recorded: str) -> None:
    held = tm.json("session", "hold", recorded, "--reason", "case 12")
    assert (held["sessions"], held["held_still"]) == (1, 1)
    assert "case 12" in tm.refused("session", "delete", recorded, "--yes")
    seen = tm.run("session", "delete", "--agent", "clerk", "--dry-run")
    assert seen.out.splitlines() == [
        "1 session with 2 steps (agent: clerk); 1 of them under legal hold stay.",
        "This is every session in the project.",
    ]
    assert "case 12" in tm.run("session", "holds", recorded).out
    assert tm.run("session", "release", recorded, "--reason", "settled").out == "Released.\n"
    assert "is under no hold" in tm.refused("session", "release", recorded, "--reason", "again")
    assert tm.run("session", "delete", recorded, "--yes").code == 0


def test_deleting_reports_where_a_summary_remains(tm: Here, recorded: str) -> None:
    put = tm.json("session", "summarise", recorded, "--collection", "handbook")
    seen = tm.run("session", "delete", "--agent", "clerk", "--dry-run").out.splitlines()
    assert seen[-1] == "Summaries of 1 of them stay in a collection."
    turn = ("session", "delete", recorded, "--step", "2", "--reason", "asked for", "--yes")
    stays = f"A summary that may quote it stays in the collection handbook, frame {put['frame']:,}."
    assert tm.run(*turn).out.splitlines()[-1] == stays
    deleted = tm.run("session", "delete", recorded, "--yes").out.splitlines()
    assert deleted[-1] == f"A summary of it stays in the collection handbook, frame {put['frame']:,}."


def test_a_dry_run_reports_what_would_be_deleted_and_deletes_nothing(tm: Here, recorded: str) -> None:
    words = ("session", "delete", recorded, "--dry-run")
    assert tm.run(*words).out == "1 session with 2 steps.\n"
    assert tm.run(*words, "--step", "1", "--step", "2", "--step", "2").out == "2 steps of s1.\n"
    assert tm.run("session", "delete", recorded, "--step", "1", "--reason", "asked for", "--yes").code == 0
    assert tm.run(*words, "--step", "1").out == "0 steps of s1.\n"
    assert tm.json("session", "hold", recorded, "--reason", "case 12")["sessions"] == 1
    assert tm.run(*words).out == "1 session with 2 steps; not deleted, because it is under legal hold.\n"
    assert tm.json(*words) == {"sessions": 1, "turns": 2, "held": 1}
    assert tm.json(*words, "--step", "2") == {"sessions": 0, "turns": 1, "held": 1}
    assert "no session" in tm.refused("session", "delete", "nobody", "--dry-run").lower()
    assert tm.json("session", "view", recorded)["actions"] == 2


def test_a_filter_and_a_session_cannot_be_combined(tm: Here, recorded: str) -> None:
    for words in ((), (recorded, "--tag", "x"), ("--step", "1", "--dry-run"), ("--tag", "x")):
        assert tm.run("session", "delete", *words, "--yes").code == 2
    assert tm.run("session", "hold", "--reason", "x").code == 2
    none = tm.run("session", "delete", "--tag", "x", "--reason", "y", "--yes")
    assert none.out == "No session matches (tag: x).\n"


def test_a_retention_rule_shows_what_it_would_delete_before_it_is_set(tm: Here, recorded: str) -> None:
    assert tm.run("retention", "list").out == "No rules. All sessions are kept permanently.\n"
    assert "six months" in tm.refused("retention", "set", "30", "--agent", "clerk", "--yes")
    words = ("retention", "set", "30", "--agent", "clerk", "--reason", "a test")
    seen = tm.run(*words, "--dry-run").out.splitlines()
    assert seen[0] == "It would delete nothing today."
    assert seen[1].startswith("The next session without a legal hold is due on 20")
    assert tm.run(*words, given="n\n").code == 1
    early = ("retention", "set", "30", "--agent", "clerk")
    assert "require a --reason" in tm.run(*early, "--dry-run").out
    unasked = tm.run(*early, given="y\n")
    assert (unasked.code, "require a --reason" in unasked.err, "Set this rule?" in unasked.err) == (
        1,
        True,
        False,
    )
    made = tm.json(*words, "--yes")
    repeated = tm.run(*words, "--yes").out
    assert f"Rule {made['id']}: {made['says']}. It was already set on 20" in repeated
    changed = tm.run("retention", "set", "200", "--agent", "clerk", "--dry-run").out.splitlines()
    assert changed[-1] == f"It replaces this rule: {made['says']}."
    assert (made["says"], made["early"]) == ("sessions of agent clerk: deleted after 30 days", True)
    assert "shorter than six months" in tm.run("retention", "list").out
    assert tm.run("retention", "set", "keep").code == 0
    removed = tm.run("retention", "remove", made["id"])
    assert removed.out == "Rule removed: sessions of agent clerk: deleted after 30 days.\n"
    log_lines, singly = tm.run("retention", "log").out.splitlines()
    assert log_lines == "No bulk deletions."
    assert singly.endswith("/settings/retention/#singly")
    assert tm.run("retention", "set", "soon").code == 2
