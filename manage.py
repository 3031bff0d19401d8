"""Django's own door for operators: `.venv/bin/python manage.py help`."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
    execute_from_command_line(sys.argv)
