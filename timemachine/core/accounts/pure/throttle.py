"""Throttling of sign-ins: after too many recent failures, the next attempt has to wait."""

import ipaddress
import math
from collections.abc import Sequence
from datetime import datetime, timedelta

WINDOW = timedelta(minutes=15)
PER_ACCOUNT = 5
PER_ORIGIN = 20
IPV6_NETWORK = 64


def seconds_to_wait(*, account: Sequence[datetime], origin: Sequence[datetime], now: datetime) -> int:
    """Return the seconds until the next attempt is allowed, rounded up; 0 for immediately.

    `account` and `origin` are the times of failures for the account and from the origin, in any order.
    """
    return max(_wait(account, PER_ACCOUNT, now), _wait(origin, PER_ORIGIN, now))


def origin_of(address: str | None) -> str | None:
    """Return what identifies the sender of a request: its IPv4 address, or its /64 network in IPv6.

    Return None without a valid address: a Unix socket has none.
    """
    try:
        found = ipaddress.ip_address((address or "").split("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, IPV6_NETWORK), strict=False).network_address)


def _wait(failures: Sequence[datetime], limit: int, now: datetime) -> int:
    recent = sorted((at for at in failures if at > now - WINDOW), reverse=True)
    if len(recent) < limit:
        return 0
    return max(1, math.ceil((recent[limit - 1] + WINDOW - now).total_seconds()))
