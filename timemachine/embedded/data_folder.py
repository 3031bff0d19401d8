"""The data folder of `make up`: its lock, the private folder of the server's Unix socket, and a note of the last preparation."""

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import timemachine
from timemachine.core.pure.content import sha256_hex, text_sha256
from timemachine.core.pure.errors import Conflict, Unavailable
from timemachine.core.pure.home import home, write_private

SOCKET = ".s.PGSQL.5432"
_LONGEST = 100  # bytes; Linux allows 107, macOS 103
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")


@contextmanager
def only_one(home: Path, url: str) -> Iterator[None]:
    """Hold `HOME/lock`, which contains the process id and URL. Raises `Conflict` if another process holds it.

    The kernel releases the lock when the process ends, even after kill -9.
    """
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as why:
            pid, _, owner = os.read(descriptor, 1000).decode().strip().partition(" ")
            raise Conflict(
                f"Time Machine is already running: process {pid or 'unknown'}, {owner or 'still starting'}. "
                "`timemachine manage sign_in_link` prints a new sign-in link; to stop it, press Ctrl-C where it runs.",
                code="already_running",
            ) from why
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {url}\n".encode())
        yield
    finally:
        os.close(descriptor)


def socket_folder(home: Path) -> Path:
    """`run` in the home, or a short folder named by the home's hash if that path is too long or unusual for a socket.

    Creates it if needed. Raises `Unavailable` if others can access it.
    """
    folder = home / "run"
    if not _fits(folder):
        short = f"timemachine-{os.getuid()}-{text_sha256(str(home))[:12]}"
        chosen = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
        usable = chosen.is_absolute() and chosen.is_dir() and _fits(chosen / ("x" * 40))
        folder = (chosen if usable else Path("/tmp")) / short  # noqa: S108  # checked below
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Unavailable(
            f"{folder} belongs to another user or is accessible to others. Remove it and start again.",
            code="open_socket_folder",
        )
    return folder


def clear_socket_folder(home: Path, folder: Path) -> None:
    """Remove an empty folder outside the home."""
    if folder.parent != home and not any(folder.iterdir()):
        folder.rmdir()


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= _LONGEST and _PLAIN.fullmatch(str(folder)) is not None


def is_prepared(database_url: str) -> bool:
    """Whether `remember_prepared` was called for this database with the current migrations, SQL and Django.

    Then the web server can start during the next preparation; both take a second. On the first start and after an
    upgrade, the preparation must finish first.
    """
    try:
        return _note().read_text() == _fingerprint(database_url)
    except OSError:
        return False


def remember_prepared(database_url: str) -> None:
    """Note that the preparation of this database succeeded."""
    write_private(_note(), _fingerprint(database_url))


def forget_prepared() -> None:
    """Remove that note: the database will be another one, which lacks the role of the application."""
    _note().unlink(missing_ok=True)


def _note() -> Path:
    return home() / "prepared"


def _fingerprint(database_url: str) -> str:
    folder = Path(timemachine.__path__[0])
    files = sorted([*folder.glob("migrations/*.py"), *folder.glob("sql/*.sql")])
    parts = [f"{path.relative_to(folder)} {sha256_hex(path.read_bytes())}" for path in files]
    return text_sha256("\n".join([database_url, version("django"), *parts])) + "\n"
