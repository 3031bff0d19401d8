"""Queries for redaction profiles."""

from typing import Final

from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.postgres_text import is_plain
from timemachine.text.redaction.models import RedactionProfile
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE, Profile
from timemachine.text.redaction.pure.rules import read_rules

_NAMED: Final = 10
"""Maximum number of the project's own profiles that an error message lists."""


def versions_of(project: Project, name: str) -> QuerySet[RedactionProfile]:
    """Return the versions of the project's profile with this name, newest first."""
    return RedactionProfile.objects.filter(project=project, name=name).order_by("-version")


def profiles_of(project: Project) -> QuerySet[RedactionProfile]:
    """Return the newest version of each of the project's own profiles that is not retired, by name."""
    newest = RedactionProfile.objects.filter(project=project).order_by("name", "-version").distinct("name")
    return RedactionProfile.objects.filter(id__in=newest.values("id"), retired_at=None).order_by("name")


def profile_row(project: Project, id_or_name: str) -> RedactionProfile:
    """Return the project's own profile: the version with this id, retired or not, or the newest with this name.

    Raises:
        NotFound: There is no such profile.
    """
    found = RedactionProfile.objects.filter(project=project)
    version_id = uuid_of(id_or_name)
    row = found.filter(id=version_id).first() if version_id else None
    if row is None and is_plain(id_or_name):
        row = found.filter(name=id_or_name).order_by("-version").first()
    if row is None:
        own = [f"“{each.name}”" for each in profiles_of(project)[:_NAMED]]
        known = ", ".join([f"{BUILT_IN_HANDLE} (“{BUILT_IN.name}”)", *own])
        raise NotFound(
            f"There is no redaction profile {id_or_name[:60]!r} in this project. Profiles: {known}. "
            "/settings/redaction/ and GET /api/redactions list all of them.",
            code="redaction_not_found",
        )
    return row


def profile_of(project: Project, id_or_name: str) -> Profile:
    """Return the profile with this id or name for a new use: a version by its id, or the newest with the name.

    `built-in` is the built-in profile.

    Raises:
        NotFound: There is no such profile.
        InvalidInput: It is retired.
    """
    if id_or_name in (BUILT_IN_HANDLE, BUILT_IN.name):
        return BUILT_IN
    row = profile_row(project, id_or_name)
    if row.retired_at is not None:
        raise InvalidInput(
            f"The redaction profile {row.name!r} is retired. Choose another one.",
            code="redaction_retired",
            field="redaction",
        )
    return as_profile(row)


def choices_of(project: Project) -> list[Profile]:
    """Return the profiles that can be chosen: the built-in one, then the project's own by name."""
    return [BUILT_IN, *(as_profile(row) for row in profiles_of(project))]


def as_profile(row: RedactionProfile) -> Profile:
    """Return the version as a value."""
    return Profile(id=row.id, name=row.name, version=row.version, rules=read_rules(row.rules))
