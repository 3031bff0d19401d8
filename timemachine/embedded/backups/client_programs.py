"""`pg_dump` and `pg_restore`: which of them suit a server, and how they are run."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from timemachine.core.pure.errors import Unavailable
from timemachine.embedded import postgres
from timemachine.embedded.backups.system_errors import system_errors

_PACKAGES: Final = Path("/usr/lib/postgresql")  # Debian and Ubuntu keep the versions apart
_WITH_NEW_TIMEOUT: Final = 17  # pg_restore sets transaction_timeout, which older servers refuse
_LOCK_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """The major version of a server, and whether it is reached with TLS."""

    version: int
    tls: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The folder of `pg_dump` and `pg_restore`, and their major version."""

    folder: Path
    version: int

    @contextmanager
    def dump(self, url: str, snapshot: str) -> Iterator[IO[bytes]]:
        """Yield the dump of a snapshot, in the custom format. Raises `Unavailable` at the end if it is not complete."""
        options = ("--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}")
        command = ("pg_dump", *options, f"--lock-wait-timeout={_LOCK_SECONDS}s")
        with self._running(command, url, "There is no backup.") as process:
            yield cast("IO[bytes]", process.stdout)

    @contextmanager
    def restore(self, url: str) -> Iterator[IO[bytes]]:
        """Yield the input for a dump, which is restored completely or not at all. Raises `Unavailable` at the end if not."""
        # comments belong to the owners of extensions
        options = (
            "--no-owner",
            "--no-privileges",
            "--no-comments",
            "--exit-on-error",
            "--single-transaction",
        )
        with (
            self._running(("pg_restore", *options), url, "Nothing was restored.") as process,
            suppress(BrokenPipeError),  # it ended, and has said why
            cast("IO[bytes]", process.stdin) as target,
        ):
            yield target

    @contextmanager
    def _running(self, command: tuple[str, ...], url: str, outcome: str) -> Iterator[subprocess.Popen[bytes]]:
        parts = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
        password = parts.pop("password", "")  # command lines are public
        with tempfile.TemporaryFile() as errors:
            with system_errors(f"start {self.folder / command[0]}", outcome):
                process = subprocess.Popen(
                    (str(self.folder / command[0]), *command[1:], f"--dbname={make_conninfo(**parts)}"),
                    stdin=subprocess.PIPE if command[0] == "pg_restore" else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if command[0] == "pg_dump" else subprocess.DEVNULL,
                    stderr=errors,
                    env=os.environ | ({"PGPASSWORD": password} if password else {}),
                )
            try:
                yield process
                code = process.wait()
            finally:
                process.kill()
                for pipe in (process.stdin, process.stdout):
                    if pipe:
                        with suppress(OSError):
                            pipe.close()
                process.wait()
            if code != 0:
                errors.seek(0)
                words = [line for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
                reason = next((line for line in words if "error:" in line), f"exit code {code}")
                raise Unavailable(
                    f"{command[0]} failed: {reason.partition('error: ')[2] or reason}. {outcome}"
                )


def programs_for(server: ServerFacts, *, at_least: int = 0) -> Programs:
    """Return the oldest programs of this machine that suit the server. Raises `Unavailable` if there are none.

    Programs that are older than the server cannot dump it, and those older than `at_least` cannot read the dump.
    """
    least = max(server.version, at_least)
    usable = [each for each in _installed(tls=server.tls) if each.version >= least]
    if server.version < _WITH_NEW_TIMEOUT:
        usable = [each for each in usable if each.version < _WITH_NEW_TIMEOUT]
    if not usable:
        raise Unavailable(
            f"The database is PostgreSQL {server.version}, and this machine has no pg_dump and pg_restore for it. "
            f"Install those of version {least} (Debian: apt install postgresql-client-{least})."
        )
    return min(usable, key=lambda each: each.version)


def _installed(*, tls: bool) -> Iterator[Programs]:
    folders = [path / "bin" for path in sorted(_PACKAGES.glob("[0-9]*"))]
    on_the_path = shutil.which("pg_restore")
    if on_the_path:
        folders.insert(0, Path(on_the_path).parent)
    if not tls:  # those of the wheel have none
        with suppress(Unavailable):
            folders += [postgres.binaries(), *postgres.other_binaries().values()]
    for folder in folders:
        version = _version(folder)
        if version:
            yield Programs(folder=folder, version=version)


def _version(folder: Path) -> int | None:
    """Return the version of both programs, None if one is missing."""
    versions = set()
    for name in ("pg_dump", "pg_restore"):
        try:
            done = subprocess.run([folder / name, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            return None
        match = re.search(r"\) (\d+)", done.stdout)
        versions.add(int(match[1]) if match else None)
    return versions.pop() if len(versions) == 1 else None
