"""Parts of `make up` that need no server."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import timemachine
from timemachine.config.server import THREADS
from timemachine.core.pure.errors import Conflict, InvalidInput, Unavailable
from timemachine.embedded import data_folder, up
from timemachine.embedded.address import Address, answers, chosen_address, refuse_taken
from timemachine.embedded.children import Program, kill_leftovers, last_words, log_size, open_log, run
from timemachine.embedded.programs import web_server
from timemachine.embedded.supervisor import Supervisor

TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1\n    y\nKeyError: 1\nDETAIL: more\n'


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An unused data folder."""
    monkeypatch.setenv("TIMEMACHINE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", "its log is empty"),
        ("one\n\ntwo\n\n", "two"),
        (TRACEBACK, "KeyError: 1"),
        (TRACEBACK + TRACEBACK.replace("KeyError: 1", "a.b.Later: 2"), "a.b.Later: 2"),
        ("Traceback (most recent call last):\n  File\n", "its log is empty"),
    ],
)
def test_the_last_message_of_a_log_gives_the_reason_for_the_exit(
    written: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text(written)
    assert last_words(tmp_path / "log") == words


def test_earlier_runs_do_not_explain_this_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(TRACEBACK)
    before = log_size(log)
    with log.open("a") as file:
        file.write("Running migrations\nCommandError: pgvector is missing.\n")
    assert last_words(log, since=before) == "pgvector is missing."
    assert last_words(log, since=10 * before) == "KeyError: 1"  # it was rotated


def test_a_log_that_grew_large_is_rotated_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 5_000_001)
    with open_log(log) as file:
        file.write(b"new")
    with open_log(log) as file:
        file.write(b" and more")
    assert log.read_bytes() == b"new and more"
    assert (tmp_path / "log.1").stat().st_size == 5_000_001


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),
        ("::", "http://[::1]:80/"),
        ("example.org", "http://example.org:80/"),
    ],
)
def test_an_address_is_shown_as_this_machine_can_reach_it(host: str, url: str) -> None:
    assert Address(host=host, port=80).url == url


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", " ")
    monkeypatch.delenv("HOST", raising=False)
    assert chosen_address() == Address(host="127.0.0.1", port=8000)
    monkeypatch.setenv("PORT", "81")
    monkeypatch.setenv("HOST", "::1")
    assert chosen_address() == Address(host="::1", port=81)


@pytest.mark.parametrize("port", ["none", "0", "65536", "-1"])
def test_an_invalid_port_is_refused(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", port)
    with pytest.raises(InvalidInput, match="Set it to a number from 1 to 65535"):
        chosen_address()


def test_only_an_http_server_counts_as_answering() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = Address(host="127.0.0.1", port=server.getsockname()[1])
        with pytest.raises(Conflict, match="Set PORT to a different one"):
            refuse_taken(address)
        for reply, answer in ((b"HTTP/1.1 503 No\r\n\r\n", True), (b"SSH-2", False)):
            thread = threading.Thread(target=_reply_once, args=(server, reply))
            thread.start()
            assert answers(address) is answer
            thread.join()
    refuse_taken(address)
    assert not answers(address)


def test_a_failed_program_raises_an_error_with_its_last_message(tmp_path: Path) -> None:
    program = _program(tmp_path, "import sys; sys.exit(f'no {sys.stdin.read()}')")
    with pytest.raises(Unavailable, match=r"The probe failed: no bread \(see .*probe\.log\)"):
        run(program, "bread")


def test_a_program_reacts_to_its_last_signal_even_if_the_parent_ignores_it(tmp_path: Path) -> None:
    code = "import signal; print(signal.getsignal(signal.SIGQUIT) is signal.SIG_DFL)"
    command = (sys.executable, "-c", code)
    program = Program(
        name="probe", command=command, log=tmp_path / "log", folder=tmp_path, last_signal=signal.SIGQUIT
    )
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        assert run(program) == "True\n"
    finally:
        signal.signal(signal.SIGQUIT, before)


def test_a_program_that_does_not_read_its_input_still_runs(tmp_path: Path) -> None:
    assert run(_program(tmp_path, "print('fine')"), "x" * 1000) == "fine\n"


def test_a_program_that_keeps_failing_is_restarted_with_growing_delays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor = Supervisor()
    program = _program(tmp_path, "raise SystemExit(3)")
    supervisor.start(program)
    while capsys.readouterr().err.count("restarts in 2 s") == 0:
        supervisor.tend()
    assert supervisor.has_ended(program)
    supervisor.stop()


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("raise SystemExit(3)", "exited (exit code 3) and restarts in 1 s. See {}."),
        ("os.kill(os.getpid(), 9)", "was killed by the signal SIGKILL (9) and restarts in 1 s. Its last messages are in {}."),
        ("os.kill(os.getpid(), 40)", "was killed by the signal 40 and restarts in 1 s. Its last messages are in {}."),
    ],
)  # fmt: skip
def test_a_killed_program_is_distinguished_from_one_that_exited(
    end: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor = Supervisor()
    program = _program(tmp_path, f"import os; {end}")
    supervisor.start(program)
    output = ""
    while not output:
        supervisor.tend()
        output = capsys.readouterr().err
    supervisor.stop()
    assert message.format(program.log) in output


def test_only_leftovers_of_a_killed_supervisor_are_killed(tmp_path: Path) -> None:
    leftover = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path)
    elsewhere = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path.parent)
    unrelated = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    kill_leftovers(tmp_path)
    assert leftover.wait(5) == -signal.SIGKILL
    assert (elsewhere.poll(), unrelated.poll()) == (None, None)
    for process in (elsewhere, unrelated):
        process.kill()
        process.wait()


def test_without_the_postgres_wheel_the_error_says_what_to_do() -> None:
    code = "from timemachine.embedded import postgres; postgres.binaries()"
    folder = Path(timemachine.__path__[0]).parent
    completed = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Install it, or set DATABASE_URL to your own Postgres." in completed.stderr


def test_another_database_has_to_be_prepared(empty_home: Path) -> None:
    assert not data_folder.is_prepared("postgresql://here")
    data_folder.remember_prepared("postgresql://here")
    assert data_folder.is_prepared("postgresql://here")
    assert not data_folder.is_prepared("postgresql://there")


def test_a_folder_that_cannot_be_created_gives_a_short_error(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_home / "file").write_text("not a folder")
    monkeypatch.setenv("TIMEMACHINE_HOME", str(empty_home / "file" / "home"))
    assert up.main() == 1
    assert "(Not a directory). Set TIMEMACHINE_HOME" in capsys.readouterr().err


def test_the_connection_pool_has_a_connection_for_every_web_server_thread(
    empty_home: Path,
) -> None:
    program = web_server(Address(host="127.0.0.1", port=8000), {})
    code = "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS']['pool']['max_size'])"
    environment = os.environ | program.environment | {"DJANGO_SETTINGS_MODULE": "timemachine.config.settings"}
    environment.pop("DATABASE_POOL_SIZE", None)
    output = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert int(output) >= THREADS


def _reply_once(server: socket.socket, reply: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(reply)


def _program(folder: Path, code: str) -> Program:
    command = (sys.executable, "-c", code)
    log = folder / "probe.log"
    return Program(name="probe", command=command, log=log, folder=folder)
