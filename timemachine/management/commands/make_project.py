"""A second project on the same server."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from timemachine.core.accounts import commands, queries
from timemachine.core.pure.errors import TimeMachineError


class Command(BaseCommand):
    """Make a project that one person administers."""

    help = "Make another project; its administrator invites the others."

    def add_arguments(self, parser: CommandParser) -> None:
        """What it is called, and who administers it."""
        parser.add_argument("name")
        parser.add_argument(
            "--administrator", required=True, help="the e-mail address of a person known here"
        )

    def handle(self, *_: Any, name: str, administrator: str, **__: Any) -> None:
        """The new project's id goes to standard output."""
        try:
            project = commands.make_project(name, administrator=queries.person(administrator))
        except TimeMachineError as why:
            raise CommandError(why.message) from why
        self.stdout.write(str(project.pk))
