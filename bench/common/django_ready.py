"""Sets Django up on import, for a benchmark that works inside the product; `new_project` creates a project in an empty database."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402


def new_project() -> Project:
    """Return a project in a migrated database."""
    call_command("migrate", verbosity=0, interactive=False)
    return Project.objects.create(name="bench")


def analyze(statement: str = "ANALYZE") -> None:
    """Update the database's statistics now, as autovacuum would within a minute."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
