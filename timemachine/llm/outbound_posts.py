"""HTTP posts to addresses that an administrator entered, with the client and the protections that model servers have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import httpx2
from django.conf import settings

from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.llm.addresses import (
    Purpose,
    check_address,
    is_allowed,
    is_refused_as_written,
    read_address,
    without_query,
)
from timemachine.llm.transport import http_client, timeout

SECONDS: Final = 30.0
LONGEST: Final = 64 * 1024  # bytes of an answer
_SETTING: Final = "EVIDENCE_HOSTS_ALLOWED"
_PURPOSES: Final = {
    "witness": Purpose(what="a witness", like="https://witness.example.com/add-checkpoint", setting=_SETTING),
    "timestamp": Purpose(what="a timestamp authority", like="https://tsa.example.com/tsr", setting=_SETTING),
    "alert": Purpose(what="an alert receiver", like="https://alerts.example.com/patterns", setting=_SETTING),
}


class Unreachable(Exception):
    """No server responded, or it must not be called. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response."""

    status: int
    body: bytes

    @property
    def refusal(self) -> str:
        """A sentence with the status and the beginning of the body, for a response that is not the expected one."""
        text = self.body[:200].decode("utf-8", "replace").strip()
        return f"It returned {self.status}{f': {text}' if text else '.'}"


def checked_address(kind: str, url: str) -> str:
    """Check an address and return it in its normal form.

    Raises `InvalidInput` if it is not an address, or is in a private network that the operator does not allow.
    """
    return check_address(url, settings.EVIDENCE_HOSTS_ALLOWED, _PURPOSES[kind]).url


def post(url: str, body: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Post bytes with these headers and return the response, whatever its status. Raises `Unreachable`.

    The URL can have a query, which has no influence on whether the server may be called.
    """
    allowed, server = settings.EVIDENCE_HOSTS_ALLOWED, without_query(url)
    sent, patience = {"content-type": content_type, **(headers or {})}, timeout(SECONDS)
    try:
        if is_refused_as_written(server, allowed):
            raise Unreachable(f"The operator of this server does not allow this address: see {_SETTING}.")
        client = http_client(pinned=not is_allowed(read_address(server), allowed))
        with client.stream("POST", url, content=body, headers=sent, timeout=patience) as found:
            return Answer(status=found.status_code, body=_read(found.iter_bytes()))
    except (httpx2.HTTPError, httpx2.InvalidURL, InvalidInput) as why:
        raise Unreachable(f"It cannot be reached: {why}") from why
    except ModelFailed as why:
        if why.code == "address_not_allowed":
            raise Unreachable(
                f"Its host name resolves to an address that is not on the public internet; the operator can allow it in {_SETTING}."
            ) from why
        raise Unreachable(why.message) from why


def _read(pieces: Iterable[bytes]) -> bytes:
    """Read the response up to the limit. Raises `Unreachable` if it is longer."""
    read = bytearray()
    for piece in pieces:
        read += piece
        if len(read) > LONGEST:
            raise Unreachable(f"Its answer is longer than {LONGEST:,} bytes.")
    return bytes(read)
