"""A spool is its owner's from the moment it has its name, and what no process can use does not stay."""

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from timemachine.client.recording import spool as spools
from timemachine.client.recording.outbox import header_of
from timemachine.client.recording.spool import Spool, spools_in

HEADER = header_of({"key": "k", "name": "n"}, url=None, key_id=None)


def test_a_file_that_another_process_locks_as_it_begins_is_left_to_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def locked_by_another_first(file: int, how: int) -> Any:
        monkeypatch.undo()
        (path,) = tmp_path.iterdir()
        another = os.open(path, os.O_RDWR)
        lock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            lock(file, how)
        finally:
            os.close(another)

    monkeypatch.setattr(fcntl, "flock", locked_by_another_first)
    spool = Spool.begun(tmp_path, HEADER)
    spool.append([b"1", b"2"])
    assert [Spool.taken_over(path) for path in spools_in(tmp_path)] == [None]
    assert spool.path is not None
    assert spool.path.read_bytes().endswith(b"\n1\n2\n")
    spool.remove()


def test_a_file_that_another_process_removes_as_it_begins_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def removed_by_another_first(file: int, how: int) -> Any:
        monkeypatch.undo()
        (path,) = spools_in(tmp_path)
        assert Spool.taken_over(path) is None
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", removed_by_another_first)
    spool = Spool.begun(tmp_path, HEADER)
    spool.append([b"1"])
    assert list(spools_in(tmp_path)) == [spool.path]
    assert spool.waiting(100) == [b"1"]
    spool.remove()


@pytest.mark.parametrize("name", ["a.spool", "a.begun"])
@pytest.mark.parametrize("begun", [b"", b'{"spool": 1, "sess'])
def test_a_file_whose_process_was_killed_before_its_first_line_was_whole_goes(
    tmp_path: Path, name: str, begun: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(begun)
    assert [Spool.taken_over(each) for each in spools_in(tmp_path)] == [None]
    assert not path.exists()


def test_a_file_that_is_none_of_ours_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.spool"
    path.write_bytes(b"something else\n")
    assert [Spool.taken_over(each) for each in spools_in(tmp_path)] == [None]
    assert path.read_bytes() == b"something else\n"


def test_memory_is_full_of_what_waits_and_not_of_what_has_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "MOST_IN_MEMORY", 100)
    spool = Spool.in_memory(HEADER)
    lines = [b"%09d" % number for number in range(14)]
    spool.append(lines[:9])
    spool.settle(50)
    spool.append(lines[9:])
    assert spool.waiting(1_000) == lines[5:]
    with pytest.raises(OSError, match="no file can be written"):
        spool.append(lines[:2])
    spool.settle(90)
    assert spool.waiting(1_000) == []


def test_a_memory_that_something_still_waits_in_is_not_let_go(tmp_path: Path) -> None:
    for spool in (Spool.in_memory(HEADER), Spool.begun(tmp_path, HEADER)):
        spool.append([b"1"])
        assert not spool.remove(only_settled=True)
        spool.append([b"2"])
        assert spool.waiting(100) == [b"1", b"2"]
        spool.settle(4)
        assert spool.remove(only_settled=True)
        assert spool.is_closed
    assert list(tmp_path.iterdir()) == []
