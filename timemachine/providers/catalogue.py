"""Which models there are, what they are called, and whether one can be used here. Pure.

A model is written `provider:model`; a provider alone means its default model. The built-in providers stand in
`table`; others are servers that an administrator adds to a project under a name of their own.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from timemachine.base.errors import InvalidInput, Unavailable
from timemachine.providers.table import PROVIDERS, Protocol, Provider

LOCAL = "local"
LONGEST_NAME = 200
EXTRACTIVE: Mapping[str, int] = {"extractive-1": 1, "extractive-3": 3, "extractive-5": 5}
"""The local models and how many sentences each answers with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A resolved model: what is recorded, as `str(name)`."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServerValue:
    """An OpenAI-compatible server that an administrator added; its key is not part of the value."""

    name: str
    base_url: str
    default_model: str | None
    has_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How a model is called. `pinned`: only at public addresses, each name resolved once and held to (no rebinding)."""

    protocol: Protocol
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    pinned: bool = False
    limit_parameter: str = "max_tokens"
    seed_parameter: str | None = "seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usability:
    """Whether a model can be used on this server, and the sentence that says why not."""

    usable: bool
    why_not: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A line of a form: a provider's default model and whether it can be used."""

    name: ModelName
    label: str
    usability: Usability


LOCAL_CONNECTION = Connection(protocol="local", base_url="", seed_parameter=None)

ALIASES: Mapping[str, str] = {"claude": "anthropic"}
SERVED_BY_SEVERAL = ("gpt-oss",)
"""Models that begin like one provider's own, and that others serve: their bare name is nobody's."""
RESERVED_NAMES = frozenset({LOCAL, *PROVIDERS, *ALIASES})
"""Names that an added server cannot take."""

_NO_SERVERS: Mapping[str, ModelServerValue] = {}


def resolve(text: str, default: str, servers: Mapping[str, ModelServerValue] = _NO_SERVERS) -> ModelName:
    """The model that the text names; an empty text names the default, a bare model the one provider that has such models.

    Raises `InvalidInput` (`unknown_model`) for a provider or local model that there is not, with the nearest names.
    """
    written = _plain(text.strip() or default.strip())
    name, _, model = written.partition(":")
    provider = ALIASES.get(name.lower(), name.lower())
    if provider == LOCAL:
        return _local(model or "extractive")
    if provider in PROVIDERS:
        return ModelName(provider=provider, model=model or default_model(PROVIDERS[provider]))
    if provider in servers:
        return ModelName(provider=provider, model=model or _default_of(servers[provider]))
    if owner := _owner(written):
        return ModelName(provider=owner, model=written)
    raise _unknown_provider(written, provider, servers)


def usable(
    name: ModelName,
    servers: Mapping[str, ModelServerValue] = _NO_SERVERS,
    environment: Mapping[str, str] | None = None,
) -> Usability:
    """Whether the model can be called from this server: its provider's key is set, or its server is still there."""
    provider = PROVIDERS.get(name.provider)
    if provider is None:
        known = name.provider == LOCAL or name.provider in servers
        why_not = None if known else f"This project has no model server named {name.provider}."
        return Usability(usable=known, why_not=why_not)
    if provider.key_variable and not _setting(provider.key_variable, environment):
        return Usability(usable=False, why_not=f"{provider.key_variable} is not set.")
    return Usability(usable=True, why_not=None)


