"""What a start needs before anything serves: the tables, and somebody who can sign in."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from timemachine.core.accounts.commands import first_run, make_sign_in_link, sign_in_url
from timemachine.core.pure.home import local_key_file


class Command(BaseCommand):
    """Migrate, set up what a first start needs, then answer one line of JSON."""

    help = (
        "Bring the database up to date, set up what a first start needs, and print a one-time sign-in link."
    )

    # what an operator may have set wrong; the other checks import every page
    requires_system_checks = ("environment",)

    def add_arguments(self, parser: CommandParser) -> None:
        """`--no-local-key` is for servers on which nobody uses the `timemachine` command."""
        parser.add_argument("--no-local-key", action="store_true", help="leave no API key on this machine")

    def handle(self, *_: Any, no_local_key: bool = False, **__: Any) -> None:
        """Everything that is not the answer goes to standard error."""
        Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # WhiteNoise warns where there is none
        call_command("migrate", interactive=False, verbosity=1, stdout=self.stderr)
        start = first_run(None if no_local_key else local_key_file())
        self.stdout.write(json.dumps({"sign_in_url": sign_in_url(make_sign_in_link(start.administrator))}))
