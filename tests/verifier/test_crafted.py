"""Bytes crafted to stop the check, to hide something from it or to overwrite its output: always reported as a fault."""

import base64
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.verifier.bundles import Change, Files, document, faults, lines, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
DISCLOSED: Final = "session/disclosed.jsonl"


def with_line(name: str, line: bytes, number: int = 0) -> Change:
    """Replace a line."""
    return lines(name, lambda found: found.__setitem__(number, line))


def infinite(name: str, key: bytes = b'"index":') -> Change:
    """Replace the first whole number with an infinite one."""

    def change(files: Files) -> None:
        head, tail = files[name].split(key, 1)
        rest = tail.lstrip(b" 0123456789")
        files[name] = head + key + b"1e999" + rest

    return change


def forged(change: Callable[[Any], None]) -> Change:
    """Change the statement and sign it with an added key."""

    def changed(files: Files) -> None:
        forger = Forger()
        forger.add_key(files)

        def of(payload: bytes) -> bytes:
            content = json.loads(payload)
            change(content)
            return json.dumps(content).encode()

        signed = forger.signed(json.loads(files["statement.json"]), of)
        files["statement.json"] = json.dumps(signed).encode()

    return changed


def _emptied(files: Files) -> None:
    """Remove all records, and add a signed state of size 0 with another root."""
    forger = Forger()
    forger.add_key(files)

    def none(payload: bytes) -> bytes:
        origin, _, *rest = payload.split(b"\n")
        return b"\n".join([origin, b"0", *rest])

    signed = forger.signed(json.loads(files["session/checkpoints.jsonl"].splitlines()[0]), none)
    files["session/checkpoints.jsonl"] = json.dumps(signed).encode() + b"\n"
    files["session/records.jsonl"] = b""


