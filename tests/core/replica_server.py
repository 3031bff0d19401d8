"""A streaming replica of the server of this test run."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.waiting import wait_until
from timemachine.embedded import postgres
from timemachine.embedded.children import processes_in
from timemachine.embedded.data_folder import clear_socket_folder, socket_folder


class Replica:
    """A replica that can be stopped, started, paused and resumed."""

    def __init__(self, folder: Path, primary: psycopg.Connection) -> None:
        data = folder / "postgres"
        where = (f"--pgdata={data}", f"--host={primary.info.host}", "--username=postgres")
        how = ("--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
        subprocess.run([str(postgres.binaries() / "pg_basebackup"), *where, *how], check=True)
        self._cluster = postgres.Cluster(
            data=data, sockets=socket_folder(folder), log=folder / "postgres.log", throwaway=True
        )
        self.host = str(self._cluster.sockets)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self.process = postgres.start(self._cluster)

    def stop(self) -> None:
        """Stop it hard."""
        self.process.kill()
        self.process.wait(30)

    def freeze(self) -> None:
        """Stop its processes, as on a frozen machine: it accepts connections and does not answer."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Undo `freeze`."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        for process in processes_in(self._cluster.data):
            os.kill(process, number)

    def pause(self) -> None:
        """Receive the log of the primary, but do not apply it."""
        self._run("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self._run("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        """Apply the log of the primary again."""
        self._run("SELECT pg_wal_replay_resume()")

    def _run(self, statement: str) -> object:
        with psycopg.connect(host=self.host, user="postgres", dbname="postgres", autocommit=True) as client:
            row = client.execute(statement).fetchone()
            return row[0] if row else None

    def end(self) -> None:
        """Stop it for good."""
        postgres.stop(self.process)


@contextmanager
def streaming_replica(folder: Path, primary: psycopg.Connection) -> Iterator[Replica]:
    """Run a replica of the server to which this superuser is connected."""
    replica = Replica(folder, primary)
    try:
        yield replica
    finally:
        replica.end()
        clear_socket_folder(folder, Path(replica.host))
