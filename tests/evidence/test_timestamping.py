"""Timestamps of RFC 3161, read by hand: what OpenSSL understands, and every other form of an answer."""

import subprocess
from datetime import UTC, datetime

import pytest

from timemachine.evidence.pure.timestamping import (
    TimestampRequest,
    refusal,
    timestamp_of,
    timestamp_request,
)

REQUEST = TimestampRequest(digest=b"d" * 64, nonce=0x80)
NONCE = "02020080"
NOT_ONE = "The authority's answer is not a timestamp (RFC 3161)."


def of(tag: str, *inner: str) -> str:
    content = "".join(inner)
    size = len(content) // 2
    return f"{tag}{f'{size:02x}' if size < 128 else f'82{size:04x}'}{content}"


def answer_with(*, at: str = "20261127101500Z", digest: bytes = b"d" * 64, nonce: str = NONCE) -> bytes:
    imprint = of("30", "3000", of("04", digest.hex()))
    dated = of("30", "020101", "0600", imprint, "020101", of("18", at.encode().hex()), "3000", nonce)
    signed = of("30", "020103", "3100", of("30", "0600", of("a0", of("04", dated))))
    return bytes.fromhex(of("30", "3003020100", of("30", "0600", of("a0", signed))))


def test_openssl_reads_the_request() -> None:
    request = timestamp_request(b"anything")
    command = ["openssl", "ts", "-query", "-in", "/dev/stdin", "-text"]
    shown = subprocess.run(command, input=request.as_bytes(), capture_output=True, check=True).stdout.decode()
    assert "Hash Algorithm: sha512" in shown
    assert int(shown.split("Nonce: ")[1].split()[0], 16) == request.nonce
    assert "Certificate required: yes" in shown


@pytest.mark.parametrize("at", ["20261127101500Z", "20261127101500.000Z"])
def test_the_time_of_an_answer_is_the_authority_s(at: str) -> None:
    answer = answer_with(at=at)
    assert refusal(REQUEST, answer) is None
    assert timestamp_of(answer) == datetime(2026, 11, 27, 10, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "answer", [answer_with(digest=b"e" * 64), answer_with(nonce="020101"), answer_with(nonce="")]
)
def test_a_timestamp_of_something_else_is_refused(answer: bytes) -> None:
    assert refusal(REQUEST, answer) == "The authority's answer is a timestamp of something else."


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("3005 3003 020102", "status 2"),
        ("300c 300a 020102 3005 0c03 4e6f21", "No!"),
        ("3009 3007 020102 0302 0401", "status 2"),
    ],
)
def test_a_refusal_has_the_words_of_the_authority(answer: str, reason: str) -> None:
    assert refusal(REQUEST, bytes.fromhex(answer)) == f"The authority gave no timestamp: {reason}."


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "30",
        "3005",
        "02020505",
        "3005 3003 020100",
        "3080 30",
        "3085 00000000ff",
        "3086 00",
        "3005 3003 0c0130",
    ],
)
def test_data_of_another_form_is_not_a_timestamp(answer: str) -> None:
    assert refusal(REQUEST, bytes.fromhex(answer)) == NOT_ONE


@pytest.mark.parametrize("at", ["20261127Z", "20261327101500Z", "20261127101500", "２0261127101500Z"])
def test_a_time_of_another_form_is_not_a_timestamp(at: str) -> None:
    assert refusal(REQUEST, answer_with(at=at)) == NOT_ONE
