"""Reusing the key of an ended session: later actions go to a new session, and this is reported."""

import os

import pytest

from tests.client.conftest import Served
from timemachine.client.errors import NotRecorded
from timemachine.recording.sessions.models import Session


def test_reusing_the_key_of_an_ended_session_starts_a_new_session(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    for word in ("first", "second", "third"):
        with served.machine().session("Nightly", key="nightly") as s:
            s.record("user", word)
            assert s.flush()
            s.record("agent", word)
    assert served.outputs("nightly") == ["first", "first"]
    others = list(Session.objects.exclude(key="nightly").order_by("id"))
    assert [served.outputs(each.key) for each in others] == [["second", "second"], ["third", "third"]]
    assert s.key == others[1].key
    assert s.url.endswith(f"/sessions/{s.key}/")
    assert [(each.status, each.metadata) for each in others] == [("ended", {"asked_key": "nightly"})] * 2
    assert f"Recording continues in a new session, {s.key}" in caplog.text
    assert served.refused() == []


def test_recording_after_a_close_continues_in_the_same_session(served: Served) -> None:
    with served.machine().session("Nightly", key="nightly") as s:
        s.record("user", "first")
    tm = served.machine()
    reopened = tm.session("Nightly", key="nightly", end=False)
    for number in (1, 2, 3):
        reopened.record("user", number)
        assert tm.close()
    assert served.outputs(reopened.key) == [1, 2, 3]
    assert Session.objects.count() == 2


def test_a_process_taking_over_a_spool_finds_the_session_it_continued_in(served: Served) -> None:
    with served.machine().session("Nightly", key="nightly") as s:
        s.record("user", "first")
    tm = served.machine(patience=0.2)
    reopened = tm.session("Nightly", key="nightly")
    reopened.record("user", "one")
    assert reopened.flush()
    served.gate.shut()
    reopened.record("user", "two")
    reopened.end()
    tm.close()
    served.gate.open()
    assert served.machine().deliver_spooled()
    assert served.outputs(reopened.key) == ["one", "two"]
    assert Session.objects.get(key=reopened.key).status == "ended"


def test_strict_mode_raises_for_actions_of_an_ended_session(served: Served) -> None:
    with served.machine().session("Nightly", key="nightly") as s:
        s.record("user", "first")
    tm = served.machine(strict=True)
    reopened = tm.session("Nightly", key="nightly")
    reopened.record("user", "second")
    with pytest.raises(NotRecorded, match=r"1 action refused.*spool list.*has ended"):
        reopened.flush()
    with pytest.raises(NotRecorded, match="has ended"):
        reopened.end()
    with pytest.raises(NotRecorded, match="has ended"):
        tm.flush()
    ((_, action),) = served.refused()
    assert action["output"] == "second"
    assert Session.objects.count() == 1


def test_actions_waiting_after_a_close_are_delivered_before_later_ones(served: Served) -> None:
    served.gate.shut()
    tm = served.machine(patience=0.1)
    s = tm.session("Closed", key="closed", end=False)
    for number in range(4):
        s.record("user", number)
        tm.close()
    served.gate.open()
    s.record("user", 4)
    assert s.flush()
    assert served.outputs("closed") == [0, 1, 2, 3, 4]


def test_spools_are_taken_over_in_the_order_of_their_start(served: Served) -> None:
    served.gate.shut()
    tm = served.machine(patience=0.05)
    s = tm.session("Closed", key="closed", end=False)
    for number in range(6):
        s.record("user", number)
        tm.close()
    os.utime(min(served.spool.iterdir()))  # the oldest was written last
    served.gate.open()
    assert served.machine().deliver_spooled()
    assert served.outputs("closed") == list(range(6))


def test_a_child_and_a_later_process_continue_in_the_same_session(served: Served) -> None:
    with served.machine().session("Nightly", key="nightly") as s:
        s.record("user", "first")
    program = """
import os
from timemachine.client import TimeMachine
tm = TimeMachine()
s = tm.session("Nightly", key="nightly", end=False)
s.record("user", "parent")
if not (child := os.fork()):
    s.record("user", "child")
    os._exit(not tm.close())
print(os.waitpid(child, 0)[1], tm.close())
"""
    assert served.run(program).communicate()[0] == "0 True\n"
    other = Session.objects.exclude(key="nightly").get()
    assert sorted(served.outputs(other.key)) == ["child", "parent"]
    assert (served.spooled(), served.refused()) == ([], [])


def test_the_next_process_finds_the_session_of_a_later_spool(served: Served) -> None:
    with served.machine().session("Nightly", key="nightly") as s:
        s.record("user", "first")
    tm = served.machine(patience=0.5)
    reopened = tm.session("Nightly", key="nightly")
    reopened.record("user", "one")
    assert reopened.flush()
    assert tm.close()
    served.gate.shut()
    reopened.record("user", "two")
    reopened.end()
    tm.close()
    served.gate.open()
    assert served.machine().deliver_spooled()
    assert served.outputs(reopened.key) == ["one", "two"]
    assert (served.spooled(), served.refused()) == ([], [])
