"""A comparison shows which calls wait for a busy model, until when, and the provider's message."""

from datetime import timedelta

from tests.api.conftest import program
from tests.builders import recorded_session
from tests.web.people import browser_of
from timemachine.cli.output.comparisons import comparison_progress
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs import leases
from timemachine.replay.runs.models import ReplayStep


def test_answers_waiting_for_a_busy_model_are_shown_with_the_reason(
    project: Project,
) -> None:
    arms = [Variant(model="local:extractive-1"), Variant(model="local:extractive-3")]
    plan = Plan(sessions=[recorded_session(project)], arms=arms, reason="Which?")
    made = create(project, plan, by="test")
    api, browser = program(project), browser_of(project)
    assert api.get(f"/comparisons/{made.id}").json()["waiting"] == {"calls": 0, "until": None}
    assert "Busy" not in browser.get(f"/comparisons/{made.id}/").text

    until = now() + timedelta(minutes=5)
    leases.claim(made.runs.get(arm=1).replay_id, "worker of a test", calls=False)
    ReplayStep.objects.filter(status="running").update(asked_again_at=until, waits_because="It returned 429.")
    found = api.get(f"/comparisons/{made.id}").json()
    assert found["waiting"] == {"calls": 3, "until": written(until)}
    assert "; 3 busy calls retried by " in comparison_progress(found)
    page = browser.get(f"/comparisons/{made.id}/").text
    assert "3 calls wait" in page
    assert "It returned 429." in page

    ReplayStep.objects.filter(status="running").update(asked_again_at=now())
    assert api.get(f"/comparisons/{made.id}").json()["waiting"] == {"calls": 0, "until": None}
    assert "busy" not in comparison_progress(api.get(f"/comparisons/{made.id}").json())
