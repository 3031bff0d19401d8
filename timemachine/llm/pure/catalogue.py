"""Which models there are, their names, and whether they can be used here.

A model is written `provider:model`; a provider alone means its default model. The built-in providers are in `table`;
others are servers that an administrator adds to a project under a name.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches

from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.core.pure.secret_settings import secret
from timemachine.llm.table import PROVIDERS, Protocol, Provider

LOCAL = "local"
LONGEST_NAME = 200
EXTRACTIVE: Mapping[str, int] = {"extractive-1": 1, "extractive-3": 3, "extractive-5": 5}
"""The local models, and how many sentences each answers with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A resolved model. `str(name)` is what is recorded, and `of` reads it again."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"

    @classmethod
    def of(cls, recorded: str) -> "ModelName":
        provider, _, model = recorded.partition(":")
        return cls(provider=provider, model=model)

    @property
    def protocol(self) -> Protocol:
        """The protocol of its server: OpenAI's, if an administrator added the server."""
        if self.provider == LOCAL:
            return "local"
        return PROVIDERS[self.provider].protocol if self.provider in PROVIDERS else "openai"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServerValue:
    """An OpenAI-compatible server of a project, without its key.

    `readable`: its stored key can be decrypted. `allowed`: its URL as written does not need the operator's permission
    (host names are resolved only when the server is called).
    """

    name: str
    base_url: str
    default_model: str | None
    has_key: bool
    readable: bool = True
    allowed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectKey:
    """Facts about a project's own key for a built-in provider: who set it, when, and its last characters."""

    provider: str
    last_four: str
    default_model: str | None
    set_by: str
    set_at: datetime
    readable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How to call a model.

    `pinned`: connect only to public addresses, resolving each name once (against DNS rebinding). `own_key`: the key is
    the project's, so nothing that identifies the operator's account is sent.
    """

    protocol: Protocol
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    pinned: bool = False
    limit_parameter: str = "max_tokens"
    seed_parameter: str | None = "seed"
    own_key: bool = False


KEY_UNREADABLE = (
    "Its stored key cannot be decrypted because SECRET_KEY has changed. The key must be entered again."
)
LOCAL_CONNECTION = Connection(protocol="local", base_url="", seed_parameter=None)

ALIASES: Mapping[str, str] = {"claude": "anthropic"}
SERVED_BY_SEVERAL = ("gpt-oss",)
"""Prefixes of models that several providers serve, so that the bare name does not imply a provider."""
RESERVED_NAMES = frozenset({LOCAL, *PROVIDERS, *ALIASES})
"""Names that an added server cannot have."""

_NO_SERVERS: Mapping[str, ModelServerValue] = {}
_NO_KEYS: Mapping[str, ProjectKey] = {}


def resolve(
    text: str,
    default: str,
    servers: Mapping[str, ModelServerValue] = _NO_SERVERS,
    keys: Mapping[str, ProjectKey] = _NO_KEYS,
) -> ModelName:
    """Resolve the text to a model: an empty text to the default, a bare model name to the only provider of such models.

    Raises:
        InvalidInput: `unknown_model`: there is no such provider or local model. The error lists the closest names.
    """
    found = _resolved(_plain(text.strip() or default.strip()), servers, keys)
    _plain(str(found))  # an alias or a default can be longer than the text
    return found


def _resolved(
    written: str, servers: Mapping[str, ModelServerValue], keys: Mapping[str, ProjectKey]
) -> ModelName:
    name, _, model = written.partition(":")
    provider = ALIASES.get(name.lower(), name.lower())
    if provider == LOCAL:
        return _local(model or "extractive")
    if provider in PROVIDERS:
        return ModelName(provider=provider, model=model or default_model(PROVIDERS[provider], keys=keys))
    if provider in servers:
        return ModelName(provider=provider, model=model or _default_of(servers[provider]))
    if owner := owner_of(written):
        return ModelName(provider=owner, model=written)
    raise _unknown_provider(written, provider, servers)


def why_not_usable(
    name: ModelName,
    servers: Mapping[str, ModelServerValue] = _NO_SERVERS,
    keys: Mapping[str, ProjectKey] = _NO_KEYS,
) -> str | None:
    """Return why this server cannot call the model, as a sentence, or None: its provider has a key, or its server exists."""
    if name.provider == LOCAL:
        return None
    provider = PROVIDERS.get(name.provider)
    return _why_no_key(provider, keys) if provider else _why_no_server(name.provider, servers)


def require_usable(
    name: ModelName,
    servers: Mapping[str, ModelServerValue] = _NO_SERVERS,
    keys: Mapping[str, ProjectKey] = _NO_KEYS,
) -> None:
    """Check that the model can be called. Call it before anything is created. Raises `Unavailable` (`model_not_usable`)."""
    if why_not := why_not_usable(name, servers, keys):
        raise Unavailable(
            f"{name} cannot be used: {why_not} An administrator must fix this. Otherwise choose another model; "
            f"local:extractive needs no key.",
            code="model_not_usable",
            model=str(name),
        )


def connection_to(name: ModelName, *, own_key: str | None = None) -> Connection:
    """Return how to call a model of a built-in provider, with the project's own key or the environment's.

    The address is the provider's, or what the operator set in its `…_BASE_URL`: the operator decides where keys are
    sent. Raises `Unavailable`.
    """
    if name.provider == LOCAL:
        return LOCAL_CONNECTION
    provider = PROVIDERS[name.provider]
    if own_key is None or user_in(provider.base_url_variable):
        require_usable(name)
    return Connection(
        protocol=provider.protocol,
        base_url=base_url_of(provider),
        api_key=own_key or _key_of_environment(provider) or None,
        own_key=own_key is not None,
        limit_parameter=provider.limit_parameter,
        seed_parameter=provider.seed_parameter,
    )


def default_model(
    provider: Provider,
    keys: Mapping[str, ProjectKey] = _NO_KEYS,
) -> str:
    """Return the provider's default model: the project's, its `…_DEFAULT_MODEL`, or the one in the table."""
    own = keys.get(provider.name)
    if own is not None and own.default_model:
        return own.default_model
    return _setting(provider.default_model_variable) or provider.default_model


def sentences_of(name: ModelName) -> int:
    """Return how many sentences a local model answers with."""
    return EXTRACTIVE[name.model]


def _plain(written: str) -> str:
    if len(written) <= LONGEST_NAME and not any(c.isspace() or not c.isprintable() for c in written):
        return written
    raise InvalidInput(
        f"A model name has at most {LONGEST_NAME} characters and no spaces; write it like openai:gpt-4o.",
        code="unknown_model",
        model=written[:LONGEST_NAME],
        closest=[],
    )


def _local(model: str) -> ModelName:
    chosen = "extractive-3" if model.lower() == "extractive" else model.lower()
    if chosen in EXTRACTIVE:
        return ModelName(provider=LOCAL, model=chosen)
    known = [f"{LOCAL}:{each}" for each in ("extractive", *EXTRACTIVE)]
    raise InvalidInput(
        f"There is no local model {model!r}; the local models are {', '.join(known)}.",
        code="unknown_model",
        model=f"{LOCAL}:{model}",
        closest=known,
    )


def _default_of(server: ModelServerValue) -> str:
    if server.default_model:
        return server.default_model
    raise InvalidInput(
        f"The model server {server.name} has no default model; name one, like {server.name}:MODEL.",
        code="unknown_model",
        model=server.name,
        closest=[],
    )


def owner_of(written: str) -> str | None:
    """Return the only provider whose models have such names."""
    name = written.lower()
    if ":" in name or name.startswith(SERVED_BY_SEVERAL):
        return None
    owners = {prefix: p.name for p in PROVIDERS.values() for prefix in p.model_prefixes}
    return next((owner for prefix, owner in owners.items() if _is_called(name, prefix)), None)


def _is_called(name: str, prefix: str) -> bool:
    # "o3" is the name of a model, "gpt-" only the beginning of one
    return name.startswith(prefix) if prefix.endswith("-") else f"{name}-".startswith(f"{prefix}-")


def _unknown_provider(written: str, provider: str, servers: Mapping[str, ModelServerValue]) -> InvalidInput:
    known = [LOCAL, *PROVIDERS, *servers]
    near = get_close_matches(provider, [*known, *ALIASES], n=3, cutoff=0.6)
    closest = list(dict.fromkeys(ALIASES.get(name, name) for name in near))
    hint = f" Did you mean {', '.join(closest)}?" if closest else ""
    return InvalidInput(
        f"There is no model provider {provider!r}.{hint} Write provider:model; the providers are {', '.join(known)}, "
        f"and an administrator can add servers with their own names.",
        code="unknown_model",
        model=written,
        closest=closest,
    )


def base_url_of(provider: Provider) -> str:
    """Return the provider's URL: its `…_BASE_URL`, or its own. Credentials in it are removed."""
    written = _setting(provider.base_url_variable)
    url = (without_user(written) or provider.base_url).rstrip("/")
    # Ollama's own tools write its address without the path of its OpenAI-compatible part
    return f"{url}/v1" if provider.name == "ollama" and not url.endswith("/v1") else url


