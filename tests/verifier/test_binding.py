"""What a bundle brings of a log is of this project's log, and of this run; and it says how much of everything is shown."""

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

pytestmark = pytest.mark.django_db  # for the fixture alone
TOLD: Final = "session/disclosed.jsonl"


def project_of(files: Files) -> str:
    """The begin of every origin in a bundle."""
    payload = base64.b64decode(json.loads(files["statement.json"])["payload"])
    origin: str = json.loads(payload)["subject"][0]["name"]
    return "/".join(origin.split("/")[:2])


def log_of(files: Files, forger: Forger, entry: dict[str, Any], origin: str) -> dict[str, Any]:
    """The one entry of a log that a forger signed."""
    line = json.dumps(entry)
    root = tm_verify.leaf_hash(line.encode())
    said = [origin, "1", base64.b64encode(root).decode(), f"last {root.hex()}", "at 2026-11-22T22:01:00Z"]
    signed = json.loads(files["session/log.json"])["checkpoint"]
    state = forger.signed(signed, lambda _: "\n".join([*said, "state open", ""]).encode())
    return {"index": 0, "entry": line, "path": [], "checkpoint": state}


def erased(files: Files, generation: int, log: str, field: str = "input", line: int = 3) -> None:
    """A field that is not told, and a tombstone that says that it was erased, in that run and that log."""
    forger = Forger()
    forger.slip_in(files)
    document(TOLD, lambda told: told["fields"].pop(field), line)(files)
    id_ = json.loads(files["session/records.jsonl"].splitlines()[0])["id"]
    entry = {"entry": "erased_fields", "of": "session", "id": id_, "generation": generation}
    found = log_of(files, forger, entry | {"records": [[line, [field]]], "at": "2026-11-22T22:01:00Z"}, log)
    files["session/erased.json"] = json.dumps(
        {"checkpoint": found.pop("checkpoint"), "entries": [found]}
    ).encode()


@pytest.mark.parametrize(
    ("generation", "log", "codes", "gone"),
    [
        (1, "/log", set(), 1),
        (2, "/log", {"missing"}, 0),
        (1, "x/log", {"tombstone", "missing"}, 0),
    ],
)
def test_a_tombstone_excuses_what_it_is_of_in_this_log_and_nothing_else(
    made: Made, tmp_path: Path, generation: int, log: str, codes: set[str], gone: int
) -> None:
    files = unpacked(made.session)
    erased(files, generation, project_of(files) + log)
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key)
    assert {each["code"] for each in report.problems} == codes | {"file"}
    assert report.checked["erased_fields"] == gone


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, None),
        ({"generation": 2}, "The entry is about something else."),
        ({"origin": "timemachine/other/log"}, "It is in timemachine/other/log, and not in timemachine/"),
    ],
)
def test_the_entry_of_a_seal_is_of_this_run_and_in_this_log(
    made: Made, tmp_path: Path, changed: dict[str, Any], says: str | None
) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.slip_in(files)
    entry = json.loads(json.loads(files["session/log.json"])["entry"])
    origin = changed.pop("origin", f"{project_of(files)}/log")
    files["session/log.json"] = json.dumps(log_of(files, forger, entry | changed, origin)).encode()
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key)
    found = [each["says"] for each in report.problems if each["code"] == "log"]
    assert [says in each for each in found if says] == ([True] if says else [])
    assert bool(found) is bool(says)


def other_run(said: Any) -> None:
    tree = said["predicate"]["trees"][0]
    said["subject"][0]["name"] = tree["origin"] = tree["origin"] + "/2"


def other_project(said: Any) -> None:
    tree = said["predicate"]["trees"][1]
    tree["origin"] = tree["origin"].replace("timemachine/", "timemachine/0")


def named(origin: str, said: Any) -> None:
    said["predicate"]["trees"][0]["origin"] = origin


def test_what_is_stated_of_another_run_or_of_two_projects_is_named(made: Made, tmp_path: Path) -> None:
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


def test_it_says_how_much_is_shown_when_it_was_sealed_and_whether_more_may_come(
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
