"""Costs of imported calls, by the prices on the day of the call."""

import json
from decimal import Decimal
from typing import Any

import pytest

from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action

pytestmark = pytest.mark.django_db


def call(uuid: str, model: str, usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "assistant",
        "sessionId": "s1",
        "uuid": uuid,
        "timestamp": "2026-03-01T10:00:00Z",
        "message": {"id": uuid, "role": "assistant", "model": model, "content": [], "usage": usage},
    }


def test_imported_calls_are_priced_by_day_and_unknown_models_are_counted(project: Project) -> None:
    cached = {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 3_000}
    spent = {"input_tokens": 100, "output_tokens": 50, "cache_creation_input_tokens": 4_000}
    lines = [
        call("a", "claude-sonnet-4-0", {**spent, "cache_creation": cached}),
        call("b", "claude-nobody-knows", spent),
    ]
    done = import_file(project, "\n".join(map(json.dumps, lines)).encode(), by="test")
    known, unknown = Action.objects.filter(kind="llm_call").order_by("sequence")
    assert known.cost_usd == Decimal(100 * 3 + 50 * 15 + 3_000 * 6) / 10**6 + Decimal("0.00375")
    assert known.prices is not None
    assert known.prices["at"] == "2026-03-01T10:00:00Z"
    assert known.prices["per_million_tokens"]["cache_write_1h"] == 6
    assert unknown.cost_usd is None
    assert unknown.prices == {"source": "unknown", "reason": "model_not_listed"}
    (session,) = (each.session for each in done.sessions)
    assert (session.cost_usd, session.unknown_cost_calls) == (known.cost_usd, 1)
