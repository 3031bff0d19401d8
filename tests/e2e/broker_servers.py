"""Servers of each broker for tests: started on free ports, with their data in a temporary folder, and killed hard."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.embedded.machine import free_port
from tests.waiting import wait_until

PACKAGES: Final = {"redis": "redis-server", "rabbitmq": "rabbitmq-server"}
"""The Debian packages of the brokers, which are also the names of their programs."""


class BrokerServer:
    """A broker that can be killed and started again."""

    def __init__(self, url: str, port: int, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.url, self._port, self._start = url, port, start
        self.start()

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self.process = self._start()
        wait_until(self._is_up)

    def kill(self) -> None:
        """Kill it and everything that it started, as a lost machine would."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        wait_until(lambda: not self._accepts())

    def _is_up(self) -> bool:
        assert self.process.poll() is None, "the broker ended"
        return self._accepts()

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False


@contextmanager
def broker_server(broker: str, folder: Path) -> Iterator[BrokerServer]:
    """Run a server of `redis` or `rabbitmq`. Skips the test if it is not installed; in CI, that is a failure."""
    program = program_of(broker)
    running = redis(program, folder) if broker == "redis" else rabbitmq(program, folder)
    try:
        yield running
    finally:
        running.kill()


def program_of(broker: str) -> str:
    """Return the path of the server's program."""
    package = PACKAGES[broker]
    # Debian's own /usr/sbin/rabbitmq-server runs only as another user
    folders = ("/usr/lib/rabbitmq/bin", os.environ.get("PATH", os.defpath), "/usr/sbin")
    program = shutil.which(package, path=os.pathsep.join(folders))
    if program is None:
        missing = f"no {package}: install the package {package}"
        if os.environ.get("BROKERS_REQUIRED"):
            pytest.fail(missing)
        pytest.skip(missing)
    return program


def redis(program: str, folder: Path) -> BrokerServer:
    """Start Redis. It keeps nothing on disk, so a killed one has lost its messages."""
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    return BrokerServer(
        f"redis://127.0.0.1:{port}/0", port, lambda: _started(command, folder, dict(os.environ))
    )


def rabbitmq(program: str, folder: Path) -> BrokerServer:
    """Start RabbitMQ as a node of its own. Quorum queues keep their messages when it is killed."""
    port, distribution, names = free_port(), free_port(), free_port()
    (folder / "rabbitmq.conf").write_text(f"listeners.tcp.default = 127.0.0.1:{port}\n")
    (folder / "enabled_plugins").write_text("[].\n")
    environment = os.environ | {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_DIST_PORT": str(distribution),
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}",
    }
    # `epmd`, the name server of Erlang, would remain if RabbitMQ started it
    command = ["sh", "-c", 'epmd -address 127.0.0.1 & exec "$0"', program]
    return BrokerServer(
        f"amqp://guest:guest@127.0.0.1:{port}//", port, lambda: _started(command, folder, environment)
    )


def _started(command: Sequence[str], folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
