"""Models over HTTP: which there are and what they cost, the project's own keys and servers, a test of one."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import model_schemas
from timemachine.api.access import caller
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.llm import commands
from timemachine.llm.models import ModelTrial
from timemachine.llm.offers import Offer, offers_of
from timemachine.llm.pure.catalogue import ModelServerValue
from timemachine.llm.pure.listing import Listed
from timemachine.llm.queries import built_in, listed_models, servers_of
from timemachine.llm.trials import try_model
from timemachine.replay.runs.last_answers import last_answers

router = Router(tags=["models"])


@router.get("", summary="List models")
def index(request: HttpRequest) -> dict[str, Any]:
    """What the project is offered: each name's default model, whether it can be used here, where its key comes from, its prices."""
    project = caller(request, "read").project
    return {
        "items": [offer_json(each) for each in offers_of(project.id, last_answers(project.id))],
        "next": None,
    }


@router.post("/test", summary="Test a model")
def test(request: HttpRequest, payload: model_schemas.ModelTestIn) -> dict[str, Any]:
    """Make one small call, which is paid for like any other; what came of it, also where that is a failure."""
    who = caller(request, "run")
    return trial_json(try_model(who.project.id, payload.model, by=who.by))


@router.get("/keys", summary="List the project's own keys for providers")
def keys(request: HttpRequest) -> dict[str, Any]:
    """For each built-in provider that takes a key, where it comes from; never the key."""
    found = listed_models(caller(request, "admin").project.id)
    return {"items": [key_json(each) for each in found if each.key_variable], "next": None}


@router.get("/keys/{provider}", summary="The project's own key for a provider")
def key(request: HttpRequest, provider: str) -> dict[str, Any]:
    """Where the provider's key comes from, and who set it; never the key."""
    return _key_of(request, provider)


@router.put("/keys/{provider}", summary="Set the project's own key for a provider")
def set_key(request: HttpRequest, provider: str, payload: model_schemas.ProviderKeyIn) -> dict[str, Any]:
    """Keep a key, encrypted, which goes before the environment's; it is never shown again, and replaces the one before."""
    who = caller(request, "admin")
    commands.set_key(
        who.project.id,
        provider,
        payload.key.get_secret_value(),
        default_model=payload.default_model or "",
        by=who.by,
    )
    return _key_of(request, provider)


@router.delete("/keys/{provider}", summary="Remove the project's own key for a provider")
def remove_key(request: HttpRequest, provider: str) -> dict[str, Any]:
    """Remove the key and its default model; the environment's holds again, where there is one."""
    who = caller(request, "admin")
    commands.remove_key(who.project.id, provider, by=who.by)
    return _key_of(request, provider)


@router.get("/servers", summary="List model servers")
def servers(request: HttpRequest) -> dict[str, Any]:
    """The project's own OpenAI-compatible servers, without their keys."""
    found = servers_of(caller(request, "read").project.id)
    return {"items": [server_json(each) for each in found.values()], "next": None}


@router.post("/servers", response={201: dict[str, Any]}, summary="Add a model server")
def add_server(request: HttpRequest, payload: model_schemas.ModelServerIn) -> Status[dict[str, Any]]:
    """Add an OpenAI-compatible server; its models are then `name:model`. Its key is never shown again."""
    who = caller(request, "admin")
    made = commands.add_server(
        who.project.id,
        name=payload.name,
        base_url=payload.base_url,
        api_key=payload.key.get_secret_value() if payload.key else "",
        default_model=payload.default_model or "",
        by=who.by,
    )
    return Status(201, server_json(made))


@router.delete("/servers/{name}", summary="Remove a model server")
def remove_server(request: HttpRequest, name: str) -> dict[str, Any]:
    """Remove a server with its key; what was recorded with its models stays."""
    who = caller(request, "admin")
    commands.remove_server(who.project.id, name, by=who.by)
    return {"removed": name}


def offer_json(offer: Offer) -> dict[str, Any]:
    """A model that is offered: `model` is the one that its name alone means, `prices` those of today, None where unknown.

    `usable` says that it can be called, `state` whether it works as far as is known: `yes`, `no`, `not_checked`, `not_reached`;
    `remark` says why not, or what else is to be known. `also_priced` are the operator's prices for other models of the provider.
    """
    found = offer.listed
    return {
        "provider": found.provider,
        "kind": found.kind,
        "model": None if found.model is None else str(found.model),
        "label": found.label,
        "usable": found.usability.usable,
        "state": offer.state,
        "why_not": found.usability.why_not,
        "remark": offer.remark,
        "key": found.key_source,
        "key_variable": found.key_variable,
        "base_url": found.base_url,
        "prices": offer.prices,
        "also_priced": [
            {
                "model": each.model,
                "per_million_tokens": {name: float(price) for name, price in each.per_million_tokens.items()},
            }
            for each in offer.also_priced
        ],
        "last_answer": None
        if offer.answered is None
        else {"model": offer.answered.model, "at": written(offer.answered.at)},
        "last_test": None if offer.trial is None else trial_json(offer.trial),
    }


def key_json(found: Listed) -> dict[str, Any]:
    """A provider's key without the key: `source` is `project`, `environment` or `missing`; the rest is of the project's own."""
    own = found.own_key
    return {
        "provider": found.provider,
        "source": found.key_source,
        "set": own is not None,
        "last_four": own.last_four or None if own else None,
        "default_model": own.default_model if own else None,
        "set_by": own.set_by if own else None,
        "set_at": written(own.set_at) if own else None,
        "readable": own.readable if own else None,
        "variable": found.key_variable,
        "base_url": found.base_url,
    }


def server_json(server: ModelServerValue) -> dict[str, Any]:
    """A server without its key."""
    return {
        "name": server.name,
        "base_url": server.base_url,
        "default_model": server.default_model,
        "has_key": server.has_key,
    }


def trial_json(trial: ModelTrial) -> dict[str, Any]:
    """What came of a test: `ok` None while it runs; `words` is the beginning of the answer, or what went wrong."""
    return {
        "model": trial.model,
        "ok": None if trial.ended_at is None else trial.error_code is None,
        "error": trial.error_code,
        "words": trial.words,
        "by": trial.by,
        "at": written(trial.started_at),
        "duration_ms": trial.duration_ms,
        "input_tokens": trial.input_tokens,
        "output_tokens": trial.output_tokens,
        "cost_usd": dollars(trial.cost_usd),
        "prices": trial.prices,
    }


def _key_of(request: HttpRequest, provider: str) -> dict[str, Any]:
    project = caller(request, "admin").project
    name = built_in(provider).provider
    return key_json(next(each for each in listed_models(project.id) if each.provider == name))
