"""An exporter that sends to `/v1/traces`, and what is recorded then."""

from typing import Any

import pytest
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from tests.api.conftest import Program, api, stranger
from tests.recording.otel.spans.test_decoding import as_json, request
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.corrections import is_correction

__all__ = ["api", "stranger"]
PROTOBUF, JSON = "application/x-protobuf", "application/json"
ADDRESS = "/v1/traces"


class Exporter:
    """Sends spans like an exporter."""

    def __init__(self, program: Program) -> None:
        self.headers = {"Authorization": f"Bearer {program.key}"}
        self.client = Client()

    def send(self, *spans: Any) -> ExportTraceServiceResponse:
        """Send spans that are accepted; the answer."""
        answer = self.raw(request(*spans).SerializeToString())
        assert answer.status_code == 200, answer.content
        assert answer["Content-Type"] == PROTOBUF
        return ExportTraceServiceResponse.FromString(answer.content)

    def send_json(self, *spans: Any) -> Any:
        answer = self.raw(as_json(request(*spans)), JSON)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def raw(self, body: bytes, content_type: str = PROTOBUF, **headers: str) -> Any:
        return self.client.post(ADDRESS, body, content_type=content_type, headers=self.headers | headers)


@pytest.fixture
def exporter(api: Program) -> Exporter:
    return Exporter(api)


def recorded(project: Project) -> dict[str, Any]:
    """Every session by key: its tokens, and each action by name with the name of its parent, except corrections of sums."""
    found = {}
    for session in Session.objects.filter(project=project):
        actions = list(Action.objects.filter(session=session).order_by("sequence"))
        assert [each.sequence for each in actions] == list(range(1, session.last_sequence + 1))
        names = {each.client_id: each.name for each in actions}
        found[session.key] = {
            "actions": sorted(
                (each.name or "", each.kind, names.get(each.parent_id_given))
                for each in actions
                if not is_correction(each.kind, each.prices)
            ),
            "input_tokens": session.input_tokens,
            "cost_usd": session.cost_usd,
            "unknown_cost_calls": session.unknown_cost_calls,
            "errors": session.error_count,
            "agent": session.agent,
            "started_at": session.started_at,
        }
    return found