def without_user(url: str) -> str:
    """Return the URL without the user and password that may be before its host."""
    scheme, mark, rest = url.rpartition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def user_in(variable: str) -> str | None:
    """Return the problem if the URL in a variable contains a user or password, otherwise None."""
    url = _setting(variable)
    if without_user(url) == url:
        return None
    return (
        f"{variable} contains a user or password, which would be shown. Remove it and set the key in its own "
        f"variable."
    )


def key_of_environment(provider: Provider) -> bool:
    """Return whether the environment has a key for the provider."""
    return bool(_key_of_environment(provider))


def _key_of_environment(provider: Provider) -> str:
    """Return the key, read again each time, so that a new one in a file needs no restart. Raises `Unavailable`."""
    return secret(provider.key_variable) if provider.key_variable else ""


def _why_no_key(provider: Provider, keys: Mapping[str, ProjectKey]) -> str | None:
    if wrong := user_in(provider.base_url_variable):
        return wrong
    own = keys.get(provider.name)
    if own is not None:
        return None if own.readable else KEY_UNREADABLE
    if provider.key_variable is None or key_of_environment(provider):
        return None
    return f"{provider.key_variable} is not set, and this project does not have its own key."


def _why_no_server(name: str, servers: Mapping[str, ModelServerValue]) -> str | None:
    server = servers.get(name)
    if server is None:
        return f"This project has no model server named {name}."
    if not server.readable:
        return KEY_UNREADABLE
    if not server.allowed:
        return "The operator does not allow the address of this server: see MODEL_HOSTS_ALLOWED."
    return None


def _setting(variable: str) -> str:
    return os.environ.get(variable, "").strip()
