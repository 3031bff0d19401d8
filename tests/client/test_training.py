"""Training pairs and forgetting through `TimeMachine`."""

from pathlib import Path

import pytest

from tests.client.conftest import Served
from timemachine.client.errors import Refused


def test_training_pairs_are_read_one_by_one_and_as_a_file(served: Served, tmp_path: Path) -> None:
    tm = served.machine()
    with tm.session("Bug", key="bug", tags=["support"]) as s:
        s.record("user", "It is red,\u2028 says zoe@example.org.", "error")
        s.record("agent", "try x", "hypothesis")
        s.record("user", "It is red still.", "error")
        s.record("agent", "do y", "solution")
    [chat] = tm.training_pairs(tag="support")
    assert chat["messages"][0]["content"] == "It is red,\u2028 says [withheld: e-mail]."
    [preference] = tm.training_pairs(form="dpo")
    assert preference["rejected"] == [{"role": "assistant", "content": "try x"}]
    report = tm.training_report(form="dpo", shares=(0, 100, 0))
    assert (report["pairs"], report["rejected_by"][0]["rule"]) == (1, "failed")
    assert report["split"]["pairs"] == {"train": 0, "valid": 1, "test": 0}
    assert tm.client.training.write(tmp_path / "pairs.jsonl") == (tmp_path / "pairs.jsonl").stat().st_size > 0
    assert list(tm.training_pairs(agent="nobody")) == []
    with pytest.raises(Refused, match="add up to 100"):
        list(tm.training_pairs(shares="1,2,3"))


def test_a_turn_a_session_and_several_sessions_can_be_forgotten(served: Served, worker: None) -> None:
    tm = served.machine()
    for key in ("one", "two", "three"):
        with tm.session("Bug", key=key, agent="ada") as s:
            s.record("user", f"the words of {key}")
    assert tm.forget("one", turn=1, reason="asked for")["status"] == "done"
    assert tm.client.sessions.action("one", 1)["deleted"]["reason"] == "asked for"
    assert tm.forget("one", turn=1, dry_run=True) == {"sessions": 0, "turns": 0, "held": 0}
    assert tm.forget("two", turn=1, dry_run=True) == {"sessions": 0, "turns": 1, "held": 0}
    held = tm.client.deletions.hold("two", reason="case 12")
    assert tm.forget("two", dry_run=True) == {"sessions": 1, "turns": 1, "held": 1}
    with pytest.raises(TypeError, match="reason"):
        tm.forget("three")
    found = tm.forget(agent="ada", dry_run=True)
    assert (found["sessions"], found["turns"], found["held"]) == (3, 3, 1)
    assert tm.forget(agent="ada", reason="test data")["states"] == {"erased": 2, "held": 1}
    with pytest.raises(Refused, match="case 12"):
        tm.forget("two", reason="again")
    tm.client.deletions.release(held["id"], reason="settled")
    assert tm.forget("two", reason="again")["actions"] == 1
    assert [each["held_still"] for each in tm.client.deletions.holds()] == [0]
    for wrong in ({}, {"session": "x", "agent": "y"}, {"turn": 1, "agent": "y"}):
        with pytest.raises(ValueError, match="name a session"):
            tm.forget(reason="x", **wrong)
