"""What we change of providers: the servers that a project's administrator adds and removes."""

import re
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from timemachine.base.errors import Conflict, InvalidInput, NotFound
from timemachine.providers.addresses import check_address
from timemachine.providers.catalogue import LONGEST_NAME, RESERVED_NAMES, ModelServerValue
from timemachine.providers.keeping_keys import encrypted
from timemachine.providers.models import LONGEST_SERVER_NAME, ModelServer
from timemachine.providers.queries import value_of

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_KEY = 1000


def add_server(
    project_id: UUID,
    *,
    name: str,
    base_url: str,
    api_key: str = "",
    default_model: str = "",
    created_by_id: int | None = None,
) -> ModelServerValue:
    """Add an OpenAI-compatible server to a project; its models are then `name:model`.

    The key is kept encrypted and cannot be read back; to change a server, remove it and add it again. Raises `InvalidInput`
    for a name, address (see `addresses`), key or model that cannot be, and `Conflict` for a name the project has already.
    """
    _check_name(name)
    address = check_address(base_url, settings.MODEL_HOSTS_ALLOWED)
    key, model = api_key.strip(), default_model.strip()
    _check_plain(key, LONGEST_KEY, "API key")
    _check_plain(model, LONGEST_NAME - LONGEST_SERVER_NAME, "default model")
    try:
        with transaction.atomic():
            server = ModelServer.objects.create(
                project_id=project_id,
                name=name,
                base_url=address.url,
                encrypted_key=encrypted(key) if key else None,
                default_model=model or None,
                created_by_id=created_by_id,
            )
    except IntegrityError as why:
        raise Conflict(
            f"This project has a model server named {name} already; remove it first, or choose another name.",
            code="name_taken",
            name=name,
        ) from why
    return value_of(server)


def remove_server(project_id: UUID, name: str) -> None:
    """Remove a server and its key from a project. What was recorded with its models stays. Raises `NotFound`."""
    removed, _ = ModelServer.objects.filter(project_id=project_id, name=name).delete()
    if not removed:
        raise NotFound(
            f"This project has no model server named {name!r}.", code="no_such_model_server", name=name
        )


def _check_name(name: str) -> None:
    if name in RESERVED_NAMES:
        raise InvalidInput(
            f"{name} is the name of a built-in provider; give your server another one.",
            code="bad_server_name",
        )
    if len(name) > LONGEST_SERVER_NAME or not _SLUG.fullmatch(name):
        raise InvalidInput(
            f"{name[:LONGEST_SERVER_NAME]!r} cannot name a model server; use at most {LONGEST_SERVER_NAME} lower-case "
            f"letters, digits and single hyphens.",
            code="bad_server_name",
        )


def _check_plain(text: str, longest: int, what: str) -> None:
    if len(text) > longest or not text.isascii() or any(c.isspace() or not c.isprintable() for c in text):
        raise InvalidInput(
            f"The {what} has to be at most {longest} printable ASCII characters without white space.",
            code="bad_server_value",
            field=what.replace(" ", "_").lower(),
        )
