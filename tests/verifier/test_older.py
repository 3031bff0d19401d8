"""Comparison with an older bundle: is it the beginning of the newer one?"""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import Change, document, drop, lines, packed, replaced, statement, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from tests.verifier.test_binding import erased, project_of
from tests.verifier.test_crafted import forged
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
ENTRIES, RECORDS = "log/entries.jsonl", "session/records.jsonl"


def written(folder: Path, **bundles: bytes) -> list[str]:
    """Write the bundles and return their paths."""
    for name, data in bundles.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in bundles]


@pytest.mark.parametrize("of", ["log", "session"])
def test_an_older_bundle_is_the_beginning_of_the_newer_one(
    made: Made, tmp_path: Path, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    newer, older = written(tmp_path, newer=getattr(made, of), older=getattr(made, f"older_{of}"))
    report = tm_verify.verify(newer, made.key, older)
    assert (report.problems, report.checked["compared"] > 0) == ([], True)
    assert report.older is not None
    assert (report.older.holds, report.older.key) == (True, made.key)
    assert tm_verify.main([newer, "--older", older, "--key", made.key]) == 0
    assert "THE OLDER ONE IS ITS BEGINNING" in capsys.readouterr().out
    assert tm_verify.main([newer, "--older", newer, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["older"]["holds"] is True


@pytest.mark.parametrize("of", ["log", "session"])
def test_swapped_bundles_are_refused_with_their_order(
    made: Made, tmp_path: Path, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    newer, older = written(tmp_path, newer=getattr(made, of), older=getattr(made, f"older_{of}"))
    assert tm_verify.main([older, "--older", newer]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"{older}: it was signed at 2")
    assert f"and {newer}, which was given with --older, later, at 2" in errors
    assert "swap the two" in errors


@pytest.mark.parametrize("of", ["older_session", "session", "replay", "comparison"])
def test_an_older_bundle_of_any_kind_is_searched_for_in_the_log(
    made: Made, tmp_path: Path, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log, older = written(tmp_path, log=made.log, older=getattr(made, of))
    assert tm_verify.main([log, "--key", made.key, "--older", older]) == 0
    assert "THE OLDER ONE IS IN THIS LOG  it is signed by" in capsys.readouterr().out
    report = tm_verify.verify(log, made.key, older)
    assert report.checked["compared"] == (1 if "session" in of else 2)
    assert report.older is not None
    assert (report.older.holds, report.older.in_log) == (True, True)


def test_a_log_that_lacks_the_older_bundle_is_detected(made: Made, tmp_path: Path) -> None:
    (older,) = written(tmp_path, older=made.replay)
    for number in range(3):
        files = unpacked(made.log)
        replaced(ENTRIES, number, b'"of":"', b'"of":"x')(files)
        report = tm_verify.verify(str(packed(files, tmp_path / "log.zip")), made.key, older)
        assert any(each["code"] == "rewritten" for each in report.problems)
        assert report.older is not None
        assert report.older.holds is False


def test_a_log_from_before_the_older_bundle_is_refused(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, older = written(tmp_path, log=made.older_log, older=made.replay)
    assert tm_verify.main([log, "--older", older]) == 2
    assert "the log was reset to an earlier state" in capsys.readouterr().err


def test_a_damaged_older_bundle_is_reported_along_with_the_log(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.session)
    files["session/log.json"] = b"{}"
    (log,) = written(tmp_path, log=made.log)
    report = tm_verify.verify(log, made.key, str(packed(files, tmp_path / "kept.zip")))
    assert report.older is not None
    assert report.older.holds is None
    assert any(each["where"].startswith("older bundle: ") for each in report.problems)
    assert "WHETHER THE OLDER ONE IS IN THIS LOG IS NOT SHOWN" in "\n".join(tm_verify.report_lines(report))


def test_a_later_state_with_fewer_records_is_a_fault(made: Made, tmp_path: Path) -> None:
    """An earlier state with more records is not just the reverse order of the two files: records were removed."""
    files = unpacked(made.log)
    forger = Forger()
    forger.add_key(files)

    def before(text: bytes) -> bytes:
        return re.sub(rb"\nat 20\d\d", b"\nat 2001", text)

    states = [
        json.dumps(forger.signed(json.loads(line), before))
        for line in files["log/checkpoints.jsonl"].splitlines()
    ]
    files["log/checkpoints.jsonl"] = "".join(f"{line}\n" for line in states).encode()
    longer = str(packed(files, tmp_path / "longer.zip"))
    (shorter,) = written(tmp_path, shorter=made.older_log)
    report = tm_verify.verify(shorter, made.key, longer)
    assert ("rewritten", "log entry 1") in [(each["code"], each["where"]) for each in report.problems]
    assert report.older is not None
    assert report.older.holds is False


def test_fields_that_only_the_older_bundle_discloses_are_reported(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = unpacked(made.session)
    statement(lambda content: content["predicate"]["trees"][0].update(withholds=True))(files)
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("input"), 3)(files)
    (older,) = written(tmp_path, older=made.older_session)
    newer = str(packed(files, tmp_path / "newer.zip"))
    report = tm_verify.verify(newer, made.key, older)
    assert report.missing == [("session record 3 input", "withheld")]
    assert tm_verify.main([newer, "--older", older]) == 1
    assert "NO LONGER DISCLOSED: session record 3 input (withheld)" in capsys.readouterr().out
    assert tm_verify.verify(newer, made.key, newer).missing == []
    erased(files, 1, f"{project_of(files)}/log", field="output", line=2)
    with_erasure = tm_verify.verify(str(packed(files, tmp_path / "erased.zip")), made.key, older)
    assert with_erasure.missing == [
        ("session record 2 output", "erased"),
        ("session record 3 input", "withheld"),
    ]
    assert with_erasure.as_json()["no_longer_told"][0] == {
        "where": "session record 2 output",
        "why": "erased",
    }
    document("session/disclosed.jsonl", lambda line: line["fields"].clear(), 1)(files)
    for number in range(2, 8):
        document("session/disclosed.jsonl", lambda line: line["fields"].clear(), number)(files)
    many_missing = tm_verify.verify(str(packed(files, tmp_path / "many.zip")), made.key, older)
    assert (
        f"and {len(many_missing.missing) - 20} more fields that the older one disclosed; --json lists all"
        in list(tm_verify.report_lines(many_missing))
    )


def test_if_one_bundle_was_not_read_completely_the_order_is_not_stated(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer, older = written(tmp_path, newer=made.session, older=made.older_session)
    files = unpacked(made.older_session)
    files["session/disclosed.jsonl"] = b"{}\n" * 50
    monkeypatch.setattr(tm_verify, "MOST_COUNTED", 40)
    report = tm_verify.verify(newer, made.key, str(packed(files, tmp_path / "stopped.zip")))
    assert report.older is not None
    assert report.older.holds is None
    assert any("was not read completely" in each for each in report.not_checked)
    assert tm_verify.verify(newer, made.key, older).problems == []


REWRITTEN: Final[dict[str, tuple[str, str, Change, str]]] = {
    "an entry changed": (
        "log",
        "older_log",
        replaced(ENTRIES, 0, b'"entry":"seal', b'"entry":"real'),
        "log entry 0",
    ),
    "an entry removed": ("log", "older_log", lines(ENTRIES, drop(0)), "log entry 0"),
    "a record changed": (
        "session",
        "older_session",
        replaced(RECORDS, 2, b'"kind":"ask"', b'"kind":"asc"'),
        "session record 2",
    ),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_the_first_difference_is_reported(made: Made, tmp_path: Path, name: str) -> None:
    of, older, change, where = REWRITTEN[name]
    files = unpacked(getattr(made, of))
    change(files)
    newer = str(packed(files, tmp_path / "newer.zip"))
    report = tm_verify.verify(newer, made.key, *written(tmp_path, older=getattr(made, older)))
    named = [each["where"] for each in report.problems if each["code"] == "rewritten"]
    assert named == [where]


def test_if_only_some_records_are_shown_those_in_both_are_compared(made: Made, tmp_path: Path) -> None:
    (replay,) = written(tmp_path, replay=made.replay)
    report = tm_verify.verify(replay, made.key, replay)
    assert (report.problems, report.older and report.older.holds) == ([], True)
    assert report.checked["compared"] == 10


def test_for_bundles_with_different_records_the_number_compared_is_reported(
    made: Made, tmp_path: Path
) -> None:
    """The session of a replay, where the older bundle shows fewer of its records."""
    files = unpacked(made.replay)
    forged(lambda content: content["predicate"]["trees"][1].update(size=6))(files)
    lines("session/disclosed.jsonl", drop(-1))(files)
    lines(RECORDS, drop(-1))(files)
    (newer,) = written(tmp_path, replay=made.replay)
    report = tm_verify.verify(newer, made.key, str(packed(files, tmp_path / "older.zip")))
    assert any(
        "Each session record that is not in both bundles: 4 of 6 were compared" in each
        for each in report.not_checked
    )
    disclosed = unpacked(made.replay)
    document("session/disclosed.jsonl", lambda line: line["fields"].clear(), -1)(disclosed)
    report = tm_verify.verify(
        str(packed(disclosed, tmp_path / "newer.zip")), made.key, str(tmp_path / "older.zip")
    )
    assert report.missing == []  # of a record that the older one did not show


def test_a_bundle_of_another_subject_is_refused_though_it_shares_records(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay, session = written(tmp_path, replay=made.replay, session=made.session)
    for one, other in ((replay, session), (session, replay)):
        assert tm_verify.main([one, "--older", other]) == 2
        errors = capsys.readouterr().err
        assert f"{other}, which was given with --older, of timemachine/" in errors
        assert "compare two bundles of the same" in errors


def test_a_root_mismatch_is_reported_if_no_record_can_be_compared(made: Made, tmp_path: Path) -> None:
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


def test_an_older_bundle_of_another_kind_or_key_is_reported(made: Made, tmp_path: Path) -> None:
    log, session = written(tmp_path, log=made.log, session=made.session)
    with pytest.raises(tm_verify.Unreadable, match="give the log first"):
        tm_verify.verify(session, made.key, log)
    with pytest.raises(tm_verify.Unreadable, match="the older one, nowhere, cannot be compared"):
        tm_verify.verify(log, made.key, "nowhere")
    files, forger = unpacked(made.older_log), Forger()
    forger.add_key(files)
    files["statement.json"] = json.dumps(forger.signed(json.loads(files["statement.json"]))).encode()
    report = tm_verify.verify(log, made.key, str(packed(files, tmp_path / "x.zip")))
    assert any(forger.key in each for each in report.not_checked)


def truncated(made: Made, *, withholds: bool) -> dict[str, bytes]:
    """Return the session in its first state, under a later statement: as a link through a step shows it, if it may withhold."""
    files, forger = unpacked(made.older_session), Forger()
    forger.add_key(files)

    def later(text: bytes) -> bytes:
        return re.sub(rb"\nat 20\d\d", b"\nat 2101", text)

    states = files["session/checkpoints.jsonl"].splitlines()
    files["session/checkpoints.jsonl"] = b"".join(
        json.dumps(forger.signed(json.loads(line), later)).encode() + b"\n" for line in states
    )
    statement(lambda content: content["predicate"]["trees"][0].update(withholds=withholds))(files)
    return files


def test_a_link_that_shows_a_part_is_not_reported_as_rewritten_history(made: Made, tmp_path: Path) -> None:
    (complete,) = written(tmp_path, complete=made.session)
    part = str(packed(truncated(made, withholds=True), tmp_path / "part.zip"))
    report = tm_verify.verify(part, made.key, complete)
    assert "rewritten" not in {each["code"] for each in report.problems}
    assert report.older is not None
    assert report.checked["compared"] == 8
    assert any(
        "this one shows only the first 8, and the older one continues to" in each
        for each in report.not_checked
    )
    other = str(packed(truncated(made, withholds=False), tmp_path / "other.zip"))
    assert "rewritten" in {each["code"] for each in tm_verify.verify(other, made.key, complete).problems}
    swapped = tm_verify.verify(complete, made.key, part)
    assert any("later than these" in each for each in swapped.not_checked)


def test_an_older_bundle_with_an_erasure_is_refused_and_a_partial_one_is_reported(
    made: Made, tmp_path: Path
) -> None:
    files = unpacked(made.session)
    erased(files, 1, f"{project_of(files)}/log", field="output", line=2)
    after = str(packed(files, tmp_path / "after.zip"))
    (before,) = written(tmp_path, before=made.session)
    with pytest.raises(
        tm_verify.Unreadable, match="record 2 output, which was erased permanently according to the log of"
    ):
        tm_verify.verify(before, made.key, after)
    files = unpacked(made.session)
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("input"), 3)(files)
    report = tm_verify.verify(before, made.key, str(packed(files, tmp_path / "less.zip")))
    assert any(
        "only this one discloses 1 field of its session records" in each for each in report.not_checked
    )


def test_a_mismatching_field_is_reported_once_and_not_as_withheld(made: Made, tmp_path: Path) -> None:
    (older,) = written(tmp_path, older=made.session)
    files = unpacked(made.session)
    document("session/disclosed.jsonl", lambda line: line["fields"]["output"].__setitem__(1, "No."), 2)(files)
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key, older)
    fault_codes = [each["code"] for each in report.problems if each["where"] == "session record 2 output"]
    assert (fault_codes, report.checked["withheld"], report.checked["unfit_fields"]) == (["field"], 0, 1)
    assert report.missing == []
    report_lines = list(tm_verify.report_lines(report))
    assert any(line.endswith("; 1 field does not match") for line in report_lines)
    assert any(
        line.startswith("THE OLDER ONE IS ITS BEGINNING AS FAR AS ITS RECORDS GO") for line in report_lines
    )
    statement(lambda content: content["predicate"]["trees"][0].update(withholds=True))(files)
    files["session/disclosed.jsonl"] = b"{" + files["session/disclosed.jsonl"]
    report = tm_verify.verify(str(packed(files, tmp_path / "y.zip")), made.key)
    assert (report.checked["withheld"], report.checked["unfit_fields"] > 1) == (0, True)
    assert "fields that do not match" in "\n".join(tm_verify.report_lines(report))
    report = tm_verify.verify(older, made.key, str(tmp_path / "x.zip"))
    assert report.missing == []


def test_records_not_shown_in_the_newer_bundle_are_not_compared_for_disclosure(
    made: Made, tmp_path: Path
) -> None:
    files = unpacked(made.session)
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("output"), 8)(files)
    older = str(packed(files, tmp_path / "older.zip"))
    part = str(packed(truncated(made, withholds=True), tmp_path / "part.zip"))
    report = tm_verify.verify(part, made.key, older)
    assert not any("only this one discloses" in each for each in report.not_checked)


def test_a_field_missing_without_a_reason_is_a_fault_and_not_reported_as_withheld(
    made: Made, tmp_path: Path
) -> None:
    files = unpacked(made.session)
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("input"), 3)(files)
    (older,) = written(tmp_path, older=made.session)
    report = tm_verify.verify(str(packed(files, tmp_path / "less.zip")), made.key, older)
    assert ("missing", "session record 3 input") in [
        (each["code"], each["where"]) for each in report.problems
    ]
    assert report.missing == []


def test_a_file_that_cannot_be_checked_still_gives_a_json_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tm_verify.main([str(tmp_path / "nowhere.zip"), "--json"]) == 2
    output = capsys.readouterr()
    assert json.loads(output.out)["result"] == "unreadable"
    assert output.err.endswith("there is no such file\n")


def test_an_erased_and_a_changed_field_are_each_counted_once(made: Made, tmp_path: Path) -> None:
    """The statement of a link states the number of erased fields; one of these fields is disclosed with a wrong value."""
    files = unpacked(made.session)
    erasure = {"fields": 2, "last": "2026-11-22T22:01:00Z"}
    statement(lambda content: content["predicate"]["trees"][0].update(withholds=True, erased=erasure))(files)
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("input"), 3)(files)
    document("session/disclosed.jsonl", lambda line: line["fields"]["output"].__setitem__(1, "No."), 2)(files)
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key)
    assert (report.checked["erased_fields"], report.checked["unfit_fields"]) == (1, 1)
    assert not [each for each in report.problems if each["where"] == "session erased"]
