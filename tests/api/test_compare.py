"""Aligning two sessions over HTTP."""

from tests.api.conftest import Program
from tests.builders import recorded_session, replayed
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions


def calls(project: Project, *paths: str) -> str:
    session = start_session(project, name="a run", by="test")
    append(session.id, [ActionDraft(kind="tool_call", tool="read", input={"path": path}) for path in paths])
    return session.key


def test_two_sessions_are_aligned(project: Project, api: Program) -> None:
    one, other = calls(project, "a", "b", "c"), calls(project, "a", "x", "b", "c")
    found = api.get("/compare", a=one, b=other).json()
    assert found["counts"] == {
        "same": 3,
        "modified": 0,
        "moved": 0,
        "only_left": 0,
        "only_right": 1,
        "not_asked": 0,
    }
    assert [item["status"] for item in found["items"]] == ["same", "only_right", "same", "same"]
    assert (found["items"][1]["a"], found["items"][1]["b"]["sequence"]) == (None, 2)
    assert (found["a"]["key"], found["a"]["steps"], found["b"]["steps"]) == (one, 3, 4)
    assert (found["a"]["cost_usd"], found["a"]["input_tokens"]) == (None, None)
    assert (found["compared"], found["next"]) == ("steps", None)
    assert found["first_divergence"] == {"a": None, "b": 2, "why": "tool call read only on the right"}
    assert api.get("/compare", a=one, b=one).json()["first_divergence"] is None


def test_a_moved_step_counts_once_and_is_listed_at_both_positions(project: Project, api: Program) -> None:
    one, other = calls(project, "a", "b", "c", "d"), calls(project, "b", "c", "d", "a")
    found = api.get("/compare", a=one, b=other).json()
    assert found["counts"] == {
        "same": 3,
        "modified": 0,
        "moved": 1,
        "only_left": 0,
        "only_right": 0,
        "not_asked": 0,
    }
    moved = api.get("/compare", a=one, b=other, show="moved").json()["items"]
    assert [(each["status"], each["moved"]) for each in moved] == [("moved", 4), ("moved", 1)]
    assert (moved[0]["a"]["sequence"], moved[0]["b"]) == (1, None)
    assert (moved[1]["b"]["sequence"], moved[1]["a"]) == (4, None)


def test_exactly_three_inserted_steps_are_reported(project: Project, api: Program) -> None:
    paths = [f"{number}.py" for number in range(30)]
    grown = ["new first", *paths[:9], paths[2], *paths[9:], "new last"]
    found = api.get("/compare", a=calls(project, *paths), b=calls(project, *grown), show="changed").json()
    assert found["counts"] == {
        "same": 30,
        "modified": 0,
        "moved": 0,
        "only_left": 0,
        "only_right": 3,
        "not_asked": 0,
    }
    assert [each["b"]["sequence"] for each in found["items"]] == [1, 11, 33]


def test_pairs_are_paginated_and_filtered_by_status(project: Project, api: Program) -> None:
    one, other = calls(project, "a", "b", "c", "d"), calls(project, "a", "x", "b", "y", "c")
    pages = [api.get("/compare", a=one, b=other, limit=2).json()]
    while pages[-1]["next"]:
        pages.append(api.get("/compare", a=one, b=other, limit=2, after=pages[-1]["next"]).json())
    assert [len(each["items"]) for each in pages] == [2, 2, 2]
    assert [item["status"] for each in pages for item in each["items"]].count("same") == 3
    changed = api.get("/compare", a=one, b=other, show="changed").json()
    assert [item["status"] for item in changed["items"]] == ["only_right", "only_right", "only_left"]
    assert changed["counts"]["same"] == 3
    assert api.get("/compare", a=one, b=other, show="else").status_code == 422
    assert api.get("/compare", a=one, b=other, after="nonsense").status_code == 422


def test_a_session_is_compared_with_its_replay(project: Project, api: Program) -> None:
    session = recorded_session(project)
    replay = replayed(session, ReplayOptions(audit=False, top_k=1))
    found = api.get("/compare", a=session.key, b=str(replay.id)).json()
    assert (found["b"]["kind"], found["compared"]) == ("replay", "finds_and_asks")
    assert {"frames"} <= set(found["items"][0]["differs_in"])


def test_an_unknown_run_is_not_found(project: Project, api: Program) -> None:
    refused = api.get("/compare", a=calls(project, "a"), b="nobody")
    assert (refused.status_code, refused.json()["code"]) == (404, "run_not_found")
