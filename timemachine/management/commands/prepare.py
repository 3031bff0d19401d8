"""What a start needs before anything serves: the tables."""

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Migrate, then answer one line of JSON."""

    help = "Bring the database up to date, and set up what a first start needs."

    def handle(self, *_: Any, **__: Any) -> None:
        """Everything that is not the answer goes to standard error."""
        call_command("migrate", interactive=False, verbosity=1, stdout=self.stderr)
        self.stdout.write(json.dumps({"sign_in_url": None}))