CRAFTED: Final[dict[str, tuple[str, Change, tuple[str, str]]]] = {
    "a blank in the name of a field": (
        "session",
        document(DISCLOSED, lambda line: line["fields"].update({"a b": ["00", "x"]}), 0),
        ("field", "session record 0 a b"),
    ),
    "a new line in the name of a field": (
        "session",
        document(DISCLOSED, lambda line: line["fields"].update({"a\nb": ["00", "x"]}), 0),
        ("field", "session record 0 a\nb"),
    ),
    "half a character in the name of a field": (
        "session",
        document(DISCLOSED, lambda line: line["fields"].update({"\ud800": ["00", "x"]}), 0),
        ("field", "session record 0 \ud800"),
    ),
    "half a character in the type that is signed": (
        "session",
        document("session/checkpoints.jsonl", lambda signed: signed.update(payloadType="\ud800"), 0),
        ("signature", "session checkpoint 1"),
    ),
    "a proof without an index": (
        "replay",
        infinite("session/proofs.jsonl"),
        ("proof", "session proofs line 1"),
    ),
    "an entry of the log without an index": (
        "session",
        infinite("session/log.json"),
        ("log", "session log entry"),
    ),
    "a seal without a run": (
        "log",
        infinite("log/present.jsonl", b'"generation":'),
        ("log", "log present line 1"),
    ),
    "a payload whose hash is a list": (
        "session",
        with_line("payloads.jsonl", b'{"sha256":[],"text":""}'),
        ("payload", "payloads.jsonl line 1"),
    ),
    "tombstones that are a number": (
        "session",
        lambda files: files.update(
            {
                "session/erased.json": json.dumps(
                    {"checkpoint": json.loads(files["session/log.json"])["checkpoint"], "entries": 1}
                ).encode()
            }
        ),
        ("file", "session/erased.json"),
    ),
    "a tree without a record": (
        "session",
        _emptied,
        ("checkpoint", "session checkpoint 1"),
    ),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_bundle_crafted_to_stop_the_check_is_a_fault_at_its_place(
    made: Made, tmp_path: Path, name: str
) -> None:
    of, change, fault = CRAFTED[name]
    files = unpacked(getattr(made, of))
    change(files)
    assert fault in faults(packed(files, tmp_path / "x.zip"), made.key)


def first(content: Any) -> Any:
    return content["predicate"]["trees"][0]


NO_STATEMENT: Final[dict[str, Callable[[Any], None]]] = {
    "an id that is not a string": lambda content: first(content).update(id=1),
    "a size that is a string": lambda content: first(content).update(size="8"),
    "a negative size": lambda content: first(content).update(size=-1),
    "an infinite size": lambda content: first(content).update(size=10**400),
    "an invalid root": lambda content: first(content).update(root=None),
    "a path out of the bundle": lambda content: first(content).update(path="../session"),
    "completeness that is not a boolean": lambda content: first(content).update(complete="no"),
    "files that are pairs": lambda content: content["predicate"].update(files=[[1, "x"], ["y", "z"]]),
    "a file whose hash is a list": lambda content: content["predicate"]["files"].update({"README.txt": []}),
    "one folder for two trees": lambda content: content["predicate"]["trees"].append(first(content)),
    "a log that is a string": lambda content: content["predicate"].update(log="log"),
    "a subject that is a number": lambda content: content["subject"][0].update(name=1),
}


@pytest.mark.parametrize("name", NO_STATEMENT)
def test_a_statement_of_another_form_is_not_a_bundle(made: Made, tmp_path: Path, name: str) -> None:
    files = unpacked(made.session)
    forged(NO_STATEMENT[name])(files)
    with pytest.raises(tm_verify.Unreadable, match="does not have the form"):
        tm_verify.verify(str(packed(files, tmp_path / "x.zip")))


def test_a_large_size_that_is_only_stated_takes_no_memory(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.older_session)
    forged(lambda content: first(content).update(size=10**12))(files)
    older = str(packed(files, tmp_path / "older.zip"))
    newer = str(packed(unpacked(made.session), tmp_path / "newer.zip"))
    report = tm_verify.verify(newer, made.key, older)
    assert any(each["code"] == "rewritten" for each in report.problems)
    report = tm_verify.verify(older, None, newer)
    assert any(each["code"] == "rewritten" for each in report.problems)


def test_a_file_with_another_compression_is_not_a_bundle(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as opened:
        for name, data in unpacked(made.session).items():
            opened.writestr(name, data)
    data = path.read_bytes()
    path.write_bytes(data[:200] + bytes(100) + data[300:])
    with pytest.raises(tm_verify.Unreadable, match="not compressed with deflate"):
        tm_verify.verify(str(path))


def test_an_unexpected_error_is_a_fault_and_not_a_traceback(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(tm_verify, "_links", broken)
    monkeypatch.setattr(tm_verify, "WORTH_A_PROCESS", 0)
    path = str(packed(unpacked(made.session), tmp_path / "x.zip"))
    assert tm_verify.main([path]) == 1
    assert "FAULT (malformed)" in capsys.readouterr().out
    monkeypatch.setattr(tm_verify, "_payloads", broken)
    assert tm_verify.main([path]) == 1


STRANGE: Final = (
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"true",
    b"-1",
    b"1e999",
    b"1000000000000",
    b'"\\ud800"',
    b'" \\n"',
    b"[[]]",
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every path in a JSON document, the document itself first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def with_strange(value: Any, path: tuple[Any, ...], strange: bytes) -> bytes:
    """Return the document with another value at this path."""
    mark = "PUT IT HERE"
    if not path:
        return strange
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    replaced_value, inner[path[-1]] = inner[path[-1]], mark
    written = json.dumps(value, separators=(",", ":")).encode()
    inner[path[-1]] = replaced_value
    return written.replace(json.dumps(mark).encode(), strange)


@pytest.mark.parametrize("of", ["session", "replay", "log"])
def test_no_strange_value_at_any_path_stops_the_check(made: Made, tmp_path: Path, of: str) -> None:
    original = unpacked(getattr(made, of))
    turn = 0
    for name in original:
        if not name.endswith((".json", ".jsonl")) or not original[name]:
            continue
        begin, *rest = original[name].splitlines() if name.endswith("l") else [original[name]]
        value = json.loads(begin)
        for path in places(value):
            turn += 1
            changed = with_strange(value, path, STRANGE[turn % len(STRANGE)])
            files = original | {name: b"".join(line + b"\n" for line in (changed, *rest))}
            _assert_checked(packed(files, tmp_path / "x.zip"), (name, path, changed[:200]))
    signed = json.loads(original["statement.json"])
    for path in places(json.loads(base64.b64decode(signed["payload"]))):
        turn += 1
        forger, files = Forger(), dict(original)
        forger.add_key(files)
        changed = STRANGE[turn % len(STRANGE)]
        resigned = forger.signed(signed, partial(_strange_statement, path, changed))
        files["statement.json"] = json.dumps(resigned).encode()
        _assert_checked(packed(files, tmp_path / "x.zip"), ("statement", path, changed))


def _strange_statement(path: tuple[Any, ...], strange: bytes, payload: bytes) -> bytes:
    return with_strange(json.loads(payload), path, strange)


def _assert_checked(path: Path, case: object) -> None:
    try:
        codes = {code for code, _ in faults(path)}
    except tm_verify.Unreadable:
        return
    assert "malformed" not in codes, case
    assert codes, case


@pytest.mark.parametrize("written", ["", "-1", "+1", "01", "1.0", "1e3", " 1", "1\n", "٣", "one"])
def test_a_number_has_only_one_valid_form(written: str) -> None:
    with pytest.raises(ValueError, match="not a whole number"):
        tm_verify.digits(written)
    assert tm_verify.digits("10") == 10
