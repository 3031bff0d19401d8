"""Load limits: a server at its limit refuses recording at once with Retry-After, and has not started what it refused."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.api.conftest import Program
from timemachine.api import concurrency
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action, Delivery

EVENT = {"kind": "event", "name": "x"}


@pytest.fixture
def full() -> Iterator[ExitStack]:
    """Every slot is taken until this is closed."""
    with ExitStack() as places:
        for _ in range(concurrency.AT_ONCE):
            places.enter_context(concurrency.place())
        yield places


@pytest.mark.parametrize("path", ["actions", "checkpoints"])
def test_a_full_server_answers_with_retry_after(
    api: Program, session: str, full: ExitStack, path: str
) -> None:
    answer = api.post(f"/sessions/{session}/{path}", EVENT)
    assert (answer.status_code, answer["Retry-After"]) == (429, "1")
    assert (answer.json()["code"], answer.json()["facts"]) == ("busy", {"retry_after_seconds": 1})
    assert not Action.objects.exists()


def test_reads_need_no_recording_slot(api: Program, session: str, full: ExitStack) -> None:
    assert api.get(f"/sessions/{session}").status_code == 200
    assert api.get(f"/sessions/{session}/actions").json()["items"] == []


def test_a_refused_request_can_be_retried_with_the_same_key(
    api: Program, session: str, full: ExitStack
) -> None:
    path, key = f"/sessions/{session}/actions", {"Idempotency-Key": "once"}
    assert api.post(path, EVENT, **key).status_code == 429
    assert not Delivery.objects.exists()
    full.close()
    assert [api.post(path, EVENT, **key).json() for _ in range(2)] == [{"sequences": [1]}] * 2
    assert Action.objects.count() == 1


def test_a_refused_request_frees_its_slot(api: Program, session: str) -> None:
    path = f"/sessions/{session}/actions"
    for body in ("{", '{"kind": "dance"}', '{"actions": [{"kind": "event"}], "kind": "event"}'):
        for _ in range(concurrency.AT_ONCE):
            assert api.raw(path, body).status_code == 422
    assert api.post(path, EVENT).status_code == 201


def test_a_body_over_the_limit_is_refused_as_too_large(
    api: Program, session: str, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    monkeypatch.setattr("django.conf.settings.DATA_UPLOAD_MAX_MEMORY_SIZE", 100)
    answer = api.post(f"/sessions/{session}/actions", {**EVENT, "input": "x" * 200})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
