"""Bulk deletion: previewed, then performed by a worker that may be killed at any point, with a stored result for each session."""

from datetime import timedelta

import pytest

from tests.api.conftest import Program
from tests.database_roles import as_owner
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.evidence.models import LogEntry
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.deletion.retention import commands, legal_holds, retention
from timemachine.governance.deletion.retention.models import BulkDeletion, BulkDeletionSession, RetentionRule
from timemachine.governance.deletion.retention.queries import due_by, rules_of
from timemachine.governance.deletion.retention.session_filter import SessionSelection, read_filter
from timemachine.governance.tasks import run_deletion
from timemachine.jobs.registry import overdue
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import ErasedSession, Session
from timemachine.recording.sessions.pure.draft import ActionDraft

REASON = "the test data is not needed any more"


def recorded(
    project: Project, key: str, *, tags: tuple[str, ...] = (), agent: str | None = None, days: int = 0
) -> Session:
    """Return an ended session of two turns of this age."""
    begun = start_session(project, name=key, key=key, by="test", tags=tags, agent=agent)
    append(begun.id, [ActionDraft(kind="message", output=f"{key} {n}") for n in range(2)])
    end_session(begun.id)
    moment = now() - timedelta(days=days)
    Session.objects.filter(pk=begun.pk).update(started_at=moment, ended_at=moment, last_action_at=moment)
    begun.refresh_from_db()
    return begun


def test_a_selection_of_all_sessions_is_flagged_and_a_filter_that_matches_any_is_refused(
    api: Program, project: Project
) -> None:
    recorded(project, "one", tags=("junk",))
    recorded(project, "two")
    refused = api.post("/forgettings", {"filter": {"min_cost": 0}})
    assert refused.status_code == 422
    assert "`min_cost` must be above 0" in refused.json()["message"]
    assert api.post("/forgettings", {"filter": {"since": "0001-01-01"}}).json()["every"] is True
    assert api.post("/forgettings", {"filter": {"tag": "junk"}}).json()["every"] is False
    assert api.post("/forgettings", {"filter": {"tag": "none"}}).json()["every"] is False


def test_remaining_summaries_are_reported_before_and_after_deletion(api: Program, project: Project) -> None:
    for key in ("one", "two"):
        recorded(project, key, tags=("junk",))
        for _ in range(2):
            api.post(f"/sessions/{key}/summaries", {"collection": "lessons"})
    recorded(project, "three", tags=("junk",))
    result = api.delete("/sessions/one").json()
    assert result["summaries"] == [{"collection": "lessons", "frame": 0}]
    assert ErasedSession.objects.get().summaries == result["summaries"]
    found = api.post("/forgettings", {"filter": {"tag": "junk"}}).json()
    assert (found["sessions"], found["summarised"]) == (2, 1)
    api.post(f"/forgettings/{found['id']}/confirm", {"reason": REASON})
    commands.work(found["id"])
    assert api.get(f"/forgettings/{found['id']}").json()["summarised"] == 1
    assert [each.summaries for each in ErasedSession.objects.order_by("id")][1:] == [
        [{"collection": "lessons", "frame": 1}],
        [],
    ]


def test_a_rule_reports_how_many_sessions_have_a_remaining_summary(api: Program, project: Project) -> None:
    recorded(project, "old", days=400)
    api.post("/sessions/old/summaries", {"collection": "lessons"})
    due = api.post("/retention", {"days": 365, "dry_run": True}).json()["due"]
    assert (due["sessions"], due["summarised"]) == (1, 1)


def keys(project: Project) -> set[str]:
    return set(Session.objects.filter(project=project).values_list("key", flat=True))


def test_previewed_sessions_are_deleted_and_held_ones_are_kept(api: Program, project: Project) -> None:
    for n in range(3):
        recorded(project, f"junk-{n}", tags=("junk",))
    recorded(project, "good", tags=("keep",))
    api.post("/holds", {"sessions": ["junk-1"], "reason": "the lawsuit of May"})
    found = api.post("/forgettings", {"filter": {"tag": "junk"}}).json()
    assert (found["status"], found["sessions"], found["turns"], found["held"]) == ("found", 3, 6, 1)
    assert keys(project) == {"junk-0", "junk-1", "junk-2", "good"}
    recorded(project, "junk-later", tags=("junk",))
    address = f"/forgettings/{found['id']}"
    assert api.post(f"{address}/confirm", {"reason": " "}).json()["code"] == "reason_missing"
    assert api.post(f"{address}/confirm", {"reason": REASON}).status_code == 202
    commands.work(found["id"])
    done = api.get(address).json()
    assert (done["status"], done["states"], done["deleted_turns"]) == ("done", {"erased": 2, "held": 1}, 4)
    assert keys(project) == {"junk-1", "junk-later", "good"}
    rows = api.get(f"{address}/sessions", limit=2).json()
    assert [each["state"] for each in rows["items"]] == ["erased", "held"]
    assert "the lawsuit of May" in rows["items"][1]["problem"]
    assert api.get("/forgettings").json()["items"] == [done]
    assert api.post(f"{address}/confirm", {"reason": REASON}).json()["code"] == "forgetting_confirmed"
    tombstones = [bytes(each.entry) for each in LogEntry.objects.filter(project=project)]
    assert sum(b'"entry":"erased"' in each and REASON.encode() in each for each in tombstones) == 2
    assert ErasedSession.objects.filter(project=project, reason=REASON).count() == 2


