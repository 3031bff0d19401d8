"""Whatever sessions repeat of each other, and in whatever order and parts their files are imported, each turn counts once."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recording.importing.claude_code.test_copies import forked, turn
from tests.recording.importing.sample_files import lines
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action

pytestmark = pytest.mark.django_db
COPYING = st.sampled_from(["as they were", "new ids", "other times", "forkedFrom"])
RESUMED = st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(0, 2), COPYING)
"""Which session was resumed, after how many of its turns, how many came after these, and how its lines were copied."""


def copied(records: list[dict[str, Any]], name: str, parent: str, how: str) -> list[dict[str, Any]]:
    if how == "new ids":
        return [{**each, "uuid": f"{name}-{each['uuid']}"} for each in records]
    if how == "other times":
        return [{**each, "timestamp": "2026-09-11T10:00:00Z"} for each in records]
    return forked(records, parent) if how == "forkedFrom" else records


def files_of(resumed: list[tuple[int, int, int, str]]) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """The lines of each session, and how many turns there were."""
    files = {"s0": [*turn(0, "Paint the fence."), *turn(1, "Go on.")]}
    turns = 2
    for number, (origin, after, more, how) in enumerate(resumed, start=1):
        name, parent = f"s{number}", f"s{origin % number}"
        whole = files[parent]
        begun = whole[: 3 * (1 + after % (len(whole) // 3))]
        own = [line for place in range(turns, turns + more) for line in turn(place, "Go on.")]
        turns += more
        files[name] = [*copied(begun, name, parent, how), *own]
    return {name: [{**each, "sessionId": name} for each in records] for name, records in files.items()}, turns


@settings(max_examples=8, deadline=None)
@given(st.lists(RESUMED, min_size=1, max_size=3), st.data())
def test_each_turn_counts_once(resumed: list[Any], data: st.DataObject) -> None:
    project = Project.objects.create(name="another one")
    files, turns = files_of(resumed)
    parts = [(name, len(records)) for name, records in files.items()]
    parts += [(name, 3) for name in files]  # the first turn only
    for name, upto in data.draw(st.permutations(parts)):
        import_file(project, lines(*files[name][:upto]), by="test")

    own = Action.objects.filter(project=project, copied_from__isnull=True)
    for kind in ("llm_call", "tool_call", "tool_result"):
        assert own.filter(kind=kind).count() == turns
    assert own.filter(kind="message", role="user").count() == turns
    assert sum(each.input_tokens or 0 for each in own) == 100 * turns
