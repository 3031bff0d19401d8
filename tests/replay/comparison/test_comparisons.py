"""Comparisons through the API: what is launched, what it comes to, and what is never lost or invented."""

import csv
import io
import re
from pathlib import Path
from typing import Any, cast

import pytest
from django.db import IntegrityError, connection

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, compared, recorded_session, worked_off
from tests.provider_failures import as_vendors
from tests.stub_answers import Script
from tests.web.people import browser_of
from timemachine.cli.output.comparisons import comparison_progress
from timemachine.client.generated.types import ComparisonResults
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.payloads.queries import value
from timemachine.core.pure.content import content_of
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.export import COLUMNS
from timemachine.replay.comparison.models import CellMark, Comparison, ComparisonReplay
from timemachine.replay.runs.models import Replay, ReplayStep

COMMANDS = Path(__file__).resolve().parents[3] / "docs" / "commands.md"
ONE, THREE = "local:extractive-1", "local:extractive-3"
TWO_ARMS = [{"model": ONE}, {"model": THREE}]


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def session(project: Project) -> Session:
    return recorded_session(project)


def asked(session: Session, **more: Any) -> dict[str, Any]:
    return {"sessions": [session.key], "arms": TWO_ARMS, "reason": "Welches?"} | more


def launched(api: Program, session: Session, **more: Any) -> tuple[Comparison, dict[str, Any]]:
    answer = api.post("/comparisons", asked(session, **more))
    assert answer.status_code == 202, answer.content
    made = Comparison.objects.get(id=answer.json()["comparison_id"])
    return made, answer.json()


