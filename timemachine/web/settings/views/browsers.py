"""The browsers in which a person is signed in."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.browsers import sign_out_browser, sign_out_browsers
from timemachine.core.pure.numbers import counted
from timemachine.web.access import Access, post_view
from timemachine.web.http import see_other


@post_view()
def sign_out_one(request: HttpRequest, access: Access, browser_id: str) -> HttpResponse:
    """Sign out one of your browsers."""
    if queries.browser(access.user, browser_id).session_key == request.session.session_key:
        logout(request)
        return see_other("sign_in")
    ended = sign_out_browser(access.user, browser_id)
    messages.success(request, f"Signed out: {ended.device or 'unknown browser'}.")
    return see_other("settings", part="browsers")


@post_view()
def sign_out_others(request: HttpRequest, access: Access) -> HttpResponse:
    """Sign out all your other browsers."""
    ended = sign_out_browsers(access.user, but=request.session.session_key)
    messages.success(request, f"{counted(ended, 'other browser')} signed out.")
    return see_other("settings", part="browsers")
