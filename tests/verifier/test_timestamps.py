"""How the verifier reads a timestamp (RFC 3161), and what it reports about an invalid or unrelated one."""

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
    """Return an element in DER."""
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes(2, "big")
    return bytes([tag, 0x82]) + size + content


def answer(at: bytes = AT, algorithm: bytes = SHA_512, dates: bytes = STATE) -> bytes:
    """Return an authority's answer, as far as it is read."""
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


def test_a_timestamp_states_its_hash_and_its_time() -> None:
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
def test_data_of_another_form_is_not_a_timestamp(none: bytes) -> None:
    with pytest.raises(tm_verify.WRONG_FORM):
        tm_verify.timestamp(none)


def indefinite(der: bytes) -> bytes:
    """Return the element in BER, with an end marker instead of a length."""
    head = 2 if der[1] < 0x80 else 2 + der[1] - 0x80
    return bytes([der[0], 0x80]) + der[head:] + bytes(2)


def test_a_timestamp_of_indefinite_length_is_not_checked_and_not_a_fault(made: Made, tmp_path: Path) -> None:
    report = checked(made, tmp_path, lambda state: indefinite(answer(dates=state)))
    assert [each for each in report.problems if each["code"] == "timestamp"] == []
    (note,) = (each for each in report.not_checked if each.startswith("timestamps/1.tsr: "))
    assert "openssl ts -verify -in timestamps/1.tsr -data timestamps/1.json" in note
    assert report.dated == []


@pytest.mark.parametrize(
    ("answer_of", "problem", "reported"),
    [
        (lambda state: answer(dates=state), None, "2026-11-23T11:15:00Z of the log with its first 1 entry ("),
        (lambda state: answer(dates=state, algorithm=SHA_3), None, "of the log with its first 1 entry, by an unknown hash algorithm ("),
        (lambda state: answer(dates=state + b" "), "It does not date timestamps/1.json.", None),
        (lambda _state: b"nonsense", "It does not have the form of a timestamp (RFC 3161).", None),
    ],
)  # fmt: skip
def test_a_timestamp_must_be_of_the_state_next_to_it(
    answer_of: Callable[[bytes], bytes], problem: str | None, reported: str | None, made: Made, tmp_path: Path
) -> None:
    report = checked(made, tmp_path, answer_of)
    assert [each["says"] for each in report.problems if each["code"] == "timestamp"] == [problem] * bool(
        problem
    )
    found = [line for line in tm_verify.report_lines(report) if line.startswith("TIMESTAMP ")]
    assert len(found) == bool(reported)
    assert all(reported and reported in line for line in found)
    assert [each["file"] for each in report.as_json()["timestamps"]] == ["timestamps/1.tsr"] * bool(reported)


def test_a_timestamp_that_is_too_large_reports_nothing(made: Made, tmp_path: Path) -> None:
    report = checked(made, tmp_path, lambda state: answer(dates=state) + bytes(tm_verify.LARGEST_SMALL_FILE))
    assert report.dated == []


def test_the_newest_of_many_timestamps_are_listed() -> None:
    report = tm_verify.Report()
    report.dated = [
        tm_verify.Dated(each, "2026-11-23T11:15:00Z", "f", compared=True) for each in range(12, 0, -1)
    ]
    found = list(tm_verify.report_lines(report))
    assert sum(line.startswith("TIMESTAMP") for line in found) == tm_verify.MOST_DATED
    assert "and 2 earlier timestamps; --json lists all" in found


def checked(made: Made, folder: Path, answer_of: Callable[[bytes], bytes]) -> tm_verify.Report:
    """Return the report on a log's bundle with a timestamp next to its first signed state."""
    files = unpacked(made.log)
    state = files["log/checkpoints.jsonl"].splitlines()[0]
    files |= {"timestamps/1.json": state, "timestamps/1.tsr": answer_of(state)}
    return tm_verify.verify(str(packed(files, folder / "log.zip")))
