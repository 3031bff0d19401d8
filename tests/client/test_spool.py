"""A spool belongs to its process while that runs, and unusable spools are removed."""

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.client.spools import recorded_before, refused, waiting
from timemachine.client.recording import recording as recordings
from timemachine.client.recording.outbox import header_of
from timemachine.client.recording.recording import Recording
from timemachine.client.recording.spool import Spool, spools_in, waits_in
from timemachine.client.recording.spool_database import DAMAGED, Damaged

HEADER = header_of({"key": "k", "name": "n"}, url=None, key_id=None)


def no_spool() -> Spool:
    raise OSError("the disk is full")


def rows(recording: Recording) -> list[bytes]:
    """The waiting lines."""
    return [line for _, line in recording.waiting(most=1_000, most_bytes=1_000)]


def test_a_spool_cannot_be_taken_over_before_its_process_releases_it(tmp_path: Path) -> None:
    spool = Spool.begin(tmp_path)
    number = spool.add(None, HEADER, [(1, b"1"), (2, b"2")])
    assert Spool.take_over(spool.path) is None
    assert waiting(tmp_path) == [b"1", b"2"]
    assert waits_in(spool.path, number)
    spool.close()
    taken = Spool.take_over(spool.path)
    assert taken is not None
    assert (Spool.take_over(spool.path), taken.kept) == (None, {(number, False)})
    assert waits_in(spool.path, number), "what somebody delivers waits"
    recording = Recording.of(taken, taken.stored()[0])
    recording.settle(2)
    taken.close()
    assert not waits_in(spool.path, number)
    assert list(tmp_path.iterdir()) == []


def test_an_exiting_child_does_not_touch_the_spool_of_its_parent(tmp_path: Path) -> None:
    program = f"""
import os, pathlib
from timemachine.client.recording.spool import Spool
spool = Spool.begin(pathlib.Path({str(tmp_path)!r}))
number = spool.add(None, {HEADER!r}, [(1, b"1")])
if os.fork():
    os.wait()
    spool.add(number, {HEADER!r}, [(2, b"2")])
    print(pathlib.Path(str(spool.path) + "-wal").exists(), flush=True)
    os.kill(os.getpid(), 9)
"""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], stdout=subprocess.PIPE, check=False
    )
    assert process.stdout == b"True\n"
    assert waiting(tmp_path) == [b"1", b"2"]


def test_a_spool_without_tables_from_a_killed_process_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.spool"
    path.touch()
    os.utime(path, ns=(new := time.time_ns() - 10**9, new))
    assert Spool.take_over(path) is None
    assert path.stat().st_mtime_ns == new, "its process may be about to make them, and nobody locks it"
    os.utime(path, (0, 0))
    assert Spool.take_over(path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_spool_of_another_version_is_not_changed(tmp_path: Path) -> None:
    path = recorded_before(tmp_path, "k", b"1")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(OSError, match="another version"):
        Spool.take_over(path)
    assert path.exists()


@pytest.mark.parametrize("damage", [b"something else\n" * 100, b"SQLite format 3\0" + b"\xff" * 8_000])
def test_a_damaged_spool_is_renamed_and_logged_once(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = recorded_before(tmp_path, "k", b"1")
    path.write_bytes(damage)
    assert [Spool.take_over(each) for _ in range(2) for each in spools_in(tmp_path)] == [None]
    assert [each.name for each in tmp_path.iterdir()] == [path.name + DAMAGED]
    assert caplog.text.count("is damaged") == 1


def test_a_spool_damaged_in_use_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    begun = [Spool.begin(tmp_path)]

    def current() -> Spool:
        if begun[-1].is_closed:
            begun.append(Spool.begin(tmp_path))
        return begun[-1]

    recording = Recording(HEADER, tmp_path, current)
    recording.append([b"%d" % number * 5_000 for number in range(100)])
    with sqlite3.connect(begun[0].path) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    with begun[0].path.open("r+b") as file:
        file.write(b"\xff" * begun[0].path.stat().st_size)
    with pytest.raises(Damaged):
        recording.waiting(most=1_000, most_bytes=10_000_000)
    recording.append([b"next"])
    assert recording.give_up() > 0
    assert rows(recording) == [b"next"]
    recording.settle(recording.end)
    recording.append([b"last"])
    assert (len(begun), waiting(tmp_path)) == (2, [b"last"])
    assert "may be lost" in caplog.text
    begun[1].close()


def test_only_waiting_lines_count_towards_the_memory_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "MOST_IN_MEMORY", 90)
    recording = Recording(HEADER, tmp_path, no_spool)
    lines = [b"%09d" % number for number in range(14)]
    recording.append(lines[:9])
    recording.settle(5)
    recording.append(lines[9:])
    assert rows(recording) == lines[5:]
    with pytest.raises(OSError, match="the spool cannot be written"):
        recording.append(lines[:2])
    recording.append(lines[:2], anyway=True)
    recording.settle(recording.end)
    assert rows(recording) == []


def test_a_delivered_line_no_longer_waits(tmp_path: Path) -> None:
    spool = Spool.begin(tmp_path)
    for recording in (Recording(HEADER, tmp_path, no_spool), Recording(HEADER, tmp_path, lambda: spool)):
        recording.append([b"1"])
        assert recording.has_waiting
        recording.append([b"2"])
        assert rows(recording) == [b"1", b"2"]
        recording.settle(2)
        assert not recording.has_waiting
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_a_refused_last_line_does_not_wait(tmp_path: Path) -> None:
    spool = Spool.begin(tmp_path)
    number = spool.add(None, HEADER, [(1, b"1"), (2, b"{}")])
    spool.settle(number, (), {2: "no"})
    recording = Recording.of(spool, spool.stored()[0])
    recording.end = recording._stored = 2
    assert rows(recording) == [b"1"]
    recording.settle(1)
    assert (rows(recording), recording.has_waiting) == ([], False)
    assert refused(tmp_path) == [("no", {})]
    spool.close()
    assert spool.path.exists()


def test_lines_delivered_after_a_long_outage_take_no_space(tmp_path: Path) -> None:
    spool = Spool.begin(tmp_path)
    recording = Recording(HEADER, tmp_path, lambda: spool)
    recording.append([b"x" * 1_000_000] * 30)
    recording.settle(30)
    spool.close(keep=True)
    assert spool.path.stat().st_size < 1_000_000


def test_a_spool_begins_elsewhere_while_another_process_looks_into_its_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lockers: list[sqlite3.Connection] = []
    opened = os.open

    def opened_and_locked(path: Path, *how: int) -> int:
        number = opened(path, *how)
        if not lockers:
            lockers.append(sqlite3.connect(path, isolation_level=None))
            lockers[0].execute("BEGIN EXCLUSIVE")
        return number

    monkeypatch.setattr(os, "open", opened_and_locked)
    spool = Spool.begin(tmp_path)
    assert [each.name for each in tmp_path.glob("*.spool")] == [spool.path.name]
    lockers[0].close()
    spool.close(keep=False)
