"""What the verifier reads of a timestamp (RFC 3161), and what it says of one that is none or of something else."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import packed, unpacked
from tests.verifier.conftest import Made
from timemachine.verifier import tm_verify

STATE: Final = b'{"signed":"state"}'
SHA_512: Final = bytes.fromhex("608648016503040203")
SHA_3: Final = bytes.fromhex("60864801650304020a")
AT: Final = b"20261123111500Z"


def element(tag: int, *parts: bytes) -> bytes:
    """An element in DER."""
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes(2, "big")
    return bytes([tag, 0x82]) + size + content


def answer(at: bytes = AT, algorithm: bytes = SHA_512, dates: bytes = STATE) -> bytes:
    """An authority's answer, as far as it is read."""
    imprint = element(
        0x30, element(0x30, element(0x06, algorithm)), element(0x04, hashlib.sha512(dates).digest())
    )
    info = element(
        0x30, element(0x02, b"\1"), element(0x06, b"\1"), imprint, element(0x02, b"\1"), element(0x18, at)
    )
    content = element(0x30, element(0x06, b"\1"), element(0xA0, element(0x04, info)))
    signed = element(0x30, element(0x02, b"\3"), element(0x31), content)
    token = element(0x30, element(0x06, b"\1"), element(0xA0, signed))
    return element(0x30, element(0x30, element(0x02, b"\0")), token)


def test_a_timestamp_says_its_hash_and_its_time() -> None:
    found = tm_verify.timestamp(answer())
    assert found == (SHA_512, hashlib.sha512(STATE).digest(), "2026-11-23T11:15:00Z")
    assert tm_verify.timestamp(answer(b"20261123111500.25Z"))[2] == "2026-11-23T11:15:00.25Z"


@pytest.mark.parametrize(
    "none",
    [
        b"", b"0", b"nonsense", answer()[:-1], answer() + b"0", answer(b"20261123111500"), element(0x30),
        element(0x30, element(0x30), b"\x30"), b"\x30\x85" + bytes(9), element(0x30, element(0x30), b"\x30\x04\x00"),
        b"\x30\x80", b"\x30\x84\x00",
    ],
)  # fmt: skip
def test_what_has_another_form_is_no_timestamp(none: bytes) -> None:
    with pytest.raises(tm_verify.WRONG_FORM):
        tm_verify.timestamp(none)


def indefinite(der: bytes) -> bytes:
    """The element in BER, with its end marked behind it and its length not said."""
    head = 2 if der[1] < 0x80 else 2 + der[1] - 0x80
    return bytes([der[0], 0x80]) + der[head:] + bytes(2)


def test_a_timestamp_whose_lengths_are_not_said_is_not_checked_and_no_fault(
    made: Made, tmp_path: Path
) -> None:
    report = checked(made, tmp_path, lambda state: indefinite(answer(dates=state)))
    assert [each for each in report.problems if each["code"] == "timestamp"] == []
    (says,) = (each for each in report.not_checked if each.startswith("timestamps/1.tsr: "))
    assert "openssl ts -verify -in timestamps/1.tsr -data timestamps/1.json" in says
    assert report.dated == []


@pytest.mark.parametrize(
    ("said", "problem", "told"),
    [
        (lambda state: answer(dates=state), None, "2026-11-23T11:15:00Z of the log with its first 1 entry ("),
        (lambda state: answer(dates=state, algorithm=SHA_3), None, "of the log with its first 1 entry, by an unknown hash algorithm ("),
        (lambda state: answer(dates=state + b" "), "It does not date timestamps/1.json.", None),
        (lambda _state: b"nonsense", "It does not have the form of a timestamp (RFC 3161).", None),
    ],
)  # fmt: skip
def test_a_timestamp_is_of_the_state_beside_it_or_a_fault(
    said: Callable[[bytes], bytes], problem: str | None, told: str | None, made: Made, tmp_path: Path
) -> None:
    report = checked(made, tmp_path, said)
    assert [each["says"] for each in report.problems if each["code"] == "timestamp"] == [problem] * bool(
        problem
    )
    found = [line for line in tm_verify.report_lines(report) if line.startswith("TIMESTAMP ")]
    assert len(found) == bool(told)
    assert all(told and told in line for line in found)
    assert [each["file"] for each in report.as_json()["timestamps"]] == ["timestamps/1.tsr"] * bool(told)


def test_a_timestamp_that_is_too_large_to_be_one_says_nothing(made: Made, tmp_path: Path) -> None:
    report = checked(made, tmp_path, lambda state: answer(dates=state) + bytes(tm_verify.LARGEST_SMALL_FILE))
    assert report.dated == []


def test_of_many_timestamps_the_newest_are_told() -> None:
    report = tm_verify.Report()
    report.dated = [
        tm_verify.Dated(each, "2026-11-23T11:15:00Z", "f", compared=True) for each in range(12, 0, -1)
    ]
    found = list(tm_verify.report_lines(report))
    assert sum(line.startswith("TIMESTAMP") for line in found) == tm_verify.MOST_DATED
    assert "and 2 earlier timestamps; --json has all" in found


def checked(made: Made, folder: Path, said: Callable[[bytes], bytes]) -> tm_verify.Report:
    """The report on a log's bundle with a timestamp beside its first signed state."""
    files = unpacked(made.log)
    state = files["log/checkpoints.jsonl"].splitlines()[0]
    files |= {"timestamps/1.json": state, "timestamps/1.tsr": said(state)}
    return tm_verify.verify(str(packed(files, folder / "log.zip")))
