"""Which addresses a model server can have: those of the public internet, and those that the operator allows.

A project's administrator can add a server, which this process then calls from inside the operator's network. So
addresses of that network, of this machine and of cloud metadata services are refused, in every notation, unless the
operator lists the host in MODEL_HOSTS_ALLOWED (`host`, or `host:port` for that port only). Link-local and metadata
addresses are always refused: no model is served there, and clouds hand out a machine's credentials there.
"""

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from timemachine.core.pure.errors import InvalidInput

IPAddress = IPv4Address | IPv6Address

LONGEST_URL = 500
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]+")
_UNICAST = IPv6Network("2000::/3")  # all global unicast addresses (RFC 4291, 2.4)
_TRANSLATED = IPv6Network("64:ff9b::/96")  # an IPv4 address behind NAT64 (RFC 6052)

# the metadata services of clouds that are not link-local: those of Amazon (IPv6) and Alibaba
_METADATA = frozenset({IPv6Address("fd00:ec2::254"), IPv4Address("100.100.100.200")})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A normalized base URL with its parts."""

    url: str
    scheme: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What an address is for, with an example of one, and the setting in which the operator allows hosts for it."""

    what: str = "a model server"
    like: str = "https://models.example.com/v1"
    setting: str = "MODEL_HOSTS_ALLOWED"


MODELS = Purpose()


def read_address(url: str, purpose: Purpose = MODELS) -> ServerAddress:
    """Parse a base URL.

    Raises:
        InvalidInput: `bad_address`: it is not a plain http(s) URL of a host with an optional port and path.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as why:
        raise _bad(url, f"it cannot be read: {why}", purpose) from why
    host = (parts.hostname or "").rstrip(".")
    wrong = ""
    if not host.isascii():
        wrong = "the host name contains non-ASCII letters; write it in its ASCII form (xn--…)"
    elif parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        wrong = "it needs https:// and a host name"
    elif "@" in parts.netloc or parts.query or parts.fragment or len(url) > LONGEST_URL:
        wrong = f"it can have a port and a path but no user, ? or #, and at most {LONGEST_URL} characters"
    if wrong:
        raise _bad(url, wrong, purpose)
    bracketed = f"[{host}]" if ":" in host else host
    place = f"{bracketed}:{parts.port}" if parts.port else bracketed
    normal = f"{parts.scheme}://{place}{parts.path.rstrip('/')}"
    return ServerAddress(url=normal, scheme=parts.scheme, host=host, port=port)


def without_query(url: str) -> str:
    """Return the part of a URL that says which server is called, without the query."""
    return url.partition("?")[0]


def is_allowed(address: ServerAddress, allowed: Collection[str]) -> bool:
    """Return whether the operator allows this host or this port of it. Link-local and metadata addresses never are."""
    literal = _literal(address.host)
    if literal is not None and is_never_allowed(literal):
        return False
    names = {name.strip().lower() for name in allowed}
    return not names.isdisjoint({address.host, f"{address.host}:{address.port}"})


def is_refused_as_written(url: str, allowed: Collection[str]) -> bool:
    """Return whether the URL shows that the operator must allow it. Host names are not resolved."""
    address = read_address(url)
    if is_allowed(address, allowed):
        return False
    literal = _literal(address.host)
    if literal is None:
        return address.scheme != "https" or address.host == "localhost"
    return address.scheme != "https" or not is_public(literal)


def check_address(url: str, allowed: Collection[str], purpose: Purpose = MODELS) -> ServerAddress:
    """Check the address of a server that is to be added, and return it.

    Raises:
        InvalidInput: `bad_address`: it is not an address. `address_not_allowed`: the operator must allow it first (it
            is in a private network, or without TLS), or it can never be allowed.
    """
    address = read_address(url, purpose)
    if is_allowed(address, allowed):
        return address
    for found in addresses_of(address.host, address.port):
        if is_never_allowed(found):
            raise _never_allowed(address, found, purpose)
        if not is_public(found):
            why = f"{_leads_to(address, found)} a private address, not on the public internet"
            raise _not_allowed(address, why, purpose)
    if address.scheme != "https":
        raise _not_allowed(address, "it is not https", purpose)
    return address


def addresses_of(host: str, port: int) -> tuple[IPAddress, ...]:
    """Resolve a host name. Return the addresses in the resolver's order. Raises `InvalidInput`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as why:
        raise InvalidInput(
            f"The host {host} was not found: {_unfound(why)}", code="bad_address", host=host
        ) from why
    return tuple(dict.fromkeys(ip_address(str(sockaddr[0]).partition("%")[0]) for *_, sockaddr in found))


def _unfound(why: OSError | UnicodeError) -> str:
    if isinstance(why, socket.gaierror) and why.errno == socket.EAI_AGAIN:
        return "no name server responded; try again later."
    if isinstance(why, socket.gaierror | UnicodeError):
        return "it has no DNS record; check the name."
    return f"looking it up failed ({why.strerror}); try again later."


def is_public(address: IPAddress) -> bool:
    """Return whether the address, and any IPv4 address embedded in it, belongs to the public internet."""
    inside = _inside(address)
    if isinstance(address, IPv6Address) and not inside and address not in _UNICAST:
        return False
    return all(each.is_global and not each.is_multicast for each in (address, *inside))


def is_never_allowed(address: IPAddress) -> bool:
    """Return whether the address, or an IPv4 address embedded in it, is link-local or a cloud's metadata service."""
    return any(each.is_link_local or each in _METADATA for each in (address, *_inside(address)))


def _literal(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _inside(address: IPAddress) -> tuple[IPAddress, ...]:
    if isinstance(address, IPv4Address):
        return ()
    translated = IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else None
    found = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()), translated)
    return tuple(each for each in found if each is not None)


def _bad(url: str, why: str, purpose: Purpose) -> InvalidInput:
    return InvalidInput(
        f"{url[:LONGEST_URL]!r} is not a valid address for {purpose.what}: {why}. Write it like {purpose.like}.",
        code="bad_address",
    )


def _leads_to(address: ServerAddress, found: IPAddress) -> str:
    return "it is" if _literal(address.host) == found else f"it leads to {found},"


def _never_allowed(address: ServerAddress, found: IPAddress, purpose: Purpose) -> InvalidInput:
    return InvalidInput(
        f"{address.url} is not allowed: {_leads_to(address, found)} a link-local or metadata address, where clouds hand out "
        f"credentials. Enter the address of {purpose.what}.",
        code="address_not_allowed",
        host=address.host,
    )


def _not_allowed(address: ServerAddress, why: str, purpose: Purpose) -> InvalidInput:
    return InvalidInput(
        f"{address.url} is not allowed: {why}. The operator of this server can allow it by listing {address.host} in "
        f"{purpose.setting}, an environment variable, and restarting it.",
        code="address_not_allowed",
        host=address.host,
    )
