"""Malformed and damaged bundles: always a fault or one clear sentence, never a traceback."""

import base64
import json
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier.bundles import (
    Change,
    Files,
    document,
    faults,
    lines,
    packed,
    statement,
    unpacked,
    without,
)
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.verifier import program, tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
NO_BUNDLE: Final[dict[str, tuple[Change, str]]] = {
    "no statement": (without("statement.json"), "no readable statement.json"),
    "a statement that is not JSON": (
        lambda files: files.update({"statement.json": b"{"}),
        "no readable statement.json",
    ),
    "an empty statement": (lambda files: files.update({"statement.json": b"{}"}), "does not have the form"),
    "a statement without trees": (
        statement(lambda content: content["predicate"].pop("trees")),
        "does not have the form",
    ),
    "another format": (
        statement(lambda content: content["predicate"].update(format="timemachine-evidence-9")),
        "timemachine-evidence-9",
    ),
}


def wrong_line(name: str, number: int = 0, line: bytes = b"{}") -> Change:
    def change(found: list[bytes]) -> None:
        found[number] = line

    return lines(name, change)


def tombstone(of: str) -> Callable[[str], Any]:
    """Return a tombstone of the subject with this id, as if it were in the log."""

    def written(id_: str) -> Any:
        entry = {"entry": "erased_fields", "of": of, "id": id_, "generation": 1, "records": [[1, ["output"]]]}
        return {"entry": json.dumps(entry, separators=(",", ":")), "index": 0, "path": []}

    return written


def tombstones(written: Any = None, entry: Any = None) -> Change:
    """Write a file of tombstones, or one with this entry, under the signed state of the log in the bundle."""

    def change(files: Files) -> None:
        log, record = (
            json.loads(files["session/log.json"]),
            json.loads(files["session/records.jsonl"].split(b"\n")[0]),
        )
        entries = [entry(record["id"]) if callable(entry) else entry]
        content = {"entries": entries, "checkpoint": log["checkpoint"]} if written is None else written
        files["session/erased.json"] = json.dumps(content).encode()

    return change


FAULTS: Final[dict[str, tuple[Change, tuple[str, str]]]] = {
    "another subject": (
        statement(lambda content: content["subject"][0].update(name="x")),
        ("statement", "statement.json"),
    ),
    "a line that is not a payload": (wrong_line("payloads.jsonl"), ("payload", "payloads.jsonl line 1")),
    "the payloads dropped": (without("payloads.jsonl"), ("field", "session record 1 hit.1.text")),
    "a checkpoint that is not JSON": (
        wrong_line("session/checkpoints.jsonl", 0, b"{"),
        ("signature", "session checkpoint 1"),
    ),
    "no entry of the log": (without("session/log.json"), ("log", "session log entry")),
    "an entry of another form": (
        document("session/log.json", lambda entry: entry.pop("path")),
        ("log", "session log entry"),
    ),
    "an invalid disclosed line": (
        wrong_line("session/disclosed.jsonl"),
        ("field", "session disclosed line 1"),
    ),
    "a field disclosed with another value": (
        wrong_line("session/disclosed.jsonl", 0, b'{"index":0,"fields":{"about":{}}}'),
        ("field", "session record 0 about"),
    ),
    "fields of a missing record": (
        wrong_line("session/disclosed.jsonl", 0, b'{"index":99,"fields":{}}'),
        ("missing", "session record 99"),
    ),
    "invalid tombstones": (
        tombstones([]),
        ("file", "session/erased.json"),
    ),
    "unsigned tombstones": (
        tombstones({"entries": [{}]}),
        ("signature", "session tombstones"),
    ),
    "a tombstone of another form": (
        tombstones(entry={}),
        ("tombstone", "session tombstones"),
    ),
    "a tombstone of something else": (
        tombstones(entry=tombstone("replay")),
        ("tombstone", "session tombstones 0"),
    ),
    "a tombstone that is not in the log": (
        tombstones(entry=tombstone("session")),
        ("tombstone", "session tombstones 0"),
    ),
    "invalid keys": (
        lambda files: files.update({"keys.json": b'[{"public_key": "x"}, {"public_key": "eA=="}, {}]'}),
        ("signature", "statement.json"),
    ),
    "an invalid list of keys": (
        lambda files: files.update({"keys.json": b"{}"}),
        ("signature", "statement.json"),
    ),
    "another type under the signature": (
        document("statement.json", lambda signed: signed.update(payloadType="text/plain")),
        ("signature", "statement.json"),
    ),
}


@pytest.mark.parametrize("name", NO_BUNDLE)
def test_a_file_that_is_not_a_bundle_gives_one_sentence_and_exit_code_2(
    made: Made, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change, message = NO_BUNDLE[name]
    files = unpacked(made.session)
    change(files)
    assert tm_verify.main([str(packed(files, tmp_path / "x.zip"))]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", FAULTS)
def test_data_of_another_form_is_a_fault_at_its_place(made: Made, tmp_path: Path, name: str) -> None:
    change, (code, where) = FAULTS[name]
    files = unpacked(made.session)
    change(files)
    found = faults(packed(files, tmp_path / "x.zip"), made.key)
    assert any(each == code and place == where for each, place in found), found


def test_a_proof_of_another_form_is_reported(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.replay)
    wrong_line("session/proofs.jsonl")(files)
    assert ("proof", "session proofs line 1") in faults(packed(files, tmp_path / "x.zip"), made.key)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda payload: payload.replace(b"/session/", b"/lesson/"), ("checkpoint", "session checkpoint 2")),
        (lambda _: b"no checkpoint", ("checkpoint", "session checkpoint 2")),
        (lambda payload: payload.replace(b"last ", b"last 00"), ("root", "")),
    ],
)
def test_a_checkpoint_under_an_added_key_is_still_compared(
    made: Made, tmp_path: Path, change: Any, fault: tuple[str, str]
) -> None:
    forger, files = Forger(), unpacked(made.session)
    forger.add_key(files)
    document("session/checkpoints.jsonl", lambda signed: signed.update(forger.signed(signed, change)), 1)(
        files
    )
    found = faults(packed(files, tmp_path / "x.zip"), made.key)
    assert fault in found or fault[0] == "root", found
    assert ("file", "session/checkpoints.jsonl") in found


