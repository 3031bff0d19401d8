"""Recorded actions are delivered once and in order through outages of the server, the network or the process."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.client.conftest import Served
from tests.client.gate import Fate
from tests.client.spools import recorded_before
from tests.waiting import wait_until
from timemachine.client import TimeMachine
from timemachine.client.connection import Connection
from timemachine.client.recording import delivery
from timemachine.client.recording.lines import END
from timemachine.client.recording.spool import Spool, spools_in
from timemachine.client.recording.waiting_recordings import drop, remaining_in, send
from timemachine.client.server import Server
from timemachine.core.payloads.queries import value
from timemachine.recording.sessions.models import Action, Session

RECORDING = """
import sys, time
from timemachine.client import TimeMachine
tm = TimeMachine()
s = tm.session("Killed", key="killed")
for number in range(200):
    s.record("agent", number)
time.sleep(0.3)
print("recorded", flush=True)
time.sleep(60)
"""


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(
    batches=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    fates=st.lists(st.sampled_from(["passes", "no request", "no answer"]), max_size=12),
    shut=st.sets(st.integers(0, 4)),
)
def test_outages_do_not_change_the_recorded_sequence(
    served: Served, batches: list[int], fates: list[Fate], shut: set[int]
) -> None:
    tm = served.machine(patience=20.0)
    served.gate.open()
    served.gate.plan(fates)
    recorded: list[int] = []
    with tm.session("Outages") as s:
        for number, size in enumerate(batches):
            if number in shut:
                served.gate.shut()
            for _ in range(size):
                s.record("agent", len(recorded))
                recorded.append(len(recorded))
            time.sleep(0.02)
            served.gate.open()
        assert s.flush(30)
    tm.close()
    assert served.machine().deliver_spooled()
    assert served.outputs(s.key) == recorded
    assert Session.objects.get(key=s.key).status == "ended"


def test_a_server_that_comes_back_after_outages_misses_nothing(served: Served) -> None:
    tm = served.machine()
    stop = threading.Event()

    def coming_and_going() -> None:
        while not stop.wait(0.05):
            served.gate.shut()
            time.sleep(0.05)
            served.gate.open()

    thread = threading.Thread(target=coming_and_going)
    thread.start()
    with tm.session("Coming and going", key="going") as s:
        for number in range(1_000):
            s.record("agent", number)
            if number % 100 == 0:
                time.sleep(0.01)
        stop.set()
        thread.join()
        served.gate.open()
        assert s.flush(30)
    assert served.outputs("going") == list(range(1_000))


def test_the_recordings_of_a_killed_process_are_delivered_by_the_next_one(served: Served) -> None:
    served.gate.shut()
    process = served.run(RECORDING)
    assert process.stdout is not None
    assert process.stdout.readline() == "recorded\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (wal,) = served.spool.glob("*-wal")
    with wal.open("ab") as file:
        file.write(b"\0" * 1_000)  # the machine crashed while writing this
    served.gate.open()
    with served.machine().session("Next", key="next") as s:
        s.record("user", "x")
        wait_until(lambda: Action.objects.filter(session__key="killed").count() == 200)
    assert served.outputs("killed") == list(range(200))
    assert served.outputs("next") == ["x"]
    wait_until(lambda: served.spooled() == [])


def test_a_spool_in_use_is_not_taken_over(served: Served) -> None:
    served.gate.shut()
    process = served.run(RECORDING)
    assert process.stdout is not None
    assert process.stdout.readline() == "recorded\n"
    (path,) = spools_in(served.spool)
    assert Spool.take_over(path) is None
    process.kill()
    process.communicate()
    taken = Spool.take_over(path)
    assert taken is not None
    taken.close()


def test_a_process_delivers_its_recordings_at_exit(served: Served) -> None:
    program = "from timemachine.client import TimeMachine\ns = TimeMachine().session('Ends', key='ends')\nfor n in range(50): s.record('user', n)"
    assert served.run(program).communicate() == ("", "")
    assert served.outputs("ends") == list(range(50))


def test_a_process_does_not_wait_for_an_unreachable_server_at_exit(served: Served) -> None:
    served.gate.shut()
    program = "from timemachine.client import TimeMachine\nwith TimeMachine(patience=86_400).session('Ends', key='ends') as s:\n  for n in range(50): s.record('user', n)"
    out, err = served.run(program).communicate()
    assert "wait in" in err
    assert out == ""
    served.gate.open()
    assert served.machine().deliver_spooled()
    assert served.outputs("ends") == list(range(50))


FORKING = """
import os, sys
from timemachine.client import TimeMachine
tm = TimeMachine()
with tm.session("Fork", key="fork") as s:
    s.record("agent", "parent before")
    child = os.fork()
    if child == 0:
        for n in range(20):
            s.record("agent", ["child", n])
        s.flush(20)
        tm.close()
        os._exit(0)
    s.record("agent", "parent after")
    os.waitpid(child, 0)
