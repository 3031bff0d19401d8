"""Copied steps are context: they are in transcripts, and nowhere else twice."""

from typing import Any

import pytest

from tests.api.conftest import Program, api
from tests.memory.patterns.recorded import pattern_counts, read
from tests.memory.search.recorded import index, steps
from tests.memory.transcripts.test_transcripts import read_transcript, sequences
from timemachine.core.accounts.models import Project
from timemachine.memory.patterns.similar import similar_to_step
from timemachine.memory.search.models import SearchedAction
from timemachine.recording.sessions.models import Action

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("api")]
__all__ = ["api"]
TURNS: tuple[dict[str, Any], ...] = (
    {"kind": "message", "role": "user", "output": "The gateway timed out after 31 seconds.", "significance": "error"},
    {"kind": "message", "role": "agent", "output": "Raise the timeout.", "significance": "solution"},
    {"kind": "tool_result", "layer": "tool", "tool": "pay", "output": "Error: card 17 declined", "error": {"message": "card 17 declined"}},
)  # fmt: skip


@pytest.fixture
def recorded(api: Program, project: Project) -> Program:
    """A session, and a fork that begins with a copy of it."""
    copies = [turn | {"copied_from": {"session": "parent", "step": n}} for n, turn in enumerate(TURNS, 1)]
    own = {"kind": "message", "role": "user", "output": "And the zeppelin?"}
    for key, actions in (("parent", TURNS), ("fork", (*copies, own))):
        assert api.post("/sessions", {"name": key, "key": key}).status_code == 201
        assert api.post(f"/sessions/{key}/actions", {"actions": list(actions)}).status_code == 201
        assert api.post(f"/sessions/{key}/end", {}).status_code == 200
    index(project)
    return api


def recalled(api: Program, query: str) -> list[tuple[str, int]]:
    [found] = api.post("/recall", {"queries": [query]}).json()["items"]
    return [(each["session"]["key"], each["sequence"]) for each in found["results"]]


@pytest.mark.parametrize("mode", ["text", "hybrid"])
def test_a_copied_step_is_found_only_where_it_happened(
    recorded: Program, project: Project, mode: str
) -> None:
    assert steps(project, "gateway", mode) == [("parent", 1)]
    assert ("fork", 4) in steps(project, "zeppelin", mode)


def test_a_copied_step_is_recalled_only_where_it_happened(recorded: Program, project: Project) -> None:
    assert {key for key, _ in recalled(recorded, "gateway timed out")} == {"parent"}


def test_a_copied_error_is_counted_once_in_patterns(recorded: Program, project: Project) -> None:
    read(project)
    assert set(pattern_counts(project, min_sessions=1).values()) == {(1, 1)}


def test_a_copied_solution_yields_one_training_pair(recorded: Program) -> None:
    found = recorded.get("/training")
    lines = b"".join(found.streaming_content).decode().splitlines()
    assert len(lines) == 1


def test_a_transcript_contains_copied_steps_with_known_tokens(recorded: Program) -> None:
    parent, fork = (read_transcript(recorded, key) for key in ("parent", "fork"))
    assert sequences(fork) == [1, 2, 3, 4]
    assert not fork["tokens"]["estimated"]
    assert fork["tokens"]["recorded"] > parent["tokens"]["recorded"]
    own = Action.objects.filter(session__key="fork")
    assert SearchedAction.objects.filter(action__in=own, tokens__isnull=False).count() == len(own)
    assert [each["copied"] for each in fork["items"]] == [True, True, True, False]
    text = b"".join(recorded.get("/sessions/fork/transcript?as=text").streaming_content).decode()
    assert "[1] user, copied, error: The gateway" in text
    assert "[4] user: And the zeppelin?" in text


def test_a_summary_quotes_what_happened_in_the_session(recorded: Program) -> None:
    answer = recorded.post("/sessions/fork/summaries", {"collection": "lessons"})
    assert (answer.status_code, answer.json()["steps"]) == (201, [4])


def test_a_session_of_copies_has_nothing_to_summarise(recorded: Program) -> None:
    assert recorded.post("/sessions", {"name": "copies", "key": "copies"}).status_code == 201
    copy = TURNS[0] | {"copied_from": {"session": "parent", "step": 1}}
    recorded.post("/sessions/copies/actions", {"actions": [copy]})
    answer = recorded.post("/sessions/copies/summaries", {"collection": "lessons"})
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_summarise")


def test_the_original_of_a_copied_error_is_no_other_occurrence(recorded: Program, project: Project) -> None:
    read(project)
    assert similar_to_step(project, "fork:3") == []


def test_a_copy_that_comes_later_is_no_outcome(recorded: Program, project: Project) -> None:
    question = {"kind": "message", "role": "user", "output": "Does the printer jam?"}
    solved = {"kind": "message", "role": "agent", "output": "Clean it.", "significance": "solution"}
    copy = solved | {"output": "Shake it.", "copied_from": {"session": "parent", "step": 2}}
    for key, then in (("jam", solved), ("jam-2", copy)):
        recorded.post("/sessions", {"name": key, "key": key})
        recorded.post(f"/sessions/{key}/actions", {"actions": [question, then]})
    index(project)
    asked = {"queries": ["printer jam"], "mode": "text", "budget": 2_000}
    text = recorded.post("/recall", asked).json()["text"]
    assert ("Clean it." in text, "Shake it." in text) == (True, False)
