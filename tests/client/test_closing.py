"""Closing: actions recorded during a close or at process exit are not lost, and nothing follows the end of a session."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import Served
from tests.client.gate import Fate
from tests.client.spools import recorded_before, waiting
from tests.waiting import wait_until
from timemachine.client import TimeMachine
from timemachine.client.connection import Connection
from timemachine.client.errors import NoServer, NotRecorded
from timemachine.client.recording import delivery as delivering
from timemachine.client.recording.delivery import Delivery
from timemachine.client.recording.lines import is_end
from timemachine.client.recording.recorder import Session
from timemachine.client.recording.spool import Spool
from timemachine.client.recording.waiting_recordings import remaining_in, send
from timemachine.client.server import Server
from timemachine.recording.sessions.models import Session as Recorded

UNREACHABLE = "http://127.0.0.1:9"

ENDING = """
import atexit, sys
atexit.register(lambda: s.record("user", "late"))
from timemachine.client import TimeMachine
s = TimeMachine(sys.argv[1], "tmk_x", spool=sys.argv[2], patience=0.01).session("Ends")
s.record("user", "early")
"""


class Recording(threading.Thread):
    """A thread that records into a session until it is stopped; `numbers` are the recorded values."""

    def __init__(self, session: Session, *, pause: float = 0.0001) -> None:
        super().__init__()
        self.session = session
        self.pause = pause
        self.numbers: list[int] = []
        self._stop_now = threading.Event()

    def run(self) -> None:
        """Record numbers until stopped."""
        while not self._stop_now.wait(self.pause):
            self.session.record("user", len(self.numbers))
            self.numbers.append(len(self.numbers))

    def stop(self) -> None:
        """Stop recording."""
        self._stop_now.set()
        self.join()


def test_actions_recorded_by_another_thread_during_a_close_are_spooled(tmp_path: Path) -> None:
    for run in range(4):
        folder = tmp_path / str(run)
        tm = TimeMachine(UNREACHABLE, "tmk_x", spool=folder, patience=0.01)
        thread = Recording(tm.session("Closed", end=False))
        thread.start()
        for _ in range(10):
            tm.close()
        thread.stop()
        tm.close()
        assert len(waiting(folder)) == len(thread.numbers)


def test_actions_recorded_at_process_exit_are_spooled(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", ENDING, UNREACHABLE, str(tmp_path)], check=True, capture_output=True
    )
    assert [word for line in waiting(tmp_path) for word in (b"early", b"late") if word in line] == [
        b"early",
        b"late",
    ]


def test_no_action_of_another_thread_follows_the_end_of_the_session(tmp_path: Path) -> None:
    tm = TimeMachine(UNREACHABLE, "tmk_x", spool=tmp_path, patience=0.001)
    for _ in range(15):
        s = tm.session("Ended")
        threads = [Recording(s, pause=0.0) for _ in range(2)]
        for thread in threads:
            thread.start()
        s.end()
        for thread in threads:
            thread.stop()
    tm.close()
    lines = waiting(tmp_path)
    ends = [number for number, line in enumerate(lines) if line.startswith(b"!end 20")]
    assert len(ends) == 15
    assert ends[-1] == len(lines) - 1
    assert len({json.loads(line)["id"].partition(":")[0] for line in lines if not is_end(line)}) <= 15


def test_nothing_counts_as_delivered_while_actions_left_by_a_close_wait(served: Served) -> None:
    served.gate.shut()
    tm = served.machine(patience=0.05)
    with tm.session("Ended") as ended:
        ended.record("user", 1)
    assert not tm.close()
    assert (ended.flush(0.1), tm.flush(0.1), tm.close()) == (False, False, False)
    served.gate.open()
    assert tm.deliver_spooled()
    assert (ended.flush(), tm.flush(), tm.close()) == (True, True, True)
    assert served.outputs(ended.key) == [1]


def test_a_close_retries_an_unreachable_server_once(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for pause in ("_FIRST_PAUSE", "_LONGEST_PAUSE"):
        monkeypatch.setattr(delivering, pause, 3_600.0)  # it would not retry otherwise
    served.gate.shut()
    tm = served.machine()
    s = tm.session("Back", key="back")
    s.record("user", 1)
    wait_until(lambda: tm.sender.delivery.unreachable_for > 1)
    served.gate.open()
    assert tm.close()
    wait_until(lambda: caplog.text.count("The server is reachable again") == 1)
    assert served.outputs("back") == [1]
    assert served.spooled() == []


def test_a_close_releases_a_spool_that_is_taken_over_at_that_moment(tmp_path: Path) -> None:
    paths = [recorded_before(tmp_path, key, b"1") for key in ("one", "two")]

    def closed_meanwhile(_: dict[str, Any]) -> bool:
        delivery.close()
        return True

    def nowhere() -> Any:
        raise NoServer("There is none.")

    delivery = Delivery(nowhere, closed_meanwhile, tmp_path)
    delivery.step()
    assert delivery.outboxes() == []
    taken = [Spool.take_over(path) for path in paths]
    for spool in taken:
        assert spool is not None
        spool.close()


def test_an_action_recorded_after_the_end_does_not_count_as_delivered(served: Served) -> None:
    tm = served.machine()
    with tm.session("Late", key="late") as s:
        s.record("user", "in time")
    assert s.flush()
    s.record("user", "late")
    assert (s.flush(), tm.flush()) == (False, False)
    [remaining] = remaining_in(served.spool)
    assert (remaining.state, remaining.actions, remaining.session["key"]) == ("refused", 1, "late")
    assert "has ended" in str(remaining.why)
    with Connection(Server(url=served.gate.url, key=served.key)) as connection:
        assert send(remaining, connection, key="late-again").arrived == 1
    assert served.outputs("late-again") == ["late"]
    strict = served.machine(strict=True)
    with strict.session("Late, too", key="late-too") as s:
        s.record("user", "in time")
    with pytest.raises(NotRecorded, match="has ended"):
        s.record("user", "late")
    with pytest.raises(NotRecorded, match="1 action refused"):
        s.flush()


def test_an_undelivered_end_of_a_session_is_sent_later_under_the_other_key(served: Served) -> None:
    nowhere = TimeMachine("http://127.0.0.1:9", served.key, spool=served.spool, patience=0.1)
    with nowhere.session("Away", key="away") as s:
        s.record("user", 1)
    nowhere.close()
    [remaining] = remaining_in(served.spool)
    away: list[Fate] = ["no request"] * 20
    served.gate.plan(["passes", "passes", *away])
    with Connection(Server(url=served.gate.url, key=served.key)) as connection:
        assert send(remaining, connection, key="other").arrived == 1
        served.gate.plan([])
        [end] = remaining_in(served.spool)
        assert (end.session["key"], end.actions) == ("other", 0)
        assert Recorded.objects.get(key="other").status != "ended"
        send(end, connection)
    assert Recorded.objects.get(key="other").status == "ended"
    assert served.outputs("other") == [1]
    assert remaining_in(served.spool) == []