def test_a_checkpoint_with_the_root_of_another_tree_is_reported(made: Made, tmp_path: Path) -> None:
    forger, files = Forger(), unpacked(made.session)
    forger.add_key(files)
    root = base64.b64encode(bytes(32))

    def other_root(payload: bytes) -> bytes:
        found = payload.split(b"\n")
        return b"\n".join([*found[:2], root, *found[3:]])

    document("session/checkpoints.jsonl", lambda signed: signed.update(forger.signed(signed, other_root)), 0)(
        files
    )
    assert ("root", "session checkpoint 1") in faults(packed(files, tmp_path / "x.zip"), made.key)


def test_a_log_entry_for_something_else_is_reported(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.session)
    files["session/log.json"] = unpacked(made.replay)["replay/log.json"]
    files["keys.json"] = unpacked(made.replay)["keys.json"]
    assert ("log", "session log entry") in faults(packed(files, tmp_path / "x.zip"), made.key)


def test_faults_beyond_a_hundred_are_counted(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = unpacked(made.session)
    disclosed = [json.loads(line) for line in files["session/disclosed.jsonl"].splitlines()]
    for line in disclosed:
        for each in line["fields"].values():
            each[0] = "00" * 16
    files["session/disclosed.jsonl"] = b"".join(json.dumps(line).encode() + b"\n" for line in disclosed * 3)
    assert tm_verify.main([str(packed(files, tmp_path / "x.zip"))]) == 1
    out = capsys.readouterr().out
    assert out.count("FAULT") == 100
    assert "more faults" in out


def test_two_files_with_the_same_name_are_not_a_bundle(made: Made, tmp_path: Path) -> None:
    path = packed(unpacked(made.session), tmp_path / "x.zip")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as opened:
        opened.writestr("README.txt", b"x")
    with pytest.raises(tm_verify.Unreadable, match="the same name"):
        tm_verify.verify(str(path))


def test_damage_inside_a_file_is_reported(made: Made, tmp_path: Path) -> None:
    path = packed(unpacked(made.session), tmp_path / "x.zip")
    with zipfile.ZipFile(path) as opened:
        info = opened.getinfo("session/records.jsonl")
    data = bytearray(path.read_bytes())
    data[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 0xFF
    path.write_bytes(data)
    assert ("file", "session/records.jsonl") in faults(path, made.key)


def test_the_verifier_file_works_in_any_folder(made: Made, tmp_path: Path) -> None:
    (tmp_path / "tm_verify.py").write_bytes(program())
    (tmp_path / "evidence.zip").write_bytes(made.session)
    alone = [sys.executable, "-I", "-S", "tm_verify.py", "evidence.zip"]
    done = subprocess.run(
        [*alone, "--key", made.key, "--json"], cwd=tmp_path, capture_output=True, check=True
    )
    assert json.loads(done.stdout)["result"] == "verified"


def test_an_invalid_command_gives_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tm_verify.py", "evidence.zip", "--key", "x"])
    with pytest.raises(SystemExit) as exited:
        runpy.run_path(tm_verify.__file__, run_name="__main__")
    assert (exited.value.code, "64 hexadecimal digits" in capsys.readouterr().err) == (2, True)
    monkeypatch.setattr(sys, "argv", ["tm_verify.py", "nowhere.zip"])
    with pytest.raises(SystemExit) as exited:
        runpy.run_path(tm_verify.__file__, run_name="__main__")
    assert exited.value.code == 2


@given(st.binary(max_size=200), st.binary(min_size=32, max_size=32))
def test_signatures_match_another_implementation(message: bytes, seed: bytes) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = private.public_key().public_bytes_raw(), private.sign(message)
    assert tm_verify.is_signature(public, message, signature)
    assert not tm_verify.is_signature(public, message + b"x", signature)


KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()
SIGNED: Final = Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(b"x")


@pytest.mark.parametrize(
    ("key", "signature"),
    [
        (KEY[:31], SIGNED),
        (KEY, SIGNED[:63]),
        (KEY, SIGNED[:32] + b"\xff" * 32),
        (b"\xff" * 32, SIGNED),
        (b"\x02" + bytes(31), SIGNED),
        (b"\x01" + bytes(30) + b"\x80", SIGNED),
        (KEY, b"\xff" * 32 + SIGNED[32:]),
    ],
)
def test_an_invalid_key_or_signature_is_not_valid(key: bytes, signature: bytes) -> None:
    assert tm_verify.is_signature(KEY, b"x", SIGNED)
    assert not tm_verify.is_signature(key, b"x", signature)
