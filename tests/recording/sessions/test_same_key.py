"""A repeated action id is the same action unless its content differs."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.strategies import drafts
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.duplicates import changed_places
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage

pytestmark = pytest.mark.django_db


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drafts)
def test_any_recorded_action_is_the_same_when_repeated(project: Project, draft: ActionDraft) -> None:
    session = start_session(project, name="Again", by="test")
    append(session.id, [draft])
    assert changed_places(session, [draft], {0: 1}) == []


FOUND = RetrievalDraft(mode="lexical", hits=(HitDraft(rank=1, text="x", score=0.5),))
MODEL_CALL = ActionDraft(
    kind="find",
    id="a",
    tags=("t",),
    usage=Usage(input_tokens=1),
    parameters={"k": 1e30},
    retrieval=FOUND,
)


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"k": 2}},
        {"usage": Usage(input_tokens=2)},
        {"usage": None},
        {"tags": ("t", "u")},
        {"significance": "decision"},
        {"importance": 0.5},
        {"iteration": 1},
        {"layer": "agent"},
        {"agent": "other"},
        {"parent": "b"},
        {"parent": 7},
        {"cost_usd": Decimal(1)},
        {"cached": True},
        {"grounding": {"score": 1}},
        {"retrieval": None},
        {"retrieval": replace(FOUND, mode="hybrid")},
        {"retrieval": replace(FOUND, hits=())},
        {"retrieval": replace(FOUND, hits=(HitDraft(rank=1, text="y", score=0.5),))},
        {"retrieval": replace(FOUND, hits=(HitDraft(rank=1, text="x", score=0.6),))},
    ],
)
def test_any_differing_field_makes_it_another_action(project: Project, change: dict[str, Any]) -> None:
    session = start_session(project, name="Again", by="test")
    append(session.id, [MODEL_CALL])
    assert changed_places(session, [MODEL_CALL, replace(MODEL_CALL, **change)], {0: 1, 1: 1}) == [1]


def test_another_recording_time_is_not_a_difference(project: Project) -> None:
    session = start_session(project, name="Again", by="test")
    append(session.id, [MODEL_CALL])
    later = replace(MODEL_CALL, started_at=datetime(2026, 11, 23, tzinfo=UTC), duration_ms=1.0)
    assert changed_places(session, [later], {0: 1}) == []


def test_a_price_computed_by_the_server_is_not_a_difference(project: Project) -> None:
    session = start_session(project, name="Again", by="test")
    call = ActionDraft(kind="llm_call", id="a", model="openai:gpt-4o")
    append(session.id, [replace(call, cost_usd=Decimal("0.5"), prices={"input": "1"})])
    assert changed_places(session, [call], {0: 1}) == []
