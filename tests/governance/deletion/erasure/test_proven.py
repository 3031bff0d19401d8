"""Evidence after an erasure: tombstones name the erased fields, checks excuse nothing else, and the rest stays proven."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import tamper
from tests.governance.deletion.erasure.canary import CANARY, checked, erased, sealed
from tests.governance.deletion.erasure.conftest import everything_recorded
from tests.verifier.bundles import document, packed, statement, unpacked
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import ErasedField, LogEntry
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.queries import Shareable
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> Session:
    """Return a session that was sealed before the output of its second step was erased."""
    session = everything_recorded(Project.objects.create(name="Prüfung"))
    sealed(session)
    erased(session, fields=["output"], steps=[2])
    return session


def verified(session: Session, folder: Path) -> dict[str, Any]:
    """Return the report of the stand-alone verifier on the session's bundle."""
    with (folder / "bundle.zip").open("wb") as file:
        exporting.write_session(file, session)
    return tm_verify.verify(str(folder / "bundle.zip")).as_json()


def test_the_verifier_names_the_erased_fields_and_proves_the_rest(session: Session, tmp_path: Path) -> None:
    found = verified(session, tmp_path)
    assert found["problems"] == []
    assert (
        found["checked"]["erased_fields"] == ErasedField.objects.filter(session=session, replay=None).count()
    )
    assert found["checked"]["withheld"] == 0
    readme = unpacked((tmp_path / "bundle.zip").read_bytes())["README.txt"].decode()
    assert (
        f"Not disclosed:    {found['checked']['erased_fields']} fields erased permanently, 0 withheld"
        in readme
    )
    (shown,) = found["shown"]
    assert (shown["erased"], shown["withheld"]) == (found["checked"]["erased_fields"], 0)
    with (tmp_path / "log.zip").open("wb") as file:
        exporting.write_log(file, session.project)
    report = tm_verify.verify(str(tmp_path / "log.zip"))
    assert report.problems == []
    of_session = [each for each in report.erasures if each.of == "session"]
    assert [each.entry for each in of_session] == [each["entry"] for each in found["erasures"]]
    report_text = "\n".join(tm_verify.report_lines(report))
    assert f"session {session.id}: record " in report_text
    assert "record 2 (" in report_text
    assert f"at {shown['last_erased']}, by ada@example.org, because: asked for by the person" in report_text
    page = unpacked((tmp_path / "log.zip").read_bytes())["report.html"].decode()
    assert f"session {session.id}, record " in page
    assert "record 2: " in page
    assert "asked for by the person" in page


def test_only_the_first_erasures_are_listed_and_all_are_in_the_document() -> None:
    report = tm_verify.Report()
    fields = [(index, ["input"]) for index in range(12)]
    one = tm_verify.Tombstone(1, "session", "S", 1, fields, None, None, None, None)
    report.erasures += [one] * 25
    lines = [line for line in tm_verify.report_lines(report) if "ERASED" in line or "more erasures" in line]
    assert len(lines) == 21
    assert "and 2 more records, at an unknown time" in lines[0]
    assert lines[-1] == "and 5 more erasures; --json lists all"
    assert len(report.as_json()["erasures"]) == 25


def test_a_link_shows_how_many_fields_were_erased_and_when_but_not_by_whom_or_why(
    session: Session, tmp_path: Path
) -> None:
    in_bundle = verified(session, tmp_path)["shown"][0]
    link, _ = create_link(session.project, session, Terms(evidence_only=True), by="owner@example.org")
    with (tmp_path / "link.zip").open("wb") as file:
        Scope(link=link).write_evidence(file)
    found = tm_verify.verify(str(tmp_path / "link.zip"))
    assert found.problems == []
    (shown,) = found.shown
    assert (shown.erased, shown.last_erased) == (in_bundle["erased"], in_bundle["last_erased"])
    assert shown.withheld == found.checked["withheld"] > 0
    report_text = "\n".join(tm_verify.report_lines(found))
    assert f"{shown.erased} fields erased permanently, most recently at {shown.last_erased}" in report_text
    assert "NOT CHECKED: That" in report_text
    files = unpacked((tmp_path / "link.zip").read_bytes())
    assert f"{shown.erased} fields erased permanently, most recently at " in files["report.html"].decode()
    readme = files["README.txt"].decode()
    withheld_elsewhere = f"{shown.withheld - 1} withheld of what the link shows;"
    assert f"{shown.erased} fields erased permanently, {withheld_elsewhere}" in readme
    assert "1 field that no link shows: who made it" in readme
    for canary in (b"ada@example.org", b"asked for by the person"):
        assert canary not in b"".join(files.values())
    with_tombstones = files | {
        name: data
        for name, data in unpacked((tmp_path / "bundle.zip").read_bytes()).items()
        if name in {"session/erased.json", "keys.json"}
    }
    proven = tm_verify.verify(str(packed(with_tombstones, tmp_path / "proven.zip")))
    assert proven.checked["erased_fields"] == shown.erased
    assert not any(each.startswith("That") for each in proven.not_checked)
    statement(lambda content: content["predicate"]["trees"][0]["erased"].update(fields=10_000))(files)
    wrong = tm_verify.verify(str(packed(files, tmp_path / "wrong.zip")))
    assert ("statement", "session erased") in [(each["code"], each["where"]) for each in wrong.problems]