def require_usable(
    name: ModelName,
    servers: Mapping[str, ModelServerValue] = _NO_SERVERS,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Raise `Unavailable` (`model_not_usable`) where the model cannot be called; ask before anything is created."""
    found = usable(name, servers, environment)
    if not found.usable:
        raise Unavailable(
            f"{name} cannot be used: {found.why_not} An administrator has to mend that, or choose another model; "
            f"local:extractive needs no key.",
            code="model_not_usable",
            model=str(name),
        )


def connection_to(name: ModelName, environment: Mapping[str, str] | None = None) -> Connection:
    """How to call a model of a built-in provider. Raises `Unavailable` where its key is not set.

    The address is the provider's own, or what the operator put in its `…_BASE_URL`.
    """
    require_usable(name, environment=environment)
    if name.provider == LOCAL:
        return LOCAL_CONNECTION
    provider = PROVIDERS[name.provider]
    return Connection(
        protocol=provider.protocol,
        base_url=_base_url(provider, environment),
        api_key=_setting(provider.key_variable, environment) if provider.key_variable else None,
        limit_parameter=provider.limit_parameter,
        seed_parameter=provider.seed_parameter,
    )


def choices(
    servers: Mapping[str, ModelServerValue] = _NO_SERVERS, environment: Mapping[str, str] | None = None
) -> tuple[Choice, ...]:
    """What a form offers: the local model, every provider's default model, and the project's own servers."""
    local = ModelName(provider=LOCAL, model="extractive-3")
    own = [server for server in servers.values() if server.default_model]
    named = [
        (local, "Best-matching sentences (not a language model)"),
        *(
            (ModelName(provider=p.name, model=default_model(p, environment)), p.label)
            for p in PROVIDERS.values()
        ),
        *((ModelName(provider=s.name, model=_default_of(s)), s.name) for s in own),
    ]
    return tuple(
        Choice(name=name, label=label, usability=usable(name, servers, environment)) for name, label in named
    )


def default_model(provider: Provider, environment: Mapping[str, str] | None = None) -> str:
    """The model that the provider's name alone means: its `…_DEFAULT_MODEL`, else the one in the table."""
    return _setting(provider.default_model_variable, environment) or provider.default_model


def sentences_of(name: ModelName) -> int:
    """How many sentences a local model answers with."""
    return EXTRACTIVE[name.model]


def _plain(written: str) -> str:
    if len(written) <= LONGEST_NAME and not any(c.isspace() or not c.isprintable() for c in written):
        return written
    raise InvalidInput(
        f"A model's name has no white space and at most {LONGEST_NAME} characters; write it like openai:gpt-4o.",
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
        f"There is no local model {model!r}; the local models are {_listed(known)}.",
        code="unknown_model",
        model=f"{LOCAL}:{model}",
        closest=known,
    )


def _default_of(server: ModelServerValue) -> str:
    if server.default_model:
        return server.default_model
    raise InvalidInput(
        f"The model server {server.name} has no default model; name one, as in {server.name}:MODEL.",
        code="unknown_model",
        model=server.name,
        closest=[],
    )


def _owner(written: str) -> str | None:
    """The provider whose models alone are called like that."""
    name = written.lower()
    if ":" in name or name.startswith(SERVED_BY_SEVERAL):
        return None
    owners = {prefix: p.name for p in PROVIDERS.values() for prefix in p.model_prefixes}
    return next((owner for prefix, owner in owners.items() if _is_called(name, prefix)), None)


def _is_called(name: str, prefix: str) -> bool:
    # "o3" is a model of its own, "gpt-" only the beginning of one
    return name.startswith(prefix) if prefix.endswith("-") else f"{name}-".startswith(f"{prefix}-")


def _unknown_provider(written: str, provider: str, servers: Mapping[str, ModelServerValue]) -> InvalidInput:
    known = [LOCAL, *PROVIDERS, *ALIASES, *servers]
    closest = get_close_matches(provider, known, n=3, cutoff=0.6)
    hint = f" Did you mean {_listed(closest)}?" if closest else ""
    return InvalidInput(
        f"There is no model provider {provider!r}.{hint} Write provider:model; the providers are {_listed(known)}, "
        f"and an administrator can add a server under a name of its own.",
        code="unknown_model",
        model=written,
        closest=closest,
    )


def _base_url(provider: Provider, environment: Mapping[str, str] | None) -> str:
    url = (_setting(provider.base_url_variable, environment) or provider.base_url).rstrip("/")
    # Ollama's own tools write its address without the path of its OpenAI-compatible part
    return f"{url}/v1" if provider.name == "ollama" and not url.endswith("/v1") else url


def _setting(variable: str, environment: Mapping[str, str] | None) -> str:
    return (os.environ if environment is None else environment).get(variable, "").strip()


def _listed(names: list[str]) -> str:
    return ", ".join(names)
