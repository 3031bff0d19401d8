"""What the internet address of a visitor is reduced to: its sender for throttling, its network for display and logs."""

import ipaddress
from typing import Final

_IPV4_NETWORK: Final = 24
_IPV6_NETWORK: Final = 48
_IPV6_SENDER: Final = 64


def network_of(address: str | None) -> str | None:
    """Return the network of an address, which says roughly where it is: the /24 of IPv4 (`203.0.113.0/24`), the /48 of IPv6.

    Return None without a valid address.
    """
    found = _address(address)
    if found is None:
        return None
    length = _IPV4_NETWORK if isinstance(found, ipaddress.IPv4Address) else _IPV6_NETWORK
    return str(ipaddress.ip_network((found, length), strict=False))


def origin_of(address: str | None) -> str | None:
    """Return what identifies the sender of a request: its IPv4 address, or its /64 network in IPv6.

    Return None without a valid address: a Unix socket has none.
    """
    found = _address(address)
    if found is None or isinstance(found, ipaddress.IPv4Address):
        return str(found) if found else None
    return str(ipaddress.ip_network((found, _IPV6_SENDER), strict=False).network_address)


def _address(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address((address or "").split("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
