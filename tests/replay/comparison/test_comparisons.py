"""The results of a comparison through the API: columns, pairs, cells, marks and exports."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, compared, recorded_session
from tests.provider_failures import as_vendors
from tests.replay.comparison.launching import ONE, THREE, read_comparison
from tests.stub_answers import Script
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.payloads.queries import value
from timemachine.core.pure.content import content_of
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.export import COLUMNS
from timemachine.replay.comparison.models import CellMark, Comparison, ComparisonReplay
from timemachine.replay.runs.models import Replay, ReplayStep

COMMANDS = Path(__file__).resolve().parents[3] / "docs" / "commands.md"


@pytest.fixture
def project(recorded_once: Session, db: None) -> Project:
    return Project.objects.get(pk=recorded_once.project_id)


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def comparison(compared_once: Comparison, db: None) -> Comparison:
    return Comparison.objects.get(pk=compared_once.pk)


def test_columns_and_pairs_show_the_results_without_overclaiming(
    comparison: Comparison, api: Program
) -> None:
    found = read_comparison(api, comparison)
    recording, first, second = found["columns"]
    assert (recording["answers"], recording["verdicts"], recording["agreement"]) == (3, {}, None)
    assert first["verdicts"] == {"identical": 3}
    assert (first["agreement"], second["agreement"]) == (1.0, pytest.approx(1 / 3))
    assert {(pair["a"], pair["b"]) for pair in found["pairs"]} == {(0, 1), (0, 2), (1, 2)}
    between = next(pair for pair in found["pairs"] if (pair["a"], pair["b"]) == (1, 2))
    agreement = next(each for each in between["metrics"] if each["metric"] == "agreement")
    assert (agreement["n"], agreement["wins"], agreement["ties"], agreement["losses"]) == (3, 0, 1, 2)
    assert agreement["verdict"] == "too few"
    assert agreement["interval"] is None
    assert agreement["pairs"] == [[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    assert {each["metric"] for each in found["pairs"][0]["metrics"]} == {
        "answered",
        "grounding",
        "cost",
        "latency",
        "tokens",
    }
    tokens = next(each for each in found["pairs"][0]["metrics"] if each["metric"] == "tokens")
    assert (tokens["n"], tokens["verdict"]) == (0, "not compared"), "what is unknown is counted and no number"
    assert tokens["excluded"] == {"A: unknown, B: unknown": 3}


def test_errors_and_refusals_are_counted_and_excluded_with_a_reason(
    project: Project, session: Session, api: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_vendors(monkeypatch) as stub:
        stub.script(Script(answer="Invoices are kept for ten years."))
        stub.script(Script(question=QUESTIONS[1], model="stub-model", mode="refusal", answer="Sorry, no."))
        stub.script(Script(question=QUESTIONS[2], model="stub-model", mode="garbage"))
        made = compared(project, [session], ONE, "openai:stub-model")
    found = read_comparison(api, made)
    stubbed = found["columns"][2]
    assert stubbed["missing"] == {"refused": 1, "error": 1}
    assert stubbed["verdicts"]["error"] == 1
    pair = next(each for each in found["pairs"] if (each["a"], each["b"]) == (1, 2))
    metrics = {each["metric"]: each for each in pair["metrics"]}
    assert metrics["grounding"]["excluded"] == {"B: refused": 1, "B: error": 1}
    assert (metrics["answered"]["n"], metrics["answered"]["mean_b"]) == (3, pytest.approx(1 / 3))
    assert found["unknown_cost_calls"] == 3
    assert stubbed["unknown_cost"] == 3
    retried = api.post(f"/comparisons/{made.id}/retry")
    assert retried.status_code == 202
    assert retried.json()["answers"] == {"total": 6, "finished": 5, "answered": 5, "done": 5, "waiting": 1}


def test_a_variant_compared_with_itself_is_the_noise_floor(
    project: Project, session: Session, api: Program
) -> None:
    found = read_comparison(api, compared(project, [session], ONE, THREE, noise_floor=True))
    assert [(each["a"], each["b"]) for each in found["noise"]] == [(1, 1), (2, 2)]
    grounding = next(each for each in found["noise"][0]["metrics"] if each["metric"] == "grounding")
    assert (grounding["n"], grounding["difference"], grounding["ties"]) == (3, 0, 3)
    assert found["columns"][1]["answers"] == 3


def test_cells_are_paginated_and_have_every_figure(comparison: Comparison, api: Program) -> None:
    first = api.get(f"/comparisons/{comparison.id}/cells", limit=2).json()
    second = api.get(f"/comparisons/{comparison.id}/cells", limit=2, after=first["next"]).json()
    asks = first["items"] + second["items"]
    assert [ask["label"] for ask in asks] == list(QUESTIONS)
    assert second["next"] is None
    assert [cell["arm"] for cell in asks[0]["cells"]] == [0, 1, 2]
    assert asks[0]["cells"][1]["verdict"] == "identical"
    assert asks[0]["cells"][1]["cost_usd"] == 0
    assert asks[0]["cells"][0]["latency_ms"] is not None


def test_the_export_is_one_json_document_or_a_line_per_cell(project: Project, api: Program) -> None:
    session = recorded_session(project, questions=("=cmd|x How long are invoices kept?",))
    made = compared(project, [session], ONE, THREE, noise_floor=True)
    exported = api.get(f"/comparisons/{made.id}/export").json()
    assert (len(exported["cells"]), len(exported["pairs"])) == (1, 3)
    answer = api.get(f"/comparisons/{made.id}/export", format="csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(line["arm"], line["run"]) for line in lines] == [
        ("recording", "1"),
        ("1", "noise floor"),
        ("1", "1"),
        ("2", "noise floor"),
        ("2", "1"),
    ]
    assert lines[0]["label"].startswith("'=cmd")
    assert {(line["session_name"], line["session_key"]) for line in lines} == {(session.name, session.key)}
    assert lines[0]["model"].startswith("local:extractive")
    assert api.get(f"/comparisons/{made.id}/export", format="xlsx").status_code == 422


def test_the_exported_lines_contain_no_spreadsheet_formulas(
    project: Project, api: Program, session: Session, comparison: Comparison
) -> None:
    step = ReplayStep.objects.filter(replay__run__comparison=comparison, replay__run__arm=2).earliest(
        "sequence"
    )
    formula = content_of('=HYPERLINK("http://example.org";"A ""fee""")\nof 5 francs')
    step.output_id = store(project.id, [formula])[formula]
    step.save()
    failed = ReplayStep.objects.filter(replay__run__comparison=comparison, replay__run__arm=1).latest(
        "sequence"
    )
    failed.status, failed.verdict = "failed", None
    failed.save()
    answer = api.get(f"/comparisons/{comparison.id}/export", format="csv").content.decode()
    lines = {(line["sequence"], line["arm"]): line for line in csv.DictReader(io.StringIO(answer))}
    asks = list(session.actions.filter(kind="ask").order_by("sequence"))
    for ask in asks:
        assert lines[str(ask.sequence), "recording"]["answer"] == value(ask.output)
    assert (
        lines[str(step.sequence), "2"]["answer"]
        == '\'=HYPERLINK("http://example.org";"A ""fee""")\nof 5 francs'
    )
    assert lines[str(asks[0].sequence), "1"]["answer"] == value(asks[0].output)
    assert lines[str(failed.sequence), "1"]["answer"] == ""


