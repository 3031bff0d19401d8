"""Throttling: after too many recent failures, the next try has to wait."""

import ipaddress
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

IPV6_NETWORK: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most that many failures in any window of that length."""

    most: int
    window: timedelta


def seconds_to_wait(failures: Iterable[datetime], limit: Limit, now: datetime) -> int:
    """Return how many whole seconds the next try has to wait; 0 for none. Failures can be in any order."""
    recent = sorted((at for at in failures if at > now - limit.window), reverse=True)
    if len(recent) < limit.most:
        return 0
    return seconds_until(recent[limit.most - 1] + limit.window, now)


def seconds_until(until: datetime, now: datetime) -> int:
    """Return the whole seconds until then, at least one."""
    return max(1, math.ceil((until - now).total_seconds()))


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
