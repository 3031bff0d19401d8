"""Launching comparisons through the API: what is created, refused, cancelled, and never spent."""

import re
from typing import Any, cast

import pytest

from tests.api.conftest import Program, program
from tests.builders import worked_off
from tests.provider_failures import as_vendors
from tests.replay.comparison.launching import ONE, THREE, TWO_ARMS, launch_body, launched, read_comparison
from tests.stub_answers import Script
from tests.web.people import browser_of
from timemachine.cli.output.comparisons import comparison_progress
from timemachine.client.generated.types import ComparisonResults
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay, ReplayStep


@pytest.fixture
def project(recorded_once: Session, db: None) -> Project:
    return Project.objects.get(pk=recorded_once.project_id)


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


def test_a_comparison_has_an_audit_replay_per_session_variant_and_run(api: Program, session: Session) -> None:
    made, answer = launched(api, session, repeats=2, noise_floor=True)
    replays = Replay.objects.filter(id__in=answer["replay_ids"])
    assert len(answer["replay_ids"]) == replays.count() == 2 * 3
    assert {each.kind for each in replays} == {"audit"}
    assert {each.reason for each in replays} == {"Welches?"}
    assert read_comparison(api, made)["status"] == "queued"
    worked_off(made)
    found = read_comparison(api, made)
    assert (found["status"], found["asks"]) == ("done", 3)
    assert found["answers"] == {"total": 18, "finished": 18, "answered": 18, "done": 18}
    assert not ReplayStep.objects.filter(replay__run__comparison=made).exclude(kind="ask").exists()


def test_a_replay_with_several_models_becomes_a_comparison(api: Program, session: Session) -> None:
    answer = api.post(
        f"/sessions/{session.key}/replays", {"audit": True, "reason": "r", "use_models": [ONE, THREE]}
    )
    assert answer.status_code == 202
    assert set(answer.json()) == {"comparison_id", "replay_ids"}
    assert len(answer.json()["replay_ids"]) == 2
    stored = Comparison.objects.get(id=answer.json()["comparison_id"])
    assert [arm["model"] for arm in stored.arms] == [ONE, THREE]


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
def test_options_incompatible_with_several_models_are_refused(
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
def test_an_invalid_comparison_is_refused_and_creates_nothing(
    api: Program, session: Session, body: dict[str, Any], status: int, code: str
) -> None:
    answer = api.post("/comparisons", launch_body(session) | body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Comparison.objects.exists()
    assert not Replay.objects.exists()


def test_one_session_without_an_ask_refuses_the_comparison(
    api: Program, project: Project, session: Session
) -> None:
    empty = start_session(project, name="empty", by="test", key="empty")
    append(empty.id, [ActionDraft(kind="message", output="hello")])
    answer = api.post("/comparisons", launch_body(session, sessions=[session.key, "empty"]))
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_compare")
    assert "The session empty has no ask and no model call" in answer.json()["message"]
    assert not Replay.objects.exists()


def test_variants_may_differ_only_in_their_prompt(
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
    assert [arm["name"] for arm in read_comparison(api, made)["arms"]] == [
        "openai:stub-model · system prompt 1",
        "openai:stub-model · prompt template 1",
    ]
    wrong = launch_body(session, arms=[arms[0], {"model": "openai:stub-model", "prompt_template": "nothing"}])
    assert api.post("/comparisons", wrong).status_code == 422


def test_variants_may_have_no_system_prompt_or_the_recorded_one(api: Program, session: Session) -> None:
    made, _ = launched(api, session, arms=[{"model": ONE, "system_prompt": ""}, {"model": ONE}])
    assert [arm["name"] for arm in read_comparison(api, made)["arms"]] == [f"{ONE} · system prompt 1", ONE]
    assert api.get("/comparisons").status_code == 200
    assert api.get(f"/comparisons/{made.id}/export", format="csv").status_code == 200


def test_cancel_affects_every_replay_and_retry_the_cancelled_ones(api: Program, session: Session) -> None:
    made, answer = launched(api, session)
    assert api.post(f"/comparisons/{made.id}/retry").json()["code"] == "comparison_running"
    assert api.post(f"/comparisons/{made.id}/cancel").json()["status"] == "cancelled"
    assert set(Replay.objects.values_list("status", flat=True)) == {"cancelled"}
    assert api.post(f"/comparisons/{made.id}/cancel").json()["code"] == "comparison_over"
    assert api.post(f"/comparisons/{made.id}/retry").json()["status"] == "queued"
    worked_off(made)
    assert read_comparison(api, made)["status"] == "done"
    assert api.post(f"/comparisons/{made.id}/retry").json()["code"] == "nothing_failed"
    assert len(answer["replay_ids"]) == 2


def test_a_spend_limit_covers_the_entire_comparison(
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
    reason = (
        "The spend limit of this replay and the replays launched with it was reached: $0.30 of $0.20 is spent"
    )
    assert all(each.startswith(reason) for each in reasons)
    assert read_comparison(api, made)["over_limit_usd"] == pytest.approx(0.1012)
    found = read_comparison(api, made)
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


def test_a_cell_without_an_answer_cannot_be_marked(api: Program, session: Session) -> None:
    made, _ = launched(api, session)
    sent = {"session": session.key, "sequence": 4, "arm": 2, "verdict": "better"}
    assert api.post(f"/comparisons/{made.id}/marks", sent).json()["code"] == "no_answer"


def test_comparisons_are_listed_newest_first_in_pages(
    project: Project, api: Program, session: Session
) -> None:
    first, second = (launched(api, session)[0] for _ in range(2))
    page = api.get("/comparisons", limit=1).json()
    assert [each["id"] for each in page["items"]] == [str(second.id)]
    rest = api.get("/comparisons", after=page["next"]).json()
    assert [each["id"] for each in rest["items"]] == [str(first.id)]


def test_a_comparison_launched_without_a_reason_records_that(api: Program, session: Session) -> None:
    answer = api.post("/comparisons", launch_body(session) | {"reason": None})
    assert answer.status_code == 202
    assert Comparison.objects.get(id=answer.json()["comparison_id"]).reason == "none was given to the API"
