"""A server error at one action does not hold up the others."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.client.other_server import Request, answering, other_server
from tests.client.spools import refused, waiting
from tests.waiting import wait_until
from timemachine.client import TimeMachine
from timemachine.client.recording import outbox

FAULT = json.dumps({"code": "internal_error", "message": "A fault of ours.", "facts": {}}).encode()


class Failing:
    """A server that fails `times` times at any action containing `poison`; `taken` lists the accepted actions by session."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.taken: dict[str, list[object]] = defaultdict(list)

    def __call__(self, request: Request) -> None:
        if b"poison" in request.body and self.left:
            self.left -= request.body.count(b'"id"') == 1
            answering(500, FAULT)(request)
            return
        if request.path.endswith("/actions"):
            key = request.path.split("/")[-2]
            self.taken[key] += [each["output"] for each in json.loads(request.body)["actions"]]
        answering(201, b"{}")(request)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Actions are retried soon."""
    monkeypatch.setattr(outbox, "_FAULT_PAUSES", (0.01, 0.02, 0.03, 0.04))


def test_an_action_that_makes_the_server_fail_does_not_block_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing(times=5)
    with other_server(failing) as url, TimeMachine(url, "tmk_x", spool=tmp_path, patience=20.0) as tm:
        one, other = tm.session("One", key="one"), tm.session("Other", key="other")
        for number in range(20):
            one.record("agent", "poison" if number == 11 else number)
        other.record("agent", "x")
        wait_until(lambda: len(failing.taken["one"]) == 19 and failing.taken["other"], 20)
        assert not tm.flush()
        assert other.flush()
        one.end()
        other.end()
    assert failing.taken == {"one": [each for each in range(20) if each != 11], "other": ["x"]}
    ((why, action),) = refused(tmp_path)
    assert (why, action["output"]) == ("A fault of ours.", "poison")
    assert waiting(tmp_path) == []
    assert "refused" in caplog.text


def test_an_action_with_temporary_server_errors_is_delivered_in_order(tmp_path: Path) -> None:
    failing = Failing(times=4)
    with (
        other_server(failing) as url,
        TimeMachine(url, "tmk_x", spool=tmp_path, patience=20.0) as tm,
        tm.session("One", key="one") as s,
    ):
        for content in (1, "poison", 2):
            s.record("agent", content)
        assert s.flush()
    assert failing.taken == {"one": [1, "poison", 2]}
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_the_server_fails_to_start_does_not_block_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing(times=1_000)
    with other_server(failing) as url, TimeMachine(url, "tmk_x", spool=tmp_path, patience=1.0) as tm:
        tm.session("poison", key="one").record("agent", "kept")
        with tm.session("Other", key="other") as s:
            s.record("agent", "x")
            assert s.flush()
        wait_until(lambda: "Session one is not delivered" in caplog.text, 20)
    assert failing.taken == {"other": ["x"]}
    assert b"kept" in waiting(tmp_path)[0]
