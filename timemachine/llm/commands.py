"""Commands on models: set a project's keys and add its servers. Every change is logged."""

import re
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.core.pure.postgres_text import storable
from timemachine.llm.addresses import check_address
from timemachine.llm.key_encryption import encrypted
from timemachine.llm.models import (
    KEY_REMOVED,
    KEY_REPLACED,
    KEY_SET,
    LONGEST_SERVER_NAME,
    SERVER_ADDED,
    SERVER_REMOVED,
    ModelAccessChange,
    ModelServer,
    ProviderKey,
)
from timemachine.llm.pure.catalogue import LONGEST_NAME, RESERVED_NAMES, ModelServerValue, ProjectKey
from timemachine.llm.queries import built_in, key_value, value_of

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST_KEY = 1000
SHOWN_END = 4
LONG_ENOUGH_TO_SHOW = 20
"""The length from which a key's last characters are stored for display."""


@transaction.atomic
def set_key(project_id: UUID, provider: str, key: str, *, default_model: str = "", by: str) -> ProjectKey:
    """Set a project's own key for a built-in provider, encrypted. It takes precedence over the environment's.

    `default_model` is what the provider's name alone means in this project; if empty, the operator decides.

    Raises:
        NotFound: There is no such provider.
        InvalidInput: The provider takes no key, or a request cannot carry the key or the model.
    """
    name, key, model = _keyed_provider(provider), key.strip(), default_model.strip()
    if not key:
        raise InvalidInput(
            "The key is empty. Paste the key from the provider.",
            code="bad_server_value",
            field="key",
        )
    _check_plain(key, LONGEST_KEY, "API key")
    _check_plain(model, LONGEST_NAME - LONGEST_SERVER_NAME, "default model")
    values = {
        "encrypted_key": encrypted(key),
        "last_four": key[-SHOWN_END:] if len(key) >= LONG_ENOUGH_TO_SHOW else "",
        "default_model": model or None,
        "set_by": by,
        "set_at": now(),
    }
    found, new = ProviderKey.objects.update_or_create(project_id=project_id, provider=name, defaults=values)
    _note(project_id, name, KEY_SET if new else KEY_REPLACED, by, last_four=found.last_four)
    record(project_id, "model_key.saved", "provider", name, by=by, replaced=not new)
    return key_value(found)


@transaction.atomic
def remove_key(project_id: UUID, provider: str, *, by: str) -> None:
    """Remove a project's own key with its default model. The environment's key applies again, if there is one.

    Raises `NotFound` if the project has no such key.
    """
    name = _keyed_provider(provider)
    found = ProviderKey.objects.select_for_update().filter(project_id=project_id, provider=name).first()
    if found is None:
        raise NotFound(f"This project does not have its own key for {name}.", code="no_such_provider_key")
    _note(project_id, name, KEY_REMOVED, by, last_four=found.last_four)
    record(project_id, "model_key.removed", "provider", name, by=by)
    found.delete()


def add_server(
    project_id: UUID,
    *,
    name: str,
    base_url: str,
    api_key: str = "",
    default_model: str = "",
    by: str,
    created_by_id: int | None = None,
) -> ModelServerValue:
    """Add an OpenAI-compatible server to a project. Its models are then called `name:model`.

    The key is stored encrypted and cannot be read back. To change a server, remove it and add it again.

    Raises:
        InvalidInput: The name, the address (see `addresses`), the key or the model is not valid.
        Conflict: The project already has a server with this name.
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
            _note(project_id, name, SERVER_ADDED, by)
            record(project_id, "model_server.added", "server", name, by=by, address=address.url)
    except IntegrityError as why:
        raise Conflict(
            f"This project already has a model server named {name}. Remove it first, or choose another name.",
            code="name_taken",
            name=name,
        ) from why
    return value_of(server)


@transaction.atomic
def remove_server(project_id: UUID, name: str, *, by: str) -> None:
    """Remove a server and its key from a project. Recorded calls of its models stay. Raises `NotFound`."""
    removed, _ = ModelServer.objects.filter(project_id=project_id, name=storable(name)).delete()
    if not removed:
        raise NotFound(
            f"This project has no model server named {name!r}.", code="no_such_model_server", name=name
        )
    _note(project_id, name, SERVER_REMOVED, by)
    record(project_id, "model_server.removed", "server", name, by=by)


def _note(project_id: UUID, subject: str, change: str, by: str, *, last_four: str = "") -> None:
    ModelAccessChange.objects.create(
        project_id=project_id, subject=subject, change=change, by=by, last_four=last_four
    )


def _keyed_provider(provider: str) -> str:
    found = built_in(provider)
    if found.key_variable is None:
        raise InvalidInput(
            f"{found.label} needs no key. The operator sets its address.", code="no_key_needed"
        )
    return found.provider


def _check_name(name: str) -> None:
    if name in RESERVED_NAMES:
        raise InvalidInput(
            f"{name} is the name of a built-in provider. Choose another name.",
            code="bad_server_name",
        )
    if len(name) > LONGEST_SERVER_NAME or not _SLUG.fullmatch(name):
        raise InvalidInput(
            f"{name[:LONGEST_SERVER_NAME]!r} is not a valid name for a model server; use at most {LONGEST_SERVER_NAME} lower-case "
            f"letters, digits and single hyphens.",
            code="bad_server_name",
        )


def _check_plain(text: str, longest: int, what: str) -> None:
    if len(text) > longest or not text.isascii() or any(c.isspace() or not c.isprintable() for c in text):
        raise InvalidInput(
            f"The {what} must be at most {longest} printable ASCII characters without spaces.",
            code="bad_server_value",
            field=what.replace(" ", "_").lower(),
        )
