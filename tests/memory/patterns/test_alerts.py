"""Pattern alerts: a rule fires once per pattern and window, and its address is notified."""

import json
from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from tests.evidence.outside import served
from tests.memory.patterns.recorded import failed, patterns, read, session_of, user_message
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.jobs.registry import overdue
from timemachine.memory.patterns import alerts
from timemachine.memory.patterns.models import PatternAlert, PatternRule
from timemachine.memory.patterns.pure.trend import window_of
from timemachine.memory.patterns.queries import alerts_of, count_unseen_alerts
from timemachine.memory.patterns.rules import create_rule
from timemachine.memory.tasks import send_pattern_alert
from timemachine.recording.sessions.deletions import erase_session

pytestmark = pytest.mark.django_db
SHORT = "gift card balance is not enough"
LONG = "not enough balance in payment method gift_card_8190333"


def rule(project: Project, *, sessions: int = 2, kind: str | None = None, url: str = "") -> PatternRule:
    return create_rule(project, sessions=sessions, window="week", by="ada", kind=kind, url=url)


def found(project: Project) -> list[tuple[str, int]]:
    return [(each.pattern.text, each.sessions) for each in PatternAlert.objects.filter(project=project)]


def test_a_pattern_that_recurs_often_enough_in_one_window_fires_once(project: Project) -> None:
    rule(project, sessions=3)
    for number in range(5):
        session_of(project, failed(SHORT), failed(SHORT))
        read(project)
        assert found(project) == ([] if number < 2 else [(f"Error: {SHORT}", number + 1)])
    assert alerts.raise_alerts(project.id) == 0


def test_a_new_rule_fires_for_patterns_that_already_recurred_often_enough(project: Project) -> None:
    for _ in range(3):
        session_of(project, failed(SHORT))
    read(project)
    rule(project, sessions=4)
    assert found(project) == []
    rule(project, sessions=3, kind="error")
    assert found(project) == [(f"Error: {SHORT}", 3)]


def test_steps_of_an_earlier_window_are_not_counted(project: Project) -> None:
    rule(project)
    begin, _ = window_of(now(), "week")
    session_of(project, failed(SHORT, started_at=begin - timedelta(minutes=1)))
    session_of(project, failed(SHORT, started_at=begin))
    read(project)
    assert found(project) == []
    session_of(project, failed(SHORT))
    read(project)
    assert found(project) == [(f"Error: {SHORT}", 2)]


def test_an_alert_counts_the_sessions_in_its_window_that_still_exist(project: Project) -> None:
    rule(project)
    begin, _ = window_of(now(), "week")
    session_of(project, failed(SHORT, started_at=begin - timedelta(minutes=1)))
    lately = [session_of(project, failed(SHORT)) for _ in range(2)]
    read(project)
    assert [each.sessions for each in alerts_of(project)] == [2]
    erase_session(lately[0])
    read(project)
    assert list(alerts_of(project)) == []
    assert count_unseen_alerts(project) == 0
    session_of(project, failed(SHORT))
    read(project)
    assert [each.sessions for each in alerts_of(project)] == [2]


def test_a_rule_for_one_kind_ignores_the_other(project: Project) -> None:
    rule(project, kind="question")
    for _ in range(2):
        session_of(project, failed(SHORT), user_message("How long does a refund take?"))
    read(project)
    assert found(project) == [("How long does a refund take?", 2)]


def test_merged_patterns_do_not_fire_again(project: Project) -> None:
    rule(project)
    for _ in range(2):
        session_of(project, failed(LONG))
    read(project)
    session_of(project, failed(SHORT))
    read(project)
    assert [each.text for each in patterns(project)] == [f"Error: {SHORT}"]
    assert PatternAlert.objects.count() == 1


def test_an_alert_is_deleted_with_the_last_step_of_its_pattern(project: Project) -> None:
    rule(project)
    sessions = [session_of(project, failed(SHORT)) for _ in range(2)]
    read(project)
    for each in sessions:
        erase_session(each)
    assert PatternAlert.objects.count() == 0


def test_a_rule_ignores_other_projects(project: Project, other_project: Project) -> None:
    rule(project)
    session_of(project, failed(SHORT))
    for _ in range(2):
        session_of(other_project, failed(SHORT))
    for each in (project, other_project):
        read(each)
    assert PatternAlert.objects.count() == 0


def test_the_address_of_a_rule_is_notified_once_without_recorded_content(
    project: Project, settings: Settings
) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    heard: list[bytes] = []

    def answer(body: bytes, content_type: str) -> tuple[int, bytes]:
        assert content_type == "application/json"
        heard.append(body)
        return 204, b""

    with served(answer) as url:
        made = rule(project, url=url)
        for _ in range(2):
            session_of(project, failed(SHORT))
        read(project)
        [due] = overdue(send_pattern_alert)
        send_pattern_alert(str(due))
        send_pattern_alert(str(due))
    [body] = heard
    document = json.loads(body)
    pattern = patterns(project)[0]
    assert document["pattern"] == str(pattern.id)
    assert document["url"].endswith(f"/patterns/{pattern.id}/")
    assert (document["sessions"], document["rule"]["id"]) == (2, str(made.id))
    assert SHORT.encode() not in body
    alert = PatternAlert.objects.get()
    assert alert.told_at is not None
    assert overdue(send_pattern_alert) == []


def test_a_failed_notification_is_retried_later_but_not_forever(project: Project, settings: Settings) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    with served(lambda _body, _type: (503, b"not now")) as url:
        rule(project, url=url)
        for _ in range(2):
            session_of(project, failed(SHORT))
        read(project)
        [due] = overdue(send_pattern_alert)
        alerts.deliver_alert(due)
        alert = PatternAlert.objects.get()
        assert alert.problem == "It returned 503: not now"
        assert (alert.told_at, alert.attempts) == (None, 1)
        assert alert.next_at is not None
        PatternAlert.objects.update(attempts=alerts.MOST_ATTEMPTS - 1, next_at=now())
        alerts.deliver_alert(due)
    assert PatternAlert.objects.get().next_at is None


def test_an_address_in_a_private_network_is_refused_when_saved_and_when_called(
    project: Project, settings: Settings
) -> None:
    with pytest.raises(InvalidInput):
        rule(project, url="http://127.0.0.1:9/x")
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    rule(project, url="http://127.0.0.1:9/x")
    settings.EVIDENCE_HOSTS_ALLOWED = []
    for _ in range(2):
        session_of(project, failed(SHORT))
    read(project)
    alerts.deliver_alert(overdue(send_pattern_alert)[0])
    problem = PatternAlert.objects.get().problem
    assert problem is not None
    assert "does not allow this address" in problem
