"""A file on its way to a server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file to be put: its name and bytes, and how it is called and where it comes from, where that is said."""

    name: str
    data: bytes
    title: str | None = None
    uri: str | None = None
    replace: bool = False
