"""Resumed and forked sessions of Claude Code: what they repeat is counted once, and they go on from their parent."""

from itertools import permutations
from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import answer, result, text, user
from tests.recording.importing.sample_files import lines
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}


def at(minute: int) -> str:
    return f"2026-09-10T10:{minute:02}:00Z"


def turn(number: int, words: str) -> list[dict[str, Any]]:
    """A prompt, an answer with a call, and its result."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    message = {"id": f"m{number}", "usage": usage}
    return [
        user(words, f"u{number}", timestamp=at(3 * number)),
        answer(
            text("Done."),
            CALL | {"id": f"t{number}"},
            uuid=f"a{number}",
            message=message,
            requestId=f"r{number}",
            timestamp=at(3 * number + 1),
        ),
        user([result("ok", f"t{number}")], f"r{number}", timestamp=at(3 * number + 2)),
    ]


def of(session: str, *turns: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    return [{**record, "sessionId": session, **fields} for each in turns for record in each]


def forked(records: list[dict[str, Any]], parent: str) -> list[dict[str, Any]]:
    return [{**each, "forkedFrom": {"sessionId": parent, "messageUuid": each["uuid"]}} for each in records]


FENCE, GATE, ROOF, WALL = (
    turn(n, words) for n, words in enumerate(["Paint the fence.", "The gate.", "The roof.", "The wall."])
)
FIRST = of("first", FENCE)
RESUMED = of("resumed", FENCE, GATE)
TWICE = of("twice", FENCE, GATE, ROOF)


def imported(project: Project, *files: list[dict[str, Any]]) -> None:
    for records in files:
        import_file(project, lines(*records), by="test")


def own(key: str) -> list[str | None]:
    """The steps of a session that happened in it."""
    steps = Action.objects.filter(session__key=key, copied_from__isnull=True).order_by("sequence")
    return list(steps.values_list("client_id", flat=True))


def calls() -> list[str | None]:
    found = Action.objects.filter(kind="llm_call", copied_from__isnull=True).order_by("client_id")
    return list(found.values_list("client_id", flat=True))


def parents() -> dict[str, tuple[str | None, int | None]]:
    found = Session.objects.values_list("key", "parent__key", "parent_sequence")
    return {key: (parent, sequence) for key, parent, sequence in found}


STEPS = ["u{}", "a{}", "a{}/1", "a{}/2", "r{}/1"]


def steps(number: int) -> list[str]:
    return [each.format(number) for each in STEPS]


def test_a_resumed_session_has_copies_and_goes_on_from_the_first(project: Project) -> None:
    imported(project, FIRST, RESUMED)

    assert (own("first"), own("resumed")) == (steps(0), steps(1))
    assert parents() == {"first": (None, None), "resumed": ("first", 5)}
    copies = (
        Action.objects.filter(session__key="resumed").exclude(copied_from__isnull=True).order_by("sequence")
    )
    assert [each.copied_from for each in copies] == [{"session": "first", "step": each} for each in steps(0)]


def test_with_the_resumed_session_imported_first_the_other_has_the_copies(project: Project) -> None:
    imported(project, RESUMED, FIRST)

    assert (own("first"), own("resumed")) == ([], [*steps(0), *steps(1)])
    assert parents() == {"first": (None, None), "resumed": ("first", 5)}


@pytest.mark.parametrize("files", list(permutations([FIRST, RESUMED, TWICE])))
def test_each_answer_counts_once_and_each_session_has_its_parent_in_any_order(
    project: Project, files: tuple[list[dict[str, Any]], ...]
) -> None:
    imported(project, *files)
    before = Action.objects.count()
    imported(project, *files)

    assert calls() == ["a0", "a1", "a2"]
    assert {key: parent for key, (parent, _) in parents().items()} == {
        "first": None, "resumed": "first", "twice": "resumed",
    }  # fmt: skip
    assert Action.objects.count() == before == 30


@pytest.mark.parametrize("files", list(permutations([FIRST, RESUMED, of("other", FENCE, WALL)])))
def test_several_sessions_that_go_on_from_one_are_its_branches_in_any_order(
    project: Project, files: tuple[list[dict[str, Any]], ...]
) -> None:
    imported(project, *files)

    assert calls() == ["a0", "a1", "a3"]
    assert parents() == {"first": (None, None), "resumed": ("first", 5), "other": ("first", 5)}


@pytest.mark.parametrize("copied_at", [at(50), None])
def test_answers_that_were_copied_later_or_have_no_times_count_once(
    project: Project, copied_at: str | None
) -> None:
    copied = [{**each, "timestamp": copied_at} for each in of("resumed", FENCE)]
    gate = [{**each, "timestamp": copied_at and at(51)} for each in of("resumed", GATE)]
    imported(project, FIRST if copied_at else of("first", FENCE, timestamp=None), [*copied, *gate])

    assert calls() == ["a0", "a1"]
    assert parents() == {"first": (None, None), "resumed": ("first", 5)}


def test_a_session_that_also_went_on_is_the_parent_if_it_did_so_earlier(project: Project) -> None:
    imported(project, of("late", FENCE, ROOF), of("early", FENCE, GATE))

    assert parents() == {"late": ("early", 5), "early": (None, None)}
    assert calls() == ["a0", "a1", "a2"]


@pytest.mark.parametrize("is_parent_first", [True, False])
def test_forked_lines_are_copies_whichever_file_comes_first(project: Project, is_parent_first: bool) -> None:
    fork = [*forked(of("fork", FENCE), "first"), *of("fork", GATE)]
    imported(project, *([FIRST, fork] if is_parent_first else [fork, FIRST]))

    assert (own("first"), own("fork")) == (steps(0), steps(1))
    assert parents() == {"first": (None, None), "fork": ("first", 5)}


def test_a_fork_whose_lines_have_new_ids_is_still_one_of_its_parent(project: Project) -> None:
    renamed = [{**each, "uuid": f"new-{each['uuid']}"} for each in of("fork", FENCE)]
    origin = [
        {**each, "forkedFrom": {"sessionId": "first", "messageUuid": old["uuid"]}}
        for each, old in zip(renamed, FENCE, strict=True)
    ]
    imported(project, [*origin, *of("fork", GATE)], FIRST)

    assert calls() == ["a0", "a1"]
    assert parents()["fork"] == ("first", 5)


def test_an_answer_that_is_repeated_with_another_id_counts_once(project: Project) -> None:
    replayed = [{**each, "uuid": f"x-{each['uuid']}"} for each in of("second", FENCE)]
    replayed_by_a_sub_agent = [
        {**each, "uuid": f"y-{each['uuid']}", "isSidechain": True, "agentId": "b2"} for each in FIRST
    ]
    imported(project, FIRST, [*replayed, *of("second", GATE)], replayed_by_a_sub_agent)

    assert calls() == ["a0", "a1"]
    copy = Action.objects.get(session__key="second", client_id="x-a0/1")
    assert copy.copied_from == {"session": "first", "step": "a0/1"}
    assert own("second") == steps(1)
    assert own("first") == steps(0)


@pytest.mark.parametrize("later", [{}, {"timestamp": at(59)}])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_copy_with_other_ids_and_times_counts_once(
    project: Project, backwards: bool, later: dict[str, str]
) -> None:
    copied = [{**each, "uuid": f"x-{each['uuid']}", **later} for each in of("second", FENCE, GATE)]
    files = [of("first", FENCE, GATE), [*copied, *of("second", ROOF)]]
    imported(project, *(reversed(files) if backwards else files))

    counted = own("second") if backwards else own("first")
    assert len(counted) == 10 + 5 * backwards
    assert own("first" if backwards else "second") == ([] if backwards else steps(2))
    assert parents() == {"first": (None, None), "second": ("first", 10)}


def test_equal_words_after_the_copied_part_are_no_copies(project: Project) -> None:
    again = turn(5, "Paint the fence.")
    copied = [{**each, "uuid": f"x-{each['uuid']}"} for each in of("second", FENCE)]
    imported(project, FIRST, [*copied, *of("second", again)])

    assert own("second") == steps(5)


def test_equal_ids_of_different_steps_are_no_copies(project: Project) -> None:
    other = [
        {**each, "requestId": "other"} if each["type"] == "assistant" else {**each, "timestamp": at(1)}
        for each in of("second", FENCE)
    ]
    imported(project, FIRST, other, of("third", WALL))

    assert calls() == ["a0", "a0", "a3"]
    assert {parent for parent, _ in parents().values()} == {None}


def test_the_report_says_how_many_steps_are_copies(project: Project) -> None:
    def notes(*records: dict[str, Any]) -> list[str]:
        return import_file(project, lines(*records), by="test").report.notes

    assert notes(*FIRST) == []
    assert notes(*RESUMED) == [
        "5 steps copied from the session first. They are shown as copied and not included in totals."
    ]
    assert notes(*RESUMED) == [
        "5 steps copied from the session first. They are shown as copied and not included in totals."
    ]
    assert notes(*of("mixed", forked(FENCE, "first"), forked(GATE, "resumed"), ROOF)) == [
        "10 steps copied from 2 other sessions. They are shown as copied and not included in totals."
    ]