"""

POOL = """
import multiprocessing
from timemachine.client import TimeMachine
tm = TimeMachine()
s = tm.session("Pool", key="pool")
def work(n):
    s.record("agent", n)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(n,)) for n in range(4)]
    for each in processes: each.start()
    for each in processes: each.join()
    s.end()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_process_records_into_the_session_of_its_parent(served: Served) -> None:
    assert served.run(FORKING).communicate() == ("", "")
    found = served.outputs("fork")
    assert [each for each in found if isinstance(each, str)] == ["parent before", "parent after"]
    assert [each[1] for each in found if isinstance(each, list)] == list(range(20))
    assert Session.objects.get(key="fork").status == "ended"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_multiprocessing_children_deliver_before_they_exit(served: Served) -> None:
    assert served.run(POOL).communicate() == ("", "")
    assert sorted(served.outputs("pool")) == [0, 1, 2, 3]


def test_a_refusal_keeps_the_recorded_actions_and_is_logged_once(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delivery, "_LASTING_PAUSE", 0.05)
    good = served.key
    object.__setattr__(served, "key", good[:-1] + ("A" if good[-1] != "A" else "B"))
    tm = served.machine(patience=0.5)
    with tm.session("Refused", key="refused") as s:
        s.record("user", "x")
        assert not s.flush(1.0)
        wait_until(lambda: "is not delivered" in caplog.text)
        time.sleep(0.3)
    tm.close()
    assert len([each for each in caplog.records if "is not delivered" in each.message]) == 1
    assert json.loads(served.spooled()[0])["output"] == "x"
    object.__setattr__(served, "key", good)
    assert served.machine().deliver_spooled()
    assert served.outputs("refused") == ["x"]


def test_a_refused_action_does_not_block_the_others(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    with served.machine().session("Unfit", key="unfit") as s:
        for number in range(20):
            s.record("agent", number)
        s.event("unfit", id="i" * 3_000)
        s.record("agent", 20)
        assert not s.flush()
    hole = served.actions("unfit")[20]
    assert (hole.name, hole.significance) == ("recorder.refused", "error")
    report = value(hole.output)
    assert (report["action"]["kind"], report["bytes"] > 3_000, "1,000" in report["why"]) == (
        "event",
        True,
        True,
    )
    assert [each for each in served.outputs("unfit") if each != report] == list(range(21))
    ((why, action),) = served.refused()
    assert "1,000" in why
    assert action["id"] == "i" * 3_000
    assert "refused" in caplog.text


def test_actions_for_an_ended_session_are_refused_and_logged_once(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    tm = served.machine(patience=0.5)
    s = tm.session("Over", key="over")
    s.record("user", 1)
    assert s.flush()
    tm.client.sessions.end("over")
    for number in (2, 3):
        s.record("user", number)
        assert not s.flush()
    assert not tm.close()
    assert [action["output"] for _, action in served.refused()] == [2, 3]
    assert all("has ended" in why for why, _ in served.refused())
    assert len([each for each in caplog.records if "has ended" in each.message]) == 1
    assert served.outputs("over") == [1]
    wait_until(lambda: served.spooled() == [])


def test_actions_delivered_before_a_crash_are_not_duplicated(served: Served) -> None:
    served.gate.shut()
    tm = served.machine()
    s = tm.session("Twice", key="twice")
    for number in range(10):
        s.record("user", number)
    tm.sender.drain()
    lines = served.spooled()
    served.gate.open()
    assert s.flush()
    s.end()
    tm.close()
    recorded_before(served.spool, "twice", *lines, END)
    assert served.machine().deliver_spooled()
    assert served.outputs("twice") == list(range(10))
    wait_until(lambda: served.spooled() == [])


def test_an_unwritable_folder_loses_no_action(served: Served, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    with served.machine(spool=blocked).session("Memory", key="memory") as s:
        s.record("user", "x")
    assert served.outputs("memory") == ["x"]


def test_recording_imports_neither_django_nor_an_http_client() -> None:
    program = "import sys; from timemachine.client import TimeMachine; sys.exit(sum(name in sys.modules for name in ('django', 'httpx')))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_secrets_of_an_environment_are_not_written_to_disk(served: Served) -> None:
    served.gate.shut()
    tm = served.machine(patience=0.2)
    with tm.session("Secrets", key="secrets") as s:
        s.checkpoint("here", environment={"API_KEY": "sesame", "HOME": "/home"})
    tm.close()
    assert b"/home" in served.spooled()[0]
    for path in served.spool.iterdir():
        assert b"sesame" not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0


def test_a_recording_with_an_invalid_key_waits_and_one_refused_again_keeps_its_reason(
    served: Served,
) -> None:
    wrong = TimeMachine(served.gate.url, "tmk_wrong", spool=served.spool, patience=0.5)
    with wrong.session("Wrong", key="wrong") as s:
        s.record("user", "x")
    wait_until(lambda: any(each.why for each in remaining_in(served.spool)))
    [waits] = remaining_in(served.spool)
    assert "key_not_valid" in str(waits.why)
    wrong.close()
    drop(remaining_in(served.spool)[0])
    assert list(served.spool.iterdir()) == []
    with served.machine().session("Unfit", key="unfit-again") as s:
        s.event("unfit", id="i" * 3_000)
    wait_until(lambda: [each.state for each in remaining_in(served.spool)] == ["refused"])
    [before] = remaining_in(served.spool)
    with Connection(Server(url=served.gate.url, key=served.key)) as connection:
        sent = send(before, connection)
    assert (sent.arrived, sent.refused) == (0, 1)
    assert remaining_in(served.spool) == [before]
    assert "1,000" in str(before.why)
