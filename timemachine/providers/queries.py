"""What we ask of providers for a project: its own servers, the model that a text names, how that one is called."""

from uuid import UUID

from django.conf import settings

from timemachine.base.errors import Unavailable
from timemachine.providers.addresses import is_allowed, read_address
from timemachine.providers.catalogue import (
    LOCAL,
    Choice,
    Connection,
    ModelName,
    ModelServerValue,
    choices,
    connection_to,
    require_usable,
    resolve,
)
from timemachine.providers.keeping_keys import decrypted
from timemachine.providers.models import ModelServer
from timemachine.providers.overrides import price_overrides
from timemachine.providers.table import PROVIDERS


def servers_of(project_id: UUID) -> dict[str, ModelServerValue]:
    """The project's own model servers by name, in the order of their names; without their keys."""
    found = ModelServer.objects.filter(project_id=project_id).order_by("name")
    return {server.name: value_of(server) for server in found}


def usable_model(project_id: UUID, text: str) -> ModelName:
    """The model that the text names, or `DEFAULT_MODEL` for an empty one, once it is clear that it can be used.

    Raises `InvalidInput` (`unknown_model`) or `Unavailable` (`model_not_usable`, `prices_unreadable`): ask before anything is
    created, above all before a call that could not be priced afterwards.
    """
    price_overrides()
    servers = servers_of(project_id)
    name = resolve(text, settings.DEFAULT_MODEL, servers)
    require_usable(name, servers)
    return name


def model_choices(project_id: UUID) -> tuple[Choice, ...]:
    """What a form of this project offers, with why a model cannot be used where it cannot."""
    return choices(servers_of(project_id))


def connection_of(project_id: UUID, name: ModelName) -> Connection:
    """How the model is called for this project, with the key; for `complete` only. Raises `Unavailable`."""
    if name.provider == LOCAL or name.provider in PROVIDERS:
        return connection_to(name)
    server = ModelServer.objects.filter(project_id=project_id, name=name.provider).first()
    if server is None:
        raise Unavailable(
            f"{name} cannot be used: this project has no model server named {name.provider} any more. "
            f"An administrator can add it again.",
            code="model_not_usable",
            model=str(name),
        )
    kept = server.encrypted_key
    return Connection(
        protocol="openai",
        base_url=server.base_url,
        api_key=None if kept is None else decrypted(bytes(kept), server=server.name),
        pinned=not is_allowed(read_address(server.base_url), settings.MODEL_HOSTS_ALLOWED),
    )


def value_of(server: ModelServer) -> ModelServerValue:
    """The server as a value, without its key."""
    return ModelServerValue(
        name=server.name,
        base_url=server.base_url,
        default_model=server.default_model,
        has_key=server.encrypted_key is not None,
    )
