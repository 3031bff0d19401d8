"""A project's log: dropped, changed and added entries are reported."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.builders import recorded_session
from tests.verifier.bundles import Change, document, drop, faults, lines, packed, replaced, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log.keys import key_in_use
from timemachine.evidence.log.project_log import replace_key
from timemachine.evidence.sealing.seals import seal_session
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
ENTRIES, STATES, PRESENT = "log/entries.jsonl", "log/checkpoints.jsonl", "log/present.jsonl"
CLASSES: Final[dict[str, tuple[Change, tuple[str, str]]]] = {
    "a session dropped": (lines(PRESENT, drop(0)), ("dropped", "session ")),
    "a session under another root": (
        document(PRESENT, lambda each: each.update(root="00"), 0),
        ("changed", "session "),
    ),
    "a session that was never sealed": (
        lines(PRESENT, lambda found: found.append(found[0].replace(b'"generation":1', b'"generation":2'))),
        ("log", "session "),
    ),
    "a line that names nothing": (
        lines(PRESENT, lambda found: found.append(b"{}")),
        ("log", "log present line 4"),
    ),
    "an entry changed": (
        replaced(ENTRIES, 0, b'"of":"session"', b'"of":"lesson"'),
        ("root", "log checkpoint 1"),
    ),
    "an invalid entry": (lines(ENTRIES, lambda found: found.append(b"{}")), ("log", "log entry 4")),
    "an entry removed": (lines(ENTRIES, drop(1)), ("root", "log checkpoint 2")),
    "another root for the same records": (
        lines(ENTRIES, lambda found: found.append(found[0].replace(b'"root":"', b'"root":"00'))),
        ("changed", "log entry 4"),
    ),
    "a state that is not JSON": (replaced(STATES, 0, b"{", b"["), ("signature", "log checkpoint 1")),
    "no state": (lines(STATES, lambda found: found.clear()), ("checkpoint", "log checkpoints")),
    "a state dropped": (lines(STATES, drop(-1)), ("checkpoint", "log checkpoints")),
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_change_of_a_log_is_reported(made: Made, tmp_path: Path, name: str) -> None:
    change, (code, where) = CLASSES[name]
    files = unpacked(made.log)
    change(files)
    found = faults(packed(files, tmp_path / "x.zip"), made.key)
    assert any(each == code and place.startswith(where) for each, place in found), found


def test_an_untouched_log_is_valid(made: Made, tmp_path: Path) -> None:
    assert faults(packed(unpacked(made.log), tmp_path / "x.zip"), made.key) == []


def test_the_log_s_list_of_present_subjects_rests_on_the_server_alone(made: Made, tmp_path: Path) -> None:
    report = tm_verify.verify(str(packed(unpacked(made.log), tmp_path / "x.zip")), made.key)
    assert any(
        "log/present.jsonl lists exists: only the server states this" in each for each in report.not_checked
    )


def test_a_state_of_another_log_is_reported(made: Made, tmp_path: Path) -> None:
    forger, files = Forger(), unpacked(made.log)
    forger.add_key(files)
    signed = forger.signed(
        json.loads(files[STATES].splitlines()[0]), lambda text: text.replace(b"/log", b"/dog", 1)
    )
    files[STATES] += json.dumps(signed).encode() + b"\n"
    assert ("checkpoint", "log checkpoint 5") in faults(packed(files, tmp_path / "x.zip"), made.key)


def test_the_log_states_which_key_replaced_which(made: Made, tmp_path: Path) -> None:
    files, forger = unpacked(made.log), Forger()
    forger.add_key(files)
    entry = {"entry": "key", "key": forger.key, "replaces": made.key}
    files["log/entries.jsonl"] += json.dumps(entry).encode() + b"\n"
    files["statement.json"] = json.dumps(forger.signed(json.loads(files["statement.json"]))).encode()
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), made.key)
    (found,) = report.replaced
    assert (found.key, found.replaces, found.vouched) == (forger.key, made.key, False)
    report_text = "\n".join(tm_verify.report_lines(report))
    assert (
        f"KEY REPLACED (log entry {found.entry}) {made.key} by {forger.key}, which the earlier one did not sign"
        in report_text
    )
    assert "names the new key under the old key's signature" in report_text
    assert f"the log: its seal is signed by {made.key}, not by the bundle's key" in report_text


@pytest.mark.django_db
def test_a_key_that_signed_the_log_with_its_successor_vouches_for_it(
    project: Project, tmp_path: Path
) -> None:
    session = recorded_session(project)
    seal_session(session.id)
    before = key_in_use(project).fingerprint
    replace_key(project, by="Test")
    now_in_use = key_in_use(project).fingerprint
    log, of_session = tmp_path / "log.zip", tmp_path / "session.zip"
    with log.open("wb") as target:
        exporting.write_log(target, project)
    with of_session.open("wb") as target:
        exporting.write_session(target, session)
    report = tm_verify.verify(str(log), now_in_use)
    assert report.problems == []
    assert f"{before} by {now_in_use}, under the earlier one's signature" in "\n".join(
        tm_verify.report_lines(report)
    )
    assert report.as_json()["replaced_keys"][0]["vouched"] is True
    assert f"{before} by {now_in_use}</bdi>" in unpacked(log.read_bytes())["report.html"].decode()
    report = tm_verify.verify(str(of_session), now_in_use)
    report_text = "\n".join(tm_verify.report_lines(report))
    assert report.problems == []
    assert f"session {session.id}: its seal is signed by {before}" in report_text
    readme = unpacked(of_session.read_bytes())["README.txt"].decode()
    assert f"The seal is signed by: {before}" in " ".join(readme.split())
    assert f"This file is signed by: {now_in_use}" in " ".join(readme.split())


def test_a_resealed_comparison_is_not_reported_as_erased() -> None:
    entry = {"entry": "erased", "of": "comparison", "id": "c1", "generation": 1, "sealed_anew": 2}
    assert "comparison c1: resealed after an erasure, as run 2" in str(tm_verify.tombstone_of(3, entry))


@pytest.mark.django_db
def test_a_state_of_the_log_must_be_signed_by_the_key_in_use(project: Project, tmp_path: Path) -> None:
    seal_session(recorded_session(project, key="one").id)
    before = key_in_use(project).fingerprint
    replace_key(project, by="Test")
    seal_session(recorded_session(project, key="two").id)
    target = tmp_path / "log.zip"
    with target.open("wb") as opened:
        exporting.write_log(opened, project)
    files, now_in_use = unpacked(target.read_bytes()), key_in_use(project).fingerprint
    assert faults(target, now_in_use) == []
    states = [json.loads(line) for line in files[STATES].splitlines()]
    assert [each["signatures"][0]["keyid"] for each in states] == [before, now_in_use, before, now_in_use]
    lines(STATES, drop(1))(files)
    assert ("key", "log checkpoint 2") in faults(packed(files, target), now_in_use)


def test_a_state_signed_by_a_key_unknown_to_the_log_is_reported(made: Made, tmp_path: Path) -> None:
    files, forger = unpacked(made.log), Forger()
    forger.add_key(files)
    document(STATES, lambda signed: signed.update(forger.signed(signed)), 1)(files)
    assert ("key", "log checkpoint 2") in faults(packed(files, tmp_path / "x.zip"), made.key)
