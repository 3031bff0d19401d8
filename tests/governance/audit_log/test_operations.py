"""Every operation of the API that changes something is in the audit log, or has a reason not to be."""

import json
from typing import Any, Final

import pytest
from django.test import Client

from tests.builders import recorded_session
from timemachine.api.urls import api as operations
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import SCOPES, Project
from timemachine.core.audit.models import AuditEvent

RECORDING: Final = "recording: the session is its own record"
READING: Final = "reads, checks or estimates without changing anything"
ANNOTATING: Final = "an annotation, which names its author"
KNOWLEDGE: Final = "collections keep every version of a frame, with who wrote it"
JUDGING: Final = "an opinion, which names who asked for it"
DEMO: Final = "invented data"
LATER: Final = "goes on with a replay whose launch is recorded, and names who did"
NOT_RECORDED: Final = {
    "POST /sessions": RECORDING,
    "PATCH /sessions/{session_id}": RECORDING,
    "POST /sessions/{session_id}/end": RECORDING,
    "POST /sessions/{session_id}/checkpoints": RECORDING,
    "POST /sessions/{session_id}/resume": RECORDING,
    "POST /sessions/{session_id}/actions": RECORDING,
    "POST /sessions/{session_id}/put": RECORDING,
    "POST /sessions/{session_id}/find": RECORDING,
    "POST /sessions/{session_id}/ask": RECORDING,
    "POST /sessions/{session_id}/summaries": RECORDING,
    "POST /import": RECORDING,
    "POST /import/lines": RECORDING,
    "POST /asks/{ask_id}/cancel": RECORDING,
    "PATCH /sessions/{session_id}/actions/{sequence}": ANNOTATING,
    "POST /sessions/{session_id}/proposals": ANNOTATING,
    "POST /sessions/{session_id}/notes": ANNOTATING,
    "DELETE /sessions/{session_id}/notes/{note_id}": ANNOTATING,
    "POST /sessions/{session_id}/compression": ANNOTATING,
    "DELETE /sessions/{session_id}/compression": ANNOTATING,
    "POST /compressions": ANNOTATING,
    "POST /comparisons/{comparison_id}/marks": ANNOTATING,
    "POST /patterns/alerts/{alert_id}/seen": ANNOTATING,
    "POST /sessions/{session_id}/actions/{sequence}/judgements": JUDGING,
    "POST /sessions/{session_id}/actions/{sequence}/judgements/{judgement_id}/cancel": JUDGING,
    "POST /comparisons/{comparison_id}/judgements": JUDGING,
    "POST /comparisons/{comparison_id}/judgements/cancel": JUDGING,
    "POST /replays/{replay_id}/continue": LATER,
    "POST /sessions/{session_id}/replays/estimate": READING,
    "POST /sessions/{session_id}/seal/check": READING,
    "POST /replays/{replay_id}/seal/check": READING,
    "POST /comparisons/estimate": READING,
    "POST /comparisons/{comparison_id}/seal/check": READING,
    "POST /suites/{suite_id}/runs/estimate": READING,
    "POST /collections/{name}/find": READING,
    "POST /collections/{name}/ask": READING,
    "POST /recall": READING,
    "POST /shares/preview": READING,
    "POST /redactions/test": READING,
    "POST /models/test": READING,
    "POST /ground": READING,
    "POST /sessions/{session_id}/erasures": "prepares an erasure; confirming it is recorded",
    "POST /forgettings": "prepares a deletion; confirming it is recorded",
    "POST /collections": KNOWLEDGE,
    "DELETE /collections/{name}/frames/{number}": KNOWLEDGE,
    "POST /collections/{name}/put": KNOWLEDGE,
    "POST /collections/{name}/embedding": KNOWLEDGE,
    "POST /collections/{name}/files": KNOWLEDGE,
    "DELETE /answer-cache": "a cache: what it held is in the sessions",
    "POST /demo": DEMO,
    "DELETE /demo": DEMO,
}
SESSION: Final = "{session}"
CALLS: Final[dict[str, tuple[dict[str, Any] | None, str]]] = {
    "POST /keys": ({"name": "new", "scopes": ["read"]}, "key.created"),
    "DELETE /keys/{key_id}": (None, "key.revoked"),
    "POST /models/servers": ({"name": "house", "base_url": "https://8.8.8.8/v1"}, "model_server.added"),
    "DELETE /models/servers/{name}": (None, "model_server.removed"),
    "PUT /models/keys/{provider}": ({"key": "sk-0123456789abcdefghij"}, "model_key.saved"),
    "DELETE /models/keys/{provider}": (None, "model_key.removed"),
    "POST /redactions": ({"name": "strict", "rules": {"detect": ["email"]}}, "profile.created"),
    "PATCH /redactions/{redaction_id}": ({"rules": {"detect": ["card"]}}, "profile.changed"),
    "DELETE /redactions/{redaction_id}": (None, "profile.retired"),
    "POST /shares": ({"target_type": "session", "target_id": SESSION}, "share.created"),
    "DELETE /shares/{share_id}": (None, "share.revoked"),
    "PATCH /shares/policy": ({"longest_days": 30}, "share.policy_changed"),
    "PATCH /answer-cache": ({"on": True}, "setting.changed"),
    "PUT /compressions/rule": ({"days": 30}, "setting.changed"),
    "POST /patterns/rules": ({"sessions": 5, "window": "week"}, "alert_rule.created"),
    "DELETE /patterns/rules/{rule_id}": (None, "alert_rule.deleted"),
    "POST /holds": ({"sessions": [SESSION], "reason": "a case"}, "hold.placed"),
    "POST /holds/{hold_id}/release": ({"reason": "closed"}, "hold.released"),
    "POST /retention": ({"days": 400}, "retention_rule.set"),
    "DELETE /retention/{rule_id}": (None, "retention_rule.removed"),
    "POST /sessions/{session_id}/replays": ({"audit": True, "reason": "check"}, "replay.launched"),
    "POST /replays/{replay_id}/cancel": (None, "replay.cancelled"),
    "POST /sessions/{session_id}/sweeps": ({"top_k": [2]}, "sweep.launched"),
    "POST /sweeps/{sweep_id}/cancel": (None, "sweep.cancelled"),
    "POST /suites": (
        {"name": "nightly", "sessions": [SESSION]},
        "suite.created",
    ),
    "DELETE /suites/{suite_id}": (None, "suite.deleted"),
    "POST /evidence/keys": (None, "evidence.key_replaced"),
    "PATCH /evidence/anchors": ({"witness": "https://8.8.8.8/"}, "evidence.anchor_set"),
    "DELETE /sessions/{session_id}": ({"reason": "no longer needed"}, "session.deleted"),
}
"""Operations in an order in which each has what it needs, with a body and what they are recorded as."""
MODEL: Final = "local:extractive-1"
OTHER: Final = "local:extractive-3"
RUNS: Final = {"sessions": [SESSION], "arms": [{"model": MODEL}, {"model": OTHER}], "reason": "x"}
SUITE: Final = {"name": "nightly", "sessions": [SESSION]}
REASON: Final = {"reason": "no longer needed"}
MATCHING: Final = {"filter": {"model": MODEL}}
CALL: Final = {
    "kind": "llm_call",
    "model": MODEL,
    "input": [{"role": "user", "content": "x"}],
    "output": "y",
}
SEVERAL: Final[list[tuple[str, dict[str, Any] | None, set[str]]]] = [
    ("POST /sessions/{session_id}/actions/2/trials", {"use_model": OTHER}, {"replay.launched"}),
    ("POST /comparisons", RUNS, {"comparison.launched"}),
    ("POST /comparisons/{comparison_id}/cancel", None, {"comparison.cancelled", "replay.cancelled"}),
    ("POST /comparisons/{comparison_id}/retry", None, {"comparison.retried", "replay.retried"}),
    ("POST /suites", SUITE, {"suite.created"}),
    ("PATCH /suites/{suite_id}", SUITE | {"name": "weekly"}, {"suite.edited"}),
    ("POST /suites/{suite_id}/runs", None, {"suite.run"}),
    ("POST /suites/{suite_id}/runs/{number}/cancel", None, {"suite.run_cancelled", "replay.cancelled"}),
    ("POST /sessions/{session_id}/replays", {}, {"replay.launched"}),
    ("POST /replays/{replay_id}/cancel", None, {"replay.cancelled"}),
    ("POST /replays/{replay_id}/retry", None, {"replay.retried"}),
    ("POST /forgettings", MATCHING, set()),
    ("POST /forgettings/{forgetting_id}/cancel", None, {"bulk_deletion.cancelled"}),
    ("POST /forgettings", MATCHING, set()),
    ("POST /forgettings/{forgetting_id}/confirm", REASON, {"bulk_deletion.confirmed"}),
    ("POST /sessions", {"name": "run", "key": "run"}, set()),
    ("POST /sessions/{session_id}/actions", CALL, set()),
    ("POST /sessions/{session_id}/actions", CALL, set()),
    ("DELETE /sessions/{session_id}/actions/2", REASON, {"erasure.confirmed"}),
    ("POST /sessions/{session_id}/erasures", {"fields": ["output"]}, set()),
    ("POST /erasures/{erasure_id}/confirm", REASON, {"erasure.confirmed"}),
    ("POST /sessions/{session_id}/continue", {"from": 1, "model": MODEL}, {"replay.launched"}),
]
"""Operations, some of which are recorded as several events, in an order in which each has what it needs."""


