"""The addresses that a model server may have."""

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.addresses import check_address, is_public, is_refused_as_written, read_address

PUBLIC = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
NOT_PUBLIC = [
    "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "192.0.2.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00::1", "fec0::1", "ff02::1", "::7f00:1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_an_internet_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_a_loopback_or_local_network_address_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


NORMAL = [
    ("https://Models.Example.com/v1/", "https://models.example.com/v1", "models.example.com", 443),
    (" http://box:8080 ", "http://box:8080", "box", 8080),
    ("https://[2606:4700::1111]:8443/v1", "https://[2606:4700::1111]:8443/v1", "2606:4700::1111", 8443),
    ("https://models.example.com./v1", "https://models.example.com/v1", "models.example.com", 443),
    ("http://my_service/v1", "http://my_service/v1", "my_service", 80),
]


@pytest.mark.parametrize(("url", "normal", "host", "port"), NORMAL)
def test_an_address_is_parsed_into_its_parts(url: str, normal: str, host: str, port: int) -> None:
    found = read_address(url)
    assert (found.url, found.host, found.port) == (normal, host, port)
    assert read_address(normal) == found


@pytest.mark.parametrize(
    "url",
    [
        "", "models.example.com", "file:///etc/passwd", "gopher://x/", "ftp://x/", "https://", "https:///v1",
        "https://user:pass@models.example.com/v1", "https://models.example.com/v1?x=1", "https://a.example/#x",
        "https://ex ample.com/", "https://пример.рф/", "https://x:99999/", "https://[::1%25eth0]/", "https://[::1",
        "https://a.example/" + "x" * 500,
    ],
)  # fmt: skip
def test_an_address_with_extra_parts_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="is not a valid address for a model server") as refused:
        check_address(url, [])
    assert refused.value.code == "bad_address"


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/v1", "https://2130706433/v1", "https://0x7f.1/v1", "https://127.1/v1", "https://0/v1",
        "https://[::1]/v1", "https://[::ffff:127.0.0.1]/v1", "https://localhost/v1",
        "https://10.0.0.5:8443/v1", "http://8.8.8.8/v1",
    ],
)  # fmt: skip
def test_an_internal_address_is_refused_in_any_notation(url: str) -> None:
    with pytest.raises(InvalidInput, match="MODEL_HOSTS_ALLOWED") as refused:
        check_address(url, [])
    assert refused.value.code == "address_not_allowed"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest", "https://169.254.1.1/v1", "https://[::ffff:169.254.169.254]/v1",
        "https://[fe80::1]/v1", "http://[fd00:ec2::254]/", "https://100.100.100.200/v1",
    ],
)  # fmt: skip
def test_a_link_local_or_metadata_address_is_never_allowed_or_offered(url: str) -> None:
    host = read_address(url).host
    with pytest.raises(InvalidInput, match="a link-local or metadata address") as refused:
        check_address(url, [host])
    assert (refused.value.code, "MODEL_HOSTS" in refused.value.message) == ("address_not_allowed", False)
    assert is_refused_as_written(url, [host])


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://10.0.0.1/v1", "it is a private address"),
        ("http://127.0.0.1:11434/v1", "it is a private address"),
        ("https://2130706433/v1", r"it leads to 127\.0\.0\.1, a private address"),
        ("http://8.8.8.8/v1", "it is not https"),
    ],
)
def test_a_refused_address_names_the_first_reason(url: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        check_address(url, [])


def test_a_public_address_is_accepted() -> None:
    assert check_address("https://8.8.8.8/v1/", []).url == "https://8.8.8.8/v1"


ALLOWED = [
    ("http://127.0.0.1:11434/v1", ["127.0.0.1"], True),
    ("http://127.0.0.1:11434/v1", ["127.0.0.1:11434"], True),
    ("http://127.0.0.1:5432/v1", ["127.0.0.1:11434"], False),
    ("http://GPU.lan/v1", [" gpu.LAN "], True),
    ("http://gpu.lan:80/v1", ["gpu.lan:80"], True),
    ("https://127.0.0.1/v1", ["localhost"], False),
]


@pytest.mark.parametrize(("url", "allowed", "accepted"), ALLOWED)
def test_the_operator_can_allow_internal_hosts(url: str, allowed: list[str], accepted: bool) -> None:
    if accepted:
        assert check_address(url, allowed).host == read_address(url).host
        return
    with pytest.raises(InvalidInput):
        check_address(url, allowed)


def test_a_name_with_one_internal_address_among_public_ones_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [(socket.AF_INET, 0, 0, "", (address, 443)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    with pytest.raises(InvalidInput, match=r"leads to 10\.0\.0\.1"):
        check_address("https://models.example.com/v1", [])


@pytest.mark.parametrize(
    ("failed", "message"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "it has no DNS record; check the name"),
        (UnicodeError("label too long"), "it has no DNS record; check the name"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "no name server responded; try again later"),
        (OSError(24, "Too many open files"), r"looking it up failed \(Too many open files\); try again later"),
    ],
)  # fmt: skip
def test_a_name_that_does_not_resolve_is_refused_with_the_reason(
    failed: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(*_: Any, **__: Any) -> Any:
        raise failed

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with pytest.raises(InvalidInput, match=f"models.example.com was not found: {message}") as refused:
        check_address("https://models.example.com/v1", [])
    assert refused.value.code == "bad_address"


def test_an_internationalised_host_name_is_resolved_in_its_ascii_form() -> None:
    with pytest.raises(InvalidInput, match=r"write it in its ASCII form \(xn--…\)"):
        read_address("https://exämple.org/v1")
