"""Bytes that somebody made to end the check, to hide something from it or to write over its words: always a fault that is named."""

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

pytestmark = pytest.mark.django_db  # for the fixture alone
TOLD: Final = "session/disclosed.jsonl"


def put(name: str, line: bytes, number: int = 0) -> Change:
    """Another line."""
    return lines(name, lambda found: found.__setitem__(number, line))


def infinite(name: str, key: bytes = b'"index":') -> Change:
    """A number without end at the first place where there is a whole one."""

    def change(files: Files) -> None:
        before, behind = files[name].split(key, 1)
        rest = behind.lstrip(b" 0123456789")
        files[name] = before + key + b"1e999" + rest

    return change


def forged(change: Callable[[Any], None]) -> Change:
    """Another statement, under a key that was slipped in."""

    def changed(files: Files) -> None:
        forger = Forger()
        forger.slip_in(files)

        def of(payload: bytes) -> bytes:
            said = json.loads(payload)
            change(said)
            return json.dumps(said).encode()

        signed = forger.signed(json.loads(files["statement.json"]), of)
        files["statement.json"] = json.dumps(signed).encode()

    return changed


def _emptied(files: Files) -> None:
    """No record, and a signed state of none over another root."""
    forger = Forger()
    forger.slip_in(files)

    def none(payload: bytes) -> bytes:
        origin, _, *rest = payload.split(b"\n")
        return b"\n".join([origin, b"0", *rest])

    signed = forger.signed(json.loads(files["session/checkpoints.jsonl"].splitlines()[0]), none)
    files["session/checkpoints.jsonl"] = json.dumps(signed).encode() + b"\n"
    files["session/records.jsonl"] = b""


