"""Log data in a bundle must be of this project's log and this run, and the report states how much of each tree is shown."""

import base64
import json
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.verifier.bundles import Files, document, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from tests.verifier.test_crafted import forged
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
DISCLOSED: Final = "session/disclosed.jsonl"


def project_of(files: Files) -> str:
    """Return the beginning of every origin in a bundle."""
    payload = base64.b64decode(json.loads(files["statement.json"])["payload"])
    origin: str = json.loads(payload)["subject"][0]["name"]
    return "/".join(origin.split("/")[:2])


def log_of(files: Files, forger: Forger, entry: dict[str, Any], origin: str) -> dict[str, Any]:
    """Return the only entry of a log that a forger signed."""
    line = json.dumps(entry)
    root = tm_verify.leaf_hash(line.encode())
    lines_of_state = [
        origin,
        "1",
        base64.b64encode(root).decode(),
        f"last {root.hex()}",
        "at 2026-11-22T22:01:00Z",
    ]
    signed = json.loads(files["session/log.json"])["checkpoint"]
    state = forger.signed(signed, lambda _: "\n".join([*lines_of_state, "state open", ""]).encode())
    return {"index": 0, "entry": line, "path": [], "checkpoint": state}


def erased(files: Files, generation: int, log: str, field: str = "input", line: int = 3) -> None:
    """Remove a field and add a tombstone for its erasure, in that run and that log."""
    forger = Forger()
    forger.add_key(files)
    document(DISCLOSED, lambda disclosed: disclosed["fields"].pop(field), line)(files)
    id_ = json.loads(files["session/records.jsonl"].splitlines()[0])["id"]
    entry = {"entry": "erased_fields", "of": "session", "id": id_, "generation": generation}
    found = log_of(files, forger, entry | {"records": [[line, [field]]], "at": "2026-11-22T22:01:00Z"}, log)
    files["session/erased.json"] = json.dumps(
        {"checkpoint": found.pop("checkpoint"), "entries": [found]}
    ).encode()


@pytest.mark.parametrize(
    ("generation", "log", "codes", "erased_fields"),
    [
        (1, "/log", set(), 1),
        (2, "/log", {"missing"}, 0),
        (1, "x/log", {"tombstone", "missing"}, 0),
    ],
)
def test_a_tombstone_excuses_only_its_own_field_in_this_log(
    made: Made, tmp_path: Path, generation: int, log: str, codes: set[str], erased_fields: int
) -> None:
    files = unpacked(made.session)
    erased(files, generation, project_of(files) + log)
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key)
    assert {each["code"] for each in report.problems} == codes | {"file", "key"}
    assert report.checked["erased_fields"] == erased_fields


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, None),
        ({"generation": 2}, "The entry is about something else."),
        ({"origin": "timemachine/other/log"}, "It is in timemachine/other/log, not in timemachine/"),
    ],
)
def test_the_entry_of_a_seal_must_be_of_this_run_and_in_this_log(
    made: Made, tmp_path: Path, changed: dict[str, Any], problem: str | None
) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.add_key(files)
    entry = json.loads(json.loads(files["session/log.json"])["entry"])
    origin = changed.pop("origin", f"{project_of(files)}/log")
    files["session/log.json"] = json.dumps(log_of(files, forger, entry | changed, origin)).encode()
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key)
    found = [each["says"] for each in report.problems if each["code"] == "log"]
    assert [problem in each for each in found if problem] == ([True] if problem else [])
    assert bool(found) is bool(problem)


def other_run(content: Any) -> None:
    tree = content["predicate"]["trees"][0]
    content["subject"][0]["name"] = tree["origin"] = tree["origin"] + "/2"


def other_project(content: Any) -> None:
    tree = content["predicate"]["trees"][1]
    tree["origin"] = tree["origin"].replace("timemachine/", "timemachine/0")


def named(origin: str, content: Any) -> None:
    content["predicate"]["trees"][0]["origin"] = origin


def test_statements_about_another_run_or_project_are_reported(made: Made, tmp_path: Path) -> None:
    for change, code in ((other_run, "checkpoint"), (other_project, "statement")):
        files = unpacked(made.replay)
        forged(change)(files)
        report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
        assert code in {each["code"] for each in report.problems}
    for origin in ("timemachine/log", "timemachine/x/session/00000000-0000-0000-0000-000000000000/1/2"):
        files = unpacked(made.session)
        forged(partial(named, origin))(files)
        with pytest.raises(tm_verify.Unreadable, match="does not have the form"):
            tm_verify.verify(str(packed(files, tmp_path / "x.zip")))


def test_it_reports_how_much_is_shown_when_it_was_sealed_and_whether_more_may_follow(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(made.replay)
    assert tm_verify.main([str(path), "--key", made.key]) == 0
    out = capsys.readouterr().out
    report = tm_verify.verify(str(path), made.key).as_json()
    replay, session = report["shown"]
    assert f"log {project_of(unpacked(made.replay))}/log\n" in out
    assert (
        f"replay {replay['id']}: 5 of 5 records shown, sealed at {replay['sealed_at']}, no more can follow"
        in out
    )
    assert (
        f"session {session['id']}: 5 of 8 records shown, sealed at {session['sealed_at']}, no more can follow"
        in out
    )
    assert "NOT PROVEN: That nothing was recorded later" in out
    path.write_bytes(made.log)
    assert tm_verify.main([str(path), "--key", made.key]) == 0
    assert "the log: 4 of 4 entries shown, sealed at 2" in capsys.readouterr().out
