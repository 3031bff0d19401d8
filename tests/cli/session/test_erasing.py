"""`session erase`, against a real server."""

import re

import pytest

from tests.cli.terminal import Here


@pytest.fixture
def recorded(tm: Here) -> str:
    """A session with two checkpoints."""
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1")
    for name in ("the first of two names", "b"):
        tm.json("session", "checkpoint", "s1", "--name", name)
    return "s1"


def test_nothing_is_erased_without_a_reason(tm: Here, recorded: str) -> None:
    seen = tm.run("session", "erase", recorded, "--field", "name", "--step", "1")
    assert seen.out.startswith("Preview. Add --reason to erase this:\nsteps")
    assert re.search(r"^steps +1: 1$", seen.out, re.MULTILINE)
    assert re.search(r"^step 1, name +\[erased: field\]$", seen.out, re.MULTILINE)
    assert "the first of two names" in tm.run("session", "view", recorded).out
    words = ("session", "erase", recorded, "--field", "name", "--step", "1", "--reason", "asked for")
    prompted = tm.run(*words, given="n\n")
    assert (prompted.code, "steps" in prompted.err, "Nothing was erased" in prompted.err) == (1, True, True)
    assert "the first of two names" in tm.run("session", "view", recorded).out
    done = tm.run(*words, "--yes")
    assert done.out.startswith("Permanently erased by ")
    assert "the first of two names" not in tm.run("session", "view", recorded).out


def test_a_reason_that_quotes_the_erased_text_is_refused(tm: Here, recorded: str) -> None:
    words = ("session", "erase", recorded, "--field", "name", "--yes", "--reason")
    assert "erased text" in tm.refused(*words, "The first of two names was wrong")
    assert "the first of two names" in tm.run("session", "view", recorded).out


def test_json_output_is_the_api_document(tm: Here, recorded: str) -> None:
    words = ("session", "erase", recorded, "--field", "name", "--reason", "a look")
    done = tm.json(*words, "--yes")
    assert (done["status"], done["result"]["steps"]) == ("done", 2)


def test_an_erasure_without_anything_to_erase_is_refused(tm: Here, recorded: str) -> None:
    ran = tm.run("session", "erase", recorded, "--redaction", "built-in", "--reason", "a look")
    assert (ran.code, "there is nothing to erase" in ran.err) == (1, True)


def test_an_invalid_selection_is_refused(tm: Here, recorded: str) -> None:
    assert tm.run("session", "erase", recorded).code == 2
    assert "does not name a field" in tm.refused("session", "erase", recorded, "--field", "kind")
