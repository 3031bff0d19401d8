"""Which addresses a model server may have: those of the public internet, and those that the operator names. Pure but for DNS.

A project's administrator may add a server, and this process then calls it from inside the operator's network. So the
addresses of that network, of this machine and of a cloud's metadata service are refused, in each form they can be written
in, unless the operator lists the host in MODEL_HOSTS_ALLOWED (`host`, or `host:port` for that port only). Link-local and
metadata addresses are refused even then: no model is served there, and a cloud hands out its machine's credentials there.
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
_UNICAST = IPv6Network("2000::/3")  # all of IPv6 that is handed out for the internet (RFC 4291, 2.4)
_TRANSLATED = IPv6Network("64:ff9b::/96")  # an IPv4 address behind NAT64 (RFC 6052)

# the metadata services of clouds that are not link-local: those of Amazon (IPv6) and Alibaba
_METADATA = frozenset({IPv6Address("fd00:ec2::254"), IPv4Address("100.100.100.200")})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A base URL in its normal form, with its parts."""

    url: str
    scheme: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What an address is for, in words; `like` is one as it may look, `setting` where the operator allows hosts for it."""

    what: str = "a model server"
    like: str = "https://models.example.com/v1"
    setting: str = "MODEL_HOSTS_ALLOWED"


MODELS = Purpose()


def read_address(url: str, purpose: Purpose = MODELS) -> ServerAddress:
    """The parts of a base URL. Raises `InvalidInput` (`bad_address`) for anything but a plain http(s) address and path."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as why:
        raise _bad(url, f"it cannot be read: {why}", purpose) from why
    host = (parts.hostname or "").rstrip(".")
    if not host.isascii():
        raise _bad(
            url,
            "the name of its host has other letters than a to z: write it in its ASCII form, xn--…",
            purpose,
        )
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise _bad(url, "it needs https:// and the name of a host", purpose)
    if "@" in parts.netloc or parts.query or parts.fragment or len(url) > LONGEST_URL:
        raise _bad(
            url,
            f"it may have a port and a path, but no user, ? or #, nor over {LONGEST_URL} characters",
            purpose,
        )
    bracketed = f"[{host}]" if ":" in host else host
    place = f"{bracketed}:{parts.port}" if parts.port else bracketed
    normal = f"{parts.scheme}://{place}{parts.path.rstrip('/')}"
    return ServerAddress(url=normal, scheme=parts.scheme, host=host, port=port)


def is_allowed(address: ServerAddress, allowed: Collection[str]) -> bool:
    """Whether the operator names this host, or this port of it; a link-local or metadata address never is."""
    literal = _literal(address.host)
    if literal is not None and is_never_allowed(literal):
        return False
    names = {name.strip().lower() for name in allowed}
    return not names.isdisjoint({address.host, f"{address.host}:{address.port}"})


def is_refused_as_written(url: str, allowed: Collection[str]) -> bool:
    """Whether the address itself says that the operator would have to allow it; where a host's name leads is not looked up."""
    address = read_address(url)
    if is_allowed(address, allowed):
        return False
    literal = _literal(address.host)
    if literal is None:
        return address.scheme != "https" or address.host == "localhost"
    return address.scheme != "https" or not is_public(literal)


def check_address(url: str, allowed: Collection[str], purpose: Purpose = MODELS) -> ServerAddress:
    """The address of a server that may be added.

    Raises `InvalidInput`: `bad_address` for what is no address, `address_not_allowed` for one that the operator would have
    to name first (of this machine or its network, or without TLS) and for one that cannot be allowed at all.
    """
    address = read_address(url, purpose)
    if is_allowed(address, allowed):
        return address
    for found in addresses_of(address.host, address.port):
        if is_never_allowed(found):
            raise _never_allowed(address, found, purpose)
        if not is_public(found):
            raise _not_allowed(
                address,
                f"{_leads_to(address, found)} a private address, not on the public internet",
                purpose,
            )
    if address.scheme != "https":
        raise _not_allowed(address, "it is not https", purpose)
    return address


def addresses_of(host: str, port: int) -> tuple[IPAddress, ...]:
    """What the host's name resolves to now, in the resolver's order. Raises `InvalidInput` where that is nothing."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as why:
        raise InvalidInput(
            f"The host {host} cannot be found: {_unfound(why)}", code="bad_address", host=host
        ) from why
    return tuple(dict.fromkeys(ip_address(str(sockaddr[0]).partition("%")[0]) for *_, sockaddr in found))


def _unfound(why: OSError | UnicodeError) -> str:
    if isinstance(why, socket.gaierror) and why.errno == socket.EAI_AGAIN:
        return "no name server answered just now; try again later."
    if isinstance(why, socket.gaierror | UnicodeError):
        return "no name server knows it; check its name."
    return f"looking it up failed ({why.strerror}); try again later."


def is_public(address: IPAddress) -> bool:
    """Whether the address, and any IPv4 address written inside it, belongs to the public internet."""
    inside = _inside(address)
    if isinstance(address, IPv6Address) and not inside and address not in _UNICAST:
        return False
    return all(each.is_global and not each.is_multicast for each in (address, *inside))


def is_never_allowed(address: IPAddress) -> bool:
    """Whether the address, or an IPv4 address written inside it, is link-local or a cloud's metadata service."""
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
        f"{url[:LONGEST_URL]!r} is not an address of {purpose.what}: {why}. Write it like {purpose.like}.",
        code="bad_address",
    )


def _leads_to(address: ServerAddress, found: IPAddress) -> str:
    return "it is" if _literal(address.host) == found else f"it leads to {found},"


def _never_allowed(address: ServerAddress, found: IPAddress, purpose: Purpose) -> InvalidInput:
    return InvalidInput(
        f"{address.url} is not allowed: {_leads_to(address, found)} a link-local or metadata address, where nothing of the kind is "
        f"served and a cloud gives out credentials. Give the address of {purpose.what}.",
        code="address_not_allowed",
        host=address.host,
    )


def _not_allowed(address: ServerAddress, why: str, purpose: Purpose) -> InvalidInput:
    return InvalidInput(
        f"{address.url} is not allowed: {why}. The operator of this server can allow it by naming {address.host} in "
        f"{purpose.setting}.",
        code="address_not_allowed",
        host=address.host,
    )
