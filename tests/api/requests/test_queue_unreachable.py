"""A launch while the queue is unreachable is accepted and stored; the sweep enqueues it once the queue is back."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Program
from tests.brokers import received, use_broker
from tests.builders import recorded_session
from tests.embedded.machine import free_port
from timemachine.config.celery import app as queue
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.jobs.registry import run, sweep
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.tasks import run_replay

GONE: dict[str, Callable[[Path], dict[str, Any]]] = {
    "pgmq": lambda folder: {"conn_string": f"host={folder} dbname=timemachine"},
    "amqp": lambda _: {},
    "redis": lambda _: {},
}


def use(broker_url: str, options: dict[str, Any]) -> None:
    use_broker({"broker_url": broker_url, "broker_transport_options": options})


@pytest.fixture
def own_queue() -> Iterator[None]:
    """Restore the real queue after each test; an in-memory queue starts empty."""
    before = queue.conf["broker_url"], queue.conf["broker_transport_options"]
    use("memory://", {})
    replays()
    use(*before)
    yield
    use(*before)


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    return recorded_session(project)


def test_a_launch_is_accepted_and_not_lost_whatever_the_broker(
    session: Session, api: Program, own_queue: None, tmp_path: Path
) -> None:
    before = queue.conf["broker_transport_options"]
    for broker, options in GONE.items():
        own = before if broker == "pgmq" else {}
        use(f"{broker}://127.0.0.1:{free_port()}//", own | options(tmp_path))
        _launched_and_enqueued_later(session, api)


def _launched_and_enqueued_later(session: Session, api: Program) -> None:
    answer = api.post(f"/sessions/{session.id}/replays", {"top_k": 3})
    assert answer.status_code == 202, answer.content
    replay = Replay.objects.get(id=answer.json()["replay_id"])
    assert replay.status == "queued"
    assert set(replay.steps.values_list("status", flat=True)) == {"waiting"}

    use("memory://", {})
    assert replays() == []
    Replay.objects.filter(id=replay.id).update(enqueued_at=now() - timedelta(minutes=1))
    sweep()
    assert replays() == [[str(replay.id)]]


def test_replays_launched_together_are_enqueued_in_one_message(
    session: Session, api: Program, own_queue: None
) -> None:
    use("memory://", {})
    arms = [{"model": "local:extractive-1"}, {"model": "local:extractive-3"}]
    sent = api.post("/comparisons", {"sessions": [session.key], "arms": arms, "reason": "r", "repeats": 2})
    (ids,) = replays()
    assert ids == sent.json()["replay_ids"]
    run(run_replay, *ids)
    assert replays() == [[each] for each in sent.json()["replay_ids"]]

    api.post(f"/comparisons/{sent.json()['comparison_id']}/cancel")
    api.post(f"/comparisons/{sent.json()['comparison_id']}/retry")
    assert [sorted(each) for each in replays()] == [sorted(ids)]

    suite = {"name": "nightly", "sessions": [session.key], "use_models": [each["model"] for each in arms]}
    assert api.post("/suites", suite).status_code == 201
    assert api.post("/suites/nightly/runs").status_code == 202
    assert [len(each) for each in replays()] == [2]


def replays() -> list[list[str]]:
    """The replays of each message; other messages are about indexing and sealing."""
    return [ids for job, ids in received() if job == run_replay.name]
