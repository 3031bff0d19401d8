"""Index steps now, instead of waiting for a worker."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from timemachine.core.accounts.models import Project
from timemachine.core.pure.numbers import counted
from timemachine.memory.search import indexing


class Command(BaseCommand):
    """Index the waiting steps, or with `--again` every step."""

    help = "Index recorded steps for search now."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--again`, which removes the index first."""
        parser.add_argument("--again", action="store_true", help="index every step again")

    def handle(self, *_: Any, again: bool = False, **__: Any) -> None:
        """Index each project and print a line for it."""
        for project in Project.objects.order_by("name"):
            if again:
                indexing.delete_index(project.id)
            before = indexing.count_not_indexed(project)
            while indexing.index_new_steps(project.id):
                pass
            left = indexing.count_not_indexed(project)
            also = f"; {counted(left, 'step')} left for a worker" if left else ""
            self.stdout.write(f"{project.name}: {counted(before - left, 'step')} indexed{also}")
