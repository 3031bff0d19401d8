"""`make up` as a person meets it."""

import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

import psycopg

from tests.embedded.conftest import Start
from tests.embedded.homes import copied
from tests.embedded.machine import PATIENCE, UP, Machine, free_port, up_environment
from tests.waiting import wait_until
from timemachine.core.pure.home import RunningServer


def test_a_first_start_serves_pages_and_says_where_everything_is(tmp_path: Path, start: Start) -> None:
    machine = start(tmp_path / "home").ready()
    assert machine.page() < 500
    assert f"http://127.0.0.1:{machine.port}/" in machine.output
    assert f"Data               {machine.home}\n" in machine.output
    assert (machine.home / "logs" / "worker.log").exists()
    assert (machine.home / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_second_start_says_that_one_is_running(home: Path, start: Start) -> None:
    machine = start(home).ready()
    second = start(home)
    assert second.process.wait(PATIENCE) == 1
    assert second.output == (
        f"Time Machine is already running: process {machine.process.pid}, http://127.0.0.1:{machine.port}/. "
        "`make link` prints a new sign-in link; Ctrl-C where it runs stops it.\n"
    )
    assert machine.page() < 500


def test_a_stop_leaves_no_process_and_no_note_and_touches_nothing_else(home: Path, start: Start) -> None:
    (home / "work").mkdir(exist_ok=True)
    bystander = subprocess.Popen(["sleep", "60"], cwd=home / "work")
    machine = start(home).ready()
    assert _note(machine).pid == machine.process.pid
    assert machine.end(signal.SIGTERM) == 0
    assert set(machine.processes()) == {bystander.pid}
    assert not (home / "server.json").exists()
    assert machine.output.endswith("Everything has stopped.\n")
    bystander.kill()
    bystander.wait()


def test_ctrl_c_while_it_starts_leaves_no_process(home: Path, start: Start) -> None:
    machine = start(home)
    wait_until(lambda: any("django prepare" in line for line in machine.processes().values()))
    assert machine.end(signal.SIGINT) == 0
    assert machine.processes() == {}


def test_closing_the_terminal_stops_everything(home: Path) -> None:
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
    said = b""
    while b"Ctrl-C stops" not in said:
        said += os.read(terminal, 1000)
    os.close(terminal)
    assert process.wait(PATIENCE) == 0
    assert not (home / "server.json").exists()


def test_after_kill_9_everything_ends_and_the_next_start_heals(home: Path, start: Start) -> None:
    machine = start(home).ready()
    machine.end(signal.SIGKILL)
    wait_until(lambda: not machine.processes())
    assert (home / "server.json").exists()
    assert start(home).ready().page() < 500


def test_after_kill_9_of_every_process_the_next_start_heals_at_once(home: Path, start: Start) -> None:
    machine = start(home).ready()
    for pid in (machine.process.pid, *machine.processes()):
        with suppress(ProcessLookupError):  # one that was about to end anyway
            os.kill(pid, signal.SIGKILL)
    assert start(home).ready().page() < 500


def test_a_program_that_dies_is_started_again(home: Path, start: Start) -> None:
    machine = start(home).ready()
    killed = machine.the(r"-m granian")
    os.kill(killed, signal.SIGKILL)
    said = machine.wait_for("The web server was killed by the signal SIGKILL (9) and restarts in 1 s.")
    assert f"Its last messages are in {home / 'logs' / 'web.log'}." in said
    wait_until(
        lambda: any("-m granian" in line for pid, line in machine.processes().items() if pid != killed)
    )
    wait_until(lambda: _answers(machine))


def test_without_its_postgres_everything_stops_and_says_so(home: Path, start: Start) -> None:
    machine = start(home).ready()
    os.kill(machine.the(r"/postgres -D"), signal.SIGKILL)
    assert machine.process.wait(PATIENCE) == 1
    assert "Postgres exited" in machine.output
    wait_until(lambda: not machine.processes())


def test_a_home_with_a_long_and_odd_name_works(used_home: Path, tmp_path: Path, start: Start) -> None:
    home = tmp_path / ("a folder, with 'odd' letters äöü " * 4) / "home"
    home.parent.mkdir()
    machine = start(copied(used_home, home)).ready()
    assert machine.page() < 500
    sockets = Path(_note(machine).database_url.split("@")[1].split("/")[0].replace("%2F", "/"))
    assert sockets.exists()
    machine.end()
    assert not sockets.exists()


def test_a_database_elsewhere_is_used_and_none_is_started(tmp_path: Path, start: Start) -> None:
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("CREATE DATABASE elsewhere")
    machine = start(tmp_path / "home", DATABASE_URL=f"{server}/elsewhere").ready()
    assert machine.page() < 500
    assert not (machine.home / "postgres").exists()
    assert machine.end() == 0
    with psycopg.connect(f"{server}/elsewhere") as connection:
        assert connection.execute("SELECT to_regclass('pgmq.meta') IS NOT NULL").fetchone() == (True,)


def test_a_database_that_is_not_there_is_one_sentence(tmp_path: Path, start: Start) -> None:
    machine = start(tmp_path / "home", DATABASE_URL="postgresql://nobody@127.0.0.1:1/nothing")
    assert machine.process.wait(PATIENCE) == 1
    assert machine.output.startswith("The preparation of the database failed: ")
    assert "connection" in machine.output
    assert "Traceback" not in machine.output


def test_a_taken_port_is_one_sentence(tmp_path: Path, start: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        machine = start(tmp_path / "home", PORT=str(port))
        assert machine.process.wait(PATIENCE) == 1
    assert machine.output == (
        f"Port {port} on 127.0.0.1 is not available (Address already in use). Choose another one, for example: PORT=8001 make up\n"
    )
    assert not (tmp_path / "home" / "postgres").exists()


def _note(machine: Machine) -> RunningServer:
    return RunningServer(**json.loads((machine.home / "server.json").read_text()))


def _answers(machine: Machine) -> bool:
    try:
        return machine.page() < 500
    except OSError:
        return False
