"""The lines of an access log as a chain: each contains the hash of the line before it. Pure.

A line has the network of a visitor, never the address, and the browser's family.

A line's hash is the SHA-256 of its canonical JSON (`timemachine.core.pure.content.canonical_json`), which
contains the hash of the line before. Anyone who kept one hash can later verify that nothing up to that line
was changed, removed or inserted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.core.pure.addresses import network_of
from timemachine.core.pure.browser_names import browser_family
from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.schemas import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A network (`203.0.113.0/24`, `2001:db8:1::/48`) and a browser's family; None if unknown."""

    network: str | None = None
    browser: str | None = None


NOBODY: Final = Visitor()


def visitor(address: str | None, user_agent: str | None) -> Visitor:
    """Return what is stored of a visitor from that address with that `User-Agent`; an unknown browser is `other`."""
    browser = browser_family(user_agent) or "other" if user_agent else None
    return Visitor(network=network_of(address), browser=browser)


FORMAT: Final = "time machine access log 1"
BEFORE_THE_FIRST: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line. `chain` names the link, or the project of a policy; `sequence` counts from 1.

    `by` is the person, if known; `address` and `browser` are of a visitor; `facts` are the settings.
    """

    chain: str
    sequence: int
    at: datetime
    result: str
    by: str | None = None
    address: str | None = None
    browser: str | None = None
    facts: Mapping[str, Any] | None = None
    previous_sha256: str = BEFORE_THE_FIRST


class LogBreak(Schema):
    """The first line that does not match, by the number that it should have, and why."""

    sequence: int
    why: str


def sha256_of(line: Line) -> str:
    """Return the hash of a line, in lower-case hex."""
    return sha256_hex(line_bytes(line))


def line_bytes(line: Line) -> bytes:
    """Return the bytes that a line's hash covers."""
    at = line.at.astimezone(UTC).isoformat(timespec="microseconds")
    return canonical_json(asdict(line) | {"format": FORMAT, "at": at})


def first_break(lines: Iterable[tuple[Line, str]]) -> LogBreak | None:
    """Return the first line (each with its stored hash, in order) that does not fit; None if all do."""
    before = BEFORE_THE_FIRST
    for number, (line, stored) in enumerate(lines, 1):
        if line.sequence != number:
            return LogBreak.model_construct(sequence=number, why="the line is missing")
        if line.previous_sha256 != before:
            return LogBreak.model_construct(sequence=number, why="it does not follow the previous line")
        if sha256_of(line) != stored:
            return LogBreak.model_construct(sequence=number, why="it was changed")
        before = stored
    return None
