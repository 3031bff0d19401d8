"""API keys: create, revoke, authenticate.

The text of a key is `tmk_<id>_<secret>`. The prefix lets secret scanners find leaked keys, the id finds the row, and the
secret has 256 random bits.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import psycopg
from django.db import connection, transaction

from timemachine.core.accounts.models import SCOPES, ApiKey, Project, User
from timemachine.core.accounts.naming import clean_name
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.errors import InvalidInput, NotSignedIn
from timemachine.core.pure.ids import public_id, same_secret, secret, secret_hash
from timemachine.core.pure.numbers import counted

_WRITTEN = re.compile(r"tmk_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
USE_NOTED_EVERY = timedelta(minutes=1)
DEFAULT_LIFETIME = timedelta(days=90)
MOST_DAYS = 3650
_HASH_OF_NO_KEY = secret_hash("")
_NAMES = [each.attname for each in ApiKey._meta.concrete_fields]
_NAMES_OF_PROJECT = [each.attname for each in Project._meta.concrete_fields]
_COLUMNS = ", ".join([*(f'k."{name}"' for name in _NAMES), *(f'p."{name}"' for name in _NAMES_OF_PROJECT)])
_KEY_AND_PROJECT = (
    f"SELECT {_COLUMNS} FROM tm_api_key AS k JOIN tm_project AS p ON p.id = k.project_id WHERE k.id = %s"  # noqa: S608  # column names only
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """The two parts of a key's text."""

    id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"tmk_{self.id}_{self.secret}"


def parse_key(text: str) -> KeyText | None:
    """Parse the text of a key, ignoring surrounding white space. Return None if it is not one."""
    found = _WRITTEN.fullmatch(text.strip())
    return KeyText(id=found[1], secret=found[2]) if found else None


@transaction.atomic
def make_api_key(
    project: Project,
    *,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None = None,
    never_expires: bool = False,
    by: User | None = None,
) -> tuple[ApiKey, str]:
    """Create a key and return it with its text, `tmk_<id>_<secret>`. Only a hash is stored, so the text is never shown
    again. Without `expires_at`, it expires after 90 days, or the longest lifetime of the project if that is less, unless
    `never_expires` is set.

    Raises `InvalidInput` for no scope, an unknown scope, or an expiry that is in the past or later than the project allows.
    """
    name = clean_name(name, of="the key")
    _check_scopes(scopes)
    expires_at = _end_of(project, expires_at, never_expires=never_expires)
    text = KeyText(id=public_id(), secret=secret())
    made = ApiKey.objects.create(
        id=text.id,
        project=project,
        name=name,
        scopes=[scope for scope in SCOPES if scope in scopes],
        secret_sha256=secret_hash(text.secret),
        expires_at=expires_at,
        created_by=by,
    )
    record(
        project,
        "key.created",
        "key",
        made.id,
        name=made.name,
        scopes=made.scopes,
        expires_at=written(expires_at),
    )
    return made, str(text)


@transaction.atomic
def limit_key_lifetime(project: Project, days: int | None) -> None:
    """Set the longest lifetime of new keys, or None for no limit. Existing keys keep theirs. Raises `InvalidInput` if it is
    not from 1 to 3,650 days.
    """
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise InvalidInput(
            f"The longest lifetime is from 1 to {MOST_DAYS:,} days.", code="key_days_out_of_range"
        )
    project.longest_key_days = days
    project.save(update_fields=["longest_key_days"])
    record(project, "setting.changed", "setting", "key lifetime", days=days)


@transaction.atomic
def revoke_api_key(key: ApiKey) -> None:
    """Revoke a key permanently. A key that is already revoked does not change."""
    if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now()):
        record(key.project_id, "key.revoked", "key", key.pk, name=key.name)
    key.refresh_from_db(fields=["revoked_at"])


def authenticate_key(text: str) -> ApiKey:
    """Return the key with this text and its project, and record the use, at most once a minute. Raises the same
    `NotSignedIn` for a key that is unknown, revoked or expired.
    """
    key = valid_key(text)
    if key is None:
        raise NotSignedIn(
            "This API key is unknown, revoked or expired. Create a new one under Settings "
            "or with `timemachine key create`.",
            code="key_not_valid",
        )
    _note_use(key)
    return key


def valid_key(text: str) -> ApiKey | None:
    """Return the key with this text if it is valid, without recording a use. A wrong secret takes as long as an unknown
    id.
    """
    parts = parse_key(text)
    if parts is None:
        return None
    key = _key_with_project(parts.id)
    right = same_secret(parts.secret, key.secret_sha256 if key else _HASH_OF_NO_KEY)
    if key is None or not right or key.revoked_at is not None:
        return None
    return key if key.expires_at is None or key.expires_at > now() else None


def _key_with_project(key_id: str) -> ApiKey | None:
    """Return the key with its project. Every request needs both; building the query with Django takes seven times as
    long.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        row = cursor.execute(_KEY_AND_PROJECT, [key_id]).fetchone()
    if row is None:
        return None
    key = ApiKey.from_db(connection.alias, _NAMES, row[: len(_NAMES)])
    key.project = Project.from_db(connection.alias, _NAMES_OF_PROJECT, row[len(_NAMES) :])
    return key


def _note_use(key: ApiKey) -> None:
    moment = now()
    if key.last_used_at and key.last_used_at > moment - USE_NOTED_EVERY:
        return
    key.last_used_at = moment
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=moment)


def _check_scopes(scopes: Sequence[str]) -> None:
    if not scopes:
        raise InvalidInput(
            f"Give the key at least one scope: {', '.join(SCOPES)}.",
            code="no_scope",
            scopes=list(SCOPES),
        )
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown:
        raise InvalidInput(
            f"Unknown scope {unknown[0]!r}. The scopes are {', '.join(SCOPES)}.",
            code="unknown_scope",
            scopes=list(SCOPES),
        )


def _end_of(project: Project, expires_at: datetime | None, *, never_expires: bool) -> datetime | None:
    moment = now()
    longest = timedelta(days=project.longest_key_days) if project.longest_key_days else None
    if never_expires:
        if expires_at is not None:
            raise InvalidInput("Give either an expiry time or no expiry, not both.", code="two_expiries")
        if longest is not None:
            raise _too_long(project)
        return None
    if expires_at is None:
        return moment + min(DEFAULT_LIFETIME, longest or DEFAULT_LIFETIME)
    if expires_at.tzinfo is None:
        raise InvalidInput("The expiry time has no UTC offset; end it with Z for UTC.", code="not_a_time")
    if expires_at <= moment:
        raise InvalidInput("The expiry time is in the past; choose a later one.", code="already_past")
    if longest is not None and expires_at > moment + longest:
        raise _too_long(project)
    return expires_at


def _too_long(project: Project) -> InvalidInput:
    days = project.longest_key_days
    return InvalidInput(
        f"New API keys of this project expire after at most {counted(days or 0, 'day')}. Choose an earlier expiry, or ask an "
        "administrator to change the limit under Settings.",
        code="key_lives_too_long",
        longest_days=days,
    )
