"""Limits of what may be sent: repeated keys, concurrent requests, depth and number of actions, and late actions."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.conftest import Program
from tests.threads import in_a_thread
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(api: Program) -> str:
    return str(api.post("/sessions", {"name": "x"}).json()["id"])


def test_a_repeated_checkpoint_with_its_key_is_the_first_one(api: Program, session: str) -> None:
    def sent(name: str, key: str) -> Any:
        body = {"name": name, "state": {"mood": "good"}}
        return api.post(f"/sessions/{session}/checkpoints", body, **{"Idempotency-Key": key}).json()

    assert [sent("c", "k") for _ in range(2)] == [{"sequence": 1, "name": "c"}] * 2
    assert sent("c", "another")["sequence"] == 2
    assert sent("d", "k")["code"] == "idempotency_key_reused"


def test_checkpoints_are_listed_in_pages(api: Program, session: str) -> None:
    for place in range(5):
        api.post(f"/sessions/{session}/checkpoints", {"name": str(place)})
    names, after = [], None
    while True:
        query = {"limit": 2} | ({"after": after} if after else {})
        page = api.get(f"/sessions/{session}/checkpoints", **query).json()
        assert len(page["items"]) <= 2
        names += [each["name"] for each in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert names == ["0", "1", "2", "3", "4"]
    assert api.get(f"/sessions/{session}/checkpoints", limit=201).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_fifty_concurrent_requests_with_one_key_are_executed_once(api: Program, session: str) -> None:
    body = {"actions": [{"kind": "event", "name": str(place)} for place in range(3)]}

    def sent() -> Any:
        while True:
            answer = api.post(f"/sessions/{session}/actions", body, **{"Idempotency-Key": "k"})
            if answer.status_code != 429:
                return (answer.status_code, answer.json())

    with ThreadPoolExecutor(max_workers=10) as pool:
        answers = [each.result() for each in [in_a_thread(pool, sent) for _ in range(50)]]
    assert answers == [(201, {"sequences": [1, 2, 3]})] * 50
    assert Action.objects.count() == Session.objects.get().last_sequence == 3


def test_more_than_a_thousand_actions_are_refused_with_the_limit(api: Program, session: str) -> None:
    answer = api.post(f"/sessions/{session}/actions", {"actions": [{"kind": "event"}] * 1_001})
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_actions")
    assert answer.json()["facts"]["limit"] == 1_000
    no_actions = api.post(f"/sessions/{session}/actions", {"actions": [{}] * 1_001})
    assert no_actions.json()["code"] == "too_many_actions"  # refused before any of them is read
    taken = api.post(f"/sessions/{session}/actions", {"actions": [{"kind": "event"}] * 1_000}).json()
    assert taken["sequences"] == list(range(1, 1_001))


def test_an_action_nested_too_deeply_is_refused_with_the_limit(api: Program, session: str) -> None:
    def sent(depth: int) -> Any:
        nested = "[" * (depth - 1) + "1" + "]" * (depth - 1)
        return api.raw(f"/sessions/{session}/actions", f'{{"kind": "event", "output": {nested}}}')

    assert sent(64).status_code == 201
    answer = sent(65)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_deep")
    assert answer.json()["facts"]["limit"] == 64


def test_a_late_action_keeps_its_time_and_gets_the_next_sequence(api: Program, session: str) -> None:
    times = ["2026-03-01T10:00:05Z", "2026-03-01T10:00:09Z", "2026-03-01T09:00:00Z"]
    for place, at in enumerate(times, start=1):
        answer = api.post(f"/sessions/{session}/actions", {"kind": "event", "started_at": at})
        assert answer.json() == {"sequences": [place]}
    found = api.get(f"/sessions/{session}/actions").json()["items"]
    assert [(each["sequence"], each["started_at"]) for each in found] == [
        (1, "2026-03-01T10:00:05Z"),
        (2, "2026-03-01T10:00:09Z"),
        (3, "2026-03-01T09:00:00Z"),
    ]


LARGE: Any = "x" * (8 * 1024 * 1024 + 1)
HIT: Any = {"rank": 1, "text": "a"}


@pytest.mark.parametrize(
    "large",
    [
        {"name": LARGE},
        {"error": {"type": "x", "message": LARGE}},
        {"error": {"type": LARGE}},
        {"parameters": {"a": LARGE}},
        {"tags": ["a", LARGE]},
        {"prices": {"a": LARGE}},
        {"retrieval": {"hits": [HIT | {"metadata": {"a": LARGE}}]}},
        {"retrieval": {"hits": [HIT | {"title": LARGE}]}},
        {"retrieval": {"below": {"a": LARGE}, "hits": []}},
    ],
    ids="-".join,
)
def test_every_field_counts_towards_the_size_of_an_action(api: Program, session: str, large: Any) -> None:
    answer = api.post(f"/sessions/{session}/actions", {"kind": "event", **large})
    assert (answer.status_code, answer.json()["facts"]["limit_bytes"]) == (413, 8 * 1024 * 1024)


def test_an_overlong_session_name_is_refused_with_the_limit(api: Program, session: str) -> None:
    long = "x" * 1_001
    for field, given in {"name": long, "agent": long, "user": long, "tags": ["a", long]}.items():
        answer = api.post("/sessions", {"name": "x", field: given})
        assert answer.status_code == 413
        assert (answer.json()["facts"]["field"], answer.json()["facts"]["limit"]) == (field, 1_000)
        if field in ("name", "tags"):
            assert api.patch(f"/sessions/{session}", {field: given}).status_code == 413
    assert api.post("/sessions", {"name": "x" * 1_000}).status_code == 201
