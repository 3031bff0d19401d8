"""The folder of the server's Unix socket: private, and with a name that every program can use."""

import os
import re
import stat
from pathlib import Path

from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.errors import Unavailable

SOCKET = ".s.PGSQL.5432"
_LONGEST = 100  # bytes; Linux allows 107, macOS 103
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")


def socket_folder(home: Path) -> Path:
    """`run` in the home; where its name is too long or too odd for a socket, a short folder that the home's hash names.

    It is made where it is missing. Raises `Unavailable` where somebody else could reach into it.
    """
    folder = home / "run"
    if not _fits(folder):
        short = f"timemachine-{os.getuid()}-{text_sha256(str(home))[:12]}"
        folder = _place_for_sockets() / short
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _refuse_a_stranger(folder)
    return folder


def clear_socket_folder(home: Path, folder: Path) -> None:
    """Remove a folder outside the home again, once nothing is in it."""
    if folder.parent != home and not any(folder.iterdir()):
        folder.rmdir()


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= _LONGEST and _PLAIN.fullmatch(str(folder)) is not None


def _place_for_sockets() -> Path:
    chosen = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    return chosen if chosen.is_absolute() and chosen.is_dir() and _fits(chosen / ("x" * 40)) else Path("/tmp")  # noqa: S108  # checked below


def _refuse_a_stranger(folder: Path) -> None:
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return
    raise Unavailable(
        f"{folder} is open to others or not ours, so Postgres' socket is not put there; remove it and start again.",
        code="open_socket_folder",
    )
