"""A project's model servers, keys and models: which there are, which one a text names, and how it is called."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from time import monotonic
from typing import Final, cast
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, Unavailable
from timemachine.llm.addresses import is_allowed, is_refused_as_written, read_address
from timemachine.llm.key_encryption import decrypted, is_readable
from timemachine.llm.models import ModelAccessChange, ModelServer, ProviderKey
from timemachine.llm.prices import price_overrides, unit_prices
from timemachine.llm.pure.catalogue import (
    ALIASES,
    LOCAL,
    Connection,
    ModelName,
    ModelServerValue,
    ProjectKey,
    connection_to,
    require_usable,
    resolve,
)
from timemachine.llm.pure.listing import Choice, Listed, choices, listed
from timemachine.llm.pure.price_table import ANY
from timemachine.llm.table import PROVIDERS

FRESH_SECONDS: Final = 1.0
"""How long a removed key can still be used."""


def servers_of(project_id: UUID) -> dict[str, ModelServerValue]:
    """Return the project's own model servers by name, sorted, without their keys."""
    found = ModelServer.objects.filter(project_id=project_id).order_by("name")
    return {server.name: value_of(server) for server in found}


def keys_of(project_id: UUID) -> dict[str, ProjectKey]:
    """Return the project's own keys by provider, without the keys themselves."""
    found = ProviderKey.objects.filter(project_id=project_id).order_by("provider")
    return {key.provider: key_value(key) for key in found}


def resolved_model(project_id: UUID, text: str) -> ModelName:
    """Return the model that the text names, or `DEFAULT_MODEL` for an empty text. Raises `InvalidInput` (`unknown_model`)."""
    return resolve(text, settings.DEFAULT_MODEL, servers_of(project_id), keys_of(project_id))


def usable_model(project_id: UUID, text: str) -> ModelName:
    """Return the model that the text names, or `DEFAULT_MODEL` for an empty text, after checking that it can be used.

    Call it before anything is created, and before any call that could not be priced afterwards.

    Raises:
        InvalidInput: `unknown_model`.
        Unavailable: `model_not_usable` or `prices_unreadable`.
    """
    price_overrides()
    provider = text.partition(":")[0]  # plans have resolved names, never aliases
    servers = {} if provider == LOCAL or provider in PROVIDERS else servers_of(project_id)
    keys = {} if provider == LOCAL else keys_of(project_id)
    name = resolve(text, settings.DEFAULT_MODEL, servers, keys)
    require_usable(name, servers, keys=keys)
    return name


def listed_models(project_id: UUID) -> tuple[Listed, ...]:
    """Return all models that this project can choose, usable or not."""
    return listed(servers_of(project_id), keys_of(project_id))


def model_choices(project_id: UUID, recorded: Collection[str] = ()) -> tuple[Choice, ...]:
    """Return the choices of a form, and why one cannot be used.

    These include the `recorded` models of known providers, and models that only the operator's prices name.
    """
    found = listed_models(project_id)
    also = {
        each.provider: [*_of(each.provider, recorded), *_named_by_prices(each.provider)] for each in found
    }
    offered = choices(found, also)
    return tuple(replace(each, per_million=_per_million(each.name)) for each in offered)


def built_in(provider: str) -> Listed:
    """Return the built-in provider with this name, as a project without its own keys sees it. Raises `NotFound`."""
    name = ALIASES.get(provider.lower(), provider.lower())
    found = next((each for each in listed({}, {}) if each.provider == name and each.kind == "built_in"), None)
    if found is None:
        raise NotFound(
            f"There is no built-in provider {provider[:40]!r}; there are {', '.join(PROVIDERS)}.",
            code="no_such_provider",
        )
    return found


def changes_of(project_id: UUID) -> QuerySet[ModelAccessChange]:
    """Return the changes of the project's keys and servers, newest first."""
    return ModelAccessChange.objects.filter(project_id=project_id).order_by("-id")


