"""Posting to an address that an administrator gave: by the same client and under the same protection as model servers that they add."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import httpx2
from django.conf import settings

from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.llm.addresses import Purpose, check_address, is_allowed, is_refused_as_written, read_address
from timemachine.llm.transport import http_client, timeout

SECONDS: Final = 30.0
LONGEST: Final = 64 * 1024  # bytes of an answer
_SETTING: Final = "EVIDENCE_HOSTS_ALLOWED"
_PURPOSES: Final = {
    "witness": Purpose(what="a witness", like="https://witness.example.com/add-checkpoint", setting=_SETTING),
    "timestamp": Purpose(what="a timestamp authority", like="https://tsa.example.com/tsr", setting=_SETTING),
    "alert": Purpose(
        what="a receiver of alerts", like="https://alerts.example.com/patterns", setting=_SETTING
    ),
}


class Unreached(Exception):
    """Nobody answered, or what answered may not be called; the message says why in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    body: bytes

    @property
    def refusal(self) -> str:
        """That it is not what was asked for, with the begin of its words."""
        said = self.body[:200].decode("utf-8", "replace").strip()
        return f"It answered with {self.status}{f': {said}' if said else '.'}"


def checked_address(kind: str, url: str) -> str:
    """The address in its normal form. Raises `InvalidInput` for none, and for one in a private network that the operator does not allow."""
    return check_address(url, settings.EVIDENCE_HOSTS_ALLOWED, _PURPOSES[kind]).url


def post(url: str, body: bytes, content_type: str) -> Answer:
    """Send bytes; an answer of any status. Raises `Unreached`."""
    allowed = settings.EVIDENCE_HOSTS_ALLOWED
    if is_refused_as_written(url, allowed):
        raise Unreached(f"The operator of this server does not allow this address: see {_SETTING}.")
    client = http_client(pinned=not is_allowed(read_address(url), allowed))
    headers, patience = {"content-type": content_type}, timeout(SECONDS)
    try:
        with client.stream("POST", url, content=body, headers=headers, timeout=patience) as found:
            return Answer(status=found.status_code, body=_read(found.iter_bytes()))
    except (httpx2.HTTPError, InvalidInput) as why:
        raise Unreached(f"It cannot be reached: {why}") from why
    except ModelFailed as why:
        if why.code == "address_not_allowed":
            raise Unreached(
                f"Its name leads to an address that is not on the public internet; the operator can allow it in {_SETTING}."
            ) from why
        raise Unreached(why.message) from why


def _read(pieces: Iterable[bytes]) -> bytes:
    """The answer, of which no more is read than may be kept. Raises `Unreached` for a longer one."""
    read = bytearray()
    for piece in pieces:
        read += piece
        if len(read) > LONGEST:
            raise Unreached(f"Its answer is longer than {LONGEST:,} bytes.")
    return bytes(read)
