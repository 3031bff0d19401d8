"""A way in for whoever runs the server: when the first link is lost, or a password."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import make_sign_in_link, sign_in_url
from timemachine.core.accounts.models import User
from timemachine.core.pure.errors import NotFound


class Command(BaseCommand):
    """Print a link that signs one person in once, within an hour."""

    help = "Print a one-time sign-in link, by default for the first administrator."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whom the link is for."""
        parser.add_argument("--email", help="the person's e-mail address")

    def handle(self, *_: Any, email: str | None = None, **__: Any) -> None:
        """The link is all that goes to standard output."""
        try:
            user = queries.person(email) if email else _first_administrator()
        except NotFound as why:
            raise CommandError(why.message) from why
        self.stdout.write(sign_in_url(make_sign_in_link(user)))


def _first_administrator() -> User:
    user = queries.first_administrator()
    if user is None:
        raise NotFound("Nobody administers this server yet; run `manage.py prepare` first.")
    return user
