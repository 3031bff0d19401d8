"""Several files of one Claude Code session, imported in any order."""

from itertools import permutations
from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import answer, line, result, text, user
from tests.recording.importing.sample_files import lines
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import ImportDone, import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db

PROMPT = "Survey the barn."
CALL = {
    "type": "tool_use",
    "id": "t1",
    "name": "Agent",
    "input": {"subagent_type": "surveyor", "prompt": PROMPT},
}
USAGE = {"input_tokens": 10, "output_tokens": 1}
MAIN = [
    user("Tour the farm.", "u1"),
    answer(CALL, uuid="a1", message={"usage": USAGE}),
    user([result("It has doors.")], "u2", toolUseResult={"agentId": "a1b2", "status": "completed"}),
    answer(text("Toured."), uuid="a2", message={"id": "m2", "usage": USAGE}),
]
SIDE = {"isSidechain": True, "agentId": "a1b2"}
SUB = [
    user(PROMPT, "s1", **SIDE),
    answer(text("It has doors."), uuid="s2", message={"id": "m3", "usage": USAGE}, **SIDE),
    user("Count them.", "s3", **SIDE),
]
OF_SUB = {"s1", "s2", "s2/1", "s3"}


def imported(project: Project, *records: dict[str, Any]) -> ImportDone:
    return import_file(project, lines(*records), by="test")


def steps() -> dict[str | None, Action]:
    return {each.client_id: each for each in Action.objects.filter(session__key="s1").order_by("sequence")}


def ways_up(found: dict[str | None, Action], of: set[str]) -> set[tuple[str | None, ...]]:
    """The steps above each of these."""

    def above(client_id: str | None) -> tuple[str | None, ...]:
        parent = found[client_id].parent_id_given
        return () if parent is None else (parent, *above(parent))

    return {above(each) for each in of}


FILES = {"main": MAIN, "sub": SUB, "beginning of sub": SUB[:2], "beginning of main": MAIN[:2]}


@pytest.mark.parametrize("order", list(permutations(FILES)))
def test_a_sub_agent_stands_under_its_call_whichever_file_comes_first(
    project: Project, order: tuple[str, ...]
) -> None:
    for name in order:
        imported(project, *FILES[name])
    found = steps()
    before = len(found)

    assert found.keys() > OF_SUB
    assert all(way[-2:] == ("a1/1", "a1") for way in ways_up(found, OF_SUB))
    assert {found[each].agent for each in OF_SUB} == {"agent-a1b2"}
    assert [each.client_id for each in found.values() if (each.kind, each.role) == ("message", "user")] == [
        "u1"
    ]
    session = Session.objects.get()
    assert (session.name, session.input_tokens) == ("Tour the farm.", 30)
    again = [imported(project, *FILES[name]).sessions[0] for name in FILES]
    assert [each.actions - each.already_there for each in again] == [0, 0, 0, 0]
    assert len(steps()) == before


def test_with_the_call_recorded_first_the_steps_are_directly_under_it(project: Project) -> None:
    for records in (MAIN, SUB):
        imported(project, *records)

    assert "agent-a1b2" not in steps()
    assert ways_up(steps(), {"s1", "s2", "s3"}) == {("a1/1", "a1")}


def test_a_later_title_names_the_session_unless_a_person_did_here(project: Project) -> None:
    title = line("custom-title", customTitle="Farm tour")
    generated = line("ai-title", aiTitle="Touring a farm")
    names = []
    for records in (MAIN[:1], [*MAIN, generated], [*MAIN, generated, title], MAIN):
        imported(project, *records)
        names.append(Session.objects.get().name)
    Session.objects.update(name="Mine")
    imported(project, *MAIN, generated, title, line("custom-title", customTitle="Other"))

    assert names == ["Tour the farm.", "Touring a farm", "Farm tour", "Farm tour"]
    assert Session.objects.get().name == "Mine"
