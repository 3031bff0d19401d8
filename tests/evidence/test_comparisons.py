"""The seal of a comparison: everything on its page is committed to, marks and opinions are added, and no change goes unnoticed."""

import json
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from tests.builders import compared, recorded_session, tamper
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.evidence import commands
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import LogEntry, Seal, SealedRecord, SealedResults
from timemachine.evidence.queries import sealed_comparison
from timemachine.evidence.sealing import comparison_records, due, seals, session_deletion
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison import results
from timemachine.replay.comparison.commands import mark, retry
from timemachine.replay.comparison.models import CellOpinion, Comparison, ComparisonFindings
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
MODELS = ("local:extractive-1", "local:extractive-3")


@pytest.fixture(scope="module")
def made(shared_rows: None) -> Comparison:
    project = Project.objects.create(name="Prüfung")
    return compared(project, [recorded_session(project)], *MODELS)


@pytest.fixture
def comparison(made: Comparison) -> Comparison:
    return Comparison.objects.get(pk=made.pk)


@pytest.fixture
def project(comparison: Comparison) -> Project:
    return comparison.project


@pytest.fixture
def session(project: Project) -> Session:
    return Session.objects.get(project=project)


def cells(comparison: Comparison) -> list[ReplayStep]:
    steps = ReplayStep.objects.filter(replay__run__comparison=comparison)
    return list(steps.order_by("replay_id", "sequence"))


def mark_and_opinion(comparison: Comparison) -> CellOpinion:
    """Return a judge's opinion of the second cell, after a mark was put on the first."""
    first, second = cells(comparison)[:2]
    mark(comparison, first, "better", note="Genauer", by="ada@example.org")
    return CellOpinion.objects.create(
        comparison=comparison,
        step=second,
        model="openai:judge",
        state="done",
        relation="different",
        preference="worse",
        asked=[{"order": "recorded_first", "relation": "different", "reason": "kürzer"}],
        cost_usd="0.01",
        calls_made=2,
        requested_by="ada@example.org",
        asked_at=now(),
        finished_at=now(),
    )


def faults(comparison: Comparison) -> list[tuple[int | None, str]]:
    seal = sealed_comparison(comparison).seal
    done = commands.run_check(commands.request_check(seal, by="test").id)
    assert done is not None
    return [(each["index"], str(each["says"])) for each in done.problems]


def verified(comparison: Comparison, target: Path) -> tm_verify.Report:
    with target.open("wb") as opened:
        exporting.write_comparison(opened, comparison)
    return tm_verify.verify(str(target))


def test_everything_on_its_page_is_sealed_and_each_cell_links_the_step_it_repeats(
    comparison: Comparison, session: Session
) -> None:
    mark_and_opinion(comparison)
    assert due.comparisons() == [comparison.id]
    seal = seals.seal_comparison(comparison.id)
    assert seal is not None
    records = SealedRecord.objects.filter(seal=seal).order_by("index")
    kinds = [json.loads(bytes(each.envelope))["kind"] for each in records]
    assert kinds == ["comparison", *["cell"] * 6, "results", "mark", "opinion"]
    recorded = {bytes(each.leaf).hex() for each in SealedRecord.objects.filter(seal__session=session)}
    assert all(json.loads(bytes(each.envelope))["links"]["recorded"] in recorded for each in records[1:7])
    assert {"facts", "arms", "about"} == set(records[0].salts)
    assert {"facts", "evidence", "grounding", "output"} <= set(records[1].salts)
    assert (seal.state, due.comparisons(), sealed_comparison(comparison).unsealed) == ("closed", [], 0)
    assert faults(comparison) == []


ALTERATIONS = {
    "a variant": ("UPDATE tm_comparison SET arms = '[]' WHERE id = %s", 0, "field arms "),
    "a reason": ("UPDATE tm_comparison SET reason = 'x' WHERE id = %s", 0, "field about "),
    "a verdict": ("UPDATE tm_replay_step SET verdict = 'reworded' WHERE id = {cell}", 1, "field facts "),
    "a grounding": ("UPDATE tm_replay_step SET grounding = '{{}}' WHERE id = {cell}", 1, "field grounding "),
    "an answer": (
        "UPDATE tm_payload SET data = 'x', size = 1, packed = false WHERE id = {answer}",
        1,
        "field output ",
    ),
    "a cost": ("UPDATE tm_replay_attempt SET cost_usd = 7 WHERE step_id = {cell}", 1, "field facts "),
    "a variant's run": (
        "UPDATE tm_comparison_replay SET repeat = 0 WHERE arm = 1 AND comparison_id = %s",
        1,
        "field facts ",
    ),
    "its cells": (
        "DELETE FROM tm_comparison_replay WHERE arm = 1 AND comparison_id = %s",
        1,
        "missing from the database",
    ),
    "a number": (
        "UPDATE tm_comparison_findings SET content = replace(content, '\"answers\": 3', '\"answers\": 4') WHERE comparison_id = %s",
        7,
        "field facts ",
    ),
    "a mark": ("UPDATE tm_cell_mark SET verdict = 'worse' WHERE comparison_id = %s", 8, "field facts "),
    "a removed mark": (
        "DELETE FROM tm_cell_mark WHERE comparison_id = %s",
        8,
        "missing from the database",
    ),
    "an opinion": (
        "UPDATE tm_cell_opinion SET preference = 'better' WHERE comparison_id = %s",
        9,
        "field facts ",
    ),
    "the judge's prompt": (
        "UPDATE tm_cell_opinion SET asked = '[]' WHERE comparison_id = %s",
        9,
        "field words ",
    ),
    "a sealed record": (
        "DELETE FROM tm_sealed_record r USING tm_seal s WHERE r.seal_id = s.id AND r.index = 2 AND s.comparison_id = %s",
        2,
        "sealed form",
    ),
}


