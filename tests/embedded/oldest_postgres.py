"""A server of the oldest PostgreSQL that Time Machine supports, from the packages of the operating system."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.embedded.machine import free_port
from tests.waiting import wait_until
from timemachine.core.pure.database_requirements import OLDEST_POSTGRES
from timemachine.embedded.postgres import AS_NOBODY, NOBODY

_FOLDER: Final = Path(f"/usr/lib/postgresql/{OLDEST_POSTGRES}")
OWNER: Final = "timemachine"
APPLICATION: Final = "timemachine_app"


class OldServer:
    """A running server, as an operator sets it up: the owner of a database is no superuser."""

    def __init__(self, port: int) -> None:
        self._port = port

    def url(self, role: str, database: str) -> str:
        """Return the URL of a database for a role."""
        return f"postgresql://{role}@127.0.0.1:{self._port}/{database}"

    def create_database(self, name: str) -> dict[str, str]:
        """Create an empty database and return the settings with which Time Machine uses it."""
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as superuser:
            superuser.execute(f"CREATE DATABASE {name} OWNER {OWNER}")
        with psycopg.connect(self.url("postgres", name), autocommit=True) as superuser:
            superuser.execute("CREATE EXTENSION vector")
        return {"DATABASE_URL": self.url(APPLICATION, name), "DATABASE_OWNER_URL": self.url(OWNER, name)}

    def version(self) -> int:
        """Return the major version."""
        with psycopg.connect(self.url("postgres", "postgres")) as superuser:
            return superuser.info.server_version // 10_000


@contextmanager
def old_server(folder: Path) -> Iterator[OldServer]:
    """Run the server. Skips the test if it is not installed; in CI, that is a failure."""
    if not (_FOLDER / "bin" / "postgres").exists() or not (_FOLDER / "lib" / "vector.so").exists():
        missing = f"no PostgreSQL {OLDEST_POSTGRES} with pgvector: .ci/postgres installs it"
        if os.environ.get("OLDEST_POSTGRES_REQUIRED"):
            pytest.fail(missing)
        pytest.skip(missing)
    port, data = free_port(), folder / "data"
    prefix = AS_NOBODY if os.getuid() == 0 else ()
    data.mkdir()
    if prefix:
        shutil.chown(data, NOBODY, NOBODY)
    options = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
    subprocess.run(
        [*prefix, _FOLDER / "bin" / "initdb", "-D", data, *options], check=True, capture_output=True
    )
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*prefix, _FOLDER / "bin" / "postgres", "-D", data, *(f"--{k}={v}" for k, v in settings.items())],
            stdout=log,
            stderr=log,
        )
    server = OldServer(port)
    try:
        wait_until(lambda: _is_up(server))
        with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as superuser:
            superuser.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
        yield server
    finally:
        process.send_signal(signal.SIGINT)  # disconnects clients
        process.wait(30)


def _is_up(server: OldServer) -> bool:
    try:
        return server.version() == OLDEST_POSTGRES
    except psycopg.OperationalError:
        return False