def connection_of(project_id: UUID, name: ModelName) -> Connection:
    """Return how to call the model for this project, with the key. Only for `complete`. Raises `Unavailable`."""
    if name.provider == LOCAL:
        return connection_to(name)
    if name.provider in PROVIDERS:
        return connection_to(name, own_key=_own_key(project_id, name.provider))
    server = ModelServer.objects.filter(project_id=project_id, name=name.provider).first()
    if server is None:
        raise Unavailable(
            f"{name} cannot be used: this project no longer has a model server named {name.provider}. "
            f"An administrator can add it again.",
            code="model_not_usable",
            model=str(name),
        )
    stored, of = server.encrypted_key, f"the model server {server.name}"
    fix = "Remove the server and add it again."
    return Connection(
        protocol="openai",
        base_url=server.base_url,
        api_key=None if stored is None else decrypted(bytes(stored), of=of, fix=fix),
        pinned=not is_allowed(read_address(server.base_url), settings.MODEL_HOSTS_ALLOWED),
    )


class ModelLookup:
    """Looks up a project's models for many calls and threads, at most once per `FRESH_SECONDS` each.

    A lookup takes three queries, and parallel steps make eighty lookups in a second.
    """

    def __init__(self, project_id: UUID) -> None:
        self._project_id = project_id
        self._known: dict[str, tuple[float, ModelName, Connection]] = {}
        self._lock = Lock()

    def model(self, text: str) -> tuple[ModelName, Connection]:
        """Return the model that the text names, and how to call it. Raises as `usable_model` does."""
        with self._lock:
            until, name, connection = self._known.get(text) or (0.0, None, None)
            if name is None or connection is None or until < monotonic():
                name = usable_model(self._project_id, text)
                connection = connection_of(self._project_id, name)
                self._known[text] = monotonic() + FRESH_SECONDS, name, connection
            return name, connection


def value_of(server: ModelServer) -> ModelServerValue:
    """Return the server as a value, without its key."""
    stored = server.encrypted_key
    return ModelServerValue(
        name=server.name,
        base_url=server.base_url,
        default_model=server.default_model,
        has_key=stored is not None,
        readable=stored is None or is_readable(bytes(stored)),
        allowed=not is_refused_as_written(server.base_url, settings.MODEL_HOSTS_ALLOWED),
    )


def key_value(key: ProviderKey) -> ProjectKey:
    """Return the facts about a key, without the key."""
    return ProjectKey(
        provider=key.provider,
        last_four=key.last_four,
        default_model=key.default_model,
        set_by=key.set_by,
        set_at=key.set_at,
        readable=is_readable(bytes(key.encrypted_key)),
    )


def _of(provider: str, names: Collection[str]) -> list[ModelName]:
    """Return the models of this provider among resolved names."""
    split = (each.partition(":") for each in names)
    return [ModelName(provider=provider, model=model) for of, _, model in split if of == provider and model]


def _named_by_prices(provider: str) -> list[ModelName]:
    """Return the provider's models that the operator's prices name, none if these cannot be read: asking reports that."""
    with suppress(Unavailable):
        priced = price_overrides().of_provider(provider, now())
        names = [each.model.removeprefix(f"{provider}:") for each in priced]
        return [ModelName(provider=provider, model=name) for name in names if name != ANY]
    return []


def _per_million(name: ModelName) -> Mapping[str, float] | None:
    """Return the current prices of a model, None if they are unknown or the operator's prices cannot be read."""
    with suppress(Unavailable):
        prices = unit_prices(name, now())
        return None if prices is None else cast("Mapping[str, float]", prices["per_million_tokens"])
    return None


def _own_key(project_id: UUID, provider: str) -> str | None:
    stored = ProviderKey.objects.filter(project_id=project_id, provider=provider).first()
    if stored is None:
        return None
    of = f"this project for {PROVIDERS[provider].label}"
    fix = "An administrator must enter it again under Settings, Models."
    return decrypted(bytes(stored.encrypted_key), of=of, fix=fix)
