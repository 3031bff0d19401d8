"""Every route of the product, from its URL configuration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route: its pattern (`share/<str:public_id>/`), its name, and the names of its parameters."""

    written: str
    name: str
    parameters: tuple[str, ...]


def every_route() -> list[Route]:
    """Return all routes, including those of the API."""
    return list(_routes(get_resolver().url_patterns, "", ()))


def _routes(patterns: Sequence[Any], before: str, given: tuple[str, ...]) -> Iterator[Route]:
    for each in patterns:
        written = before + str(each.pattern)
        parameters = (*given, *each.pattern.converters)
        if isinstance(each, URLResolver):
            yield from _routes(each.url_patterns, written, parameters)
        elif isinstance(each, URLPattern):
            yield Route(written=written, name=each.name or "", parameters=parameters)
