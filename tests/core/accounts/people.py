"""People for tests: members of projects, with or without a password."""

from timemachine.core.accounts.models import Membership, Project, User

PASSWORD = "a quiet copper kettle"


def person(email: str, *, name: str = "", password: str | None = PASSWORD) -> User:
    """Return a person who belongs to no project yet; with `password=None` they have no password."""
    user = User(email=email, name=name)
    user.set_password(password)
    user.save()
    return user


def member(project: Project, role: str, email: str = "", *, password: str | None = PASSWORD) -> Membership:
    """Return a new person in a project."""
    user = person(email or f"{role}@example.org", password=password)
    return Membership.objects.create(project=project, user=user, role=role)
