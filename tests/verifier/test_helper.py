"""A large bundle is read by two processes, and every line has only one valid form; neither changes the findings."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import (
    Change,
    document,
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
RECORDS, DISCLOSED, PAYLOADS = "session/records.jsonl", "session/disclosed.jsonl", "payloads.jsonl"


def replace_disclosed(number: int, old: str, new: str) -> Change:
    return replaced(DISCLOSED, number, old.encode(), new.encode())


def swap(found: list[bytes]) -> None:
    found[2], found[3] = found[3], found[2]


AMBIGUOUS: Final[dict[str, tuple[Change, tuple[str, str]]]] = {
    "an index twice": (
        replace_disclosed(2, '{"index":2,', '{"index":3,"index":2,'),
        ("field", "session disclosed line 3"),
    ),
    "a field twice": (
        replace_disclosed(2, '"fields":{', '"fields":{"input":["00","x"],'),
        ("field", "session disclosed line 3"),
    ),
    "pairs instead of an object": (
        lines(DISCLOSED, lambda found: found.__setitem__(0, b'[["index",0],["fields",{}]]')),
        ("field", "session disclosed line 1"),
    ),
    "an index that is not a whole number": (
        replace_disclosed(0, '{"index":0,', '{"index":0.0,'),
        ("field", "session disclosed line 1"),
    ),
    "a record disclosed twice": (
        lines(DISCLOSED, lambda found: found.insert(2, found[1])),
        ("order", "session disclosed line 3"),
    ),
    "records disclosed in another order": (lines(DISCLOSED, swap), ("order", "session disclosed line 4")),
    "a text next to a payload": (
        document(DISCLOSED, lambda line: line["fields"]["output"].append("00" * 32), 2),
        ("field", "session record 2 output"),
    ),
    "names of fields in another order": (
        lines(RECORDS, lambda found: found.__setitem__(2, _turned(found[2]))),
        ("record", "session record 2"),
    ),
    "data after it": (
        lines(DISCLOSED, lambda found: found.__setitem__(1, found[1] + b"{}")),
        ("field", "session disclosed line 2"),
    ),
    "endless nesting": (
        lines(DISCLOSED, lambda found: found.__setitem__(1, b"[" * 200_000)),
        ("field", "session disclosed line 2"),
    ),
    "a key in the list of keys twice": (
        lambda files: files.update(
            {"keys.json": files["keys.json"].replace(b'"public_key"', b'"public_key": "x", "public_key"', 1)}
        ),
        ("signature", "statement.json"),
    ),
}


def _turned(line: bytes) -> bytes:
    """Return the envelope with its fields in reverse order."""
    value = json.loads(line)
    value["fields"] = dict(reversed(value["fields"].items()))
    return json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_data_is_a_fault(made: Made, tmp_path: Path, name: str) -> None:
    change, (code, where) = AMBIGUOUS[name]
    files = unpacked(made.session)
    change(files)
    found = faults(packed(files, tmp_path / "x.zip"), made.key)
    assert any(each == code and place.startswith(where) for each, place in found), found


def test_a_name_that_looks_like_two_is_not_counted_as_both(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.session)
    value = json.loads(files[RECORDS].splitlines()[2])["fields"]
    first, second, *_ = value

    def merge(line: dict[str, dict[str, object]]) -> None:
        fields = line["fields"]
        disclosed = fields.pop(second)
        del fields[first]
        line["fields"] = {f'{first}":"{value[first]}","{second}': disclosed, **fields}

    document(DISCLOSED, merge, 2)(files)
    found = faults(packed(files, tmp_path / "x.zip"), made.key)
    assert [code for code, where in found if "record 2" in where] == ["field", "missing", "missing"]


DUPLICATES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "unchanged": lambda line: line,
    "after a blank": lambda line: b" " + line,
    "with a blank in it": lambda line: line.replace(b'{"index":', b'{"index": ', 1),
}


@pytest.mark.parametrize("name", DUPLICATES)
def test_a_record_disclosed_twice_is_a_fault_and_hides_no_withheld_field(
    made: Made, tmp_path: Path, name: str
) -> None:
    files = unpacked(made.session)
    statement(lambda content: content["predicate"]["trees"][0].update(withholds=True))(files)
    document(DISCLOSED, lambda line: line["fields"].pop("input"), 3)(files)
    first_report = tm_verify.verify(str(packed(files, tmp_path / "once.zip")), made.key)
    lines(DISCLOSED, lambda found: found.append(DUPLICATES[name](found[2])))(files)
    second_report = tm_verify.verify(str(packed(files, tmp_path / "again.zip")), made.key)
    assert (second_report.checked["fields"], second_report.checked["withheld"]) == (
        first_report.checked["fields"],
        1,
    )
    assert ("order", "session disclosed line 10") in [
        (each["code"], each["where"]) for each in second_report.problems
    ]
    lines(DISCLOSED, lambda found: found.insert(0, DUPLICATES[name](found.pop())))(files)
    third_report = tm_verify.verify(str(packed(files, tmp_path / "before.zip")), made.key)
    assert "order" in {each["code"] for each in third_report.problems}
    assert third_report.checked["withheld"] == 1


CHANGES: Final[dict[str, Change]] = {
    "nothing": lambda files: None,
    "an answer": document(DISCLOSED, lambda line: line["fields"]["output"].__setitem__(1, "x"), 2),
    "a field withheld": document(DISCLOSED, lambda line: line["fields"].pop("output"), 2),
    "an undisclosed record": lines(DISCLOSED, lambda found: found.__delitem__(4)),
    "the words of a passage": lambda files: files.update(
        {PAYLOADS: files[PAYLOADS].replace(b"ten years", b"two years")}
    ),
    "the payloads": without(PAYLOADS),
    "the disclosed fields": without(DISCLOSED),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_process_finds_the_same_as_one_alone(
    made: Made, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = unpacked(made.session)
    CHANGES[name](files)
    path = str(packed(files, tmp_path / "x.zip"))
    alone = tm_verify.verify(path, made.key).as_json()
    monkeypatch.setattr(tm_verify, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert tm_verify.verify(path, made.key).as_json() == alone
    assert alone["checked"]["withheld"] >= 0


def test_without_another_process_this_one_does_all_the_work(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tm_verify, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    path = packed(unpacked(made.session), tmp_path / "x.zip")
    for program in (str(tmp_path / "nowhere"), "/bin/false"):
        monkeypatch.setattr(sys, "executable", program)
        assert faults(path, made.key) == []


def test_the_other_process_returns_the_result_for_each_line(
    made: Made, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = packed(unpacked(made.session), tmp_path / "x.zip")
    assert tm_verify.main([str(path), "--told", DISCLOSED]) == 0
    sys.stdout.flush()
    *disclosed, digest = capfdbinary.readouterr().out.split(b"\n")
    assert (len(disclosed), len(digest)) == (9, 64)
    assert disclosed[0].startswith(b'0 1 "about":"')


def test_an_added_key_signs_nothing_ambiguous(made: Made, tmp_path: Path) -> None:
    forger, files = Forger(), unpacked(made.session)
    forger.add_key(files)
    signed = forger.signed(
        json.loads(files["statement.json"]),
        lambda content: content.replace(b'"files":', b'"files":{},"files":', 1),
    )
    files["statement.json"] = json.dumps(signed).encode()
    with pytest.raises(tm_verify.Unreadable, match="does not have the form"):
        tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
