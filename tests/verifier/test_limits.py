"""A small file that unpacks to a large one, or has endless faults, blocks no one and uses little memory."""

import base64
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from time import process_time
from typing import Final

import pytest

from tests.verifier.bundles import Files, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.evidence.pure.deterministic_zip import Zipped
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
MIB: Final = 1 << 20


def with_large(files: Files, name: str, chunk: bytes, times: int, target: Path) -> str:
    """Return the path of a zip of these files, one of which is the same bytes this many times."""
    packed({other: data for other, data in files.items() if other != name}, target)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as opened, opened.open(name, "w") as file:
        for _ in range(times):
            file.write(chunk)
    return str(target)


def test_the_time_for_a_long_line_is_proportional_to_its_length(made: Made, tmp_path: Path) -> None:
    path = with_large(unpacked(made.session), "payloads.jsonl", b"x" * MIB, 128, tmp_path / "x.zip")
    began = process_time()
    tm_verify.verify(path, made.key)
    assert process_time() - began < 5  # appending each chunk to all earlier ones took eleven seconds


def test_a_line_is_read_completely_for_any_chunk_size(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(packed(unpacked(made.session), tmp_path / "x.zip"))
    in_one_chunk = tm_verify.verify(path, made.key).as_json()
    for size in (1, 7, 64):
        monkeypatch.setattr(tm_verify, "CHUNK", size)
        assert tm_verify.verify(path, made.key).as_json() == in_one_chunk


def test_a_line_longer_than_any_payload_is_not_a_bundle(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tm_verify, "LONGEST_LINE", 4 * MIB)
    path = with_large(unpacked(made.session), "payloads.jsonl", b"x" * MIB, 8, tmp_path / "x.zip")
    assert tm_verify.main([path]) == 2
    assert "a line of payloads.jsonl is longer than 4,194,304 bytes" in capsys.readouterr().err
    oversized = with_large(
        unpacked(made.session), "session/disclosed.jsonl", b"x" * MIB, 8, tmp_path / "y.zip"
    )
    assert tm_verify.main([oversized, "--told", "session/disclosed.jsonl"]) == 1


def test_an_impossible_compression_ratio_is_not_a_bundle(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_large(unpacked(made.session), "payloads.jsonl", b"x" * MIB, 64, tmp_path / "x.zip")
    assert tm_verify.verify(path).problems  # below what is allowed in any case
    monkeypatch.setattr(tm_verify, "ALLOWED_INFLATED", 16 * MIB)
    with pytest.raises(tm_verify.Unreadable, match="unpack to 67,"):
        tm_verify.verify(path)


def test_repetitive_texts_stay_below_the_compression_limit(tmp_path: Path) -> None:
    """As in a real bundle: a salt before each text, here of an agent that gives the same answer of 16 KiB a thousand times."""
    answer = " ".join(f"line {number} of the same log" for number in range(600))[:16_384]
    with (tmp_path / "x.zip").open("wb") as target:
        zipped = Zipped(target)
        with zipped.file("session/disclosed.jsonl") as file:
            file.lines(
                json.dumps({"index": index, "fields": {"output": [os.urandom(16).hex(), answer]}}).encode()
                for index in range(1_000)
            )
        zipped.close()
    with zipfile.ZipFile(tmp_path / "x.zip") as opened:
        size = opened.infolist()[0].file_size
    assert size / (tmp_path / "x.zip").stat().st_size < tm_verify.MOST_INFLATED


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("session/records.jsonl", b"\n"),
        ("session/disclosed.jsonl", b"{}\n"),
        ("session/checkpoints.jsonl", b"\n"),
    ],
)
def test_the_check_stops_after_a_maximum_of_faults_and_reports_this(
    made: Made,
    tmp_path: Path,
    name: str,
    line: bytes,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 1_000)
    path = with_large(unpacked(made.session), name, line * 1_000, 100, tmp_path / "x.zip")
    for size in (tm_verify.WORTH_A_PROCESS, 0):
        monkeypatch.setattr(tm_verify, "WORTH_A_PROCESS", size)
        report = tm_verify.verify(path)
        assert (report.more, report.as_json()["stopped"]) == (900, report.stopped)
    assert tm_verify.main([path]) == 1
    assert (
        "STOPPED: The check stopped after 1,000 faults. The rest was not checked." in capsys.readouterr().out
    )


def test_the_other_process_stops_too(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 5)
    path = packed(unpacked(made.session) | {"session/disclosed.jsonl": b"{}\n" * 10}, tmp_path / "x.zip")
    assert tm_verify.main([str(path), "--told", "session/disclosed.jsonl"]) == 1


def test_valid_lines_in_another_form_are_limited(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = unpacked(made.session)
    disclosed = files["session/disclosed.jsonl"].splitlines()
    files["session/disclosed.jsonl"] = b"".join(b" " + line + b"\n" for line in disclosed)
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 5)
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
    assert report.stopped == (
        "It stopped after 5 lines of session/disclosed.jsonl that are not in the form that Time Machine writes."
    )
    assert report.as_json()["result"] == "failed"


def test_invalid_signatures_are_limited_and_a_repeated_one_is_checked_once(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.add_key(files)
    signed = json.loads(files["session/checkpoints.jsonl"].splitlines()[0])
    line = json.dumps(forger.signed(signed)).encode() + b"\n"
    files["session/checkpoints.jsonl"] = line * 5_000
    began = process_time()
    tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
    assert process_time() - began < 10
    monkeypatch.setattr(tm_verify, "MOST_FORGED", 7)
    signed["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    files["session/checkpoints.jsonl"] = (json.dumps(signed).encode() + b"\n") * 10
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
    assert (len(report.problems), report.stopped) == (7, "It stopped after 7 invalid signatures.")


def test_a_million_bad_lines_take_little_memory(made: Made, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = with_large(
        unpacked(made.session), "session/disclosed.jsonl", b"{}\n" * 100_000, 10, tmp_path / "x.zip"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run([sys.executable, tm_verify.__file__, path], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert (done.returncode, b"100,000 faults" in done.stdout) == (1, True)
    assert after <= max(before, 120 * 1024)  # KiB


def test_invalid_log_entries_are_limited(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 1_000)
    path = with_large(unpacked(made.log), "log/entries.jsonl", b"\n" * 1_000, 100, tmp_path / "x.zip")
    report = tm_verify.verify(path)
    assert report.stopped == "It stopped after 1,000 lines of log/entries.jsonl that are not entries."
