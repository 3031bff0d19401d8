"""Remove the second factors of a person who lost them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from timemachine.core.accounts import queries
from timemachine.core.accounts.second_factor.commands import remove_all_factors
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.numbers import counted


class Command(BaseCommand):
    """Remove the second factors and recovery codes of one person, and sign out all their browsers."""

    help = "Remove the second factors of a person who lost them."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the e-mail address."""
        parser.add_argument("--email", required=True, help="e-mail address of the account")

    def handle(self, *_: Any, email: str, **__: Any) -> None:
        """Say how many were removed."""
        try:
            user = queries.person(email)
        except NotFound as why:
            raise CommandError(why.message) from why
        removed = remove_all_factors(user)
        self.stdout.write(f"{counted(removed, 'second factor')} of {user.email} removed.")
