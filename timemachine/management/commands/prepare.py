"""Prepare the database before anything starts: migrations and a first administrator."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from timemachine.core.accounts.commands.first_start import first_run
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url
from timemachine.core.pure.home import local_key_file


class Command(BaseCommand):
    """Migrate, set up a first start, then print one line of JSON."""

    help = "Migrate the database, set up a first start, and print a one-time sign-in link."

    # check the operator's settings; the other checks import every page
    requires_system_checks = ("environment",)

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--no-local-key`, for servers without the `timemachine` command."""
        parser.add_argument(
            "--no-local-key", action="store_true", help="do not create an API key for this machine"
        )

    def handle(self, *_: Any, no_local_key: bool = False, **__: Any) -> None:
        """Print the answer to standard output and everything else to standard error."""
        Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # WhiteNoise warns without it
        call_command("migrate", interactive=False, verbosity=1, stdout=self.stderr)
        administrator = first_run(None if no_local_key else local_key_file())
        self.stdout.write(json.dumps({"sign_in_url": sign_in_url(make_sign_in_link(administrator))}))
