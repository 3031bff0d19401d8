"""Print a sign-in link, for a lost first link or a lost password."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url
from timemachine.core.accounts.models import User
from timemachine.core.pure.errors import NotFound


class Command(BaseCommand):
    """Print a link that signs one person in once, within an hour."""

    help = "Print a one-time sign-in link, by default for the first administrator."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the e-mail address."""
        parser.add_argument("--email", help="e-mail address of the account")

    def handle(self, *_: Any, email: str | None = None, **__: Any) -> None:
        """Print only the link to standard output."""
        try:
            user = queries.person(email) if email else _first_administrator()
        except NotFound as why:
            raise CommandError(why.message) from why
        self.stdout.write(sign_in_url(make_sign_in_link(user)))


def _first_administrator() -> User:
    user = queries.first_administrator()
    if user is None:
        raise NotFound("This server has no administrator yet. Run `timemachine manage prepare` first.")
    return user
