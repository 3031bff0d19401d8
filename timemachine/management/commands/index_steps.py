"""Making steps findable at once: what a worker does in the background, for whoever does not want to wait for it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from timemachine.core.accounts.models import Project
from timemachine.core.pure.numbers import counted
from timemachine.memory.search import indexing


class Command(BaseCommand):
    """Index the steps that no search finds yet; with `--again` every step anew."""

    help = "Make recorded steps findable by search, here and now."

    def add_arguments(self, parser: CommandParser) -> None:
        """`--again` forgets what was indexed before."""
        parser.add_argument("--again", action="store_true", help="index every step anew")

    def handle(self, *_: Any, again: bool = False, **__: Any) -> None:
        """One line for each project."""
        for project in Project.objects.order_by("name"):
            if again:
                indexing.forget(project.id)
            before = indexing.not_indexed(project)
            while indexing.work_off(project.id):
                pass
            left = indexing.not_indexed(project)
            also = f"; {counted(left, 'step')} left, which a worker is at or will take up" if left else ""
            self.stdout.write(f"{project.name}: {counted(before - left, 'step')} indexed{also}")
