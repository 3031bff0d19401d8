"""Whether a database was prepared by this very code: then the web server may load while that is checked once more.

Loading it takes a second, and so does the preparation; on a first start and after an upgrade they go one after the other.
"""

from importlib.metadata import version
from pathlib import Path

import timemachine
from timemachine.core.pure.content import sha256_hex, text_sha256
from timemachine.core.pure.home import home, write_private


def is_prepared(database_url: str) -> bool:
    """Whether `remember` was last called for this database, with the migrations, the SQL and the Django of today."""
    try:
        return _note().read_text() == _fingerprint(database_url)
    except OSError:
        return False


def remember(database_url: str) -> None:
    """The preparation of this database succeeded."""
    write_private(_note(), _fingerprint(database_url))


def _note() -> Path:
    return home() / "prepared"


def _fingerprint(database_url: str) -> str:
    folder = Path(timemachine.__path__[0])
    files = sorted([*folder.glob("migrations/*.py"), *folder.glob("sql/*.sql")])
    parts = [f"{path.relative_to(folder)} {sha256_hex(path.read_bytes())}" for path in files]
    return text_sha256("\n".join([database_url, version("django"), *parts])) + "\n"