CRAFTED: Final[dict[str, tuple[str, Change, tuple[str, str]]]] = {
    "a blank in the name of a field": (
        "session",
        document(TOLD, lambda line: line["fields"].update({"a b": ["00", "x"]}), 0),
        ("field", "session record 0 a b"),
    ),
    "a new line in the name of a field": (
        "session",
        document(TOLD, lambda line: line["fields"].update({"a\nb": ["00", "x"]}), 0),
        ("field", "session record 0 a\nb"),
    ),
    "half a character in the name of a field": (
        "session",
        document(TOLD, lambda line: line["fields"].update({"\ud800": ["00", "x"]}), 0),
        ("field", "session record 0 \ud800"),
    ),
    "half a character in the type that is signed": (
        "session",
        document("session/checkpoints.jsonl", lambda signed: signed.update(payloadType="\ud800"), 0),
        ("signature", "session checkpoint 1"),
    ),
    "a proof at no place": (
        "replay",
        infinite("session/proofs.jsonl"),
        ("proof", "session proofs line 1"),
    ),
    "an entry of the log at no place": (
        "session",
        infinite("session/log.json"),
        ("log", "session log entry"),
    ),
    "a seal of no run": (
        "log",
        infinite("log/present.jsonl", b'"generation":'),
        ("log", "log present line 1"),
    ),
    "a payload whose hash is a list": (
        "session",
        put("payloads.jsonl", b'{"sha256":[],"text":""}'),
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
def test_what_is_crafted_to_end_the_check_is_a_fault_at_its_place(
    made: Made, tmp_path: Path, name: str
) -> None:
    of, change, fault = CRAFTED[name]
    files = unpacked(getattr(made, of))
    change(files)
    assert fault in faults(packed(files, tmp_path / "x.zip"), made.key)


def first(said: Any) -> Any:
    return said["predicate"]["trees"][0]


NO_STATEMENT: Final[dict[str, Callable[[Any], None]]] = {
    "an id that is no text": lambda said: first(said).update(id=1),
    "a size that is a text": lambda said: first(said).update(size="8"),
    "a size below nothing": lambda said: first(said).update(size=-1),
    "a size without end": lambda said: first(said).update(size=10**400),
    "a root that is none": lambda said: first(said).update(root=None),
    "a path out of the bundle": lambda said: first(said).update(path="../session"),
    "neither complete nor not": lambda said: first(said).update(complete="no"),
    "files that are pairs": lambda said: said["predicate"].update(files=[[1, "x"], ["y", "z"]]),
    "a file whose hash is a list": lambda said: said["predicate"]["files"].update({"README.txt": []}),
    "one folder for two trees": lambda said: said["predicate"]["trees"].append(first(said)),
    "a log that is a text": lambda said: said["predicate"].update(log="log"),
    "a subject that is a number": lambda said: said["subject"][0].update(name=1),
}


@pytest.mark.parametrize("name", NO_STATEMENT)
def test_a_statement_of_another_form_is_no_bundle(made: Made, tmp_path: Path, name: str) -> None:
    files = unpacked(made.session)
    forged(NO_STATEMENT[name])(files)
    with pytest.raises(tm_verify.Unreadable, match="does not have the form"):
        tm_verify.verify(str(packed(files, tmp_path / "x.zip")))


def test_a_size_that_is_only_stated_takes_no_memory(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.older_session)
    forged(lambda said: first(said).update(size=10**12))(files)
    older = str(packed(files, tmp_path / "older.zip"))
    newer = str(packed(unpacked(made.session), tmp_path / "newer.zip"))
    report = tm_verify.verify(newer, made.key, older)
    assert any(each["code"] == "rewritten" for each in report.problems)
    report = tm_verify.verify(older, None, newer)
    assert any(each["code"] == "rewritten" for each in report.problems)


def test_a_file_packed_in_another_way_is_no_bundle(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as opened:
        for name, data in unpacked(made.session).items():
            opened.writestr(name, data)
    data = path.read_bytes()
    path.write_bytes(data[:200] + bytes(100) + data[300:])
    with pytest.raises(tm_verify.Unreadable, match="packed in another way"):
        tm_verify.verify(str(path))


def test_what_nobody_thought_of_is_a_fault_and_not_a_traceback(
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
    """Every place in a JSON document, the whole of it first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def with_strange(value: Any, path: tuple[Any, ...], strange: bytes) -> bytes:
    """The document with something else at this place."""
    mark = "PUT IT HERE"
    if not path:
        return strange
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    kept, inner[path[-1]] = inner[path[-1]], mark
    written = json.dumps(value, separators=(",", ":")).encode()
    inner[path[-1]] = kept
    return written.replace(json.dumps(mark).encode(), strange)


@pytest.mark.parametrize("of", ["session", "replay", "log"])
def test_nothing_strange_at_any_place_ends_the_check(made: Made, tmp_path: Path, of: str) -> None:
    whole = unpacked(getattr(made, of))
    turn = 0
    for name in whole:
        if not name.endswith((".json", ".jsonl")) or not whole[name]:
            continue
        begin, *rest = whole[name].splitlines() if name.endswith("l") else [whole[name]]
        value = json.loads(begin)
        for path in places(value):
            turn += 1
            changed = with_strange(value, path, STRANGE[turn % len(STRANGE)])
            files = whole | {name: b"".join(line + b"\n" for line in (changed, *rest))}
            _not_ended(packed(files, tmp_path / "x.zip"), (name, path, changed[:200]))
    signed = json.loads(whole["statement.json"])
    for path in places(json.loads(base64.b64decode(signed["payload"]))):
        turn += 1
        forger, files = Forger(), dict(whole)
        forger.slip_in(files)
        changed = STRANGE[turn % len(STRANGE)]
        signed_anew = forger.signed(signed, partial(_strange_statement, path, changed))
        files["statement.json"] = json.dumps(signed_anew).encode()
        _not_ended(packed(files, tmp_path / "x.zip"), ("statement", path, changed))


def _strange_statement(path: tuple[Any, ...], strange: bytes, payload: bytes) -> bytes:
    return with_strange(json.loads(payload), path, strange)


def _not_ended(path: Path, what: object) -> None:
    try:
        codes = {code for code, _ in faults(path)}
    except tm_verify.Unreadable:
        return
    assert "malformed" not in codes, what
    assert codes, what


@pytest.mark.parametrize("written", ["", "-1", "+1", "01", "1.0", "1e3", " 1", "1\n", "٣", "one"])
def test_a_number_is_written_in_one_way_only(written: str) -> None:
    with pytest.raises(ValueError, match="not a whole number"):
        tm_verify.digits(written)
    assert tm_verify.digits("10") == 10
