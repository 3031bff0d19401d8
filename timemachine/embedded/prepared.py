"""Remember that a database was prepared by this version of the code, so that the web server can start during the next check.

Both take a second. On the first start and after an upgrade, the preparation must finish first.
"""

from importlib.metadata import version
from pathlib import Path

import timemachine
from timemachine.core.pure.content import sha256_hex, text_sha256
from timemachine.core.pure.home import home, write_private


def is_prepared(database_url: str) -> bool:
    """Whether `remember` was called for this database with the current migrations, SQL and Django."""
    try:
        return _note().read_text() == _fingerprint(database_url)
    except OSError:
        return False


def remember(database_url: str) -> None:
    """Note that the preparation of this database succeeded."""
    write_private(_note(), _fingerprint(database_url))


def _note() -> Path:
    return home() / "prepared"


def _fingerprint(database_url: str) -> str:
    folder = Path(timemachine.__path__[0])
    files = sorted([*folder.glob("migrations/*.py"), *folder.glob("sql/*.sql")])
    parts = [f"{path.relative_to(folder)} {sha256_hex(path.read_bytes())}" for path in files]
    return text_sha256("\n".join([database_url, version("django"), *parts])) + "\n"
