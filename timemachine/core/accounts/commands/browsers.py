"""Sign out browsers of a person."""

from django.db import transaction

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import BrowserSession, User
from timemachine.core.pure.clock import now


@transaction.atomic
def sign_out_browser(user: User, browser_id: str) -> BrowserSession:
    """Sign out one of the person's browsers, effective from its next request. Raises `NotFound`."""
    found = queries.browser(user, browser_id)
    BrowserSession.objects.filter(pk=found.pk).delete()
    record_of_person(user, "person.browser_signed_out")
    return found


@transaction.atomic
def sign_out_browsers(user: User, *, but: str | None = None, by: str = "") -> int:
    """Sign out all browsers of a person, but not the one with this session key. Return how many. `by` is who does it, if
    that is not who acts in this request.
    """
    ended = len([one for one in queries.browsers_of(user) if one.session_key != but])
    BrowserSession.objects.filter(user=user).exclude(session_key=but or "").delete()
    if ended:
        record_of_person(user, "person.browser_signed_out", by_person=False, by=by, browsers=ended)
    return ended


def delete_ended_sessions() -> None:
    """Delete what the server stored of browsers whose session has ended."""
    BrowserSession.objects.filter(expire_date__lt=now()).delete()
