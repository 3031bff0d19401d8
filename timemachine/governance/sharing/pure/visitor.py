"""What the access log stores of a visitor: the network, never the address, and the browser's family. Pure."""

import ipaddress
from dataclasses import dataclass
from typing import Final

IPV4_NETWORK: Final = 24
IPV6_NETWORK: Final = 48
# In this order: Edge and Opera call themselves Chrome too, and Chrome calls itself Safari.
_FAMILIES: Final = (
    ("Edge", ("Edg/", "EdgA/", "EdgiOS/")),
    ("Opera", ("OPR/",)),
    ("Samsung Internet", ("SamsungBrowser/",)),
    ("Firefox", ("Firefox/", "FxiOS/")),
    ("Chrome", ("Chrome/", "CriOS/", "Chromium/")),
    ("Safari", ("Safari/",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A network (`203.0.113.0/24`, `2001:db8:1::/48`) and a browser's family; None if unknown."""

    network: str | None = None
    browser: str | None = None


NOBODY: Final = Visitor()


def visitor(address: str | None, user_agent: str | None) -> Visitor:
    """Return what is stored of a visitor from that address with that `User-Agent`."""
    return Visitor(network=network_of(address), browser=browser_family(user_agent))


def network_of(address: str | None) -> str | None:
    """Return the /24 of an IPv4 address or the /48 of an IPv6 address; None without a valid address."""
    try:
        found = ipaddress.ip_address((address or "").split("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    length = IPV4_NETWORK if found.version == 4 else IPV6_NETWORK  # noqa: PLR2004
    return str(ipaddress.ip_network((found, length), strict=False))


def browser_family(user_agent: str | None) -> str | None:
    """Return `Firefox`, `Chrome`, …; `other` for an unknown one, None if none was sent."""
    if not user_agent:
        return None
    return next((name for name, marks in _FAMILIES if any(mark in user_agent for mark in marks)), "other")
