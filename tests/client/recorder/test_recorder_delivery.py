"""Delivery through `TimeMachine`: works from several threads, and failures never reach the agent."""

import datetime as dt
import logging
import threading
from typing import Any
from uuid import UUID

import pytest

from tests.client.conftest import Served
from tests.client.spools import recorded_before
from tests.waiting import wait_until
from timemachine.client import TimeMachine
from timemachine.client.errors import NotRecorded
from timemachine.client.recording.lines import line_of
from timemachine.recording.sessions.models import Session


def test_eight_threads_record_into_one_session(served: Served) -> None:
    with served.machine().session("Threads", key="threads") as s:

        def work(thread: int) -> None:
            for number in range(20):
                s.record("agent", [thread, number])

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    found = served.outputs("threads")
    assert len(found) == 160
    for thread in range(8):
        assert [number for each, number in found if each == thread] == list(range(20))


def test_an_open_session_is_continued_by_its_key(served: Served) -> None:
    for number in range(2):
        with served.machine().session("Days", key="days", end=False) as s:
            s.record("user", number)
    assert served.outputs("days") == [0, 1]
    assert Session.objects.get(key="days").status == "recording"


def test_strict_mode_raises_what_is_otherwise_only_logged(served: Served) -> None:
    strict = served.machine(strict=True, patience=0.3)
    with pytest.raises(NotRecorded, match="invalid"):
        strict.session("x", key="no key!")
    with pytest.raises(NotRecorded, match="capture"):
        strict.session("x", capture={"everything"})
    with pytest.raises(NotRecorded, match="name"):
        strict.session(" ")
    s = strict.session("Strict", key="strict")
    with pytest.raises(NotRecorded, match="narrator"):
        s.record("narrator", "x")
    s.flush()
    served.gate.shut()
    s.record("user", "y")
    with pytest.raises(NotRecorded, match="waits in the spool"):
        s.flush(0.3)
    with pytest.raises(NotRecorded):
        strict.flush(0.1)
    with pytest.raises(NotRecorded):
        s.end()
    with pytest.raises(NotRecorded, match="has ended"):
        s.record("user", "z")
    strict.close()


def test_an_agent_never_notices_an_unreachable_server(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.gate.shut()
    tm = served.machine(patience=86_400.0)
    with tm.session("Away", key="away") as s:
        s.record("user", "x")
    assert tm.close() is False
    assert len([each for each in caplog.records if each.levelno >= logging.WARNING]) >= 1
    secret = served.key.split("_", 2)[2]
    assert secret not in caplog.text
    spooled = b"".join(path.read_bytes() for path in served.spool.iterdir())
    assert spooled
    assert secret.encode() not in spooled
    served.gate.open()
    later = served.machine()
    later.deliver_spooled()
    assert served.outputs("away") == ["x"]
    wait_until(lambda: served.spooled() == [])


def test_without_a_server_recorded_actions_wait(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("TIMEMACHINE_URL", raising=False)
    monkeypatch.setenv("TIMEMACHINE_HOME", str(served.spool / "nothing"))
    tm = TimeMachine(spool=served.spool, patience=0.2)
    with tm.session("Nowhere", key="nowhere") as s:
        s.record("user", "x")
    tm.close()
    assert "No server is running on this machine" in caplog.text
    assert served.machine().deliver_spooled()
    assert served.outputs("nowhere") == ["x"]


def test_invalid_session_details_neither_stop_recording_nor_block_other_sessions(served: Served) -> None:
    tm = served.machine()
    odd: list[dict[str, Any]] = [
        {"metadata": {"a": float("nan"), "at": dt.datetime(2026, 11, 1, tzinfo=dt.UTC), "id": UUID(int=1)}},
        {"metadata": "words"},
        {"key": 5},
        {"tags": 5},
        {"tags": "one"},
        {"agent": 7},
        {"parent": ("first", 9)},
    ]
    for number, given in enumerate(odd):
        with tm.session("Odd", **given) as s:
            s.record("user", 1)
        with tm.session("Next", key=f"next-{number}") as s:
            s.record("user", 2)
    tm.close()
    assert [served.outputs(f"next-{number}") for number in range(len(odd))] == [[2]] * len(odd)
    assert Session.objects.filter(project=served.project).count() == 2 * len(odd)
    wait_until(lambda: served.spooled() == [])


def test_a_session_that_cannot_be_sent_does_not_block_the_others(served: Served) -> None:
    session = {"name": "Old", "key": "old", "metadata": {"a": float("nan")}}
    recorded_before(served.spool, "old", line_of({"id": "1", "kind": "event", "name": "a"}), session=session)
    tm = served.machine(patience=0.5)
    with tm.session("Next", key="next") as s:
        s.record("user", 2)
        assert s.flush(10)
    assert served.outputs("next") == [2]
    tm.close()
