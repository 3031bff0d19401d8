"""A Postgres of a test's own, that can be stopped hard under a running product."""

import signal
import subprocess
from pathlib import Path

from tests.embedded.homes import copied
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import socket_folder


class Database:
    """What it said was written is written: it waits for the disk."""

    def __init__(self, folder: Path, used_home: Path) -> None:
        copied(used_home / "postgres", folder / "postgres")
        self.cluster = postgres.Cluster(
            data=folder / "postgres", sockets=socket_folder(folder), log=folder / "postgres.log"
        )
        self.process: subprocess.Popen[bytes] = postgres.start(self.cluster)

    def stop_hard(self, number: signal.Signals) -> None:
        """SIGQUIT is its immediate shutdown, which writes nothing more; after SIGKILL it cannot even end its children."""
        self.process.send_signal(number)
        self.process.wait(30)

    def start(self) -> None:
        """Start it on what it finds."""
        self.process = postgres.start(self.cluster)
