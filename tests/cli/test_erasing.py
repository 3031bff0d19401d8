"""session erase, against a real server."""

import pytest

from tests.cli.terminal import Here


@pytest.fixture
def recorded(tm: Here) -> str:
    """A session with two checkpoints."""
    tm.json("session", "start", "handbook", "--name", "n", "--key", "s1")
    for name in ("the first of two names", "b"):
        tm.json("session", "checkpoint", "s1", "--name", name)
    return "s1"


def test_nothing_goes_without_a_reason(tm: Here, recorded: str) -> None:
    seen = tm.run("session", "erase", recorded, "--field", "name", "--step", "1")
    assert seen.out.startswith("Nothing is erased yet; give --reason to erase this:\nsteps")
    assert "the first of two names" in tm.run("session", "view", recorded).out
    done = tm.run("session", "erase", recorded, "--field", "name", "--step", "1", "--reason", "asked for")
    assert done.out.startswith("Erased for good, by ")
    assert "the first of two names" not in tm.run("session", "view", recorded).out


def test_with_json_the_apis_document_is_printed(tm: Here, recorded: str) -> None:
    done = tm.json("session", "erase", recorded, "--redaction", "built-in", "--reason", "a look")
    assert (done["status"], done["result"]["steps"]) == ("done", 0)


def test_a_wrong_choice_is_refused(tm: Here, recorded: str) -> None:
    assert tm.run("session", "erase", recorded).code == 2
    assert "leads to no field" in tm.refused("session", "erase", recorded, "--field", "kind")
