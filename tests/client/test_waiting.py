"""Waiting for a replay: every poll is reported, and a server that is briefly unreachable is waited for."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.client.other_server import answering, other_server
from timemachine.client import waiting
from timemachine.client.client import Client
from timemachine.client.errors import Refused, Unreachable
from timemachine.client.server import Server


def playing(statuses: Iterator[str]) -> Any:
    """A server whose replay goes through these statuses; `away` breaks the connection off."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        status = next(statuses)
        if status == "away":
            request.close_connection = True
            return
        answering(200, json.dumps({"status": status}).encode())(request)

    return answer


def test_every_poll_is_reported_until_the_replay_has_finished() -> None:
    looks: list[str] = []
    with (
        other_server(playing(iter(["queued", "running", "done"]))) as url,
        Client(Server(url=url, key="tmk_a_b")) as client,
    ):
        done = client.replays.wait("r", lambda found: looks.append(found["status"]))
    assert (done["status"], looks) == ("done", ["queued", "running", "done"])


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_restarting_server_is_waited_for(end: str) -> None:
    with (
        other_server(playing(iter(["running", "away", "away", end]))) as url,
        Client(Server(url=url, key="tmk_a_b")) as client,
    ):
        assert client.replays.wait("r")["status"] == end


def test_a_server_that_stays_unreachable_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_GRACE", 0.1)
    with (
        other_server(playing(iter(["running"] + ["away"] * 99))) as url,
        Client(Server(url=url, key="tmk_a_b")) as client,
        pytest.raises(Unreachable),
    ):
        client.replays.wait("r")


def test_a_replay_erased_meanwhile_is_not_waited_for() -> None:
    body = b'{"code": "replay_not_found", "message": "There is none.", "facts": {}}'
    with (
        other_server(answering(404, body)) as url,
        Client(Server(url=url, key="tmk_a_b")) as client,
        pytest.raises(Refused),
    ):
        client.replays.wait("r")
