"""Turn the project's answer cache on and off, and empty it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.numbers import counted
from timemachine.recording.answering import cache as answer_cache
from timemachine.web import access
from timemachine.web.redirects import see_other


@never_cache
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Turn the cache on, or off for any value other than `on`."""
    who = access.of(request)
    who.require(ADMIN)
    on = request.POST.get("switch") == "on"
    answer_cache.switch(who.project, on=on, by=who.user.email)
    messages.success(request, f"The answer cache is {'on' if on else 'off'}.")
    return see_other("settings", part="answer-cache")


@never_cache
@require_POST
def empty(request: HttpRequest) -> HttpResponse:
    """Empty the cache."""
    who = access.of(request)
    who.require(ADMIN)
    removed = answer_cache.empty(who.project)
    messages.success(
        request, f"{counted(removed, 'answer')} removed from the cache. Recorded sessions do not change."
    )
    return see_other("settings", part="answer-cache")
