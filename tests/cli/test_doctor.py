"""`doctor`: a line for each check, what to do about a failed one, and the exit code."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import Here, Ran, Terminal
from tests.client.other_server import answering, other_server
from tests.small_disks import small_disk
from timemachine.client import TimeMachine
from timemachine.core.pure.home import RunningServer, announce, home, local_key_file, write_private
from timemachine.jobs import registry, workers


def failed(ran: Ran) -> dict[str, str]:
    """Return the failed checks, each with its sentence."""
    lines = [line for line in ran.out.splitlines() if line.startswith("FAILED  ")]
    found = dict(line.removeprefix("FAILED  ").split("  ", 1) for line in lines)
    names = ", ".join(name.strip() for name in found)
    plural = "check" if len(found) == 1 else "checks"
    assert ran.err == (f"{len(found)} {plural} failed: {names}.\n" if found else "")
    assert ran.code == bool(found)
    return {name.strip(): message.strip() for name, message in found.items()}


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty spool."""
    monkeypatch.setenv("TIMEMACHINE_SPOOL", str(tmp_path / "spool"))


@pytest.fixture
def working(tm: Here) -> None:
    """A worker runs and has swept."""
    workers.SignOfLife().beat()
    registry.sweep()


def test_a_healthy_server_passes_every_check(tm: Here, working: None) -> None:
    ran = tm.run("doctor")
    assert failed(ran) == {}
    names = [line[8:].partition("  ")[0].strip() for line in ran.out.splitlines()]
    assert names == [
        "spool",
        "server",
        "disk",
        "database",
        "migrations",
        "triggers",
        "role",
        "signing",
        "workers",
        "queue",
        "API key",
        "version",
    ]


def test_json_has_the_same_checks(tm: Here, working: None) -> None:
    document = tm.json("doctor")
    assert [each["name"] for each in document["items"]][:2] == ["spool", "server"]
    assert all(each.keys() == {"name", "ok", "message"} and each["ok"] for each in document["items"])


def test_a_failed_check_also_fails_with_json(tm: Here) -> None:
    ran = tm.run("doctor", "--json")
    assert ran.code == 1
    assert {each["name"] for each in json.loads(ran.out)["items"] if not each["ok"]} == {"workers", "queue"}


def test_missing_workers_are_named_with_what_to_do(tm: Here) -> None:
    found = failed(tm.run("doctor"))
    assert found.keys() == {"workers", "queue"}
    assert found["workers"].endswith("Start a worker, or see its log.")


def test_a_wrong_key_is_told_from_a_sick_server(tm: Here, working: None) -> None:
    found = failed(tm.run("doctor", TIMEMACHINE_API_KEY="tmk_abc_def"))
    assert found.keys() == {"API key"}
    assert "unknown, revoked or expired" in found["API key"]
    assert "TIMEMACHINE_API_KEY" in failed(tm.run("doctor", TIMEMACHINE_API_KEY=None))["API key"]


def test_without_a_server_it_says_how_to_start_one(terminal: Terminal) -> None:
    found = failed(terminal.run("doctor"))
    assert "`timemachine up`" in found["server"]
    nowhere = failed(terminal.run("doctor", TIMEMACHINE_URL="http://127.0.0.1:1"))
    assert "Connection refused" in nowhere["server"]


def test_a_server_without_its_database_is_explained(tm: Here) -> None:
    checks = {"database": {"ok": False, "message": "The database cannot be reached."}}
    body = {"status": "not ready", "why": "The database cannot be reached.", "checks": checks}
    with other_server(answering(503, json.dumps(body).encode())) as url:
        found = failed(tm.run("doctor", TIMEMACHINE_URL=url))
    assert found["server"] == f"{url} is not ready: The database cannot be reached."
    assert found["database"] == "The database cannot be reached."


def test_another_program_at_the_address_is_noticed(terminal: Terminal) -> None:
    with other_server(answering(200, b"<html>")) as url:
        found = failed(terminal.run("doctor", TIMEMACHINE_URL=url, TIMEMACHINE_API_KEY="tmk_a_b"))
    assert "is not Time Machine" in found["server"]


def test_a_killed_server_of_this_machine_is_noticed(tm: Here) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    announce(RunningServer(pid=ended.pid, url=tm.url, database_url="postgresql://"))
    assert "was killed" in failed(tm.run("doctor"))["local server"]
    announce(RunningServer(pid=os.getpid(), url=tm.url, database_url="postgresql://"))
    assert f"as process {os.getpid()}." in tm.run("doctor").out


def test_readable_secrets_and_a_taken_port_are_noticed(terminal: Terminal) -> None:
    write_private(local_key_file(), "tmk_a_b\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert failed(terminal.run("doctor", PORT=port))["port"].startswith(f"Port {port} cannot be used")
    local_key_file().chmod(0o644)
    assert f"chmod 600 {local_key_file()}" in failed(terminal.run("doctor"))["data folder"]


def test_undelivered_recordings_are_noticed(tm: Here, working: None) -> None:
    with TimeMachine("http://127.0.0.1:9", patience=20) as machine, machine.session("Away", key="away") as s:
        s.record("user", 1)
    found = failed(tm.run("doctor"))
    assert found.keys() == {"spool"}
    assert found["spool"].startswith("1 recording of this machine was not delivered.")


def test_a_data_folder_that_is_a_file_is_noticed(terminal: Terminal) -> None:
    home().write_text("not a folder")
    assert "Set TIMEMACHINE_HOME" in failed(terminal.run("doctor"))["data folder"]


def test_a_full_disk_is_noticed_by_the_rule_of_the_server(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk", owner=tmp_path.stat(), megabytes=40) as folder:
        monkeypatch.setenv("TIMEMACHINE_HOME", str(folder))
        assert "free space" not in failed(terminal.run("doctor"))
        (folder / "file").write_bytes(b"x" * 38 * 1024 * 1024)
        assert failed(terminal.run("doctor"))["free space"] == (
            "2 MB are free on the disk of the data folder. Make it 4 MB or more (MIN_FREE_DISK_MB)."
        )
        assert "free space" not in failed(terminal.run("doctor", MIN_FREE_DISK_MB="1"))
