"""`POST /v1/logs` follows OTLP/HTTP, and stores what agents logged."""

import gzip

import pytest
from django.test import Client
from google.rpc.status_pb2 import Status

from tests.api.conftest import Program, program
from tests.recording.otel.logs.conftest import ADDRESS, LogExporter
from tests.recording.otel.logs.made import PROMPT, REQUEST, RUN, logs, logs_as_json, record
from tests.recording.otel.traces.conftest import JSON, PROTOBUF, recorded
from timemachine.core.accounts.models import Project
from timemachine.recording.otel.pure import decoding
from timemachine.recording.sessions.models import Action

pytestmark = pytest.mark.django_db


def names() -> list[str | None]:
    return list(Action.objects.order_by("sequence").values_list("name", flat=True))


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
@pytest.mark.parametrize("packed", [False, True])
def test_records_are_stored_in_either_encoding_compressed_or_not(
    exporter: LogExporter, content_type: str, packed: bool
) -> None:
    made = logs(*RUN)
    body = made.SerializeToString() if content_type == PROTOBUF else logs_as_json(made)
    headers = {"Content-Encoding": "gzip"} if packed else {}
    answer = exporter.raw_logs(gzip.compress(body) if packed else body, content_type, **headers)
    assert (answer.status_code, answer["Content-Type"]) == (200, content_type)
    assert answer.content == (b"" if content_type == PROTOBUF else b"{}")
    assert len(names()) == len(RUN)


def test_a_batch_that_is_sent_again_in_either_encoding_changes_nothing(
    exporter: LogExporter, project: Project
) -> None:
    exporter.send_logs(*RUN)
    before, steps = recorded(project), names()
    exporter.send_logs(*RUN)
    exporter.send_logs(*reversed(RUN))
    exporter.send_logs_as_json(*RUN)
    assert (recorded(project), names()) == (before, steps)


def test_records_that_no_agent_wrote_are_left_out_and_counted(exporter: LogExporter) -> None:
    others = [record("", {"session.id": "talk"}, at=each, body="Started the server.") for each in range(7)]
    answer = exporter.send_logs(*others, PROMPT, scope="django").partial_success
    assert answer.rejected_log_records == 7
    assert answer.error_message.startswith("7 log records left out: only Claude Code and GenAI events")
    assert names() == ["claude_code.user_prompt"]
    found = exporter.send_logs_as_json(record("app.started"))
    assert found["partialSuccess"]["rejectedLogRecords"] == "1"


def test_records_that_cannot_be_placed_are_rejected_with_the_reason(exporter: LogExporter) -> None:
    lost = record("gen_ai.user.message", {}, body={"content": "Hello"})
    answer = exporter.send_logs(lost, record("app.started"), PROMPT, scope="app").partial_success
    assert answer.rejected_log_records == 2
    assert answer.error_message == (
        "The log record 1, “gen_ai.user.message”: It does not name a session or a trace. "
        "1 log record left out: only Claude Code and GenAI events are stored."
    )
    many = exporter.send_logs(*[lost] * 7).partial_success
    assert many.error_message.endswith("And 2 more.")


@pytest.mark.parametrize(
    ("body", "content_type", "status", "says"),
    [
        (b"\xff\xff", PROTOBUF, 400, "not a protobuf ExportLogsServiceRequest"),
        (b"{", JSON, 400, "not JSON"),
        (b'{"resourceLogs": 7}', JSON, 400, "resourceLogs"),
        (b"{}", "text/plain", 415, "application/json"),
    ],
)
def test_an_invalid_request_is_refused_in_its_own_encoding(
    exporter: LogExporter, body: bytes, content_type: str, status: int, says: str
) -> None:
    answer = exporter.raw_logs(body, content_type)
    assert answer.status_code == status
    message = (
        Status.FromString(answer.content).message if content_type == PROTOBUF else answer.json()["message"]
    )
    assert says in message


def test_only_a_key_with_the_record_scope_is_accepted(api: Program, project: Project) -> None:
    assert Client().post(ADDRESS, b"", content_type=PROTOBUF).status_code == 401
    assert LogExporter(program(project, "read")).raw_logs(b"").status_code == 403


def test_a_get_request_explains_that_records_are_sent_with_post(client: Client) -> None:
    answer = client.get(ADDRESS)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Send log records here with POST" in answer.json()["message"]


def test_too_many_records_are_refused_with_the_limit(
    exporter: LogExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "MOST_SPANS", 2)
    many = logs(*[REQUEST] * 3)
    for body, content_type in ((many.SerializeToString(), PROTOBUF), (logs_as_json(many), JSON)):
        refused = exporter.raw_logs(body, content_type)
        assert refused.status_code == 413
        assert b"at most 2 log records" in refused.content