def test_erased_fields_with_a_tombstone_are_distinguished_from_withheld_ones(
    session: Session, tmp_path: Path
) -> None:
    numbers = verified(session, tmp_path)["checked"]
    files = unpacked((tmp_path / "bundle.zip").read_bytes())
    statement(lambda content: content["predicate"]["trees"][0].update(withholds=True))(files)
    document("session/disclosed.jsonl", lambda line: line["fields"].popitem(), 1)(files)
    found = tm_verify.verify(str(packed(files, tmp_path / "withheld.zip")))
    assert (found.checked["erased_fields"], found.checked["withheld"]) == (numbers["erased_fields"], 1)
    assert "missing" not in {each["code"] for each in found.problems}


def test_a_field_missing_without_a_tombstone_is_a_fault(session: Session, tmp_path: Path) -> None:
    tamper("UPDATE tm_sealed_record SET salts = salts - 'about' WHERE index = 0", [])
    assert [each["says"] for each in checked(session)[0].problems] == [
        "The field about does not match what was sealed."
    ]
    assert [each["where"] for each in verified(session, tmp_path)["problems"]] == ["session record 0 about"]


def test_a_tombstone_for_something_else_is_a_fault(session: Session, tmp_path: Path) -> None:
    tamper("UPDATE tm_erased_field SET log_index = 0", [])
    found = verified(session, tmp_path)["problems"]
    assert {each["code"] for each in found} == {"tombstone", "missing"}
    assert checked(session)[0].problems


def test_the_log_states_who_erased_what_when_and_why(session: Session) -> None:
    entries = [bytes(each.entry).decode() for each in LogEntry.objects.filter(project=session.project)]
    logged = [each for each in entries if '"erased_fields"' in each and '"of":"session"' in each]
    assert len(logged) == 1
    assert '"by":"ada@example.org"' in logged[0]
    assert '"reason":"asked for by the person"' in logged[0]
    assert '[2,["' in logged[0]
    assert not any(CANARY in each for each in entries)


def test_the_head_of_a_link_and_its_bundle_agree_on_the_number_of_erased_fields(
    session: Session, tmp_path: Path
) -> None:
    replay, comparison = Replay.objects.filter(run=None).get(), Comparison.objects.get()
    sealed(session)
    targets: list[Shareable] = [session, replay, comparison]
    for number, target in enumerate(targets):
        link, _ = create_link(session.project, target, Terms(), by="owner@example.org")
        path = tmp_path / f"{number}.zip"
        with path.open("wb") as file:
            Scope(link=link).write_evidence(file)
        shown = tm_verify.verify(str(path)).shown
        assert Scope(link=link).erased().fields == sum(each.erased for each in shown) > 0


def test_the_log_reports_that_a_comparison_was_resealed_and_not_that_it_was_erased(
    session: Session,
) -> None:
    lines = [json.loads(bytes(each.entry)) for each in LogEntry.objects.filter(project=session.project)]
    resealings = [each for each in lines if each["entry"] == "erased" and each["of"] == "comparison"]
    assert [(each["generation"], each["sealed_anew"]) for each in resealings] == [(1, 2)]
    erase_session(session, by="ada@example.org")
    last = [json.loads(bytes(each.entry)) for each in LogEntry.objects.filter(project=session.project)]
    erased_entries = [each for each in last if each["entry"] == "erased" and "sealed_anew" not in each]
    assert {"session", "comparison"} <= {each["of"] for each in erased_entries}
