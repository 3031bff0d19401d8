"""Two bundles of the same, one of which was kept from before: is it the beginning of the other?"""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import Change, document, drop, lines, packed, replaced, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture alone
ENTRIES, RECORDS = "log/entries.jsonl", "session/records.jsonl"


def written(folder: Path, **bundles: bytes) -> list[str]:
    """The paths of these bundles."""
    for name, data in bundles.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in bundles]


@pytest.mark.parametrize("of", ["log", "session"])
def test_what_was_kept_is_the_beginning_of_what_came_later(
    made: Made, tmp_path: Path, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    newer, older = written(tmp_path, newer=getattr(made, of), older=getattr(made, f"older_{of}"))
    report = tm_verify.verify(newer, made.key, older)
    assert (report.problems, report.checked["compared"] > 0) == ([], True)
    assert report.older is not None
    assert (report.older.holds, report.older.key) == (True, made.key)
    assert tm_verify.main([newer, "--older", older]) == 0
    assert "THE OLDER ONE IS ITS BEGINNING" in capsys.readouterr().out
    assert tm_verify.main([newer, "--older", newer, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["older"]["holds"] is True


def test_the_other_way_round_the_first_that_is_missing_is_named(made: Made, tmp_path: Path) -> None:
    newer, older = written(tmp_path, newer=made.log, older=made.older_log)
    report = tm_verify.verify(older, made.key, newer)
    assert [(each["code"], each["where"]) for each in report.problems] == [("rewritten", "log entry 1")]
    assert report.older is not None
    assert report.older.holds is False


REWRITTEN: Final[dict[str, tuple[str, str, Change, str]]] = {
    "an entry changed": (
        "log",
        "older_log",
        replaced(ENTRIES, 0, b'"entry":"seal', b'"entry":"real'),
        "log entry 0",
    ),
    "an entry taken out": ("log", "older_log", lines(ENTRIES, drop(0)), "log entry 0"),
    "a record changed": (
        "session",
        "older_session",
        replaced(RECORDS, 2, b'"kind":"ask"', b'"kind":"asc"'),
        "session record 2",
    ),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_the_first_that_differs_is_named(made: Made, tmp_path: Path, name: str) -> None:
    of, older, change, where = REWRITTEN[name]
    files = unpacked(getattr(made, of))
    change(files)
    newer = str(packed(files, tmp_path / "newer.zip"))
    report = tm_verify.verify(newer, made.key, *written(tmp_path, older=getattr(made, older)))
    named = [each["where"] for each in report.problems if each["code"] == "rewritten"]
    assert named == [where]


def test_a_replay_s_recorded_steps_are_compared_as_far_as_they_are_shown(made: Made, tmp_path: Path) -> None:
    replay, session, before = written(
        tmp_path, replay=made.replay, session=made.session, before=made.older_session
    )
    report = tm_verify.verify(replay, made.key, before)
    assert (report.problems, report.older and report.older.holds) == ([], None)
    assert any("of 8 were compared" in each for each in report.not_checked)
    assert tm_verify.verify(session, made.key, replay).as_json()["older"]["holds"] is True
    assert tm_verify.verify(replay, made.key, replay).as_json()["older"]["holds"] is True
    assert "IN PART" in "\n".join(tm_verify.told(report))


def test_a_root_that_no_longer_fits_is_named_where_no_record_can_be(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.older_session)
    lines(RECORDS, drop(3))(files)
    document("session/disclosed.jsonl", lambda line: None, 0)(files)
    older = str(packed(files, tmp_path / "older.zip"))
    changed = unpacked(made.session)
    replaced(RECORDS, 3, b'"v":1', b'"v":1')(changed)
    line = changed[RECORDS].splitlines()[3]
    changed[RECORDS] = changed[RECORDS].replace(line, line.replace(b'"at":"2', b'"at":"1', 1))
    report = tm_verify.verify(str(packed(changed, tmp_path / "newer.zip")), made.key, older)
    assert ("rewritten", "session record 8") in [(each["code"], each["where"]) for each in report.problems]
    assert any(each["where"].startswith("older bundle: ") for each in report.problems)


def test_an_older_one_of_something_else_or_of_another_key_is_said(made: Made, tmp_path: Path) -> None:
    log, session = written(tmp_path, log=made.log, session=made.session)
    with pytest.raises(tm_verify.Unreadable, match="compare two of the same"):
        tm_verify.verify(log, made.key, session)
    with pytest.raises(tm_verify.Unreadable, match="the older one, nowhere, cannot be compared"):
        tm_verify.verify(log, made.key, "nowhere")
    files, forger = unpacked(made.older_log), Forger()
    forger.slip_in(files)
    files["statement.json"] = json.dumps(forger.signed(json.loads(files["statement.json"]))).encode()
    report = tm_verify.verify(log, made.key, str(packed(files, tmp_path / "x.zip")))
    assert any(forger.key in each for each in report.not_checked)
