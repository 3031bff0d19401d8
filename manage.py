"""Django's commands for operators: `.venv/bin/python manage.py help`."""

from timemachine.management.__main__ import main

if __name__ == "__main__":
    main()
