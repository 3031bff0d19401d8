"""Django's commands for operators: `timemachine manage help`, or `manage.py help` in a clone."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db.utils import DatabaseError, NotSupportedError


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
    try:
        execute_from_command_line(["timemachine manage", *sys.argv[1:]])
    except NotSupportedError as why:
        sys.exit(f"The database cannot be used: {why}")
    except DatabaseError as why:
        sys.exit(_sentence(why))


def _sentence(why: DatabaseError) -> str:
    """Return why the database failed and what to do. Raises the error if the statement was wrong."""
    from psycopg.errors import UndefinedTable

    from timemachine.core.database import failure_of
    from timemachine.core.pure.database_failures import AWAY

    if isinstance(why.__cause__, UndefinedTable):
        return "The database is not prepared. Run `timemachine manage prepare` first."
    failure = failure_of(why)
    if failure is None:
        raise why
    start = " Start it with `timemachine up`, or set DATABASE_URL." if failure.code == AWAY.code else ""
    return f"{failure.cause} It says: {failure.details}.{start}"


if __name__ == "__main__":
    main()
