"""Tokens of browsers in which a person signed in before. Failed sign-ins elsewhere do not delay such a browser.

A token is signed, belongs to one account, is replaced at each sign-in, and stops counting when the password changes. It does
not sign in. Nothing is stored on the server.
"""

from datetime import timedelta

from django.core import signing

from timemachine.core.accounts.models import User
from timemachine.core.pure.ids import public_id

KEPT_FOR = timedelta(days=180)
_SALT = "timemachine.known_browser"


def token_for(user: User) -> str:
    """Return a new token for a browser in which this person has just signed in."""
    return signing.dumps([public_id(), user.pk, user.get_session_auth_hash()], salt=_SALT)


def id_of(token: str, account: str) -> str | None:
    """Return the id of this token; None if the account with this e-mail address does not know it."""
    try:
        browser, of, as_of = signing.loads(token, salt=_SALT, max_age=KEPT_FOR)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=of, email=account).first()
    return browser if user is not None and as_of in user.session_auth_hashes() else None
