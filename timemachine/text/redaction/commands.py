"""Commands on redaction profiles: create, change (which creates a version), retire. A version never changes."""

from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.pure.actions import Action
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.postgres_text import is_plain
from timemachine.text.redaction.models import RedactionProfile
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.queries import profiles_of, versions_of

LONGEST_NAME: Final = 100
MOST_PROFILES: Final = 100


def make_profile(
    project: Project, name: str, rules: Rules, *, by: str, profile_id: UUID | None = None
) -> RedactionProfile:
    """Create a profile with version 1, or the next version if the name was retired. Idempotent by `profile_id`.

    Raises:
        InvalidInput: The name is not valid.
        Conflict: The name is taken, or the project has `MOST_PROFILES` profiles.
    """
    if profile_id and (made := RedactionProfile.objects.filter(id=profile_id, project=project).first()):
        return made
    name = checked_name(name)
    if profiles_of(project).count() >= MOST_PROFILES:
        raise Conflict(
            f"This project has {MOST_PROFILES} redaction profiles, which is the limit. Retire one first.",
            code="too_many_profiles",
        )
    newest = versions_of(project, name).first()
    if newest is not None and newest.retired_at is None:
        raise _taken(name)
    return _insert(project, name, newest.version + 1 if newest else 1, rules, by, profile_id)


def change_profile(profile: RedactionProfile, rules: Rules, *, by: str) -> RedactionProfile:
    """Create the next version of a profile with these rules. If they are the current ones, nothing is created.

    Whatever was made with an earlier version keeps it.

    Raises:
        Conflict: The profile is retired, or a newer version exists.
    """
    newest = versions_of(profile.project, profile.name)[0]
    if newest.retired_at is not None:
        raise Conflict(
            f"The redaction profile {profile.name!r} is retired. Create one with that name to use it again.",
            code="redaction_retired",
        )
    if newest.id != profile.id:
        raise Conflict(
            f"The redaction profile {profile.name!r} now has version {newest.version}. Review and edit that version.",
            code="newer_version",
            version=newest.version,
        )
    if newest.rules == rules.as_json():
        return newest
    return _insert(profile.project, profile.name, newest.version + 1, rules, by, None)


def retire_profile(profile: RedactionProfile, *, by: str) -> RedactionProfile:
    """Retire a profile, so that it cannot be chosen any more. Whatever was made with it keeps its rules."""
    versions = versions_of(profile.project, profile.name)
    with transaction.atomic():
        if versions.filter(retired_at=None).update(retired_at=now(), retired_by=by[:254]):
            record(profile.project, "profile.retired", "profile", profile.name, by=by)
    profile.refresh_from_db()
    return profile


def _insert(
    project: Project, name: str, version: int, rules: Rules, by: str, profile_id: UUID | None
) -> RedactionProfile:
    try:
        with transaction.atomic():
            made = RedactionProfile.objects.create(
                id=profile_id or uuid7(),
                project=project,
                name=name,
                version=version,
                rules=rules.as_json(),
                created_by=by[:254],
            )
            action: Action = "profile.created" if version == 1 else "profile.changed"
            record(project, action, "profile", name, by=by, version=version)
    except IntegrityError as why:  # a concurrent request created this version first
        raise _taken(name) from why
    made.refresh_from_db()
    return made


def checked_name(name: str) -> str:
    """Check a profile's name and return it without surrounding white space.

    Raises:
        InvalidInput: The name is not valid.
        Conflict: It is the name of the built-in profile.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or "/" in name or not is_plain(name):
        raise InvalidInput(
            f"A profile name must have 1 to {LONGEST_NAME} characters and no slash.",
            code="invalid_field",
            field="name",
        )
    if name in (BUILT_IN.name, BUILT_IN_HANDLE):
        raise _taken(name)
    return name


def _taken(name: str) -> Conflict:
    return Conflict(
        f"There is already a redaction profile {name!r}. Edit it, or choose another name.",
        code="redaction_exists",
        field="name",
    )
