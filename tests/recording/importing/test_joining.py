"""The two files of a task of Cline or Roo Code: one session, in whichever order they are imported."""

import copy
from typing import Any

import pytest

from tests.recording.importing.agents.samples import CLINE, CLINE_HISTORY, CLINE_SCREEN, MS
from tests.recording.importing.sample_files import archive, document, read
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import ImportedSession, import_file
from timemachine.recording.importing.pure.joining import paired
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.validation import KEY

pytestmark = pytest.mark.django_db
ROO_SCREEN: list[dict[str, Any]] = [{**CLINE_SCREEN[0], "say": "text"}, *CLINE_SCREEN[1:]]
"""Roo Code shows the task as a text."""
ROO_HISTORY: list[dict[str, Any]] = [
    {**CLINE_HISTORY[0], "content": [{"type": "text", "text": "<user_message>\nMend\nit\n</user_message>"}]},
    *CLINE_HISTORY[1:],
]
UNTIMED = [{name: value for name, value in each.items() if name != "ts"} for each in CLINE_HISTORY]


def imported(project: Project, *files: Any) -> ImportedSession:
    for each in files:
        done = import_file(project, document(each), by="test").sessions[0]
    return done


def totals(project: Project) -> tuple[Any, ...]:
    (session,) = Session.objects.filter(project=project)
    happened = Action.objects.filter(session=session, copied_from__isnull=True)
    sums = session.input_tokens, session.output_tokens, float(session.cost_usd or 0)
    return happened.filter(kind="llm_call").count(), *sums


def later(messages: list[dict[str, Any]], milliseconds: int) -> list[dict[str, Any]]:
    return [{**each, "ts": each["ts"] + milliseconds} for each in copy.deepcopy(messages)]


@pytest.mark.parametrize(
    "files",
    [
        (CLINE_HISTORY, CLINE_SCREEN),
        (CLINE_SCREEN, CLINE_HISTORY),
        (ROO_HISTORY, ROO_SCREEN),
        (ROO_SCREEN, ROO_HISTORY),
        (CLINE_HISTORY, CLINE_SCREEN, CLINE_HISTORY, CLINE_SCREEN),
        (CLINE_SCREEN, CLINE_HISTORY, CLINE_SCREEN, CLINE_HISTORY),
    ],
)
def test_both_files_are_one_session_with_the_totals_of_the_archive(project: Project, files: Any) -> None:
    whole = Project.objects.create(name="whole")
    members = {"1/api_conversation_history.json": CLINE_HISTORY, "1/ui_messages.json": CLINE_SCREEN}
    import_file(whole, archive(members), by="test")
    imported(project, *files)
    assert totals(project) == totals(whole)


@pytest.mark.parametrize("first", [CLINE_HISTORY, CLINE_SCREEN])
def test_what_repeats_the_first_file_is_copied(project: Project, first: Any) -> None:
    second = CLINE_SCREEN if first is CLINE_HISTORY else CLINE_HISTORY
    alone = imported(Project.objects.create(name="alone"), first).session
    session = imported(project, first, second).session
    counted = ("message", "tool_call", "tool_result")
    there, here = (
        {
            kind: Action.objects.filter(session=each, kind=kind, copied_from__isnull=True).count()
            for kind in counted
        }
        for each in (alone, session)
    )
    assert here == there
    assert session.key == alone.key
    copied = Action.objects.filter(session=session, copied_from__isnull=False)
    assert {each.copied_from["session"] for each in copied if each.copied_from} == {session.key}
    assert copied.count() > 5


def test_files_without_times_are_joined_if_only_one_session_has_these_words(project: Project) -> None:
    assert imported(project, UNTIMED, CLINE_SCREEN).session.key == imported(project, UNTIMED).session.key
    assert Session.objects.count() == 1


def test_a_file_that_is_a_session_is_not_joined_later(project: Project) -> None:
    nearer, farther = (imported(project, later(CLINE_SCREEN, by)).session for by in (0, 3_600_000))
    alone = imported(project, UNTIMED).session
    erase_session(nearer)
    assert imported(project, UNTIMED).session.id == alone.id
    assert Action.objects.filter(session=farther, copied_from__isnull=False).count() == 0


@pytest.mark.parametrize(
    ("second", "sessions"),
    [
        (later(CLINE_SCREEN, 200_000), 1),
        (later(CLINE_SCREEN, 400_000), 2),
        ([{**CLINE_SCREEN[0], "text": "Mend that"}, *CLINE_SCREEN[1:]], 2),
        (later(CLINE_HISTORY, 1_000), 2),
        ([{**CLINE_SCREEN[0], "text": ""}, *CLINE_SCREEN[1:]], 2),
    ],
)
def test_only_the_other_file_of_the_same_task_is_joined(project: Project, second: Any, sessions: int) -> None:
    imported(project, CLINE_HISTORY, second)
    assert Session.objects.count() == sessions


def test_the_nearest_task_is_joined(project: Project) -> None:
    early, late = (imported(project, later(CLINE_HISTORY, by)).session for by in (0, 60_000))
    assert imported(project, later(CLINE_SCREEN, 55_000)).session.id == late.id
    assert imported(project, CLINE_SCREEN).session.id == early.id


def test_the_files_of_the_sdk_are_one_session(project: Project) -> None:
    about = {
        "session_id": CLINE["sessionId"], "messages_path": "x.messages.json", "started_at": "2026-03-01T10:00:00Z",
        "metadata": {"title": "Mend it"},
    }  # fmt: skip
    for files in ((about, CLINE), (CLINE, about)):
        elsewhere = Project.objects.create(name=f"p{id(files)}")
        session = imported(elsewhere, *files).session
        assert Session.objects.filter(project=elsewhere).count() == 1
        assert (session.key, session.actions.filter(kind="llm_call").count()) == (CLINE["sessionId"], 1)


def test_a_fork_of_the_sdk_in_an_archive_has_copied_steps() -> None:
    about = {
        "session_id": "s9", "messages_path": "s9.messages.json", "metadata": {
            "title": "Fork", "fork": {"forkedFromSessionId": "s1", "forkedAt": "2027-03-01T10:00:00Z"}},
    }  # fmt: skip
    (session,) = read(archive({"s9/s9.json": about, "s9/s9.messages.json": CLINE})).sessions
    assert (session.key, session.name, session.forked_from) == ("s9", "Fork", "s1")
    timed = [each for each in session.actions if each.started_at is not None]
    assert timed
    assert all(each.copied_from == {"session": "s1", "step": each.id} for each in timed)
    (odd,) = read(archive({"s9.json": about | {"session_id": "s 9"}, "s9.messages.json": CLINE})).sessions
    assert KEY.fullmatch(odd.key)
    (alone,) = read(archive({"s9.messages.json": CLINE, "s9.json": {"other": 1}})).sessions
    assert all(each.copied_from is None for each in alone.actions)


@pytest.mark.parametrize(
    ("answers", "requests", "expected"),
    [
        ([2, 5], [1, 3, 4], {0: 0, 1: 2}),
        ([None, 5], [1], {1: 0}),
        ([None, None], [1, None], {0: 0, 1: 1}),
        ([None], [], {}),
        ([0.5], [1], {}),
        ([MS], [None], {}),
    ],
)
def test_requests_are_paired_with_answers(answers: Any, requests: Any, expected: dict[int, int]) -> None:
    assert paired(answers, requests) == expected