def test_every_column_of_the_exported_lines_is_documented() -> None:
    documented = re.findall(r"^\| (`.+?) \|", COMMANDS.read_text(), re.MULTILINE)
    assert set(COLUMNS) <= {name.strip("`") for names in documented for name in names.split(", ")}


def test_marking_a_cell_keeps_its_history(session: Session, comparison: Comparison, api: Program) -> None:
    cell = {"session": session.key, "sequence": 4, "arm": 2}
    for verdict, note in (("worse", "It says more than was asked."), ("equivalent", "")):
        answer = api.post(f"/comparisons/{comparison.id}/marks", cell | {"verdict": verdict, "note": note})
        assert (answer.status_code, answer.json()["by"]) == (201, "key test")
    cells = api.get(f"/comparisons/{comparison.id}/cells").json()["items"][1]["cells"]
    assert [mark["verdict"] for mark in cells[2]["marks"]] == ["equivalent"]
    assert cells[2]["verdict"] == "numbers_differ"
    assert CellMark.objects.count() == 2
    api.post(f"/comparisons/{comparison.id}/marks", cell | {"verdict": "withdrawn"})
    cells = api.get(f"/comparisons/{comparison.id}/cells").json()["items"][1]["cells"]
    assert cells[2]["marks"] == []
    repeated = api.post(f"/comparisons/{comparison.id}/marks", cell | {"verdict": "withdrawn"})
    assert (repeated.status_code, repeated.json()["code"]) == (409, "not_marked")
    assert CellMark.objects.count() == 3


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"verdict": "splendid"}, "invalid_field"),
        ({"note": "x" * 4_001}, "invalid_field"),
        ({"arm": 3}, "cell_not_found"),
        ({"sequence": 99}, "cell_not_found"),
    ],
)
def test_an_invalid_mark_or_cell_is_refused(
    session: Session, comparison: Comparison, api: Program, body: dict[str, Any], code: str
) -> None:
    sent = {"session": session.key, "sequence": 4, "arm": 2, "verdict": "better"} | body
    assert api.post(f"/comparisons/{comparison.id}/marks", sent).json()["code"] == code


def test_erasing_sessions_erases_their_answers_and_finally_the_comparison(
    db: None,
) -> None:
    project = Project.objects.create(name="Löschung")
    one, other = (recorded_session(project, questions=QUESTIONS[:1]) for _ in range(2))
    made = compared(project, [one, other], ONE, THREE)
    erase_session(one)
    assert made.runs.count() == 2
    assert Comparison.objects.filter(id=made.id).exists()
    erase_session(other)
    assert not ComparisonReplay.objects.filter(comparison=made.id).exists()
    assert not Comparison.objects.filter(id=made.id).exists()


def test_a_replay_belongs_to_at_most_one_comparison(comparison: Comparison) -> None:
    replay = Replay.objects.filter(run__comparison=comparison).first()
    assert replay is not None
    with pytest.raises(IntegrityError), connection.cursor():
        ComparisonReplay.objects.create(comparison=comparison, replay=replay, arm=1, repeat=2)


def test_sessions_are_the_independent_units_of_a_comparison(project: Project, api: Program) -> None:
    sessions = [recorded_session(project, questions=QUESTIONS[:2]) for _ in range(3)]
    found = read_comparison(api, compared(project, sessions, ONE, THREE))
    pair = next(each for each in found["pairs"] if (each["a"], each["b"]) == (1, 2))
    agreement = next(each for each in pair["metrics"] if each["metric"] == "agreement")
    assert agreement["n"] == 6
    assert agreement["interval"]["method"] == "t, clustered by session"
