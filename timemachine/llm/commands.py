"""What we change of providers: the keys that a project's administrators set, the servers that they add, and who did it."""

import re
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

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
"""Characters of a key below which not even its end is kept to be shown."""


@transaction.atomic
def set_key(project_id: UUID, provider: str, key: str, *, default_model: str = "", by: str) -> ProjectKey:
    """Keep a project's own key for a built-in provider, encrypted; one that it had is replaced. It goes before the environment's.

    With it goes the model that the provider's name alone means in this project; an empty one leaves that to the operator.
    Raises `NotFound` for a provider that is none of ours, `InvalidInput` for one that takes no key, and for a key or model that no
    request could carry.
    """
    name, key, model = _keyed_provider(provider), key.strip(), default_model.strip()
    if not key:
        raise InvalidInput(
            "The key is empty; paste the one that the provider gave you.",
            code="bad_server_value",
            field="key",
        )
    _check_plain(key, LONGEST_KEY, "API key")
    _check_plain(model, LONGEST_NAME - LONGEST_SERVER_NAME, "default model")
    kept = {
        "encrypted_key": encrypted(key),
        "last_four": key[-SHOWN_END:] if len(key) >= LONG_ENOUGH_TO_SHOW else "",
        "default_model": model or None,
        "set_by": by,
        "set_at": now(),
    }
    found, new = ProviderKey.objects.update_or_create(project_id=project_id, provider=name, defaults=kept)
    _note(project_id, name, KEY_SET if new else KEY_REPLACED, by, last_four=found.last_four)
    return key_value(found)


@transaction.atomic
def remove_key(project_id: UUID, provider: str, *, by: str) -> None:
    """Remove a project's own key with its default model; the environment's holds again, where there is one. Raises `NotFound`."""
    name = _keyed_provider(provider)
    found = ProviderKey.objects.select_for_update().filter(project_id=project_id, provider=name).first()
    if found is None:
        raise NotFound(f"This project has no key of its own for {name}.", code="no_such_provider_key")
    _note(project_id, name, KEY_REMOVED, by, last_four=found.last_four)
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
            _note(project_id, name, SERVER_ADDED, by)
    except IntegrityError as why:
        raise Conflict(
            f"This project has a model server named {name} already; remove it first, or choose another name.",
            code="name_taken",
            name=name,
        ) from why
    return value_of(server)


@transaction.atomic
def remove_server(project_id: UUID, name: str, *, by: str) -> None:
    """Remove a server and its key from a project. What was recorded with its models stays. Raises `NotFound`."""
    removed, _ = ModelServer.objects.filter(project_id=project_id, name=storable(name)).delete()
    if not removed:
        raise NotFound(
            f"This project has no model server named {name!r}.", code="no_such_model_server", name=name
        )
    _note(project_id, name, SERVER_REMOVED, by)


def _note(project_id: UUID, subject: str, change: str, by: str, *, last_four: str = "") -> None:
    ModelAccessChange.objects.create(
        project_id=project_id, subject=subject, change=change, by=by, last_four=last_four
    )


def _keyed_provider(provider: str) -> str:
    found = built_in(provider)
    if found.key_variable is None:
        raise InvalidInput(
            f"{found.label} takes no key; its address is the operator's to set.", code="no_key_needed"
        )
    return found.provider


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
