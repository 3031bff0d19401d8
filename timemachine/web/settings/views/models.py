"""`/settings/models/`: available models with prices and tests; for administrators, keys and servers."""

from typing import Final
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters
from django_htmx.http import HttpResponseClientRefresh

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure import safe_text
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import UNKNOWN, money_or_unknown
from timemachine.llm import commands
from timemachine.llm.models import ModelTrial
from timemachine.llm.offers import offers_of
from timemachine.llm.pure.listing import Listed
from timemachine.llm.queries import built_in, changes_of, listed_models, resolved_model
from timemachine.llm.trials import try_model
from timemachine.replay.runs.last_answers import last_answers
from timemachine.web import formatting
from timemachine.web.access import Access, get_view, post_view
from timemachine.web.errors import page_message, waiting
from timemachine.web.form_parts import RecordForm
from timemachine.web.http import back_to, is_by_htmx, page, see_other
from timemachine.web.settings.forms.models import ProviderKeyForm, ServerForm

SHOWN_CHANGES: Final = 20


@get_view(fresh=True)
def models(request: HttpRequest, access: Access) -> HttpResponse:
    """List all models available to the project; `next` is the form that someone came from to add a server."""
    return _page(request, access)


@post_view(OPERATOR)
def test(request: HttpRequest, access: Access) -> HttpResponse:
    """Test a model with one small paid call."""
    try:
        trial = try_model(access.project.id, request.POST.get("model", ""), by=access.user.email)
    except TimeMachineError as why:
        messages.error(request, page_message(why))
        return waiting(_page(request, access, status=why.status), why)
    (messages.success if trial.error_code is None else messages.error)(request, _test_result(trial))
    return see_other("settings_models", part=quote(f"model-{trial.model}"))


@sensitive_post_parameters("key")
@post_view(ADMIN)
def set_key(request: HttpRequest, access: Access, provider: str) -> HttpResponse:
    """Store a key for a provider; the page never shows it."""
    name = built_in(provider).provider
    found = next(each for each in listed_models(access.project.id) if each.provider == name)
    form = ProviderKeyForm(found, request.POST)
    made = form.succeeds(
        lambda: commands.set_key(access.project.id, provider, by=access.user.email, **form.cleaned_data)
    )
    if not made:
        if is_by_htmx(request):
            return _form_alone(request, "accounts/models_key_form.html", form)
        return _page(request, access, key_form=form)
    messages.success(request, f"Key for {found.label} saved.")
    return _saved(request, "keys")


@post_view(ADMIN)
def remove_key(request: HttpRequest, access: Access, provider: str) -> HttpResponse:
    """Remove the project's own key for a provider."""
    found = built_in(provider)
    commands.remove_key(access.project.id, provider, by=access.user.email)
    messages.success(request, f"The project's key for {found.label} was removed.")
    return see_other("settings_models", part="keys")


@sensitive_post_parameters("key")
@post_view(ADMIN)
def add_server(request: HttpRequest, access: Access) -> HttpResponse:
    """Add an OpenAI-compatible server."""
    form = ServerForm(request.POST)

    made = form.succeeds(
        lambda: commands.add_server(
            access.project.id,
            name=form.cleaned_data["name"],
            base_url=form.cleaned_data["base_url"],
            api_key=form.cleaned_data["key"],
            default_model=form.cleaned_data["default_model"],
            by=access.user.email,
            created_by_id=access.user.pk,
        )
    )
    if not made:
        if is_by_htmx(request):
            return _form_alone(request, "accounts/models_server_form.html", form)
        return _page(request, access, server_form=form)
    messages.success(request, f"Server {form.cleaned_data['name']} added.")
    return _saved(request, "servers")


@post_view(ADMIN)
def remove_server(request: HttpRequest, access: Access, name: str) -> HttpResponse:
    """Remove a server with its key."""
    commands.remove_server(access.project.id, name, by=access.user.email)
    messages.success(request, f"Server {name} removed.")
    return see_other("settings_models", part="servers")


def _form_alone(request: HttpRequest, template: str, form: RecordForm) -> HttpResponse:
    """Return only the refused form, which htmx sent: the password that was typed then stays in its field."""
    return page(request, template, form=form, status=form.http_status)


def _saved(request: HttpRequest, part: str) -> HttpResponse:
    """Return to the page. One with a form that htmx sent is reloaded, so that nothing that was typed stays in it."""
    if is_by_htmx(request):
        return HttpResponseClientRefresh()
    return see_other("settings_models", part=part)


def _page(
    request: HttpRequest,
    access: Access,
    *,
    status: int = 200,
    key_form: ProviderKeyForm | None = None,
    server_form: ServerForm | None = None,
) -> HttpResponse:
    offers = offers_of(access.project.id, last_answers(access.project.id))
    context: dict[str, object] = {
        "offers": offers,
        "default": str(resolved_model(access.project.id, "")),
        "may_test": access.may(OPERATOR),
        "back": back_to(request) if "next" in request.GET else "",
    }
    if access.administers:
        context |= {
            "key_forms": _key_forms([each.listed for each in offers], key_form),
            "servers": [each.listed for each in offers if each.listed.kind == "server"],
            "server_form": server_form or ServerForm(),
            "changes": changes_of(access.project.id)[:SHOWN_CHANGES],
        }
    refused = key_form or server_form
    return page(request, "accounts/models.html", context, status=refused.http_status if refused else status)


def _key_forms(found: list[Listed], sent: ProviderKeyForm | None) -> list[ProviderKeyForm]:
    """Return a form for each provider with keys: the submitted one with its errors, the others empty."""
    return [
        sent if sent and sent.listed.provider == each.provider else ProviderKeyForm(each)
        for each in found
        if each.key_variable
    ]


def _test_result(trial: ModelTrial) -> str:
    if trial.error_code is not None:
        return f"The test failed. {safe_text.shown(trial.words)}"
    took = formatting.duration(trial.duration_ms)
    used = f"{_count(trial.input_tokens)} input tokens, {_count(trial.output_tokens)} output tokens"
    answer = f"“{safe_text.shown(trial.words)}”" if trial.words else "with an empty answer"
    return f"{trial.model} answered {answer} in {took}: {used}, cost {money_or_unknown(trial.cost_usd)}."


def _count(tokens: int | None) -> str:
    return UNKNOWN if tokens is None else f"{tokens:,}"
