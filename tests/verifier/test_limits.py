"""A small file that unpacks to a large one, or that has no end of faults, holds nobody up and eats no memory."""

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

pytestmark = pytest.mark.django_db  # for the fixture alone
MIB: Final = 1 << 20


def with_large(files: Files, name: str, chunk: bytes, times: int, target: Path) -> str:
    """A zip of these files, of which one is so many times the same bytes."""
    packed({other: data for other, data in files.items() if other != name}, target)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as opened, opened.open(name, "w") as file:
        for _ in range(times):
            file.write(chunk)
    return str(target)


def test_a_long_line_takes_time_in_proportion_to_its_length(made: Made, tmp_path: Path) -> None:
    path = with_large(unpacked(made.session), "payloads.jsonl", b"x" * MIB, 128, tmp_path / "x.zip")
    began = process_time()
    tm_verify.verify(path, made.key)
    assert process_time() - began < 5  # where each chunk was put behind all before it, eleven seconds


def test_a_line_is_whole_however_it_is_cut_into_chunks(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(packed(unpacked(made.session), tmp_path / "x.zip"))
    at_once = tm_verify.verify(path, made.key).as_json()
    for size in (1, 7, 64):
        monkeypatch.setattr(tm_verify, "CHUNK", size)
        assert tm_verify.verify(path, made.key).as_json() == at_once


def test_a_line_longer_than_any_payload_is_no_bundle(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tm_verify, "LONGEST_LINE", 4 * MIB)
    path = with_large(unpacked(made.session), "payloads.jsonl", b"x" * MIB, 8, tmp_path / "x.zip")
    assert tm_verify.main([path]) == 2
    assert "a line of payloads.jsonl is longer than 4,194,304 bytes" in capsys.readouterr().err
    told = with_large(unpacked(made.session), "session/disclosed.jsonl", b"x" * MIB, 8, tmp_path / "y.zip")
    assert tm_verify.main([told, "--told", "session/disclosed.jsonl"]) == 1


def test_what_unpacks_to_more_than_is_ever_packed_so_tightly_is_no_bundle(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_large(unpacked(made.session), "payloads.jsonl", b"x" * MIB, 64, tmp_path / "x.zip")
    assert tm_verify.verify(path).problems  # below what is allowed in any case
    monkeypatch.setattr(tm_verify, "ALLOWED_INFLATED", 16 * MIB)
    with pytest.raises(tm_verify.Unreadable, match="unpack to 67,"):
        tm_verify.verify(path)


def test_texts_that_repeat_each_other_are_packed_less_tightly_than_that(tmp_path: Path) -> None:
    """As a bundle holds them: a salt before each text, here of an agent that gives the same answer of 16 KiB a thousand times."""
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
def test_after_so_many_faults_it_stops_and_says_so(
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
    assert "STOPPED: It stopped after 1,000 faults. The rest was not checked." in capsys.readouterr().out


def test_the_other_process_stops_too(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 5)
    path = packed(unpacked(made.session) | {"session/disclosed.jsonl": b"{}\n" * 10}, tmp_path / "x.zip")
    assert tm_verify.main([str(path), "--told", "session/disclosed.jsonl"]) == 1


def test_lines_that_are_right_and_written_otherwise_have_an_end(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = unpacked(made.session)
    told = files["session/disclosed.jsonl"].splitlines()
    files["session/disclosed.jsonl"] = b"".join(b" " + line + b"\n" for line in told)
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 5)
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
    assert report.stopped == (
        "It stopped after 5 lines of session/disclosed.jsonl that are not in the form that the product writes."
    )
    assert report.as_json()["result"] == "failed"


def test_signatures_that_are_not_valid_have_an_end_and_one_that_is_repeated_is_checked_once(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.slip_in(files)
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
    assert (len(report.problems), report.stopped) == (7, "It stopped after 7 signatures that are not valid.")


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


def test_lines_that_are_no_entries_of_a_log_have_an_end(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 1_000)
    path = with_large(unpacked(made.log), "log/entries.jsonl", b"\n" * 1_000, 100, tmp_path / "x.zip")
    report = tm_verify.verify(path)
    assert report.stopped == "It stopped after 1,000 lines of log/entries.jsonl that are not entries."
