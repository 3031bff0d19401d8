"""Launch comparisons through the API."""

from typing import Any

from tests.api.conftest import Program
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison

ONE, THREE = "local:extractive-1", "local:extractive-3"
TWO_ARMS = [{"model": ONE}, {"model": THREE}]


def launch_body(session: Session, **more: Any) -> dict[str, Any]:
    return {"sessions": [session.key], "arms": TWO_ARMS, "reason": "Welches?"} | more


def launched(api: Program, session: Session, **more: Any) -> tuple[Comparison, dict[str, Any]]:
    answer = api.post("/comparisons", launch_body(session, **more))
    assert answer.status_code == 202, answer.content
    made = Comparison.objects.get(id=answer.json()["comparison_id"])
    return made, answer.json()


def read_comparison(api: Program, comparison: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/comparisons/{comparison.id}").json()
    return found
