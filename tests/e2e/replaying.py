"""Replays of a session of asks, and a check that each of their calls is accounted for, whatever was killed meanwhile."""

from collections import Counter
from contextlib import suppress
from typing import Any, Final

import httpx

from tests.e2e.product import Product
from tests.waiting import wait_until

ASKS: Final = 12
AT_ONCE: Final = 4


def client(product: Product) -> httpx.Client:
    headers = {"Authorization": f"Bearer {product.key}"}
    return httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30)


def recorded(api: httpx.Client) -> str:
    """Record a session of asks that the local model answers."""
    api.post("/collections/facts/put", json={"text": "Cats sleep sixteen hours a day.", "title": "Cats"})
    session = str(api.post("/sessions", json={"name": "many", "collection": "facts"}).json()["id"])
    for number in range(ASKS):
        question = f"How long do cats sleep? ({number})"
        assert api.post(f"/sessions/{session}/ask", json={"question": question}).status_code == 200
    api.post(f"/sessions/{session}/end")
    return session


def launched(api: httpx.Client, session: str) -> str:
    """Launch a replay in which every ask calls the stub."""
    body = {"audit": True, "reason": "crash", "use_models": ["openai:gpt-4o-mini"]}
    answer = api.post(f"/sessions/{session}/replays", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["replay_id"])


def finished(api: httpx.Client, replay: str) -> dict[str, Any]:
    """Wait for the replay to finish and return it; the server may not answer meanwhile."""
    result: dict[str, Any] = {}

    def has_ended() -> bool:
        with suppress(httpx.HTTPError, ValueError):
            result.update(api.get(f"/replays/{replay}").json())
        return result.get("status") not in {None, "queued", "running"}

    wait_until(has_ended)
    return result


def accounted(api: httpx.Client, replay: str, calls: int) -> Counter[str]:
    """Check that each step of a replay ended once and that each call is accounted for; return the counts."""
    result, steps = finished(api, replay), all_of(api, f"/replays/{replay}/steps")
    assert [step["sequence"] for step in steps] == [1 + 2 * n for n in range(ASKS)]
    assert all(step["status"] in {"done", "failed"} for step in steps)
    assert all((step["status"] == "done") == bool(step["new"] and step["new"]["output"]) for step in steps)
    attempts = [attempt for step in steps for attempt in step["attempts"]]
    outcomes = Counter(attempt["outcome"] for attempt in attempts)
    assert outcomes.keys() <= {"done", "failed", "lost"}
    statuses = Counter(step["status"] for step in steps)
    assert outcomes["done"] == statuses["done"]
    intended = [attempt for attempt in attempts if attempt["call_intended_at"]]
    lost = [attempt for attempt in intended if attempt["outcome"] == "lost"]
    assert calls <= len(intended), "no call was made that nobody had said would be"
    assert calls - statuses["done"] <= len(lost), "every call that was made again is marked"
    assert result["uncertain_calls"] == sum(attempt["calls_made"] is None for attempt in lost)
    return statuses + Counter(
        steps=ASKS,
        results=outcomes["done"],
        calls=calls,
        again=max(0, calls - ASKS),
        marked=len(lost),
        lost=outcomes["lost"],
    )


def all_of(api: httpx.Client, path: str) -> list[dict[str, Any]]:
    """Return every item of a paged list."""
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = api.get(path, params={"limit": 5, **after}).json()
        found += page["items"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}
