"""`/settings/models/`: available models with prices and tests; for administrators, keys and servers."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

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
from timemachine.web import access, formatting
from timemachine.web.access import Access
from timemachine.web.errors import waiting
from timemachine.web.redirects import see_other
from timemachine.web.settings.forms.accounts import AccountForm
from timemachine.web.settings.forms.models import FIELD_OF, ProviderKeyForm, ServerForm

SHOWN_CHANGES: Final = 20


@never_cache
@require_safe
def models(request: HttpRequest) -> HttpResponse:
    """List all models available to the project."""
    return _page(request, access.of(request))


@never_cache
@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Test a model with one small paid call."""
    who = access.of(request)
    who.require(OPERATOR)
    try:
        trial = try_model(who.project.id, request.POST.get("model", ""), by=who.user.email)
    except TimeMachineError as why:
        messages.error(request, why.message)
        return waiting(_page(request, who, status=why.status), why)
    (messages.success if trial.error_code is None else messages.error)(request, _test_result(trial))
    return see_other("settings_models")


@never_cache
@sensitive_post_parameters("key")
@require_POST
def set_key(request: HttpRequest, provider: str) -> HttpResponse:
    """Store a key for a provider; the page never shows it."""
    who = access.of(request)
    who.require(ADMIN)
    found = _listed(who, built_in(provider).provider)
    form = ProviderKeyForm(found, request.POST)
    refused = _refused(
        form, lambda said: commands.set_key(who.project.id, provider, by=who.user.email, **said)
    )
    if refused:
        return _page(request, who, status=refused, key_form=form)
    messages.success(request, f"Key for {found.label} saved.")
    return see_other("settings_models", part="keys")


@never_cache
@require_POST
def remove_key(request: HttpRequest, provider: str) -> HttpResponse:
    """Remove the project's own key for a provider."""
    who = access.of(request)
    who.require(ADMIN)
    found = built_in(provider)
    commands.remove_key(who.project.id, provider, by=who.user.email)
    messages.success(request, f"The project's key for {found.label} was removed.")
    return see_other("settings_models", part="keys")


@never_cache
@sensitive_post_parameters("key")
@require_POST
def add_server(request: HttpRequest) -> HttpResponse:
    """Add an OpenAI-compatible server."""
    who = access.of(request)
    who.require(ADMIN)
    form = ServerForm(request.POST)

    def add(said: dict[str, str]) -> object:
        given = {"api_key": said.pop("key"), **said}
        return commands.add_server(who.project.id, by=who.user.email, created_by_id=who.user.pk, **given)

    refused = _refused(form, add)
    if refused:
        return _page(request, who, status=refused, server_form=form)
    messages.success(request, f"Server {form.cleaned_data['name']} added.")
    return see_other("settings_models", part="servers")


@never_cache
@require_POST
def remove_server(request: HttpRequest, name: str) -> HttpResponse:
    """Remove a server with its key."""
    who = access.of(request)
    who.require(ADMIN)
    commands.remove_server(who.project.id, name, by=who.user.email)
    messages.success(request, f"Server {name} removed.")
    return see_other("settings_models", part="servers")


def _page(request: HttpRequest, who: Access, *, status: int = 200, **forms: AccountForm) -> HttpResponse:
    offers = offers_of(who.project.id, last_answers(who.project.id))
    context: dict[str, Any] = {
        "offers": offers,
        "default": str(resolved_model(who.project.id, "")),
        "may_test": who.may(OPERATOR),
    }
    if who.administers:
        context |= {
            "key_forms": _key_forms([each.listed for each in offers], forms.get("key_form")),
            "servers": [each.listed for each in offers if each.listed.kind == "server"],
            "server_form": forms.get("server_form", ServerForm()),
            "changes": changes_of(who.project.id)[:SHOWN_CHANGES],
        }
    return render(request, "accounts/models.html", context, status=status)


def _key_forms(found: list[Listed], sent: AccountForm | None) -> list[ProviderKeyForm]:
    """Return a form for each provider with keys: the submitted one with its errors, the others empty."""
    made = [ProviderKeyForm(each) for each in found if each.key_variable]
    if isinstance(sent, ProviderKeyForm):
        made = [sent if each.listed.provider == sent.listed.provider else each for each in made]
    return made


def _listed(who: Access, provider: str) -> Listed:
    return next(each for each in listed_models(who.project.id) if each.provider == provider)


def _refused(form: AccountForm, command: Callable[[dict[str, Any]], object]) -> int | None:
    """Run the command; return None, or add the error to the form and return the HTTP status."""
    if not form.is_valid():
        return 422
    try:
        command(dict(form.cleaned_data))
    except TimeMachineError as why:
        field = FIELD_OF.get(why.facts.get("field", ""), FIELD_OF_CODE.get(why.code))
        form.add_error(field if field in form.fields else None, why.message)
        return why.status
    return None


FIELD_OF_CODE: Final = {
    "bad_server_name": "name",
    "name_taken": "name",
    "bad_address": "base_url",
    "address_not_allowed": "base_url",
}


def _test_result(trial: ModelTrial) -> str:
    """Return the result of a test in one line."""
    if trial.error_code is not None:
        return f"The test failed. {safe_text.shown(trial.words)}"
    took = formatting.duration(trial.duration_ms)
    used = f"{_count(trial.input_tokens)} input tokens, {_count(trial.output_tokens)} output tokens"
    said = f"“{safe_text.shown(trial.words)}”" if trial.words else "with an empty answer"
    return f"{trial.model} answered {said} in {took}: {used}, cost {money_or_unknown(trial.cost_usd)}."


def _count(tokens: int | None) -> str:
    return UNKNOWN if tokens is None else f"{tokens:,}"
