"""The addresses of destinations, as the settings have them."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.addresses import Purpose, ServerAddress, read_address, without_query

_SYSLOG_PORT: Final = 514
_WEBHOOK: Final = Purpose(what="AUDIT_WEBHOOK", like="https://logs.example.com/audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyslogServer:
    """A syslog server; `protocol` is `tcp` or `udp`."""

    protocol: str
    host: str
    port: int


def webhook_address(url: str) -> ServerAddress:
    """Return the server of `AUDIT_WEBHOOK`, which can have a query. Raises `InvalidInput`, without the query."""
    return read_address(without_query(url), _WEBHOOK)


def syslog_server(url: str) -> SyslogServer:
    """Return the server of `AUDIT_SYSLOG`. Raises `InvalidInput`."""
    try:
        parts = urlsplit(url)
        port = parts.port or _SYSLOG_PORT
    except ValueError:
        raise _not_syslog(url) from None
    if parts.scheme not in {"tcp", "udp"} or not parts.hostname:
        raise _not_syslog(url)
    return SyslogServer(protocol=parts.scheme, host=parts.hostname, port=port)


def _not_syslog(url: str) -> InvalidInput:
    return InvalidInput(
        f"{url[:200]!r} is not a valid address for AUDIT_SYSLOG. Write it like tcp://logs.example.com:514.",
        code="bad_address",
    )