def test_every_operation_that_changes_something_is_recorded_or_has_a_reason_not_to_be() -> None:
    paths = operations.get_openapi_schema()["paths"]
    changing = {
        f"{method.upper()} {path.removeprefix('/api')}"
        for path, each in paths.items()
        for method in each
        if method != "get"
    }
    recorded = {operation.replace("actions/2", "actions/{sequence}") for operation, _, _ in SEVERAL}
    assert NOT_RECORDED.keys() | CALLS.keys() | recorded == changing
    assert not NOT_RECORDED.keys() & CALLS.keys()


@pytest.fixture
def named(project: Project) -> dict[str, str]:
    """The values of the parameters in paths, each set when something with that name is made."""
    session = recorded_session(project)
    return {"session": str(session.id), "session_id": str(session.id), "provider": "openai", "name": "house"}


@pytest.fixture
def client(project: Project) -> Client:
    _, text = make_api_key(project, name="robot", scopes=SCOPES)
    return Client(headers={"Authorization": f"Bearer {text}"})


def test_each_is_recorded_once_with_the_key_that_called_it(client: Client, named: dict[str, str]) -> None:
    for operation, (body, action) in CALLS.items():
        assert _recorded_by(client, operation, body, named) == [action], operation


def test_what_is_recorded_as_several_events_names_the_key_in_each(
    client: Client, named: dict[str, str]
) -> None:
    for operation, body, actions in SEVERAL:
        assert set(_recorded_by(client, operation, body, named)) == actions, operation