def test_a_killed_worker_leaves_the_remaining_sessions_to_the_next(project: Project) -> None:
    for n in range(3):
        recorded(project, f"junk-{n}", tags=("junk",))
    made = commands.prepare(project, SessionSelection(tag="junk"), by="ada")
    commands.confirm(made, reason=REASON, by="ada")
    first = made.sessions.order_by("id").first()
    assert first is not None
    BulkDeletion.objects.filter(pk=made.pk).update(lease_until=now() - timedelta(seconds=1), enqueued_at=None)
    BulkDeletionSession.objects.filter(pk=first.pk).update(state="erased")
    assert overdue(run_deletion) == [made.id]
    assert overdue(run_deletion) == []
    assert overdue(run_deletion, at_start=True) == [made.id]
    commands.work(made.id)
    commands.work(made.id)
    made.refresh_from_db()
    assert made.status == "done"
    assert keys(project) == {"junk-0"}


DEADLOCK_TRIGGER = """
CREATE SEQUENCE in_the_way;
GRANT USAGE ON in_the_way TO timemachine_app;
CREATE FUNCTION be_in_the_way() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('in_the_way') <= %d THEN
        RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER in_the_way BEFORE INSERT ON tm_erased_session FOR EACH ROW EXECUTE FUNCTION be_in_the_way()
"""


@pytest.mark.parametrize(
    ("times", "states", "problem"),
    [
        (3, ["erased", "erased"], None),
        (4, ["failed", "erased"], "The database could not delete it: deadlock detected"),
    ],
)
def test_a_session_is_retried_as_often_as_in_a_single_deletion(
    project: Project, times: int, states: list[str], problem: str | None
) -> None:
    for n in range(2):
        recorded(project, f"junk-{n}", tags=("junk",))
    made = commands.prepare(project, SessionSelection(tag="junk"), by="ada")
    commands.confirm(made, reason=REASON, by="ada")
    with as_owner() as cursor:
        cursor.execute(DEADLOCK_TRIGGER % times)
    commands.work(made.id)
    made.refresh_from_db()
    assert made.status == "done"
    rows = list(made.sessions.order_by("id"))
    assert [each.state for each in rows] == states
    assert rows[0].problem == problem
    assert len(keys(project)) == states.count("failed")


def test_sessions_that_no_longer_match_or_no_longer_exist_are_skipped(project: Project) -> None:
    sessions = [recorded(project, f"junk-{n}", tags=("junk",)) for n in range(3)]
    made = commands.prepare(project, SessionSelection(tag="junk"), by="ada")
    commands.confirm(made, reason=REASON, by="ada")
    Session.objects.filter(pk=sessions[0].pk).update(tags=["good"])
    erase_session(sessions[1], by="bo")
    commands.work(made.id)
    assert sorted(made.sessions.values_list("state", flat=True)) == ["changed", "erased", "gone"]
    assert keys(project) == {"junk-0"}


def test_a_cancelled_deletion_deletes_nothing_more(project: Project) -> None:
    recorded(project, "junk", tags=("junk",))
    made = commands.prepare(project, SessionSelection(tag="junk"), by="ada")
    commands.confirm(made, reason=REASON, by="ada")
    commands.cancel(made)
    commands.work(made.id)
    assert keys(project) == {"junk"}
    with pytest.raises(Conflict, match="has finished"):
        commands.cancel(made)


@pytest.mark.parametrize("given", [{}, {"tag": ""}, {"older_than_days": 0}, {"agent": "x" * 1001}])
def test_a_filter_that_means_all_or_nothing_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        read_filter(given)


