"""The tampering lab: every change to a bundle made without the key is detected, and the right record is reported."""

import base64
import json
import string
from pathlib import Path
from typing import Any, Final

import pytest

from tests.verifier.bundles import (
    Change,
    Files,
    document,
    drop,
    faults,
    lines,
    packed,
    replaced,
    statement,
    unpacked,
    without,
)
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
RECORDS: Final = "session/records.jsonl"
DISCLOSED: Final = "session/disclosed.jsonl"
CHECKPOINTS: Final = "session/checkpoints.jsonl"


def swap(found: list[bytes]) -> None:
    found[3], found[4] = found[4], found[3]


def set_field(field: str, position: int, value: str) -> Any:
    def change(line: Any) -> None:
        line["fields"][field][position] = value

    return change


def flip(name: str, number: int) -> Change:
    """Change the last byte under a signature."""

    def change(signed: Any) -> None:
        payload = bytearray(base64.b64decode(signed["payload"]))
        payload[-2] ^= 1
        signed["payload"] = base64.b64encode(payload).decode()

    return document(name, change, number)


def forge(files: Files) -> str:
    """Sign the statement and every checkpoint with the forger's own key, add it to the bundle, and return its fingerprint."""
    forger = Forger()
    forger.add_key(files)
    files["statement.json"] = json.dumps(forger.signed(json.loads(files["statement.json"]))).encode()
    signed = [forger.signed(json.loads(line)) for line in files[CHECKPOINTS].splitlines()]
    files[CHECKPOINTS] = b"".join(json.dumps(each).encode() + b"\n" for each in signed)
    return forger.key


