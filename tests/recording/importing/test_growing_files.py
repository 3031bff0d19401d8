"""A longer version of a file adds what is new to its session, also in formats that do not name the session."""

from decimal import Decimal
from typing import Any

import pytest

from tests.recording.importing.sample_files import document, lines
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db

EVENTS: list[dict[str, Any]] = [
    {"id": 0, "timestamp": "2026-03-01T10:00:00", "source": "user", "action": "message", "args": {"content": "List."}},
    *(
        {"id": place, "timestamp": f"2026-03-01T10:00:0{place}", "source": "agent", "action": "run",
         "args": {"command": f"ls {place}"}, "llm_metrics": {"accumulated_cost": 0.01 * place}}
        for place in (1, 2, 3)
    ),
]  # fmt: skip


@pytest.mark.parametrize("written", [document, lambda events: lines(*events)], ids=["list", "lines"])
def test_events_of_openhands(project: Project, written: Any) -> None:
    for upto in (2, 3, 4):
        import_file(project, written(EVENTS[:upto]), by="test")
    assert Session.objects.get().cost_usd == Decimal("0.03")

    other = [{**each, "timestamp": "2026-03-02T10:00:00"} for each in EVENTS]
    import_file(project, written(other), by="test")
    assert Session.objects.count() == 2


def trajectory(answers: int) -> dict[str, Any]:
    """A trajectory of mini-swe-agent after so many answers."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "List."}]
    for place in range(answers):
        extra = {"timestamp": 1_772_359_200.5 + place, "cost": 0.01, "actions": [{"command": f"ls {place}"}]}
        messages.append({"role": "assistant", "content": "Listing.", "extra": extra})
        messages.append({"role": "user", "content": "a.py", "extra": {"timestamp": 1_772_359_201.0 + place}})
    about = {"mini_version": "2.0", "model_stats": {"instance_cost": 0.01 * answers}}
    return {"trajectory_format": "mini-swe-agent-1.1", "info": about, "messages": messages}


def test_a_trajectory_of_mini_swe_agent(project: Project) -> None:
    for answers in (1, 2, 3):
        import_file(project, document(trajectory(answers)), by="test")
    session = Session.objects.get()
    assert session.cost_usd == Decimal("0.03")
    assert session.actions.filter(kind="tool_result").count() == 3


def test_the_screen_of_a_cline_task_from_which_boxes_were_removed(project: Project) -> None:
    def request(place: int) -> dict[str, Any]:
        return {
            "ts": 1_772_359_200_000 + place,
            "type": "say",
            "say": "api_req_started",
            "text": f'{{"cost": 0.0{place}}}',
        }

    first = {"ts": 1_772_359_200_000, "type": "say", "say": "task", "text": "List."}
    retried = {"ts": 1_772_359_200_002, "type": "ask", "ask": "api_req_failed", "text": "Overloaded"}
    import_file(project, document([first, request(1), retried, request(3)]), by="test")
    import_file(project, document([first, request(1), request(3), request(4)]), by="test")
    assert Session.objects.get().cost_usd == Decimal("0.08")
    calls = Action.objects.filter(kind="llm_call").order_by("sequence")
    assert [float(each.cost_usd or 0) for each in calls] == [0.01, 0.03, 0.04]
