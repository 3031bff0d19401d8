"""The private folder of the server's Unix socket."""

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
    """`run` in the home, or a short folder named by the home's hash if that path is too long or unusual for a socket.

    Creates it if needed. Raises `Unavailable` if others can access it.
    """
    folder = home / "run"
    if not _fits(folder):
        short = f"timemachine-{os.getuid()}-{text_sha256(str(home))[:12]}"
        folder = _runtime_folder() / short
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_private(folder)
    return folder


def clear_socket_folder(home: Path, folder: Path) -> None:
    """Remove an empty folder outside the home."""
    if folder.parent != home and not any(folder.iterdir()):
        folder.rmdir()


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= _LONGEST and _PLAIN.fullmatch(str(folder)) is not None


def _runtime_folder() -> Path:
    chosen = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    return chosen if chosen.is_absolute() and chosen.is_dir() and _fits(chosen / ("x" * 40)) else Path("/tmp")  # noqa: S108  # checked below


def _check_private(folder: Path) -> None:
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return
    raise Unavailable(
        f"{folder} belongs to another user or is accessible to others. Remove it and start again.",
        code="open_socket_folder",
    )
