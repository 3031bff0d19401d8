"""The second step of signing in: a code of an authenticator app, a recovery code, or a passkey."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from timemachine.core.accounts.models import SecondFactor, User
from timemachine.core.accounts.second_factor import commands, passkeys
from timemachine.core.accounts.second_factor.queries import factors_of, passkeys_of
from timemachine.core.pure.errors import NotSignedIn, TooManyRequests, Unavailable
from timemachine.web.errors import waiting
from timemachine.web.form_parts import RecordForm
from timemachine.web.http import page, see_other
from timemachine.web.row_security import for_every_project
from timemachine.web.settings.forms.second_factor import CodeForm, PasskeyAnswerForm
from timemachine.web.settings.signing_in import finish, first_step, site_of
from timemachine.web.settings.this_browser import known_browser

_STATE: Final = "passkey_challenge"


@never_cache
@sensitive_post_parameters("code", "response")
@require_http_methods(["GET", "HEAD", "POST"])
@for_every_project
def second_step(request: HttpRequest) -> HttpResponse:
    """Ask for the second factor and check it. Without a recent first step, start again."""
    begun = first_step(request)
    if begun is None:
        return see_other("sign_in")
    step, user = begun
    if request.method != "POST":
        return _page(request, user, CodeForm())
    form: RecordForm = (
        PasskeyAnswerForm(request.POST) if "response" in request.POST else CodeForm(request.POST)
    )
    if not form.is_valid():
        return _page(request, user, form)
    try:
        _check(request, user, form)
    except (NotSignedIn, TooManyRequests, Unavailable) as why:
        form.refuse(why)
        return waiting(_page(request, user, form), why)
    return finish(request, step, user)


def _check(request: HttpRequest, user: User, form: RecordForm) -> None:
    if isinstance(form, PasskeyAnswerForm):
        state, response = request.session.pop(_STATE, {}), form.cleaned_data["response"]
        commands.check_passkey(user, site=site_of(request), state=state, response=response)
    else:
        commands.check_code(user, form.cleaned_data["code"], browser=known_browser(request))


def _page(request: HttpRequest, user: User, form: RecordForm) -> HttpResponse:
    kinds = {one.kind for one in factors_of(user)}
    code_form = form if isinstance(form, CodeForm) else CodeForm()
    if SecondFactor.APP not in kinds:
        code_form.fields["code"].help_text = "One of your recovery codes."
    facts: dict[str, object] = {
        "form": code_form,
        "note": "" if isinstance(form, CodeForm) else " ".join(str(one) for one in form.non_field_errors()),
        "email": user.email,
    }
    site = site_of(request)
    if SecondFactor.PASSKEY in kinds and site.can_have_passkeys:
        facts["passkey_options"], request.session[_STATE] = passkeys.begin_use(site, passkeys_of(user))
    return page(request, "accounts/second_step.html", facts, status=form.http_status)
