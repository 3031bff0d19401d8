"""Models over HTTP: the list with prices, the project's own keys and servers, a test of one."""

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.llm import commands
from timemachine.llm.offers import offers_of
from timemachine.llm.queries import built_in, listed_models, servers_of
from timemachine.llm.schemas import (
    ModelServerIn,
    ModelServerOut,
    ModelServerPage,
    ModelServerRemoved,
    ModelTestIn,
    ModelTestOut,
    OfferOut,
    OfferPage,
    ProviderKeyIn,
    ProviderKeyOut,
    ProviderKeyPage,
)
from timemachine.llm.trials import try_model
from timemachine.replay.runs.last_answers import last_answers

router = Router(tags=["models"])


@router.get("", response=OfferPage, summary="List models")
def index(request: HttpRequest) -> OfferPage:
    """The project's providers: the default model of each name, whether it can be used here, where its key comes from, its prices."""
    project = caller(request, "read").project
    offers = offers_of(project.id, last_answers(project.id))
    return OfferPage.model_construct(items=[OfferOut.of(each) for each in offers], next=None)


@router.post("/test", response=ModelTestOut, summary="Test a model")
def test(request: HttpRequest, payload: ModelTestIn) -> ModelTestOut:
    """Make one small call, which is billed like any other. A failure is also a result."""
    who = caller(request, "run")
    return ModelTestOut.of(try_model(who.project.id, payload.model, by=who.by))


@router.get("/keys", response=ProviderKeyPage, summary="List the project's own keys for providers")
def keys(request: HttpRequest) -> ProviderKeyPage:
    """For each built-in provider that takes a key, where it comes from; never the key."""
    found = listed_models(caller(request, "admin").project.id)
    rows = [ProviderKeyOut.of(each) for each in found if each.key_variable]
    return ProviderKeyPage.model_construct(items=rows, next=None)


@router.get("/keys/{provider}", response=ProviderKeyOut, summary="The project's own key for a provider")
def key(request: HttpRequest, provider: str) -> ProviderKeyOut:
    """Where the provider's key comes from, and who set it; never the key."""
    return _key_of(request, provider)


@router.put("/keys/{provider}", response=ProviderKeyOut, summary="Set the project's own key for a provider")
def set_key(request: HttpRequest, provider: str, payload: ProviderKeyIn) -> ProviderKeyOut:
    """Store a key, encrypted. It is used instead of the environment's, replaces an earlier one, and is never shown again."""
    who = caller(request, "admin")
    commands.set_key(
        who.project.id,
        provider,
        payload.key.get_secret_value(),
        default_model=payload.default_model or "",
        by=who.by,
    )
    return _key_of(request, provider)


@router.delete(
    "/keys/{provider}", response=ProviderKeyOut, summary="Remove the project's own key for a provider"
)
def remove_key(request: HttpRequest, provider: str) -> ProviderKeyOut:
    """Remove the key and its default model. The environment's key, if any, is used again."""
    who = caller(request, "admin")
    commands.remove_key(who.project.id, provider, by=who.by)
    return _key_of(request, provider)


@router.get("/servers", response=ModelServerPage, summary="List model servers")
def servers(request: HttpRequest) -> ModelServerPage:
    """The project's own OpenAI-compatible servers, without their keys."""
    found = servers_of(caller(request, "read").project.id)
    return ModelServerPage.model_construct(
        items=[ModelServerOut.from_attributes(each) for each in found.values()], next=None
    )


@router.post("/servers", response={201: ModelServerOut}, summary="Add a model server")
def add_server(request: HttpRequest, payload: ModelServerIn) -> Status[ModelServerOut]:
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
    return Status(201, ModelServerOut.from_attributes(made))


@router.delete("/servers/{name}", response=ModelServerRemoved, summary="Remove a model server")
def remove_server(request: HttpRequest, name: str) -> ModelServerRemoved:
    """Remove a server and its key. What was recorded with its models stays."""
    who = caller(request, "admin")
    commands.remove_server(who.project.id, name, by=who.by)
    return ModelServerRemoved.model_construct(removed=name)


def _key_of(request: HttpRequest, provider: str) -> ProviderKeyOut:
    project = caller(request, "admin").project
    name = built_in(provider).provider
    return ProviderKeyOut.of(next(each for each in listed_models(project.id) if each.provider == name))