def _recorded_by(
    client: Client, operation: str, body: dict[str, Any] | None, named: dict[str, str]
) -> list[str]:
    """Call the operation and return the actions that it was recorded as."""
    method, path = operation.split()
    before = AuditEvent.objects.count()
    answer = client.generic(
        method, f"/api{path.format(**named)}", _with_session(body, named), content_type="application/json"
    )
    assert answer.status_code < 300, (operation, answer.text)
    new = AuditEvent.objects.order_by("id")[before:]
    assert {each.actor for each in new} <= {"key robot"}, operation
    _remember(operation, answer.json() if answer.text else {}, named)
    return [each.action for each in new]


def _with_session(body: dict[str, Any] | None, named: dict[str, str]) -> str:
    return "" if body is None else json.dumps(body).replace(SESSION, named["session"])


def _remember(operation: str, made: dict[str, Any], named: dict[str, str]) -> None:
    names = {
        "POST /keys": "key_id",
        "POST /redactions": "redaction_id",
        "PATCH /redactions/{redaction_id}": "redaction_id",
        "POST /shares": "share_id",
        "POST /patterns/rules": "rule_id",
        "POST /holds": "hold_id",
        "POST /retention": "rule_id",
        "POST /sessions/{session_id}/replays": "replay_id",
        "POST /sessions/{session_id}/sweeps": "sweep_id",
        "POST /suites": "suite_id",
        "POST /suites/{suite_id}/runs": "number",
        "POST /sessions": "session_id",
        "POST /comparisons": "comparison_id",
        "POST /sessions/{session_id}/erasures": "erasure_id",
        "POST /forgettings": "forgetting_id",
    }
    if operation in names:
        name = names[operation]
        named[name] = str(made[name] if name in made else made["id"])
