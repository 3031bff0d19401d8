"""A file to upload. A module of its own, so that a command can name files without importing httpx."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """The name and bytes of a file for `put`, and optionally its title and source."""

    name: str
    data: bytes
    title: str | None = None
    uri: str | None = None
    replace: bool = False
