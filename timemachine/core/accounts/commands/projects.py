"""Projects, and what people are called."""

from django.db import transaction

from timemachine.core.accounts.models import ADMIN, Membership, Project, User
from timemachine.core.accounts.naming import clean_name


@transaction.atomic
def make_project(name: str, *, administrator: User) -> Project:
    """A new project with its first administrator. Raises `InvalidInput` for a name that is none."""
    project = Project.objects.create(name=clean_name(name, of="the project"))
    Membership.objects.create(project=project, user=administrator, role=ADMIN)
    return project


def rename_project(project: Project, name: str) -> None:
    """Give a project another name. Raises `InvalidInput` for a name that is none."""
    project.name = clean_name(name, of="the project")
    project.save(update_fields=["name"])


def rename_person(user: User, name: str) -> None:
    """Give a person another name. Raises `InvalidInput` for a name that is none."""
    user.name = clean_name(name, of="this person")
    user.save(update_fields=["name"])
