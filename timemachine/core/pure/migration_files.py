"""The migrations of a Django app by the names of their files. Loading them would take a while."""

from functools import cache
from pathlib import Path
from typing import Final

import timemachine

_PACKAGE: Final = Path(timemachine.__path__[0])


def migrations_in(app: Path) -> frozenset[str]:
    """Return the names of the migrations in the folder of an app, such as `0006_workers`."""
    return frozenset(path.stem for path in app.glob("migrations/[!_~]*.py"))


@cache
def own_migrations() -> frozenset[str]:
    """Return the names of the migrations of this version of Time Machine."""
    return migrations_in(_PACKAGE)
