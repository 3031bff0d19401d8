"""Django's commands for operators: `timemachine manage help`, or `manage.py help` in a clone."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db.utils import OperationalError


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
    try:
        execute_from_command_line(["timemachine manage", *sys.argv[1:]])
    except OperationalError as why:
        first_line = str(why).partition("\n")[0]
        sys.exit(
            f"The database cannot be reached: {first_line}. Start it with `timemachine up`, or set DATABASE_URL."
        )


if __name__ == "__main__":
    main()
