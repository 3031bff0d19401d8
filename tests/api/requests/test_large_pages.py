"""Pages of lists are limited in bytes and lose no item."""

from typing import Any

import pytest

from tests.api.conftest import Program
from timemachine.api import paging

KILOBYTE = "x" * 1_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit pages to 3,500 bytes."""
    monkeypatch.setattr(paging, "PAGE_BYTES", 3_500)


def pages(api: Program, path: str, **query: Any) -> list[list[dict[str, Any]]]:
    """The items of every page of a list."""
    found: list[list[dict[str, Any]]] = []
    after: dict[str, str] = {}
    while True:
        answer = api.get(path, **query, **after).json()
        found.append(answer["items"])
        if answer["next"] is None:
            return found
        after = {"after": answer["next"]}


@pytest.mark.usefixtures("small")
def test_actions_are_split_into_pages_that_fit(api: Program) -> None:
    api.post("/sessions", {"name": "x", "key": "s"})
    hits = [{"rank": rank, "text": KILOBYTE + str(rank)} for rank in (1, 2, 3)]
    actions = [
        {"kind": "event", "input": KILOBYTE, "output": KILOBYTE + "2"},
        {"kind": "event", "output": KILOBYTE},
        {"kind": "find", "input": "q", "retrieval": {"hits": hits}},
        {"kind": "event"},
        {"kind": "event", "output": KILOBYTE * 9},
        {"kind": "event"},
        {"kind": "event", "output": KILOBYTE},
    ]
    api.post("/sessions/s/actions", {"actions": actions})
    found = pages(api, "/sessions/s/actions")
    assert [[each["sequence"] for each in items] for items in found] == [[1, 2], [3, 4], [5], [6, 7]]
    assert [each["retrieval"]["hits"][2]["text"] for each in found[1][:1]] == [KILOBYTE + "3"]
    assert [len(items) for items in pages(api, "/sessions/s/actions", limit=1)] == [1] * 7
    assert pages(api, "/sessions/s/actions", kind="checkpoint") == [[]]


@pytest.mark.usefixtures("small")
def test_frames_are_split_into_pages_that_fit(api: Program) -> None:
    api.post("/collections/c/put", {"frames": [{"text": f"{n} {KILOBYTE}"} for n in range(5)]})
    found = pages(api, "/collections/c/frames")
    assert [[each["frame"] for each in items] for items in found] == [[0, 1, 2], [3, 4]]


@pytest.mark.usefixtures("small")
def test_versions_of_a_frame_are_split_into_pages_that_fit(api: Program) -> None:
    api.post("/collections/c/put", {"frames": [{"text": f"0 {KILOBYTE}"}]})
    for n in range(1, 5):
        api.post("/collections/c/put", {"frames": [{"text": f"{n} {KILOBYTE}", "frame": 0}]})
    first = api.get("/collections/c/frames/0").json()
    second = api.get("/collections/c/frames/0", after=first["next"]).json()
    assert [[each["version"] for each in page["versions"]] for page in (first, second)] == [[1, 2, 3], [4, 5]]
    assert (second["next"], second["frame"], second["used_by"]) == (None, 0, first["used_by"])
    alone = api.get("/collections/c/frames/0", after=first["next"], limit=1).json()
    assert [each["text"][0] for each in alone["versions"]] == ["3"]


@pytest.mark.usefixtures("small")
def test_steps_of_a_replay_are_split_into_pages_that_fit(api: Program) -> None:
    api.post("/collections/c/put", {"text": "Invoices are kept for ten years."})
    api.post("/sessions", {"name": "x", "key": "s", "collection": "c"})
    for n in range(3):
        api.post("/sessions/s/find", {"query": f"{KILOBYTE} {KILOBYTE} {n}"})
    replay = api.post("/sessions/s/replays", {}).json()["replay_id"]
    found = pages(api, f"/replays/{replay}/steps")
    assert [[each["sequence"] for each in items] for items in found] == [[1], [2], [3]]


@pytest.mark.usefixtures("small")
def test_the_size_of_a_replayed_step_includes_the_recorded_passages(api: Program) -> None:
    api.post("/collections/c/put", {"frames": [{"text": f"Invoices {KILOBYTE}"}]})
    api.post("/sessions", {"name": "x", "key": "s", "collection": "c"})
    for n in range(4):
        api.post("/sessions/s/find", {"query": f"invoices {n}"})
    replay = api.post("/sessions/s/replays", {}).json()["replay_id"]
    found = pages(api, f"/replays/{replay}/steps")
    assert [[each["sequence"] for each in items] for items in found] == [[1, 2, 3], [4]]


def test_a_limit_out_of_range_is_refused(api: Program) -> None:
    api.post("/sessions", {"name": "x", "key": "s"})
    for limit in (0, -1, 201, 10**30):
        assert api.get("/sessions/s/actions", limit=limit).status_code == 422
