"""Django's commands for operators: `.venv/bin/python manage.py help`."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db.utils import OperationalError

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as why:
        first_line = str(why).partition("\n")[0]
        sys.exit(
            f"The database cannot be reached: {first_line}. Start it with `make up`, or set DATABASE_URL."
        )
