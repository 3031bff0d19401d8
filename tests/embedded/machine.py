"""`make up` with its own folder and port, as a child process that a test can query, kill and inspect."""

import contextlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from tests.measuring import MEASURED
from tests.waiting import wait_until

PATIENCE = 120.0
PORTS = range(20_000, 32_000)
WORKERS = 16
# Coverage measures the supervisor but not its programs: Django would take three times as long to load.
UP = (
    sys.executable,
    "-c",
    f"import os, runpy; os.environ.pop({MEASURED!r}, None); runpy.run_module('timemachine.embedded', run_name='__main__')",
)


class Machine:
    """One `make up`; `output` is everything it has printed so far."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self.port = free_port()
        self.log = home.with_name(home.name + ".said")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                UP,
                env=up_environment(home, self.port) | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self.log.read_text()

    def wait_for(self, text: str) -> str:
        """Wait until the output contains the text; return the output."""
        wait_until(lambda: text in self.output or self.process.poll() is not None, PATIENCE)
        assert text in self.output, self.output
        return self.output

    def ready(self) -> "Machine":
        self.wait_for("Ctrl-C stops everything.")
        return self

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, wait, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def page(self, path: str = "/health/live") -> int:
        """Return the status with which the web server answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code

    def processes(self) -> dict[int, str]:
        """Every process that works in the home or names it, with its command line."""
        return processes_of(self.home)

    def the(self, pattern: str) -> int:
        """The first process whose command line matches."""
        return min(pid for pid, line in self.processes().items() if re.search(pattern, line))


def processes_of(home: Path) -> dict[int, str]:
    """Every process that works in the home or names it, with its command line."""
    return {pid: line for pid, folder, line in all_processes() if str(home) in f"{folder} {line}"}


def all_processes() -> list[tuple[int, str, str]]:
    """Number, working folder and command line of every process that is not a zombie and not this one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if line and int(entry.name) != os.getpid():
                found.append((int(entry.name), str((entry / "cwd").readlink()), line))
    return found


def clean_environment() -> dict[str, str]:
    """Return this environment without the variables that would point `make up` at the servers of the test run."""
    ours = {
        "DATABASE_URL",
        "DATABASE_OWNER_URL",
        "TEST_DATABASE_URL",
        "CELERY_BROKER_URL",
        "SECRET_KEY",
        "DJANGO_SETTINGS_MODULE",
        "HOST",
    }
    return {name: value for name, value in os.environ.items() if name not in ours | {MEASURED}}


def up_environment(home: Path, port: int) -> dict[str, str]:
    """Return the environment of a `make up` with that folder and port."""
    measured = {MEASURED: os.environ[MEASURED]} if MEASURED in os.environ else {}
    return clean_environment() | measured | {"TIMEMACHINE_HOME": str(home), "PORT": str(port)}


def free_port() -> int:
    """Return a port for a program that is started a moment later, outside the range from which the kernel assigns ports.

    Each process of a run has its own ports, as two that look for one at the same moment would find the same port free.
    """
    mine = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    while True:
        port = PORTS.start + secrets.randbelow(len(PORTS) // WORKERS) * WORKERS + mine
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
