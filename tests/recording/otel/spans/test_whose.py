"""The session, agent, user and service of a span in each convention."""

from typing import Any

import pytest

from tests.recording.otel.spans.made import span
from timemachine.recording.otel.pure import session_identity


@pytest.mark.parametrize(
    ("attributes", "session"),
    [
        ({"session.id": "s", "gen_ai.conversation.id": "c"}, "s"),
        ({"gen_ai.conversation.id": "c", "langfuse.session.id": "l"}, "c"),
        ({"langfuse.session.id": "l", "mlflow.trace.session": "m"}, "l"),
        ({"mlflow.trace.session": "m", "metadata": '{"thread_id": "t"}'}, "m"),
        ({"metadata": '{"thread_id": "t", "session_id": "s"}'}, "t"),
        ({"metadata": {"session_id": 7}}, "7"),
        ({"metadata": "free text"}, None),
        ({"metadata": '{"other": 1}'}, None),
        ({}, None),
    ],
)
def test_a_span_names_its_session(attributes: dict[str, Any], session: str | None) -> None:
    assert session_identity.session_named(span(attributes)) == session
    assert session_identity.session_named(span({}, resource=attributes)) == session


def test_agent_user_and_service_come_from_the_earliest_span_that_names_them() -> None:
    late = span({"user.id": "u2", "agent.name": "a2"}, began=9, resource={"service.name": "late"})
    early = span({"user.id": "u1", "agent.name": "a1"}, began=5, resource={"service.name": "early"})
    unnamed = span({}, began=1, parent=None)
    assert session_identity.user_named([late, early, unnamed]) == "u1"
    assert session_identity.agent_named([late, early, unnamed]) == "a1"
    assert session_identity.service_of([late, early, unnamed]) == "early"
    assert (
        session_identity.service_of([span({}, resource={"service.name": "unknown_service:python"})]) is None
    )
    assert session_identity.root_of([late, early, unnamed]) is unnamed
    assert session_identity.root_of([late]) is None
