"""What is kept of where a request comes from: the network of its address, and the name of its browser."""

import pytest

from timemachine.core.pure.addresses import network_of, origin_of
from timemachine.core.pure.browser_names import browser_name


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("fe80::1%eth0", "fe80::/48"),
        ("unix", None),
        ("", None),
        (None, None),
    ],
)
def test_an_address_is_kept_as_its_network(address: str | None, network: str | None) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", None),
        (None, None),
        ("unix:", None),
    ],
)
def test_an_ipv6_network_counts_as_one_origin(address: str | None, origin: str | None) -> None:
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/143.0 Safari/537.36 Edg/143.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/143.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) Version/19.0 Safari/605.1.15", "Safari on macOS"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chromium/143.0", "Chrome on Linux"),
        ("Firefox/1", "Firefox"),
        ("something for Linux", "browser on Linux"),
        ("curl/8", "unknown browser"),
        ("", "unknown browser"),
    ],
)
def test_a_browser_is_named_by_its_user_agent(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
