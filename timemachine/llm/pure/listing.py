"""The models of a project, in the same order for forms, pages, the API and the command, with whether they work."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from timemachine.llm.pure.catalogue import (
    EXTRACTIVE,
    LOCAL,
    ModelName,
    ModelServerValue,
    ProjectKey,
    base_url_of,
    default_model,
    key_of_environment,
    why_not_usable,
)
from timemachine.llm.table import PROVIDERS, Provider

Kind = Literal["local", "built_in", "server"]
KeySource = Literal["project", "environment", "none_needed", "missing"]
State = Literal["yes", "no", "not_checked", "not_reached"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice in a form: a model, where its key comes from, and why it cannot be used (None if it can).

    `address` is where its provider's models are if that is not the provider's own address: they can be others than it
    usually has. `per_million` are its prices in US dollars per million tokens by kind; None if they are unknown.
    """

    name: ModelName
    label: str
    why_not: str | None
    key_source: KeySource
    address: str | None = None
    per_million: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A provider or server of a project. `model` is its default model, None for a server without one.
    `why_not` says why it cannot be used, None if it can.

    `key_source` says where its key comes from, `key_variable` which environment variable could hold one. `base_url` is
    None for local models; `moved` says that the operator gave a built-in provider another URL.
    """

    provider: str
    kind: Kind
    label: str
    model: ModelName | None
    why_not: str | None
    key_source: KeySource
    key_variable: str | None = None
    own_key: ProjectKey | None = None
    base_url: str | None = None
    moved: bool = False


def listed(
    servers: Mapping[str, ModelServerValue],
    keys: Mapping[str, ProjectKey],
) -> tuple[Listed, ...]:
    """Return the local models, all built-in providers, and the project's own servers."""
    return (
        *_local(),
        *(_built_in(provider, keys) for provider in PROVIDERS.values()),
        *(_server(server, servers) for server in servers.values()),
    )


def state(found: Listed, *, tested: bool, error_code: str | None) -> State:
    """Return whether it works, as far as is known. `tested`: its last test finished; `error_code`: that test's error,
    if any.

    A provider with a key counts as working until a test fails. One without a key, other than this server, and a server
    that an administrator added count only after a test.
    """
    if found.why_not:
        return "no"
    if error_code == "model_unreachable":
        return "not_reached"
    anyones = found.kind == "server" or (found.key_source == "none_needed" and found.kind != "local")
    return "not_checked" if anyones and not tested else "yes"


def choices(found: Sequence[Listed], also: Mapping[str, Sequence[ModelName]]) -> tuple[Choice, ...]:
    """Return the choices of a form: the default models, and `also` other models by provider. All local ones are in `found`."""
    return tuple(
        Choice(
            name=name,
            label=each.label,
            why_not=each.why_not,
            key_source=each.key_source,
            address=each.base_url if each.moved or each.kind == "server" else None,
        )
        for each in found
        for name in dict.fromkeys(
            [
                *([each.model] if each.model else []),
                *(() if each.kind == "local" else also.get(each.provider, ())),
            ]
        )
    )


def _local() -> Iterator[Listed]:
    for name, sentences in EXTRACTIVE.items():
        best = "sentence" if sentences == 1 else f"{sentences} sentences"
        yield Listed(
            provider=LOCAL,
            kind="local",
            label=f"Best-matching {best} (not a language model)",
            model=ModelName(provider=LOCAL, model=name),
            why_not=None,
            key_source="none_needed",
        )


def _built_in(provider: Provider, keys: Mapping[str, ProjectKey]) -> Listed:
    name = ModelName(provider=provider.name, model=default_model(provider, keys))
    base_url = base_url_of(provider)
    return Listed(
        provider=provider.name,
        kind="built_in",
        label=provider.label,
        model=name,
        why_not=why_not_usable(name, {}, keys),
        key_source=_key_source(provider, keys),
        key_variable=provider.key_variable,
        own_key=keys.get(provider.name),
        base_url=base_url,
        moved=base_url != provider.base_url,
    )


def _key_source(provider: Provider, keys: Mapping[str, ProjectKey]) -> KeySource:
    if provider.key_variable is None:
        return "none_needed"
    if provider.name in keys:
        return "project"
    return "environment" if key_of_environment(provider) else "missing"


def _server(server: ModelServerValue, servers: Mapping[str, ModelServerValue]) -> Listed:
    model = ModelName(provider=server.name, model=server.default_model or "")
    return Listed(
        provider=server.name,
        kind="server",
        label=server.name,
        model=model if server.default_model else None,
        why_not=why_not_usable(model, servers),
        key_source="project" if server.has_key else "none_needed",
        base_url=server.base_url,
    )
