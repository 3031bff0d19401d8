"""Whether the database has every migration of this version."""

from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def pending_migrations() -> list[str]:
    """Return the names of the migrations that the database lacks, such as `timemachine.0006_workers`."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(".".join(each) for each in _known() - applied.keys())


@cache
def _known() -> frozenset[tuple[str, str]]:
    """Return the migrations of this version; loading them takes a while."""
    return frozenset(MigrationLoader(None).disk_migrations)
