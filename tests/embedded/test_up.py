"""`make up` as a user runs it."""

import fcntl
import json
import os
import pty
import re
import signal
import socket
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from tests.embedded.conftest import Start
from tests.embedded.homes import copied
from tests.embedded.machine import PATIENCE, UP, Machine, free_port, processes_of, up_environment
from tests.waiting import wait_until
from timemachine.core.pure.home import RunningServer


@pytest.fixture(scope="module")
def home(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the data folder of a stopped `make up`; every test leaves it so that the next start works.

    Its path is too long and unusual for the address of a socket.
    """
    folder = tmp_path_factory.mktemp("homes") / ("a folder, with 'odd' letters äöü " * 4)
    folder.mkdir()
    return copied(used_home, folder / "home")


def test_a_first_start_says_where_everything_is(used_home: Path) -> None:
    output = used_home.with_name("used-home.said").read_text()
    assert output.startswith("Preparing the database …\nTime Machine runs at ")
    assert re.search(r"http://127\.0\.0\.1:\d+/\n", output)
    assert f"Data               {used_home}.new\n" in output
    assert (used_home / "logs" / "worker.log").exists()
    assert (used_home / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_second_start_is_refused_and_a_killed_web_server_is_restarted(home: Path, start: Start) -> None:
    machine = start(home).ready()
    assert machine.page() < 500
    second = start(home)
    assert second.process.wait(PATIENCE) == 1
    assert second.output == (
        f"Time Machine is already running: process {machine.process.pid}, http://127.0.0.1:{machine.port}/. "
        "`timemachine manage sign_in_link` prints a new sign-in link; to stop it, press Ctrl-C where it runs.\n"
    )
    _check_that_the_web_server_is_restarted(machine)
    wait_until((home / "beat-schedule").exists)  # beat runs in the worker
    assert "Preparing" not in machine.output
    assert len([line for line in machine.processes().values() if "-m celery" in line]) == 1
    sockets = Path(_note(machine).database_url.split("@")[1].split("/")[0].replace("%2F", "/"))
    assert sockets.exists()
    assert machine.end() == 0
    assert not sockets.exists()


def _check_that_the_web_server_is_restarted(machine: Machine) -> None:
    killed = machine.the(r"-m timemachine\.config\.server")
    os.kill(killed, signal.SIGKILL)
    output = machine.wait_for("The web server was killed by the signal SIGKILL (9) and restarts in 1 s.")
    assert f"Its last messages are in {machine.home / 'logs' / 'web.log'}." in output
    wait_until(
        lambda: any(
            "-m timemachine.config.server" in line
            for pid, line in machine.processes().items()
            if pid != killed
        )
    )
    wait_until(lambda: _answers(machine))


def test_after_any_kill_everything_ends_and_the_next_start_recovers(home: Path, start: Start) -> None:
    machine = start(home).ready()
    machine.end(signal.SIGKILL)
    wait_until(lambda: not machine.processes())
    assert (home / "server.json").exists()

    machine = start(home).ready()
    assert machine.page() < 500
    for pid in (machine.process.pid, *machine.processes()):
        with suppress(ProcessLookupError):  # one that was about to end anyway
            os.kill(pid, signal.SIGKILL)

    machine = start(home).ready()
    assert machine.page() < 500
    os.kill(machine.the(r"/postgres -D"), signal.SIGKILL)
    assert machine.process.wait(PATIENCE) == 1
    assert "Postgres exited" in machine.output
    wait_until(lambda: not machine.processes())


def test_closing_the_terminal_stops_everything_and_touches_nothing_else(home: Path) -> None:
    (home / "work").mkdir(exist_ok=True)
    bystander = subprocess.Popen(["sleep", "60"], cwd=home / "work")
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        UP,
        env=up_environment(home, free_port()),
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # there are no threads here
    )
    os.close(inner)
    output = b""
    while b"Ctrl-C stops" not in output:
        output += os.read(terminal, 1000)
    assert json.loads((home / "server.json").read_text())["pid"] == process.pid
    os.close(terminal)
    assert process.wait(PATIENCE) == 0
    assert set(processes_of(home)) == {bystander.pid}
    assert not (home / "server.json").exists()
    bystander.kill()
    bystander.wait()


def test_ctrl_c_while_it_starts_leaves_no_process(home: Path, start: Start) -> None:
    machine = start(home)
    wait_until(lambda: any("django prepare" in line for line in machine.processes().values()))
    assert machine.end(signal.SIGINT) == 0
    assert machine.processes() == {}
    assert machine.output.endswith("Everything has stopped.\n")


def test_an_unreachable_database_gives_an_error_without_a_traceback(tmp_path: Path, start: Start) -> None:
    machine = start(tmp_path / "home", DATABASE_URL="postgresql://nobody@127.0.0.1:1/nothing")
    assert machine.process.wait(PATIENCE) == 1
    first, failed = machine.output.split("\n", 1)
    assert first == "Preparing the database …"
    assert failed.startswith("The preparation of the database failed: ")
    assert "connection" in machine.output
    assert "Traceback" not in machine.output


def test_an_occupied_port_gives_a_short_error(tmp_path: Path, start: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        machine = start(tmp_path / "home", PORT=str(port))
        assert machine.process.wait(PATIENCE) == 1
    assert machine.output == (
        f"Port {port} on 127.0.0.1 is not available (Address already in use). Set PORT to a different one, for example PORT=8001.\n"
    )
    assert not (tmp_path / "home" / "postgres").exists()


def _note(machine: Machine) -> RunningServer:
    return RunningServer(**json.loads((machine.home / "server.json").read_text()))


def _answers(machine: Machine) -> bool:
    try:
        return machine.page() < 500
    except OSError:
        return False
