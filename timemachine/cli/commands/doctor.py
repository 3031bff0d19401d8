"""`doctor`: what is wrong with this machine, the server, its database or its workers, and what to do."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.failure import Failure
from timemachine.cli.output.table import aligned, width
from timemachine.cli.terminal import checked_when_shown, show
from timemachine.client.errors import ClientError
from timemachine.client.server import find_server
from timemachine.core.pure.disk_space import LEAST_FREE_MB, disk_space
from timemachine.core.pure.home import home, local_key_file, running_server, secret_key_file
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client

_DEFAULT_PORT: Final = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a check: a sentence about it, which says what to do if it is not ok."""

    name: str
    ok: bool
    message: str


@click.command(cls=OneEach)
@options.as_json
def doctor() -> None:
    """Check this machine, the server, its database and its workers, and say what to do.

    The exit code is 1 if a check failed.
    """
    found = [*_of_this_machine(), *_of_the_server()]
    with checked_when_shown(lambda: _refuse_failed(found)):
        show({"items": [asdict(each) for each in found], "next": None}, _lines(found))


def _refuse_failed(found: Iterable[Finding]) -> None:
    failed = [each.name for each in found if not each.ok]
    if failed:
        raise Failure(f"{counted(len(failed), 'check')} failed: {', '.join(failed)}.")


def _lines(found: list[Finding]) -> Iterator[str]:
    longest = max(width(each.name) for each in found)
    for each in found:
        yield f"{'ok    ' if each.ok else 'FAILED'}  {aligned(each.name, longest)}  {each.message}"


def _of_this_machine() -> Iterator[Finding]:
    folder = home()
    if folder.is_dir():
        yield _folder_access()
        yield _free_space()
        yield from _database_files()
    elif folder.exists():
        yield Finding(
            name="data folder",
            ok=False,
            message=f"{folder} is not a folder. Set TIMEMACHINE_HOME to another one.",
        )
    yield from _local_server()
    yield _spool()


def _free_space() -> Finding:
    written = os.environ.get("MIN_FREE_DISK_MB", "").strip()
    disk = disk_space(home(), least_mb=int(written) if written.isdecimal() else LEAST_FREE_MB)
    message = f"{disk.free:,} MB are free on the disk of the data folder."
    if not disk.is_enough:
        message += f" Make it {disk.needed:,} MB or more (MIN_FREE_DISK_MB)."
    return Finding(name="free space", ok=disk.is_enough, message=message)


def _folder_access() -> Finding:
    """Whether the data folder and the secrets in it are only for this user."""
    folder = home()
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        message = (
            f"You cannot write to {folder}. Run this as its owner, or set TIMEMACHINE_HOME to another folder."
        )
        return Finding(name="data folder", ok=False, message=message)
    for secret in (secret_key_file(), local_key_file()):
        if secret.exists() and stat.S_IMODE(secret.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
            message = f"Others can read {secret}. Run: chmod 600 {secret}"
            return Finding(name="data folder", ok=False, message=message)
    return Finding(name="data folder", ok=True, message=f"{folder} is writable, and its keys are private.")


def _database_files() -> Iterator[Finding]:
    """Whether this version can start the database in the data folder, if there is one."""
    data = home() / "postgres"
    if find_spec("timemachine.embedded") is None or not (
        data.exists() or data.with_name("upgrading").exists()
    ):
        return
    from timemachine.core.pure.errors import TimeMachineError
    from timemachine.embedded.postgres import VERSION, refuse_other_version

    try:
        refuse_other_version(data)
    except TimeMachineError as why:
        yield Finding(name="database files", ok=False, message=why.message)
    else:
        message = f"This version can start the database in the data folder, PostgreSQL {VERSION}."
        yield Finding(name="database files", ok=True, message=message)


def _local_server() -> Iterator[Finding]:
    """What the note in the data folder says, and without a server, whether the port is free for one."""
    running = running_server()
    if running is not None:
        lives = _is_running(running.pid)
        message = (
            f"`timemachine up` runs here, as process {running.pid}."
            if lives
            else "The last server here was killed. Start it again with `timemachine up`."
        )
        yield Finding(name="local server", ok=lives, message=message)
    elif not os.environ.get("TIMEMACHINE_URL", "").strip():
        written = os.environ.get("PORT", "").strip()
        yield _port(int(written) if written.isdecimal() else _DEFAULT_PORT)


def _port(port: int) -> Finding:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as why:
            message = f"Port {port} cannot be used ({getattr(why, 'strerror', why)}). Set PORT to another one, such as PORT=8001."
            return Finding(name="port", ok=False, message=message)
    return Finding(name="port", ok=True, message=f"Port {port} is free.")


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _spool() -> Finding:
    from timemachine.client.recording.spool import spool_folder
    from timemachine.client.recording.waiting_recordings import IN_USE, remaining_in

    try:
        waiting = [each for each in remaining_in(spool_folder()) if each.state != IN_USE]
    except (ClientError, OSError) as why:
        return Finding(name="spool", ok=False, message=str(why))
    if not waiting:
        return Finding(name="spool", ok=True, message="Everything recorded on this machine was delivered.")
    verb = "was" if len(waiting) == 1 else "were"
    message = f"{counted(len(waiting), 'recording')} of this machine {verb} not delivered. See `timemachine spool list`."
    return Finding(name="spool", ok=False, message=message)


def _of_the_server() -> Iterator[Finding]:
    try:
        server = find_server(os.environ)
    except ClientError as why:
        yield Finding(name="server", ok=False, message=why.message)
        return
    from timemachine.client.client import Client  # httpx takes 0.2 s to import

    client = click.get_current_context().with_resource(Client(server))
    try:
        answer = client.connection.ready()
    except ClientError as why:
        yield Finding(name="server", ok=False, message=why.message)
        return
    yield from _health(client.url, answer)
    yield from _key(client)


def _health(url: str, answer: dict[str, Any]) -> Iterator[Finding]:
    ready = answer["status"] == "ready"
    message = f"{url} is ready." if ready else f"{url} is not ready: {answer.get('why', answer['status'])}"
    yield Finding(name="server", ok=ready, message=message)
    checks = answer.get("checks")
    for name, check in (checks if isinstance(checks, dict) else {}).items():
        if isinstance(check, dict) and {"ok", "message"} <= check.keys():
            yield Finding(name=name, ok=bool(check["ok"]), message=str(check["message"]))


def _key(client: Client) -> Iterator[Finding]:
    try:
        project = client.project()
    except ClientError as why:
        yield Finding(name="API key", ok=False, message=why.message)
        return
    scopes = ", ".join(project["scopes"])
    yield Finding(name="API key", ok=True, message=f"It is accepted for {project['name']}: {scopes}.")
    here, there = version("timemachine-client"), project["version"]
    message = f"The server and this command are version {here}."
    if here != there:
        message = f"The server is version {there}, this command is {here}. Install the same version."
    yield Finding(name="version", ok=here == there, message=message)
