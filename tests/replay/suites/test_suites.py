"""Suites through the API: storing them, launching runs, changes since the previous run, and robustness."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, recorded_session
from tests.replay.suites.conftest import AUDIT, ONE, THREE, launched, made, ran, report, work_off
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.commands import retry
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteRun, SuiteStep


def test_a_suite_stores_sessions_options_and_models_under_a_name(api: Program, session: Session) -> None:
    suite = made(api, "s1", fail_on=["numbers-differ", "cost:1.5", "Worse"], schedule="daily 07:30")
    assert suite["sessions"] == [{"id": str(session.id), "key": "s1", "name": session.name}]
    assert (suite["kind"], suite["options"], suite["use_models"]) == ("audit", AUDIT, [ONE])
    assert suite["fail_on"] == ["numbers_differ", "cost:1.5", "worse"]
    assert suite["schedule"] == "daily 07:30 UTC"
    assert suite["next_run_at"].endswith("T07:30:00Z")
    assert suite["latest_run"] is None
    found = api.get("/suites/nightly").json()
    assert found == api.get(f"/suites/{suite['id']}").json()
    assert [(each["what"], each["by"]) for each in found["events"]] == [("created", "key test")]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": " "}, 422, "invalid_field"),
        ({"name": "a/b"}, 422, "invalid_field"),
        ({"name": "x" * 201}, 422, "invalid_field"),
        ({"sessions": []}, 422, "sessions_needed"),
        ({"sessions": ["nobody"]}, 404, "session_not_found"),
        ({"sessions": [], "matching": {"most": 3}}, 422, "invalid_field"),
        ({"matching": {"tag": "a", "most": 500}}, 422, "invalid_field"),
        ({"matching": {"colour": "red"}}, 422, "invalid_request"),
        ({"options": {"audit": True}}, 422, "reason_needed"),
        ({"options": AUDIT | {"top_k": 3}}, 422, "retrieval_options_in_audit"),
        ({"options": {"top_k": 0}}, 422, "invalid_field"),
        ({"options": {"through_sequence": 2}}, 422, "invalid_request"),
        ({"use_models": [ONE, ONE]}, 422, "invalid_field"),
        ({"use_models": ["nobody:x"]}, 422, "unknown_model"),
        ({"use_models": ["openai:gpt-4o"]}, 503, "model_not_usable"),
        ({"fail_on": ["bad weather"]}, 422, "invalid_field"),
        ({"schedule": "now and then"}, 422, "invalid_field"),
        ({"surprise": 1}, 422, "invalid_request"),
    ],
)
def test_an_invalid_suite_is_refused(
    api: Program, session: Session, body: dict[str, Any], status: int, code: str
) -> None:
    sent = api.post(
        "/suites", {"name": "n", "sessions": ["s1"], "options": AUDIT, "use_models": [ONE]} | body
    )
    assert (sent.status_code, sent.json()["code"]) == (status, code)
    assert not Suite.objects.exists()


def test_a_suite_has_at_most_eight_models_and_a_thousand_replays(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    models = [f"openai:gpt-{number}" for number in range(9)]
    body = {"name": "n", "sessions": ["s1"], "options": AUDIT, "matching": {"tag": "a", "most": 200}}
    assert api.post("/suites", body | {"use_models": models}).json()["code"] == "invalid_field"
    assert api.post("/suites", body | {"use_models": models[:5]}).json()["code"] == "too_many_replays"


def test_a_run_launches_a_replay_per_session_and_model(
    api: Program, project: Project, session: Session
) -> None:
    recorded_session(project, key="s2", questions=QUESTIONS[:1])
    made(api, "s1", "s2", use_models=[ONE, THREE])
    run = launched(api)
    assert (run["number"], run["status"], run["previous"]) == (1, "running", None)
    assert [(each["session_key"], each["arm"]) for each in run["members"]] == [
        ("s1", 1),
        ("s1", 2),
        ("s2", 1),
        ("s2", 2),
    ]
    replays = Replay.objects.all()
    assert {each.model for each in replays} == {ONE, THREE}
    assert {(each.kind, each.reason, each.requested_by) for each in replays} == {
        ("audit", "Nightly", "key test")
    }
    assert len({each.spend_group for each in replays}) == 1
    work_off()
    done = api.get("/suites/nightly/runs/1").json()
    assert (done["status"], done["steps"]["total"], done["steps"]["done"]) == ("done", 12, 12)
    assert (done["since"], done["held"], done["context"]["verified"]) == (None, [], 12)
    assert done["finished_at"] is not None
    assert "no earlier audit run to compare with" in done["summary"]
    assert {each["change"] for each in report(api)} == {"new_step"}


def test_a_run_equal_to_the_previous_one_shows_no_change(api: Program, session: Session) -> None:
    made(api, "s1", fail_on=["worse", "new_failure"])
    ran(api)
    second = ran(api)
    assert (second["previous"], second["since"], second["held"]) == (1, {"same": 4}, [])
    assert "since run 1: nothing changed" in second["summary"]
    assert report(api, change="changed") == []
    (first, *_) = report(api)
    for side in ("before", "after"):
        address = first[side]["step"]
        assert address == f"/replays/{first[side]['replay_id']}/steps/{first['sequence']}/"
        step = api.get(address.rstrip("/")).json()
        assert step["verdict"] == first[side]["verdict"]
    assert first["before"]["replay_id"] != first["after"]["replay_id"]


def test_another_model_is_compared_with_the_previous_one_step_by_step(api: Program, session: Session) -> None:
    made(api, "s1", fail_on=["worse", "numbers_differ", "better"])
    ran(api)
    api.patch("/suites/nightly", {"use_models": [THREE]})
    second = ran(api)
    assert second["since"] == {"worse": 2, "same": 2}
    assert second["held"] == ["worse in 2 steps", "numbers differ in 1 step"]
    worse = report(api, change="worse")
    assert [each["before"]["verdict"] for each in worse] == ["identical", "identical"]
    assert {each["after"]["verdict"] for each in worse} == {"numbers_differ", "adds"}
    assert {each["model"] for each in worse} == {THREE}
    assert all(each["label"] for each in worse)
    assert second["cost_since"] == {"steps": 3, "before": 0.0, "after": 0.0}
    assert second["took_since"]["steps"] == 3
    assert api.get("/suites/nightly/runs/1").json()["use_models"] == [ONE]
    api.patch("/suites/nightly", {"use_models": [ONE]})
    assert ran(api)["since"] == {"better": 2, "same": 2}


def test_an_audit_is_not_compared_with_a_debug_run(api: Program, session: Session) -> None:
    made(api, "s1", use_models=[])
    ran(api)
    api.patch("/suites/nightly", {"options": {"top_k": 2}})
    debug = ran(api)
    assert (debug["kind"], debug["previous"], debug["since"]) == ("debug", None, None)
    assert "no earlier debug run to compare with" in debug["summary"]
    api.patch("/suites/nightly", {"options": AUDIT})
    audit = ran(api)
    assert (audit["kind"], audit["previous"], audit["since"]) == ("audit", 1, {"same": 4})


def test_a_debug_suite_reports_added_and_removed_passages(api: Program, session: Session) -> None:
    made(api, "s1", options={"top_k": 2, "as_of": "now"}, use_models=[])
    ran(api)
    assert session.collection is not None
    put_frames(session.collection, [NewFrame(text=each) for each in QUESTIONS], by="test")
    second = ran(api)
    assert second["since"]["worse"] >= 3
    put_frames(session.collection, [NewFrame(text=f"{each} {each}") for each in QUESTIONS], by="test")
    third = ran(api)
    kinds = {each["change"] for each in report(api, change="changed")}
    assert {"passages_differ", "answer_differs"} & kinds
    assert third["retrieval"] == {"changed": 4}


def test_the_conditions_of_a_run_are_added_to_those_of_the_suite(api: Program, session: Session) -> None:
    made(api, "s1", fail_on=["altered"])
    assert ran(api, fail_on=["identical", "verified"])["held"] == [
        "identical in 3 steps",
        "verified in 4 steps",
    ]
    assert ran(api)["held"] == []
    assert api.post("/suites/nightly/runs", {"fail_on": ["nonsense"]}).json()["code"] == "invalid_field"


def test_an_erased_session_is_reported_and_the_others_still_run(
    api: Program, project: Project, session: Session
) -> None:
    second = recorded_session(project, key="s2", questions=QUESTIONS[:1])
    made(api, "s1", "s2", fail_on=["left_out"])
    ran(api)
    erase_session(second)
    suite = api.get("/suites/nightly").json()
    assert ([each["key"] for each in suite["sessions"]], suite["missing"]) == (["s1"], ["s2"])
    first = api.get("/suites/nightly/runs/1").json()
    assert [each["replay_id"] is None for each in first["members"]] == [False, True]
    run = ran(api)
    assert (run["status"], run["left_out"], run["since"]) == ("done", 1, {"same": 4})
    assert run["held"] == ["1 replay left out"]
    (missing,) = [each for each in run["members"] if each["problem"]]
    assert (missing["session"], missing["session_key"]) == (None, "s2")
    assert missing["problem"]["code"] == "session_missing"
    assert "s2 was deleted" in missing["problem"]["message"]
    assert api.patch("/suites/nightly", {"fail_on": []}).json()["missing"] == ["s2"]
    erase_session(session)
    refused = api.post("/suites/nightly/runs")
    assert (refused.status_code, refused.json()["code"]) == (422, "session_missing")
    assert SuiteRun.objects.count() == 2


def test_a_session_without_steps_is_skipped_and_a_grown_one_has_new_steps(
    api: Program, project: Project, session: Session
) -> None:
    bare = start_session(project, name="bare", by="test", key="bare")
    append(bare.id, [ActionDraft(kind="message", output="hello")])
    made(api, "s1", "bare")
    run = ran(api)
    assert [each["problem"] and each["problem"]["code"] for each in run["members"]] == [
        None,
        "nothing_to_replay",
    ]
    append(bare.id, [ActionDraft(kind="ask", input="How?", output="So.")])
    assert ran(api)["since"] == {"new_step": 1, "same": 4}
    api.patch("/suites/nightly", {"sessions": ["bare"]})
    assert ran(api)["since"] == {"step_gone": 4, "same": 1}


def test_matching_sessions_are_searched_at_each_run(api: Program, project: Project, session: Session) -> None:
    matching = {"tag": "regression", "most": 2}
    suite = made(api, matching=matching)
    assert (suite["sessions"], suite["matching"]) == ([], matching)
    refused = api.post("/suites/nightly/runs")
    assert (refused.status_code, refused.json()["code"]) == (422, "sessions_needed")
    assert not SuiteRun.objects.exists()
    for key in ("s2", "s3", "s4", "s5"):
        recorded_session(project, key=key, questions=QUESTIONS[:1])
        api.patch(f"/sessions/{key}", {"tags": ["regression"] if key != "s4" else ["other"]})
    bare = start_session(project, name="nothing to replay", by="test", key="bare")
    api.patch(f"/sessions/{bare.key}", {"tags": ["regression"]})
    assert [each["session_key"] for each in ran(api)["members"]] == ["s5", "s3"]
    api.patch("/sessions/s5", {"tags": []})
    repeated = ran(api)
    assert [each["session_key"] for each in repeated["members"]] == ["s3", "s2"]
    assert repeated["since"] == {"step_gone": 2, "new_step": 2, "same": 2}
    api.patch("/suites/nightly", {"sessions": ["s1", "s3"]})
    assert [each["session_key"] for each in ran(api)["members"]] == ["s1", "s3", "s2"]
    unmatched = api.patch("/suites/nightly", {"matching": None}).json()
    assert (unmatched["matching"], unmatched["events"][0]["facts"]) == (None, {"changed": ["matching"]})
    assert [each["session_key"] for each in ran(api)["members"]] == ["s1", "s3"]


def test_runs_of_one_suite_do_not_overlap(api: Program, session: Session) -> None:
    made(api, "s1")
    launched(api)
    refused = api.post("/suites/nightly/runs")
    assert (refused.status_code, refused.json()["code"]) == (409, "suite_running")
    assert api.delete("/suites/nightly").json()["code"] == "suite_running"
    with pytest.raises(IntegrityError, match="suite_runs_do_not_overlap"), transaction.atomic():
        SuiteRun.objects.create(suite=Suite.objects.get(), number=2, requested_by="test")
    work_off()
    assert launched(api)["number"] == 2


def test_a_cancelled_run_has_ended_and_is_not_compared(api: Program, session: Session) -> None:
    made(api, "s1")
    ran(api)
    launched(api)
    body = api.post("/suites/nightly/runs/latest/cancel").json()
    assert (body["status"], body["steps"]["cancelled"]) == ("cancelled", 4)
    assert body["cancelled_by"] == "key test"
    assert {each.cancel_requested_by for each in Replay.objects.filter(status="cancelled")} == {"key test"}
    assert body["since"] == {"not_reached": 4}
    assert api.post("/suites/nightly/runs/2/cancel").json()["code"] == "suite_run_over"
    assert ran(api)["previous"] == 1


def test_a_failed_step_and_its_retry_are_reported(api: Program, session: Session) -> None:
    made(api, "s1")
    ran(api)
    launched(api)
    ReplayStep.objects.filter(replay__suite_replay__run__number=2, sequence=2).update(
        status="failed", verdict="error", error_message="no"
    )
    work_off()
    assert api.get("/suites/nightly/runs/2").json()["since"] == {"new_failure": 1, "same": 3}
    third = ran(api)
    assert third["since"] == {"failure_gone": 1, "same": 3}
    repeated = retry(Replay.objects.get(suite_replay__run__number=2))
    assert api.post("/suites/nightly/runs").json()["code"] == "suite_running"
    work_off()
    assert repeated.steps.filter(status="done").count() == 4
    assert api.get("/suites/nightly/runs/2").json()["since"] == {"same": 4}
    assert api.get("/suites/nightly/runs/3").json()["since"] == {"same": 4}


def test_a_deleted_suite_leaves_its_replays_and_a_note(api: Program, session: Session) -> None:
    made(api, "s1")
    ran(api)
    suite = api.get("/suites/nightly").json()["id"]
    assert api.delete("/suites/nightly").json() == {"id": suite, "name": "nightly", "runs": 1}
    assert not SuiteRun.objects.exists()
    assert Replay.objects.count() == 1
    note = SuiteEvent.objects.get(what="deleted")
    assert (note.suite, note.name, note.by, note.facts) == (None, "nightly", "key test", {"runs": 1})


def test_suites_and_runs_are_paginated(api: Program, session: Session) -> None:
    for name in ("b", "a", "c"):
        made(api, "s1", name=name)
    first = api.get("/suites", limit=2).json()
    rest = api.get("/suites", limit=2, after=first["next"]).json()
    assert [each["name"] for each in [*first["items"], *rest["items"]]] == ["a", "b", "c"]
    for _ in range(3):
        ran(api, "a")
    page = api.get("/suites/a/runs", limit=2).json()
    more = api.get("/suites/a/runs", limit=2, after=page["next"]).json()
    assert [each["number"] for each in [*page["items"], *more["items"]]] == [3, 2, 1]
    assert api.get("/suites").json()["items"][0]["latest_run"]["number"] == 3
    body = api.get("/suites/a/runs/latest/report", limit=3).json()
    remaining = api.get("/suites/a/runs/latest/report", limit=3, after=body["next"]).json()
    assert [each["sequence"] for each in [*body["items"], *remaining["items"]]] == [1, 2, 4, 6]
    assert (body["run"], body["previous"], remaining["next"]) == (3, 2, None)


def test_a_report_page_reads_only_its_steps_and_exists_only_after_the_run(
    api: Program, project: Project, session: Session
) -> None:
    made(api, "s1")
    launched(api)
    assert report(api) == []
    work_off()
    address = "/suites/nightly/runs/1/report"
    with CaptureQueriesContext(connection) as of_one:
        first = api.get(address, limit=1).json()
    assert (first["status"], len(first["items"])) == ("done", 1)
    SuiteStep.objects.all().delete()  # a run that finished before reports were stored
    assert [each["sequence"] for each in report(api)] == [1, 2, 4, 6]
    for key in ("o1", "o2", "o3"):
        recorded_session(project, key=key)
    made(api, "s1", "o1", "o2", "o3", name="many")
    ran(api, "many")
    with CaptureQueriesContext(connection) as of_many:
        api.get("/suites/many/runs/1/report", limit=1)
    assert len(of_many) <= len(of_one)
    assert not [each for each in of_many if "tm_replay_step" in each["sql"] and " IN (" not in each["sql"]]
    retry_of = Replay.objects.filter(suite_replay__run__suite__name="many").first()
    assert retry_of is not None
    ReplayStep.objects.filter(replay=retry_of, sequence=2).update(status="failed", verdict="error")
    before = [each["sequence"] for each in report(api, name="many")]
    retry(retry_of)
    work_off()
    assert [each["sequence"] for each in report(api, name="many")] == before


def test_a_suite_of_another_project_can_be_neither_seen_nor_run(
    api: Program, session: Session, project: Project, other_project: Project
) -> None:
    made(api, "s1")
    stranger = program(other_project)
    assert stranger.get("/suites/nightly").json()["code"] == "suite_not_found"
    assert stranger.get("/suites").json()["items"] == []
    assert stranger.post("/suites/nightly/runs").status_code == 404
    reader = program(project, "read")
    assert reader.get("/suites/nightly").status_code == 200
    for refused in (
        reader.post("/suites/nightly/runs"),
        reader.patch("/suites/nightly", {"name": "x"}),
        reader.delete("/suites/nightly"),
        reader.post("/suites", {"name": "n", "sessions": ["s1"]}),
    ):
        assert refused.json()["code"] == "scope_missing"
    for number in ("0", "9", "99999999999", "x", "latest"):
        assert api.get(f"/suites/nightly/runs/{number}").json()["code"] == "suite_run_not_found"
    ran(api)
    assert api.get("/suites/nightly/runs/1/report", change="odd").json()["code"] == "invalid_field"


def test_a_list_of_suites_takes_the_same_queries_for_any_number(api: Program, session: Session) -> None:
    made(api, "s1", name="a")
    ran(api, "a")
    with CaptureQueriesContext(connection) as one:
        api.get("/suites")
    for name in "bcd":
        made(api, "s1", name=name)
        ran(api, name)
    with CaptureQueriesContext(connection) as four:
        api.get("/suites")
    assert len(four) == len(one)
