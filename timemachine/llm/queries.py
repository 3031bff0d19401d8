"""What we ask of providers for a project: its servers and keys, what it is offered, the model that a text names, how that is called."""

from contextlib import suppress
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, Unavailable
from timemachine.llm.addresses import is_allowed, is_refused_as_written, read_address
from timemachine.llm.key_encryption import decrypted, is_readable
from timemachine.llm.models import ModelAccessChange, ModelServer, ProviderKey
from timemachine.llm.price_overrides import price_overrides
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


def servers_of(project_id: UUID) -> dict[str, ModelServerValue]:
    """The project's own model servers by name, in the order of their names; without their keys."""
    found = ModelServer.objects.filter(project_id=project_id).order_by("name")
    return {server.name: value_of(server) for server in found}


def keys_of(project_id: UUID) -> dict[str, ProjectKey]:
    """The project's own keys for built-in providers by provider, without the keys themselves."""
    found = ProviderKey.objects.filter(project_id=project_id).order_by("provider")
    return {key.provider: key_value(key) for key in found}


def resolved_model(project_id: UUID, text: str) -> ModelName:
    """The model that the text names here, or `DEFAULT_MODEL` for an empty one. Raises `InvalidInput` (`unknown_model`)."""
    return resolve(text, settings.DEFAULT_MODEL, servers_of(project_id), keys_of(project_id))


def usable_model(project_id: UUID, text: str) -> ModelName:
    """The model that the text names, or `DEFAULT_MODEL` for an empty one, once it is clear that it can be used.

    Raises `InvalidInput` (`unknown_model`) or `Unavailable` (`model_not_usable`, `prices_unreadable`): ask before anything is
    created, above all before a call that could not be priced afterwards.
    """
    price_overrides()
    provider = text.partition(":")[0]  # of the name that a plan has, which is never an alias
    servers = {} if provider == LOCAL or provider in PROVIDERS else servers_of(project_id)
    keys = {} if provider == LOCAL else keys_of(project_id)
    name = resolve(text, settings.DEFAULT_MODEL, servers, keys)
    require_usable(name, servers, keys=keys)
    return name


def listed_models(project_id: UUID) -> tuple[Listed, ...]:
    """All that this project is offered, usable or not."""
    return listed(servers_of(project_id), keys_of(project_id))


def model_choices(project_id: UUID) -> tuple[Choice, ...]:
    """What a form of this project offers, models that only the operator's prices name too, with why one cannot be used."""
    found = listed_models(project_id)
    return choices(found, {each.provider: _named_by_prices(each.provider) for each in found})


def built_in(provider: str) -> Listed:
    """The built-in provider of that name, as a project without keys of its own sees it. Raises `NotFound`."""
    name = ALIASES.get(provider.lower(), provider.lower())
    found = next((each for each in listed({}, {}) if each.provider == name and each.kind == "built_in"), None)
    if found is None:
        raise NotFound(
            f"There is no built-in provider {provider[:40]!r}; there are {', '.join(PROVIDERS)}.",
            code="no_such_provider",
        )
    return found


def changes_of(project_id: UUID) -> QuerySet[ModelAccessChange]:
    """Who changed the project's keys and servers, the newest change first."""
    return ModelAccessChange.objects.filter(project_id=project_id).order_by("-id")


def connection_of(project_id: UUID, name: ModelName) -> Connection:
    """How the model is called for this project, with the key; for `complete` only. Raises `Unavailable`."""
    if name.provider == LOCAL:
        return connection_to(name)
    if name.provider in PROVIDERS:
        return connection_to(name, own_key=_own_key(project_id, name.provider))
    server = ModelServer.objects.filter(project_id=project_id, name=name.provider).first()
    if server is None:
        raise Unavailable(
            f"{name} cannot be used: this project has no model server named {name.provider} any more. "
            f"An administrator can add it again.",
            code="model_not_usable",
            model=str(name),
        )
    return Connection(
        protocol="openai",
        base_url=server.base_url,
        api_key=_key_of_server(server),
        pinned=not is_allowed(read_address(server.base_url), settings.MODEL_HOSTS_ALLOWED),
    )


def value_of(server: ModelServer) -> ModelServerValue:
    """The server as a value, without its key."""
    kept = server.encrypted_key
    return ModelServerValue(
        name=server.name,
        base_url=server.base_url,
        default_model=server.default_model,
        has_key=kept is not None,
        readable=kept is None or is_readable(bytes(kept)),
        allowed=not is_refused_as_written(server.base_url, settings.MODEL_HOSTS_ALLOWED),
    )


def key_value(key: ProviderKey) -> ProjectKey:
    """The key's facts as a value, without the key."""
    return ProjectKey(
        provider=key.provider,
        last_four=key.last_four,
        default_model=key.default_model,
        set_by=key.set_by,
        set_at=key.set_at,
        readable=is_readable(bytes(key.encrypted_key)),
    )


def _named_by_prices(provider: str) -> list[ModelName]:
    """The provider's models that the operator's prices name; none where the prices cannot be read, which the ask then says."""
    with suppress(Unavailable):
        priced = price_overrides().of_provider(provider, now())
        names = [each.model.removeprefix(f"{provider}:") for each in priced]
        return [ModelName(provider=provider, model=name) for name in names if name != ANY]
    return []


def _own_key(project_id: UUID, provider: str) -> str | None:
    kept = ProviderKey.objects.filter(project_id=project_id, provider=provider).first()
    if kept is None:
        return None
    of, mend = (
        f"this project for {PROVIDERS[provider].label}",
        "An administrator has to enter it again under Settings, Models.",
    )
    return decrypted(bytes(kept.encrypted_key), of=of, mend=mend)


def _key_of_server(server: ModelServer) -> str | None:
    if server.encrypted_key is None:
        return None
    kept, of = bytes(server.encrypted_key), f"the model server {server.name}"
    return decrypted(kept, of=of, mend="Remove the server and add it again.")
