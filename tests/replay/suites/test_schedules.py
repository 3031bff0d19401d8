"""Scheduled suites: due suites run once and never concurrently, and skipped or failed starts are reported."""

from datetime import datetime, timedelta
from uuid import UUID

from tests.api.conftest import Program
from tests.brokers import run_overdue
from tests.replay.suites.conftest import AUDIT, launched, made, work_off
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteRun
from timemachine.replay.suites.running import due as due_suites
from timemachine.replay.suites.running import run_if_due
from timemachine.replay.tasks import run_due_suite, settle_suite_run


def run_due() -> list[UUID]:
    """Start every due suite; the runs started."""
    return [replay for suite in due_suites() for replay in run_if_due(suite)]


def run_suites() -> None:
    """Do the work of a sweeping worker for suites."""
    run_overdue((settle_suite_run, run_due_suite))


def due(ago: timedelta = timedelta(minutes=1)) -> datetime:
    """Make every suite due a while ago."""
    moment = now() - ago
    Suite.objects.update(next_run_at=moment, schedule_since=moment - timedelta(hours=1))
    return moment


def test_a_due_suite_is_launched_by_the_sweeper_and_finished(api: Program, session: Session) -> None:
    made(api, "s1", schedule="every 1 hour")
    run_suites()
    assert not SuiteRun.objects.exists()
    moment = due()
    run_suites()
    run = SuiteRun.objects.get()
    assert (run.status, run.due_at, run.requested_by) == ("done", moment, "schedule of nightly")
    body = api.get("/suites/nightly").json()
    assert body["next_run_at"] > body["latest_run"]["created_at"]
    run_suites()
    assert SuiteRun.objects.count() == 1


def test_missed_runs_are_run_once(api: Program, session: Session) -> None:
    made(api, "s1", schedule="every 1 hour")
    due(timedelta(hours=10))
    run_suites()
    run_suites()
    assert SuiteRun.objects.count() == 1
    found = Suite.objects.get()
    assert found.next_run_at is not None
    assert now() < found.next_run_at <= now() + timedelta(hours=1)


def test_a_run_due_during_the_previous_one_is_skipped_and_reported(api: Program, session: Session) -> None:
    made(api, "s1", schedule="every 1 hour")
    launched(api)
    moment = due()
    assert run_due() == []
    assert SuiteRun.objects.count() == 1
    event = SuiteEvent.objects.get(what="skipped")
    assert event.facts == {"due": moment.isoformat().replace("+00:00", "Z"), "still_going": 1}
    assert run_due() == []
    work_off()
    due()
    assert len(run_due()) == 1
    assert SuiteRun.objects.count() == 2


def test_a_due_run_that_cannot_start_is_recorded_with_the_reason(api: Program, session: Session) -> None:
    made(api, "s1", schedule="daily 07:30 Europe/Berlin", fail_on=["left_out"])
    erase_session(session)
    due()
    run_suites()
    run = api.get("/suites/nightly/runs/1").json()
    assert (run["status"], run["held"]) == ("failed", ["1 replay left out"])
    assert run["members"][0]["problem"]["code"] == "session_missing"


def test_a_due_run_without_a_matching_session_is_recorded_as_failed(api: Program, project: Project) -> None:
    made(api, matching={"tag": "nobody has it"}, schedule="every 1 hour")
    due()
    run_suites()
    run = api.get("/suites/nightly/runs/1").json()
    assert (run["status"], run["members"], run["steps"]["total"]) == ("failed", [], 0)


def test_a_due_suite_that_cannot_start_gives_the_reason_and_does_not_block_others(
    api: Program, session: Session, project: Project
) -> None:
    lost = made(api, "s1", name="lost", schedule="daily 07:30")["id"]
    Suite.objects.update(schedule="daily 07:30 Mars/Olympus")
    made(api, "s1", name="old", schedule="every 1 hour")
    Suite.objects.filter(name="old").update(options={"audit": True, "colour": "red"})
    made(api, "s1", schedule="every 1 hour")
    due()
    run_suites()
    assert api.get("/suites/nightly").json()["latest_run"]["status"] == "done"
    body = api.get("/suites/lost").json()
    assert "not 'Mars/Olympus'" in body["problem"]
    assert body["latest_run"] is None
    assert due_suites() == []
    run = api.get("/suites/old/runs/1").json()
    assert (run["status"], run["members"][0]["problem"]["code"]) == ("failed", "option_gone")
    browser = browser_of(project)
    assert "could not start" in browser.get(f"/suites/{lost}/").text
    assert "not started" in browser.get("/suites/").text
    assert 'title="2 suites with a failed scheduled run"' in browser.get("/").text
    assert browser.get(f"/suites/{lost}/edit/").status_code == 200
    assert api.patch("/suites/lost", {"name": "Lost"}).status_code == 200
    assert api.patch("/suites/Lost", {"schedule": "daily 07:30"}).json()["problem"] is None
    assert api.patch("/suites/old", {"options": AUDIT}).status_code == 200
    launched(api, "old")
    work_off()
    assert "with a failed scheduled run" not in browser.get("/").text


def test_a_suite_without_its_schedule_is_not_due(api: Program, session: Session) -> None:
    made(api, "s1", schedule="every 1 hour")
    due()
    api.patch("/suites/nightly", {"schedule": None})
    assert run_due() == []


def test_a_run_with_a_lost_last_worker_is_closed_by_the_sweeper(api: Program, session: Session) -> None:
    made(api, "s1")
    launched(api)
    for replay_id in Replay.objects.values_list("id", flat=True):
        work(replay_id, "a worker that is killed when the replay is over")
    assert SuiteRun.objects.get().status == "running"
    run_suites()
    assert SuiteRun.objects.get().status == "done"
