"""Settings of the witness and the timestamp authority of the project's log."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import InvalidInput
from timemachine.evidence.log.anchors import KINDS, set_anchor
from timemachine.web import access
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.anchors import AnchorsForm
from timemachine.web.settings.views import settings


@never_cache
@require_POST
def set_anchors(request: HttpRequest) -> HttpResponse:
    """Save the URLs; an invalid one is reported, and the other is saved."""
    who = access.of(request)
    who.require(ADMIN)
    form = AnchorsForm(request.POST)
    if not form.is_valid():
        return settings.page(request, who, status=422, anchors_form=form)
    for kind in KINDS:
        try:
            set_anchor(who.project, kind, form.cleaned_data[kind], by=who.user.email)
        except InvalidInput as why:
            form.add_error(kind, why.message)
    if form.errors:
        return settings.page(request, who, status=422, anchors_form=form)
    messages.success(request, "Witness and timestamp authority saved.")
    return see_other("settings", part="evidence-key")
