"""Create another project on this server."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands import projects
from timemachine.core.pure.errors import TimeMachineError


class Command(BaseCommand):
    """Create a project with one administrator."""

    help = "Create another project. Its administrator can invite others."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name and the administrator."""
        parser.add_argument("name")
        parser.add_argument(
            "--administrator", required=True, help="the e-mail address of an existing account"
        )

    def handle(self, *_: Any, name: str, administrator: str, **__: Any) -> None:
        """Create the project and print its id."""
        try:
            project = projects.make_project(name, administrator=queries.person(administrator))
        except TimeMachineError as why:
            raise CommandError(why.message) from why
        self.stdout.write(str(project.pk))
