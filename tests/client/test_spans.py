"""The delivery of OpenTelemetry spans through the spool."""

import json

from tests.client.conftest import Served
from tests.recording.importing.trace_samples import otlp, otlp_span
from timemachine.recording.sessions.models import Action


def test_spans_that_the_server_refuses_stay_in_the_spool_with_the_reason(served: Served) -> None:
    requests = [otlp(otlp_span(1)), otlp(otlp_span(2), otlp_span(0)), otlp(otlp_span(3))]
    lines = [json.dumps(each["resourceSpans"][0]).encode() for each in requests]
    with served.machine() as machine:
        spans = machine.spans()
        assert spans.add(lines)
        assert not spans.flush(30)
    assert sorted(each.name or "" for each in Action.objects.all()) == ["span 1", "span 2", "span 3"]
    ((why, refused),) = served.refused()
    assert "Its span ID must be 8 bytes, not all zero." in why
    assert refused == requests[1]["resourceSpans"][0]
    assert served.spooled() == []