def other_bits(text: str) -> str:
    """Return the same bytes in base64, with other padding bits."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    body, end = text.rstrip("="), text[len(text.rstrip("=")) :]
    assert end
    return f"{body[:-1]}{letters[letters.index(body[-1]) ^ 1]}{end}"


CLASSES: Final[dict[str, tuple[Change, tuple[str, str]]]] = {
    "a byte of a record": (
        replaced(RECORDS, 2, b'"kind":"ask"', b'"kind":"asc"'),
        ("chain", "session record 2"),
    ),
    "a byte that breaks its form": (replaced(RECORDS, 3, b'"v":1', b'"v":2'), ("record", "session record 3")),
    "the last record": (
        replaced(RECORDS, -1, b'"kind":"message"', b'"kind":"message_"'),
        ("chain", "session record 8"),
    ),
    "the first record": (
        replaced(RECORDS, 0, b'"kind":"session"', b'"kind":"sessions"'),
        ("chain", "session record 0"),
    ),
    "a record deleted": (lines(RECORDS, drop(4)), ("missing", "session record 4")),
    "the last record deleted": (lines(RECORDS, drop(-1)), ("missing", "session record 8")),
    "a record twice": (
        lines(RECORDS, lambda found: found.insert(5, found[4])),
        ("order", "session record 4"),
    ),
    "a record added": (
        lines(RECORDS, lambda found: found.append(found[-1].replace(b'"index":8', b'"index":9'))),
        ("added", "session record 9"),
    ),
    "two records swapped": (lines(RECORDS, swap), ("order", "session record 3")),
    "the records truncated": (
        lines(RECORDS, lambda found: found.__delitem__(slice(6, None))),
        ("missing", "session record 6"),
    ),
    "a record of another session": (
        replaced(RECORDS, 2, b'"of":"session"', b'"of":"replay"'),
        ("record", "session record 2"),
    ),
    "an answer": (
        document(DISCLOSED, set_field("output", 1, "Nobody keeps invoices."), 2),
        ("field", "session record 2 output"),
    ),
    "a number": (
        document(DISCLOSED, set_field("facts", 1, '{"cost_usd":"0.000001"}'), 2),
        ("field", "session record 2 facts"),
    ),
    "a salt": (document(DISCLOSED, set_field("input", 0, "00" * 16), 3), ("field", "session record 3 input")),
    "a field that was never there": (
        document(DISCLOSED, lambda line: line["fields"].update(source=["00" * 16, "x"]), 3),
        ("field", "session record 3 source"),
    ),
    "the words of a passage": (
        lambda files: files.update(
            {"payloads.jsonl": files["payloads.jsonl"].replace(b"ten years", b"two years")}
        ),
        ("payload", ""),
    ),
    "a checkpoint": (flip(CHECKPOINTS, 0), ("signature", "session checkpoint 1")),
    "the last checkpoint dropped": (lines(CHECKPOINTS, drop(-1)), ("checkpoint", "session checkpoint 1")),
    "every checkpoint dropped": (
        lambda files: files.update({CHECKPOINTS: b""}),
        ("checkpoint", "session checkpoints"),
    ),
    "the statement": (
        statement(lambda content: content["predicate"]["about"].update(name="x")),
        ("signature", "statement.json"),
    ),
    "more next to the statement": (
        document("statement.json", lambda signed: signed.update(note="Checked, and all of it is true")),
        ("signature", "statement.json"),
    ),
    "more next to its signature": (
        document("statement.json", lambda signed: signed["signatures"][0].update(cert="x")),
        ("signature", "statement.json"),
    ),
    "padding bits of its signature": (
        document(
            "statement.json",
            lambda signed: signed["signatures"][0].update(sig=other_bits(signed["signatures"][0]["sig"])),
        ),
        ("signature", "statement.json"),
    ),
    "the README": (lambda files: files.update({"README.txt": b"all is proven"}), ("file", "README.txt")),
    "a file added": (lambda files: files.update({"extra.txt": b"x"}), ("file", "extra.txt")),
    "a file removed": (without("README.txt"), ("file", "README.txt")),
    "the entry in the log": (
        document(
            "session/log.json", lambda entry: entry.update(entry=entry["entry"].replace("sealed", "healed"))
        ),
        ("log", "session log entry"),
    ),
    "the state of the log": (
        document(
            "session/log.json",
            lambda entry: entry["checkpoint"]["signatures"][0].update(
                sig=base64.b64encode(bytes(64)).decode()
            ),
        ),
        ("signature", "session log entry"),
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_change_is_reported(made: Made, tmp_path: Path, name: str) -> None:
    change, (code, where) = CLASSES[name]
    files = unpacked(made.session)
    change(files)
    found = faults(packed(files, tmp_path / "evidence.zip"), made.key)
    assert any(each == code and place.startswith(where or "payload ") for each, place in found), found


def test_untouched_bundles_are_valid(made: Made, tmp_path: Path) -> None:
    for name, links in (("session", 0), ("replay", 4), ("comparison", 6)):
        path = tmp_path / f"{name}.zip"
        path.write_bytes(getattr(made, name))
        report = tm_verify.verify(str(path), made.key)
        assert report.problems == []
        assert (report.checked["withheld"], report.checked["records"] > 3) == (0, True)
        assert report.checked["links"] == links


def test_the_same_files_in_another_zip_are_still_valid_evidence(made: Made, tmp_path: Path) -> None:
    with_other_zip = packed(unpacked(made.session), tmp_path / "a.zip")
    assert with_other_zip.read_bytes() != made.session
    assert faults(with_other_zip, made.key) == []


def test_a_forger_s_own_key_is_detected_by_the_fingerprint(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.session)
    forge(files)
    found = faults(packed(files, tmp_path / "evidence.zip"), made.key)
    assert ("key", "statement.json") in found


OF_OTHERS: Final[dict[str, tuple[Change, tuple[str, str]]]] = {
    "a replayed answer": (
        document("replay/disclosed.jsonl", set_field("output", 1, "x"), 2),
        ("field", "replay record 2 output"),
    ),
    "an answer": (
        document("comparison/disclosed.jsonl", set_field("output", 1, "x"), 2),
        ("field", "comparison record 2 output"),
    ),
    "a verdict": (
        document("comparison/disclosed.jsonl", set_field("facts", 1, '{"verdict":"identical"}'), 4),
        ("field", "comparison record 4 facts"),
    ),
    "a grounding": (
        document("comparison/disclosed.jsonl", set_field("grounding", 1, '{"score":1}'), 1),
        ("field", "comparison record 1 grounding"),
    ),
    "a variant": (
        document("comparison/disclosed.jsonl", set_field("arms", 1, "[]"), 0),
        ("field", "comparison record 0 arms"),
    ),
    "a number": (
        document("comparison/disclosed.jsonl", set_field("facts", 1, '{"columns":[]}'), 7),
        ("field", "comparison record 7 facts"),
    ),
    "a cell removed": (lines("comparison/records.jsonl", drop(3)), ("missing", "comparison record 3")),
    "the link of a cell": (lines("session-1/records.jsonl", drop(1)), ("link", "comparison record 1")),
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_every_change_of_a_replay_or_comparison_is_reported(made: Made, tmp_path: Path, name: str) -> None:
    change, fault = OF_OTHERS[name]
    files = unpacked(made.replay if "replay" in fault[1] else made.comparison)
    change(files)
    assert fault in faults(packed(files, tmp_path / "evidence.zip"), made.key)


def test_a_missing_record_of_a_replayed_step_is_reported(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.replay)
    lines(RECORDS, drop(2))(files)
    found = faults(packed(files, tmp_path / "evidence.zip"), made.key)
    assert ("link", "replay record 2") in found
    assert any(code == "missing" and "record" in where for code, where in found)


def test_a_record_shown_alone_needs_its_own_proof(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.replay)
    proofs = files["session/proofs.jsonl"]
    lines("session/proofs.jsonl", drop(1))(files)
    assert any(code == "proof" for code, _ in faults(packed(files, tmp_path / "a.zip"), made.key))
    files["session/proofs.jsonl"] = proofs.replace(b'"path":["', b'"path":["00' + b"0" * 62 + b'","', 1)
    assert any(code == "chain" for code, _ in faults(packed(files, tmp_path / "b.zip"), made.key))


def test_damage_is_a_fault_and_not_a_crash(made: Made, tmp_path: Path) -> None:
    data = bytearray(made.session)
    data[len(data) // 3] ^= 0xFF
    path = tmp_path / "evidence.zip"
    path.write_bytes(data)
    assert tm_verify.main([str(path)]) in {1, 2}
