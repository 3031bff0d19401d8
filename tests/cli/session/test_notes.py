"""`session note` and `session notes`, against a real server."""

import pytest

from tests.cli.terminal import Here


@pytest.fixture
def recorded(tm: Here) -> str:
    """A session with two steps."""
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1")
    for name in ("a", "b"):
        tm.json("session", "checkpoint", "s1", "--name", name)
    return "s1"


def test_a_note_is_pinned_and_listed_by_its_step(tm: Here, recorded: str) -> None:
    ran = tm.run("session", "note", recorded, "--step", "2", "--text", "Here it\nwent \x1b[31mwrong.")
    assert ran.code == 0
    assert ran.out.startswith("Note added to step 2.\nid    ")
    assert "/notes/" in ran.out
    tm.json("session", "note", recorded, "--step", "1", "--text", "Before.")
    listed = tm.run("session", "notes", recorded).out.splitlines()
    assert [line.split("  ")[0] for line in listed if line.startswith("step")] == ["step 1", "step 2"]
    assert listed[1] == "  Before."
    assert listed[3:] == ["  Here it", "  went ␛[31mwrong."]
    assert "notes       2" in tm.run("session", "view", recorded).out


def test_json_output_is_the_api_document_page_by_page(tm: Here, recorded: str) -> None:
    made = [tm.json("session", "note", recorded, "--step", "1", "--text", text) for text in "ab"]
    first = tm.run("session", "notes", recorded, "--limit", "1")
    assert "There are more: timemachine session notes s1 --limit 1 --after " in first.err
    after = first.err.rpartition(" ")[2].strip()
    rest = tm.json("session", "notes", recorded, "--after", after)
    assert tm.json("session", "notes", recorded)["items"] == made or rest["items"] == made[1:]
    assert rest["next"] is None


def test_an_empty_list_explains_how_to_pin_a_note(tm: Here, recorded: str) -> None:
    ran = tm.run("session", "notes", recorded)
    assert ran.out == "No notes yet. Add one with `timemachine session note ID --step N --text …`.\n"


def test_an_invalid_note_is_refused_in_one_line(tm: Here, recorded: str) -> None:
    assert "A note needs some text" in tm.refused("session", "note", recorded, "--step", "1", "--text", " ")
    assert "has no step 9" in tm.refused("session", "note", recorded, "--step", "9", "--text", "x")
    assert tm.run("session", "note", recorded, "--step", "0", "--text", "x").code == 2
