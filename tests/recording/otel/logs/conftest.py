"""An exporter that also sends log records to `/v1/logs`."""

from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tests.api.conftest import Program, api, stranger
from tests.recording.otel.logs.made import SCOPE, logs, logs_as_json
from tests.recording.otel.traces.conftest import JSON, PROTOBUF, Exporter

__all__ = ["api", "stranger"]
ADDRESS = "/v1/logs"


class LogExporter(Exporter):
    """Sends log records and spans like an exporter."""

    def send_logs(self, *records: LogRecord, scope: str = SCOPE) -> ExportLogsServiceResponse:
        """Send records of a request that is accepted; the answer."""
        answer = self.raw_logs(logs(*records, scope=scope).SerializeToString())
        assert answer.status_code == 200, answer.content
        assert answer["Content-Type"] == PROTOBUF
        return ExportLogsServiceResponse.FromString(answer.content)

    def send_logs_as_json(self, *records: LogRecord) -> Any:
        answer = self.raw_logs(logs_as_json(logs(*records)), JSON)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def raw_logs(self, body: bytes, content_type: str = PROTOBUF, **headers: str) -> Any:
        return self.client.post(ADDRESS, body, content_type=content_type, headers=self.headers | headers)


@pytest.fixture
def exporter(api: Program) -> LogExporter:
    return LogExporter(api)
