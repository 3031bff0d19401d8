"""Costs of 0 that tools state for models without a price."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.importing.agents.samples import MS
from tests.recording.importing.sample_files import document, lines
from tests.recording.importing.transcript_samples import SWE_AGENT
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db

type File = Callable[[str, str, float], bytes]
"""Makes a file with one call of a provider's model at a cost."""


def opencode(provider: str, model: str, cost: float) -> bytes:
    info = {
        "id": "m1", "role": "assistant", "modelID": model, "providerID": provider, "cost": cost,
        "time": {"created": MS}, "tokens": {"input": 100, "output": 10},
    }  # fmt: skip
    return document({"info": {"id": "ses_1"}, "messages": [{"info": info, "parts": []}]})


def pi(provider: str, model: str, cost: float) -> bytes:
    usage = {"input": 100, "output": 10, "cost": {"total": cost}}
    message = {"role": "assistant", "provider": provider, "model": model, "usage": usage, "content": []}
    head = {"type": "session", "id": "pi1", "timestamp": "2026-03-01T10:00:00Z", "cwd": "/"}
    return lines(head, {"type": "message", "timestamp": "2026-03-01T10:00:01Z", "message": message})


def cline(provider: str, model: str, cost: float) -> bytes:
    stated = {"request": "Hi", "tokensIn": 100, "tokensOut": 10, "cost": cost}
    request = {
        "ts": MS, "type": "say", "say": "api_req_started", "text": json.dumps(stated),
        "modelInfo": {"modelId": model, "providerId": provider},
    }  # fmt: skip
    return document([{"ts": MS, "type": "say", "say": "task", "text": "Hi"}, request])


def cline_sdk(provider: str, model: str, cost: float) -> bytes:
    answer = {
        "role": "assistant", "content": "Hello.", "ts": MS, "modelInfo": {"id": model, "provider": provider},
        "metrics": {"inputTokens": 100, "outputTokens": 10, "cost": cost},
    }  # fmt: skip
    return document({"version": 1, "sessionId": "s1", "agent": "lead", "messages": [answer]})


def imported(project: Project, data: bytes) -> Session:
    return import_file(project, data, by="test").sessions[0].session


def goose(provider: str, model: str, cost: float) -> dict[str, Any]:
    return {
        "id": "g1", "working_dir": "/", "created_at": "2026-03-01T10:00:00Z", "accumulated_input_tokens": 100,
        "accumulated_output_tokens": 10, "accumulated_cost": cost, "provider_name": provider,
        "model_config": {"model_name": model},
        "conversation": [{"role": "user", "created": 1, "content": [{"type": "text", "text": "Hi"}]}],
    }  # fmt: skip


CALLS = pytest.mark.parametrize("file", [opencode, pi, cline, cline_sdk])


@CALLS
def test_a_stated_0_of_a_listed_model_is_replaced_by_the_listed_price(project: Project, file: File) -> None:
    session = imported(project, file("openai", "gpt-4o", 0))
    assert (session.cost_usd, session.unknown_cost_calls) == (Decimal("0.00035"), 0)


@CALLS
def test_a_stated_0_of_a_model_that_is_not_listed_is_an_unknown_cost(project: Project, file: File) -> None:
    session = imported(project, file("acme", "acme-1", 0))
    assert (session.cost_usd, session.unknown_cost_calls) == (None, 1)


@CALLS
@pytest.mark.parametrize(
    ("provider", "model"),
    [("ollama", "qwen3:8b"), ("lmstudio", "qwen3"), ("openrouter", "qwen/qwen3:free"), ("opencode", "glm-5-free")],
)  # fmt: skip
def test_a_free_or_local_model_costs_nothing(project: Project, file: File, provider: str, model: str) -> None:
    session = imported(project, file(provider, model, 0))
    assert (session.cost_usd, session.unknown_cost_calls) == (Decimal(0), 0)


@CALLS
def test_any_other_stated_cost_is_kept(project: Project, file: File) -> None:
    assert imported(project, file("acme", "acme-1", 0.5)).cost_usd == Decimal("0.5")


@pytest.mark.parametrize(
    ("provider", "cost", "expected"),
    [("openai", 0, (None, 1)), ("ollama", 0, (0, 0)), ("openai", 0.5, (Decimal("0.5"), 0))],
)
def test_the_sum_of_a_goose_session_is_unknown_if_it_is_0(
    project: Project, provider: str, cost: float, expected: tuple[Any, int]
) -> None:
    session = imported(project, document(goose(provider, "gpt-4o", cost)))
    assert (session.cost_usd, session.unknown_cost_calls) == expected


@pytest.mark.parametrize(
    ("model", "stats", "expected"),
    [
        ("gpt-4o", {"instance_cost": 0, "tokens_sent": 0, "tokens_received": 0}, (None, None, 2)),
        ("gpt-4o", {"instance_cost": 0.5, "tokens_sent": 0, "tokens_received": 0}, (None, Decimal("0.5"), 0)),
        ("gpt-4o", {"instance_cost": 0, "tokens_sent": 100, "tokens_received": 9}, (100, None, 3)),
        (
            "ollama/qwen3",
            {"instance_cost": 0, "tokens_sent": 100, "tokens_received": 9},
            (100, Decimal(0), 0),
        ),
    ],
)
def test_the_zeros_of_a_swe_agent_run_are_what_it_did_not_count(
    project: Project, model: str, stats: dict[str, Any], expected: tuple[int | None, Decimal | None, int]
) -> None:
    settings = json.dumps({"agent": {"model": {"name": model}}})
    run = SWE_AGENT | {"replay_config": settings, "info": {"model_stats": stats | {"api_calls": 2}}}
    session = imported(project, document(run))
    assert (session.input_tokens, session.cost_usd, session.unknown_cost_calls) == expected