def test_a_check_reports_what_was_altered_in_the_database(comparison: Comparison) -> None:
    mark_and_opinion(comparison)
    seals.seal_comparison(comparison.id)
    cell = cells(comparison)[0]
    for name, (statement, index, says) in ALTERATIONS.items():
        placed = statement.replace("{cell}", str(cell.id)).replace("{answer}", str(cell.output_id))
        placed = placed.replace("{{}}", "{}")
        with transaction.atomic():
            assert tamper(placed, [str(comparison.id)] if "%s" in placed else []) >= 1, name
            found = faults(comparison)
            transaction.set_rollback(True)
        assert any(each == index and says in words for each, words in found), (name, found)


def test_the_sealed_copy_of_the_results_counts_if_the_program_now_computes_others(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    seals.seal_comparison(comparison.id)
    ComparisonFindings.objects.filter(comparison=comparison).update(cells="of an earlier version")
    assert faults(comparison) == []
    tamper("UPDATE tm_sealed_results SET content = '{}'", [])
    assert [index for index, _ in faults(comparison)] == [7]
    monkeypatch.setattr(comparison_records, "FORM", comparison_records.FORM + 1)
    seals.seal_comparison(comparison.id)
    assert SealedResults.objects.count() == 2
    assert sealed_comparison(comparison).records == 9


def test_marks_and_opinions_are_added_to_the_seal(
    comparison: Comparison, settings: Settings, tmp_path: Path
) -> None:
    settings.SEAL_SECONDS = 300
    seals.seal_comparison(comparison.id)
    opinion = mark_and_opinion(comparison)
    assert (due.comparisons(), sealed_comparison(comparison).unsealed) == ([], 2)
    Seal.objects.filter(comparison=comparison).update(signed_at=now() - timedelta(minutes=6))
    assert due.comparisons() == [comparison.id]
    cancelled = {"state": "failed", "error_type": "cancelled", "finished_at": now()}
    CellOpinion.objects.filter(id=opinion.id).update(**cancelled)
    report = verified(comparison, tmp_path / "x.zip")
    assert (report.problems, sealed_comparison(comparison).records) == ([], 9)
    CellOpinion.objects.filter(id=opinion.id).update(finished_at=now() - timedelta(minutes=2))
    report = verified(comparison, tmp_path / "x.zip")
    assert (report.problems, sealed_comparison(comparison).records) == ([], 10)
    assert faults(comparison) == []


def test_its_bundle_proves_the_recorded_steps_of_each_session(
    project: Project, session: Session, tmp_path: Path
) -> None:
    other = recorded_session(project, key="other")
    both = compared(project, [session, other], *MODELS, noise_floor=True)
    report = verified(both, tmp_path / "x.zip")
    assert (report.problems, report.checked["links"]) == ([], 24)
    assert report.checked["withheld"] == 0
    assert (report.subject or "").endswith(f"/comparison/{both.id}")


def test_a_running_comparison_is_not_sealed_and_one_that_ran_again_is_sealed_again(
    comparison: Comparison, session: Session
) -> None:
    seals.seal_comparison(comparison.id)
    failed = cells(comparison)[0]
    ReplayStep.objects.filter(id=failed.id).update(status="failed", error_message="x")
    retry(comparison)
    assert (due.comparisons(), sealed_comparison(comparison).seal) == ([], None)
    for attempt in (seals.seal_comparison, lambda _: exporting.write_comparison(BytesIO(), comparison)):
        with pytest.raises(Conflict, match="still running"):
            attempt(comparison.id)
    ReplayStep.objects.filter(id=failed.id).update(status="done", finished_at=now())
    Replay.objects.filter(finished_at=None).update(status="done", finished_at=now())
    assert due.comparisons() == [comparison.id]
    resealed = seals.seal_comparison(comparison.id)
    assert resealed is not None
    assert resealed.generation == 2
    assert results.finished_with(failed.replay_id) == [comparison.id]
    assert seals.seal_comparison(uuid4()) is None


def test_erasing_its_only_session_leaves_its_tombstone(
    comparison: Comparison, session: Session, project: Project, tmp_path: Path
) -> None:
    seals.seal_comparison(comparison.id)
    session_deletion.erase_session(session, by="ada@example.org", reason="asked for")
    entries = [json.loads(bytes(each.entry)) for each in LogEntry.objects.order_by("index")]
    assert ("erased", "comparison", str(comparison.id)) in [
        (each["entry"], each["of"], each["id"]) for each in entries
    ]
    assert not Seal.objects.exists()
    with pytest.raises(NotFound, match="deleted"):
        exporting.write_comparison(BytesIO(), comparison)
    assert log_faults(project, tmp_path) == []


def test_erasing_one_of_its_sessions_reseals_the_remaining_ones(
    project: Project, session: Session, tmp_path: Path
) -> None:
    remaining = recorded_session(project, key="kept")
    both = compared(project, [session, remaining], *MODELS)
    seals.seal_comparison(both.id)
    session_deletion.erase_session(session, by="test")
    assert due.comparisons() == [both.id]
    report = verified(both, tmp_path / "x.zip")
    assert (report.problems, report.checked["links"]) == ([], 6)
    assert [each.generation for each in Seal.objects.filter(comparison=both)] == [2]
    assert (faults(both), log_faults(project, tmp_path)) == ([], [])


def log_faults(project: Project, folder: Path) -> list[dict[str, str]]:
    target = folder / "log.zip"
    with target.open("wb") as opened:
        exporting.write_log(opened, project)
    return tm_verify.verify(str(target)).problems
