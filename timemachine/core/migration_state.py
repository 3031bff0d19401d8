"""Whether the database has every migration of this version."""

from functools import cache
from pathlib import Path

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from timemachine.core.pure.migration_files import migrations_in


def pending_migrations() -> list[str]:
    """Return the names of the migrations that the database lacks, such as `timemachine.0006_workers`."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(".".join(each) for each in _known() - applied.keys())


@cache
def _known() -> frozenset[tuple[str, str]]:
    return frozenset(
        (app.label, name) for app in apps.get_app_configs() for name in migrations_in(Path(app.path))
    )
