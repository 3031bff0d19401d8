"""A Postgres server of one test, which can be stopped hard while a product uses it."""

import signal
import subprocess
from pathlib import Path

from tests.embedded.homes import copied
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import socket_folder


class Database:
    """A durable server: it confirms a write only once it is on disk."""

    def __init__(self, folder: Path, used_home: Path) -> None:
        copied(used_home / "postgres", folder / "postgres")
        self.cluster = postgres.Cluster(
            data=folder / "postgres", sockets=socket_folder(folder), log=folder / "postgres.log"
        )
        self.process: subprocess.Popen[bytes] = postgres.start(self.cluster)

    def stop_hard(self, number: signal.Signals) -> None:
        """Send SIGQUIT, an immediate shutdown without a final write, or SIGKILL, after which not even its children are stopped."""
        self.process.send_signal(number)
        self.process.wait(30)

    def start(self) -> None:
        """Start it on the existing data."""
        self.process = postgres.start(self.cluster)
