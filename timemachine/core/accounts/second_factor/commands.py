"""Set up, check and remove second factors."""

import secrets
from collections.abc import Sequence
from typing import Final

from django.db import transaction

from timemachine.core.accounts import throttle
from timemachine.core.accounts.commands.browsers import sign_out_browsers
from timemachine.core.accounts.commands.links import lock_person
from timemachine.core.accounts.commands.projects import lock_members
from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import Membership, RecoveryCode, SecondFactor, User
from timemachine.core.accounts.naming import clean_name
from timemachine.core.accounts.queries import belongs_elsewhere
from timemachine.core.accounts.second_factor import apps, passkeys
from timemachine.core.accounts.second_factor.passkeys import Site, State
from timemachine.core.accounts.second_factor.queries import factor, passkeys_of
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotAllowed, NotSignedIn
from timemachine.core.pure.ids import secret_hash

CODES: Final = 10
MOST_FACTORS: Final = 10
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"
_GROUPS, _LETTERS_A_GROUP = 4, 4


@transaction.atomic
def add_app(user: User, *, name: str, secret: str, code: str) -> SecondFactor:
    """Add an authenticator app that shows this code. Raises `InvalidInput` for a wrong code or name."""
    counter = apps.counter_of(secret, code)
    if counter is None:
        raise InvalidInput(
            "This is not the code that the app shows now. Check the time of the device, and enter the current code.",
            code="wrong_code",
        )
    return _add(user, name, kind=SecondFactor.APP, secret=apps.encrypted(secret), counter=counter)


@transaction.atomic
def add_passkey(user: User, *, name: str, site: Site, state: State, response: str) -> SecondFactor:
    """Add the passkey with which the browser answered. Raises `InvalidInput` if it does not fit, or for an invalid name."""
    made = passkeys.registered(site, state, response)
    credential = made.credential_data
    if credential is None or SecondFactor.objects.filter(credential_id=credential.credential_id).exists():
        raise InvalidInput("This passkey is already in use here.", code="passkey_not_valid")
    return _add(
        user,
        name,
        kind=SecondFactor.PASSKEY,
        secret=bytes(credential),
        credential_id=credential.credential_id,
        counter=made.counter,
    )


@transaction.atomic
def remove_factor(user: User, factor_id: int) -> SecondFactor:
    """Remove one of the person's second factors; with the last one, also the recovery codes. Raises `NotFound`."""
    found = factor(user, factor_id)
    SecondFactor.objects.filter(pk=found.pk).delete()
    record_of_person(user, "person.second_factor_removed", kind=found.kind)
    if not user.second_factors.exists():
        user.recovery_codes.all().delete()
    return found


@transaction.atomic
def make_recovery_codes(user: User) -> Sequence[str]:
    """Replace the person's recovery codes and return the new ones, of which only hashes are stored."""
    codes = [_new_code() for _ in range(CODES)]
    user.recovery_codes.all().delete()
    RecoveryCode.objects.bulk_create(
        [RecoveryCode(user=user, code_sha256=secret_hash(_plain(code))) for code in codes]
    )
    record_of_person(user, "person.recovery_codes_made")
    return codes


def check_code(user: User, code: str, *, browser: str = "") -> None:
    """Check a code of an authenticator app or a recovery code, which is then used up.

    Raises `NotSignedIn` for a wrong code, and `TooManyRequests` after too many: see `throttle`.
    """
    if not _checked_code(user, code, throttle.subjects_of_second_factor(user, browser=browser)):
        raise NotSignedIn(
            "Wrong code. Enter the code that the app shows now, or a recovery code that was not used yet.",
            code="wrong_second_factor",
        )


@transaction.atomic
def check_passkey(user: User, *, site: Site, state: State, response: str) -> None:
    """Check that one of the person's passkeys signed the challenge. Raises `NotSignedIn`. A signature cannot be guessed, so
    failures are not counted.
    """
    lock_until_commit(f"second factor {user.pk}")
    answer = passkeys.used(site, state, passkeys_of(user), response)
    SecondFactor.objects.filter(pk=answer.factor.pk).update(counter=answer.counter, last_used_at=now())


@transaction.atomic
def remove_all_factors(user: User, *, by: str = "") -> int:
    """Remove all second factors and recovery codes of a person, and sign out the browsers. Return how many factors there
    were. `by` is who does it, if that is not who acts in this request.
    """
    removed, _ = user.second_factors.all().delete()
    user.recovery_codes.all().delete()
    if removed:
        record_of_person(user, "person.second_factors_reset", by_person=False, by=by)
    sign_out_browsers(user, by=by)
    return removed


@transaction.atomic
def reset_factors_of(member: Membership, *, by: User) -> int:
    """Remove all second factors and recovery codes of a member, and return how many factors there were. Raises `NotAllowed`
    if the member also belongs to a project that `by` does not administer.
    """
    lock_members(member.project)
    lock_person(member.user)
    if belongs_elsewhere(member.user, by):
        raise NotAllowed(
            f"{member.user} belongs to other projects too, so no single project can remove that second factor. The operator of "
            f"this server can, with timemachine manage remove_second_factor --email {member.user.email}",
            code="member_elsewhere",
        )
    return remove_all_factors(member.user)


@transaction.atomic
def _checked_code(user: User, code: str, subjects: Sequence[throttle.Subject]) -> bool:
    lock_until_commit(f"second factor {user.pk}")
    throttle.check(subjects)
    if _use_recovery_code(user, code) or _use_app(user, code):
        throttle.forget(subjects)
        return True
    throttle.count_failure(subjects)
    record_of_person(user, "person.second_factor_failed")
    return False


def _use_app(user: User, code: str) -> bool:
    for app in user.second_factors.filter(kind=SecondFactor.APP):
        counter = apps.counter_of(apps.secret_of(app), code, after=app.counter)
        if counter is not None:
            SecondFactor.objects.filter(pk=app.pk).update(counter=counter, last_used_at=now())
            return True
    return False


def _use_recovery_code(user: User, code: str) -> bool:
    used, _ = user.recovery_codes.filter(code_sha256=secret_hash(_plain(code))).delete()
    return bool(used)


def _add(
    user: User, name: str, *, kind: str, secret: bytes, counter: int, credential_id: bytes | None = None
) -> SecondFactor:
    lock_until_commit(f"second factor {user.pk}")
    if user.second_factors.count() >= MOST_FACTORS:
        raise Conflict(
            f"A person can have at most {MOST_FACTORS} second factors. Remove one first.",
            code="too_many_factors",
        )
    record_of_person(user, "person.second_factor_added", kind=kind)
    return SecondFactor.objects.create(
        user=user,
        kind=kind,
        name=clean_name(name, of="the second factor"),
        secret=secret,
        credential_id=credential_id,
        counter=counter,
    )


def _new_code() -> str:
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_LETTERS_A_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def _plain(code: str) -> str:
    return "".join(letter for letter in code.lower() if letter.isalnum())