def told(api: Program, comparison: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/comparisons/{comparison.id}").json()
    return found


def test_a_comparison_is_one_audit_replay_for_each_session_arm_and_run(
    api: Program, session: Session
) -> None:
    made, answer = launched(api, session, repeats=2, noise_floor=True)
    replays = Replay.objects.filter(id__in=answer["replay_ids"])
    assert len(answer["replay_ids"]) == replays.count() == 2 * 3
    assert {each.kind for each in replays} == {"audit"}
    assert {each.reason for each in replays} == {"Welches?"}
    assert told(api, made)["status"] == "queued"
    worked_off(made)
    found = told(api, made)
    assert (found["status"], found["asks"]) == ("done", 3)
    assert found["answers"] == {"total": 18, "finished": 18, "answered": 18, "done": 18}
    assert not ReplayStep.objects.filter(replay__run__comparison=made).exclude(kind="ask").exists()


def test_several_models_of_a_replay_make_a_comparison(api: Program, session: Session) -> None:
    answer = api.post(
        f"/sessions/{session.key}/replays", {"audit": True, "reason": "r", "use_models": [ONE, THREE]}
    )
    assert answer.status_code == 202
    assert set(answer.json()) == {"comparison_id", "replay_ids"}
    assert len(answer.json()["replay_ids"]) == 2
    kept = Comparison.objects.get(id=answer.json()["comparison_id"])
    assert [arm["model"] for arm in kept.arms] == [ONE, THREE]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"top_k": 3}, "retrieval_options_in_audit"),
        ({"skip_asks": True}, "not_compared"),
        ({"through_sequence": 2}, "not_compared"),
        ({"reason": " "}, "reason_needed"),
        ({"use_models": [ONE, "nobody:x"]}, "unknown_model"),
        ({"use_models": [ONE, ONE]}, "same_arms"),
    ],
)
def test_what_does_not_go_with_several_models_is_refused(
    api: Program, session: Session, body: dict[str, Any], code: str
) -> None:
    sent = {"audit": True, "reason": "r", "use_models": [ONE, THREE]} | body
    answer = api.post(f"/sessions/{session.key}/replays", sent)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert not Comparison.objects.exists()
    assert not Replay.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"reason": " "}, 422, "reason_needed"),
        ({"arms": TWO_ARMS[:1]}, 422, "arms_needed"),
        ({"arms": TWO_ARMS * 5}, 422, "arms_needed"),
        ({"arms": TWO_ARMS[:1] * 2}, 422, "same_arms"),
        ({"arms": [{"model": ONE, "temperature": 3}, {"model": ONE}]}, 422, "invalid_field"),
        ({"arms": [{"model": "nobody:x"}, {"model": ONE}]}, 422, "unknown_model"),
        ({"arms": [{"model": "openai:gpt-4o"}, {"model": ONE}]}, 503, "model_not_usable"),
        ({"repeats": 0}, 422, "invalid_field"),
        ({"repeats": 21}, 422, "invalid_field"),
        ({"sessions": []}, 422, "sessions_needed"),
        ({"sessions": ["nobody"]}, 404, "session_not_found"),
        ({"surprise": 1}, 422, "invalid_request"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_made(
    api: Program, session: Session, body: dict[str, Any], status: int, code: str
) -> None:
    answer = api.post("/comparisons", asked(session) | body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Comparison.objects.exists()
    assert not Replay.objects.exists()


def test_one_session_without_an_ask_makes_nothing_of_the_whole(
    api: Program, project: Project, session: Session
) -> None:
    empty = start_session(project, name="empty", by="test", key="empty")
    append(empty.id, [ActionDraft(kind="message", output="hello")])
    answer = api.post("/comparisons", asked(session, sessions=[session.key, "empty"]))
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_compare")
    assert "empty" in answer.json()["message"]
    assert not Replay.objects.exists()


def test_arms_may_differ_by_their_prompt_alone(
    project: Project, api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_vendors(monkeypatch) as stub:
        arms = [
            {"model": "openai:stub-model", "system_prompt": "Be brief."},
            {"model": "openai:stub-model", "prompt_template": "FACTS {passages} ASKED {question}"},
        ]
        made, _ = launched(api, session, arms=arms)
        worked_off(made)
        prompts = [call.prompt for call in stub.calls()]
    assert sum("Be brief." in each for each in prompts) == 3
    assert sum("FACTS" in each and "ASKED" in each for each in prompts) == 3
    assert [arm["name"] for arm in told(api, made)["arms"]] == [
        "openai:stub-model · system prompt 1",
        "openai:stub-model · prompt template 1",
    ]
    wrong = asked(session, arms=[arms[0], {"model": "openai:stub-model", "prompt_template": "nothing"}])
    assert api.post("/comparisons", wrong).status_code == 422


def test_an_arm_may_go_without_a_system_prompt_beside_one_with_the_recorded_one(
    api: Program, session: Session
) -> None:
    made, _ = launched(api, session, arms=[{"model": ONE, "system_prompt": ""}, {"model": ONE}])
    assert [arm["name"] for arm in told(api, made)["arms"]] == [f"{ONE} · system prompt 1", ONE]
    assert api.get("/comparisons").status_code == 200
    assert api.get(f"/comparisons/{made.id}/export", format="csv").status_code == 200


def test_the_columns_and_pairs_say_what_came_of_it_and_claim_no_more(project: Project, api: Program) -> None:
    made = compared(project, [recorded_session(project)], ONE, THREE)
    found = told(api, made)
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


def test_what_is_unknown_is_counted_and_no_number(project: Project, api: Program) -> None:
    found = told(api, compared(project, [recorded_session(project)], ONE, THREE))
    tokens = next(each for each in found["pairs"][0]["metrics"] if each["metric"] == "tokens")
    assert (tokens["n"], tokens["verdict"]) == (0, "too few")
    assert tokens["excluded"] == {"A: unknown, B: unknown": 3}


def test_errors_and_refusals_are_counted_and_excluded_with_their_reason(
    project: Project, api: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recorded_session(project)
    with as_vendors(monkeypatch) as stub:
        stub.script(Script(answer="Invoices are kept for ten years."))
        stub.script(Script(question=QUESTIONS[1], model="stub-model", mode="refusal", answer="Sorry, no."))
        stub.script(Script(question=QUESTIONS[2], model="stub-model", mode="garbage"))
        made = compared(project, [session], ONE, "openai:stub-model")
    found = told(api, made)
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


def test_an_arm_against_itself_is_the_noise_floor(project: Project, api: Program) -> None:
    found = told(api, compared(project, [recorded_session(project)], ONE, THREE, noise_floor=True))
    assert [(each["a"], each["b"]) for each in found["noise"]] == [(1, 1), (2, 2)]
    grounding = next(each for each in found["noise"][0]["metrics"] if each["metric"] == "grounding")
    assert (grounding["n"], grounding["difference"], grounding["ties"]) == (3, 0, 3)
    assert found["columns"][1]["answers"] == 3


def test_cancel_goes_to_every_replay_and_retry_to_what_was_cancelled(api: Program, session: Session) -> None:
    made, answer = launched(api, session)
    assert api.post(f"/comparisons/{made.id}/retry").json()["code"] == "comparison_running"
    assert api.post(f"/comparisons/{made.id}/cancel").json()["status"] == "cancelled"
    assert set(Replay.objects.values_list("status", flat=True)) == {"cancelled"}
    assert api.post(f"/comparisons/{made.id}/cancel").json()["code"] == "comparison_over"
    assert api.post(f"/comparisons/{made.id}/retry").json()["status"] == "queued"
    worked_off(made)
    assert told(api, made)["status"] == "done"
    assert api.post(f"/comparisons/{made.id}/retry").json()["code"] == "nothing_failed"
    assert len(answer["replay_ids"]) == 2


def test_a_spend_limit_is_that_of_the_whole_comparison(
    project: Project, api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_vendors(monkeypatch) as stub:
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000, "total_tokens": 1_001_000}
        stub.script(Script(answer="Ten years.", usage=usage))
        arms = [{"model": "openai:gpt-4o-mini"}, {"model": "openai:gpt-4o"}]
        made, _ = launched(api, session, arms=arms, spend_limit_usd=0.2)
        worked_off(made)
        assert len(stub.calls()) == 2
    statuses = list(ReplayStep.objects.order_by("id").values_list("status", flat=True))
    assert sorted(statuses) == ["done", "done", "skipped", "skipped", "skipped", "skipped"]
    skipped = ReplayStep.objects.filter(status="skipped")
    reasons = set(skipped.values_list("evidence__not_asked", flat=True))
    said = (
        "The spend limit of this replay and the replays launched with it was reached: $0.30 of $0.20 is spent"
    )
    assert all(each.startswith(said) for each in reasons)
    assert told(api, made)["over_limit_usd"] == pytest.approx(0.1012)
    found = told(api, made)
    assert found["columns"][2]["missing"] == {"spend limit": 3}
    assert found["answers"] == {"total": 6, "finished": 6, "answered": 2, "done": 2, "skipped": 4}
    assert "done: 2 of 6 answered, 4 not asked, $0.30" in comparison_progress(
        cast("ComparisonResults", found)
    )
    browser = browser_of(project)
    page = browser.get(f"/comparisons/{made.id}/").text
    assert "2 of 6 answered, 4 not asked" in page
    assert 'href="?lacking=spend+limit#matrix"' in page
    limited = " ".join(
        re.sub(r"<[^>]+>", "", browser.get(f"/comparisons/{made.id}/?lacking=spend+limit").text).split()
    )
    assert "3 of 3 asks" in limited
    assert "spend limit 3" in limited
    assert "No ask matches" in browser.get(f"/comparisons/{made.id}/?lacking=cancelled").text


def test_cells_come_in_pages_and_have_every_figure(project: Project, api: Program) -> None:
    made = compared(project, [recorded_session(project)], ONE, THREE)
    first = api.get(f"/comparisons/{made.id}/cells", limit=2).json()
    second = api.get(f"/comparisons/{made.id}/cells", limit=2, after=first["next"]).json()
    asks = first["items"] + second["items"]
    assert [ask["question"] for ask in asks] == list(QUESTIONS)
    assert second["next"] is None
    assert [cell["arm"] for cell in asks[0]["cells"]] == [0, 1, 2]
    assert asks[0]["cells"][1]["verdict"] == "identical"
    assert asks[0]["cells"][1]["cost_usd"] == 0
    assert asks[0]["cells"][0]["latency_ms"] is not None


def test_the_export_is_everything_as_json_or_a_line_for_each_cell(project: Project, api: Program) -> None:
    session = recorded_session(project, questions=("=cmd|x How long are invoices kept?",))
    made = compared(project, [session], ONE, THREE, noise_floor=True)
    whole = api.get(f"/comparisons/{made.id}/export").json()
    assert (len(whole["cells"]), len(whole["pairs"])) == (1, 3)
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
    assert lines[0]["question"].startswith("'=cmd")
    assert {(line["session_name"], line["session_key"]) for line in lines} == {(session.name, session.key)}
    assert lines[0]["model"].startswith("local:extractive")
    assert api.get(f"/comparisons/{made.id}/export", format="xlsx").status_code == 422


def test_the_lines_have_the_answers_and_none_that_a_spreadsheet_computes(
    project: Project, api: Program, session: Session
) -> None:
    made = compared(project, [session], ONE, THREE)
    step = ReplayStep.objects.filter(replay__run__comparison=made, replay__run__arm=2).earliest("sequence")
    formula = content_of('=HYPERLINK("http://example.org";"A ""fee""")\nof 5 francs')
    step.output_id = store(project.id, [formula])[formula]
    step.save()
    failed = ReplayStep.objects.filter(replay__run__arm=1).latest("sequence")
    failed.status, failed.verdict = "failed", None
    failed.save()
    answer = api.get(f"/comparisons/{made.id}/export", format="csv").content.decode()
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


def test_the_docs_say_every_column_of_the_lines() -> None:
    told = re.findall(r"^\| (`.+?) \|", COMMANDS.read_text(), re.MULTILINE)
    assert set(COLUMNS) <= {name.strip("`") for names in told for name in names.split(", ")}


def test_a_person_marks_a_cell_and_the_history_stays(project: Project, api: Program) -> None:
    session = recorded_session(project)
    made = compared(project, [session], ONE, THREE)
    cell = {"session": session.key, "sequence": 4, "arm": 2}
    for verdict, note in (("worse", "It says more than was asked."), ("equivalent", "")):
        answer = api.post(f"/comparisons/{made.id}/marks", cell | {"verdict": verdict, "note": note})
        assert (answer.status_code, answer.json()["by"]) == (201, "key test")
    cells = api.get(f"/comparisons/{made.id}/cells").json()["items"][1]["cells"]
    assert [mark["verdict"] for mark in cells[2]["marks"]] == ["equivalent"]
    assert cells[2]["verdict"] == "numbers_differ"
    assert CellMark.objects.count() == 2
    api.post(f"/comparisons/{made.id}/marks", cell | {"verdict": "withdrawn"})
    cells = api.get(f"/comparisons/{made.id}/cells").json()["items"][1]["cells"]
    assert cells[2]["marks"] == []
    again = api.post(f"/comparisons/{made.id}/marks", cell | {"verdict": "withdrawn"})
    assert (again.status_code, again.json()["code"]) == (409, "not_marked")
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
def test_what_is_no_mark_or_no_cell_is_refused(
    project: Project, api: Program, body: dict[str, Any], code: str
) -> None:
    session = recorded_session(project)
    made = compared(project, [session], ONE, THREE)
    sent = {"session": session.key, "sequence": 4, "arm": 2, "verdict": "better"} | body
    assert api.post(f"/comparisons/{made.id}/marks", sent).json()["code"] == code


def test_a_cell_without_an_answer_cannot_be_marked(api: Program, session: Session) -> None:
    made, _ = launched(api, session)
    sent = {"session": session.key, "sequence": 4, "arm": 2, "verdict": "better"}
    assert api.post(f"/comparisons/{made.id}/marks", sent).json()["code"] == "no_answer"


def test_the_list_has_the_newest_first_in_pages(project: Project, api: Program, session: Session) -> None:
    first, second = (launched(api, session)[0] for _ in range(2))
    page = api.get("/comparisons", limit=1).json()
    assert [each["id"] for each in page["items"]] == [str(second.id)]
    rest = api.get("/comparisons", after=page["next"]).json()
    assert [each["id"] for each in rest["items"]] == [str(first.id)]


def test_another_projects_comparison_is_not_there(other_project: Project, project: Project) -> None:
    made = compared(project, [recorded_session(project)], ONE, THREE)
    stranger = program(other_project)
    for path in ("", "/cells", "/export"):
        assert stranger.get(f"/comparisons/{made.id}{path}").status_code == 404
    for path in ("/cancel", "/retry"):
        assert stranger.post(f"/comparisons/{made.id}{path}").status_code == 404
    assert stranger.get("/comparisons").json()["items"] == []
    assert stranger.get("/comparisons/nonsense").json()["code"] == "comparison_not_found"
    reader = program(project, "read")
    assert reader.post(f"/comparisons/{made.id}/cancel").json()["code"] == "scope_missing"


def test_erasing_a_session_takes_its_answers_along_and_the_last_one_the_comparison(project: Project) -> None:
    one, other = recorded_session(project), recorded_session(project)
    made = compared(project, [one, other], ONE, THREE)
    erase_session(one)
    assert ComparisonReplay.objects.count() == 2
    assert Comparison.objects.filter(id=made.id).exists()
    erase_session(other)
    assert not ComparisonReplay.objects.exists()
    assert not Comparison.objects.exists()


def test_a_replay_is_of_one_comparison_at_most(project: Project) -> None:
    made = compared(project, [recorded_session(project)], ONE, THREE)
    replay = Replay.objects.first()
    assert replay is not None
    with pytest.raises(IntegrityError), connection.cursor():
        ComparisonReplay.objects.create(comparison=made, replay=replay, arm=1, repeat=2)


def test_several_sessions_are_the_independent_units(project: Project, api: Program) -> None:
    sessions = [recorded_session(project) for _ in range(3)]
    found = told(api, compared(project, sessions, ONE, THREE))
    pair = next(each for each in found["pairs"] if (each["a"], each["b"]) == (1, 2))
    agreement = next(each for each in pair["metrics"] if each["metric"] == "agreement")
    assert agreement["n"] == 9
    assert agreement["interval"]["method"] == "t, clustered by session"


def test_a_comparison_may_be_launched_through_the_api_without_a_reason_which_is_kept_so(
    api: Program, session: Session
) -> None:
    answer = api.post("/comparisons", asked(session) | {"reason": None})
    assert answer.status_code == 202
    assert Comparison.objects.get(id=answer.json()["comparison_id"]).reason == "none was given to the API"
