"""Session times: a session starts and ends when it happened, however late it is delivered."""

import json
import time
from datetime import UTC, datetime, timedelta

from tests.client.conftest import Served
from tests.client.other_server import Request, answering, other_server
from timemachine.client import TimeMachine
from timemachine.recording.sessions.models import Session


def test_a_session_delivered_late_keeps_its_start_and_end_times(served: Served) -> None:
    served.gate.shut()
    tm = served.machine(patience=0.1)
    before = datetime.now(UTC)
    with tm.session("Night", key="night") as s:
        s.record("user", "hello")
        done = datetime.now(UTC)
    tm.close()
    after = datetime.now(UTC)
    served.gate.open()
    assert served.machine().deliver_spooled()
    night = Session.objects.get(key="night")
    assert night.ended_at is not None
    assert before <= night.started_at <= done <= night.ended_at <= after
    assert night.created_at > after


def test_a_session_started_by_a_clock_that_is_ahead_can_still_be_ended(
    served: Served,
) -> None:
    tm = served.machine()
    ahead = datetime.now(UTC) + timedelta(hours=1)
    tm.client.sessions.start(name="Shared", key="shared", started_at=ahead.isoformat())
    with tm.session("Shared", key="shared") as s:
        s.record("user", 1)
    assert tm.close()
    assert Session.objects.get(key="shared").status == "ended"


def test_the_start_time_is_omitted_for_a_server_that_does_not_know_the_field(served: Served) -> None:
    requests = []

    def older(request: Request) -> None:
        body = json.loads(request.body) if request.body else None
        requests.append((request.path, body))
        if body and "started_at" in body:
            refusal = {"code": "invalid_request", "message": "`started_at` is unknown.", "facts": {}}
            answering(422, json.dumps(refusal).encode())(request)
        else:
            answering(200, b'{"sequences": [1]}')(request)

    with other_server(older) as url:
        tm = TimeMachine(url, served.key, spool=served.spool, patience=10.0)
        with tm.session("Older", key="older") as s:
            s.record("user", 1, started_at=time.time())
        assert tm.close()
    begins = [body for path, body in requests if path == "/api/sessions"]
    assert begins[-1] == {"name": "Older", "key": "older"}
    assert [path for path, _ in requests][-2:] == ["/api/sessions/older/actions", "/api/sessions/older/end"]