def test_age_counts_from_the_last_recorded_step(project: Project) -> None:
    old = recorded(project, "old", days=100)
    recorded(project, "young", days=80)
    resumed = recorded(project, "again", days=100)
    append(resumed.id, [ActionDraft(kind="message", output="late")], was_open=True)
    made = commands.prepare(project, SessionSelection(older_than_days=90), by="ada")
    assert list(made.sessions.values_list("session", flat=True)) == [old.id]


def test_two_projects_are_kept_separate(
    api: Program, stranger: Program, project: Project, other_project: Project
) -> None:
    for each in (project, other_project):
        recorded(each, "same-key", tags=("junk",))
    found = stranger.post("/forgettings", {"filter": {"tag": "junk"}}).json()
    assert found["sessions"] == 1
    for path in (f"/forgettings/{found['id']}", f"/forgettings/{found['id']}/sessions"):
        assert api.get(path).status_code == 404
    assert api.post(f"/forgettings/{found['id']}/confirm", {"reason": REASON}).status_code == 404
    stranger.post(f"/forgettings/{found['id']}/confirm", {"reason": REASON})
    commands.work(found["id"])
    assert (keys(project), keys(other_project)) == ({"same-key"}, set())


def test_the_most_specific_rule_applies_and_of_equally_specific_ones_the_longer(project: Project) -> None:
    names = {
        "plain": recorded(project, "plain", days=400),
        "agent": recorded(project, "agent", agent="bot", days=400),
        "tagged": recorded(project, "tagged", agent="bot", tags=("audit",), days=400),
        "both": recorded(project, "both", agent="bot", tags=("audit", "junk"), days=400),
        "young": recorded(project, "young", agent="bot", days=20),
    }
    assert not retention.run_rules()
    rules = [
        retention.set_rule(project, days=365, by="ada"),
        retention.set_rule(project, days=30, agent="bot", by="ada", reason="a test bot"),
        retention.set_rule(project, days=None, tag="audit", by="ada"),
        retention.set_rule(project, days=200, tag="junk", by="ada"),
        retention.set_rule(project, days=200, tag="audit", agent="other", by="ada"),
    ]
    due = [{each.key for each in due_by(rule, list(rules_of(project)))} for rule in rules]
    assert due == [{"plain"}, {"agent"}, set(), set(), set()]
    for begun in retention.run_rules():
        commands.work(begun)
    assert keys(project) == set(names) - {"plain", "agent"}
    assert not retention.run_rules()
    log = b"".join(bytes(each.entry) for each in LogEntry.objects.filter(project=project))
    assert log.count(b'"entry":"retention"') == 5
    assert b"Retention rule, sessions of agent bot: deleted after 30 days" in log


def test_a_rule_never_deletes_a_held_session(project: Project) -> None:
    session = recorded(project, "old", days=400)
    legal_holds.place(project, reason="the lawsuit of May", by="ada", sessions=[session])
    retention.set_rule(project, days=365, by="ada")
    assert not retention.run_rules()
    assert keys(project) == {"old"}


def test_a_retention_of_less_than_six_months_needs_a_reason(api: Program, project: Project) -> None:
    recorded(project, "old", days=100)
    refused = api.post("/retention", {"days": 90})
    assert (refused.status_code, refused.json()["code"]) == (422, "reason_missing")
    assert "six months" in refused.json()["message"]
    dry = api.post("/retention", {"days": 90, "dry_run": True}).json()
    assert (dry["due"]["sessions"], dry["floor"]["days"]) == (1, 183)
    made = api.post("/retention", {"days": 90, "reason": "no high-risk system"}).json()
    assert (made["early"], made["due"]["turns"], made["set_by"]) == (True, 2, "key test")
    rule = api.post("/retention", {"days": 183}).json()
    assert [each["id"] for each in api.get("/retention").json()["items"]] == [rule["id"]]
    assert (
        api.delete(f"/retention/{rule['id']}").json()["says"] == "all other sessions: deleted after 183 days"
    )
    assert api.get("/retention").json()["items"] == []
    assert RetentionRule.objects.filter(project=project).count() == 2


def test_a_rule_for_an_e_mail_address_leaves_no_address_in_the_log(project: Project) -> None:
    recorded(project, "old", agent="zoe@example.org", days=400)
    retention.set_rule(project, days=365, agent="zoe@example.org", by="ada")
    for begun in retention.run_rules():
        commands.work(begun)
    assert keys(project) == set()
    log = b"".join(bytes(each.entry) for each in LogEntry.objects.filter(project=project))
    assert b"zoe@" not in log
    assert rb"sessions of agent \u2026: deleted after 365 days" in log
