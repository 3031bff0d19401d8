"""Background indexing: nothing is lost or indexed twice, and any text can be indexed."""

from datetime import timedelta

import pytest
from django.core.management import call_command

from tests.memory.search.recorded import found, index, message, session_of, steps
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Unavailable
from timemachine.jobs.registry import overdue
from timemachine.memory.search import indexing
from timemachine.memory.search.models import ActionMeaning, IndexedSession, Indexing, SearchedAction
from timemachine.memory.tasks import index_steps
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.deletions import erase_session

pytestmark = pytest.mark.django_db


def test_a_step_is_found_once_indexed_and_counted_as_pending_until_then(project: Project) -> None:
    session = session_of(project, message("The gateway timed out."), message("Restart it."))
    assert indexing.count_not_indexed(project) == 2
    assert found(project, "gateway").not_indexed == 2
    assert steps(project, "gateway") == []
    index(project)
    assert indexing.count_not_indexed(project) == 0
    assert steps(project, "gateways") == [("a run", 1)]
    append(session.id, [message("The gateway again.")])
    assert indexing.count_not_indexed(project) == 1
    index(project)
    assert sorted(steps(project, "gateway")) == [("a run", 1), ("a run", 3)]
    assert SearchedAction.objects.count() == ActionMeaning.objects.count() == 3


def test_more_steps_than_a_batch_are_all_indexed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BATCH", 3)
    session = session_of(project, *(message(f"step number{n}") for n in range(1, 11)))
    index(project)
    assert SearchedAction.objects.filter(session=session).count() == 10
    assert steps(project, "number10") == [("a run", 10)]


def test_a_batch_ends_when_its_payloads_grow_too_large_but_has_at_least_one_step(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH_BYTES", 10)
    session = session_of(project, message("much more than ten bytes"), message("again more than ten bytes"))
    assert indexing.index_some(project.id, session.id, 0)
    assert SearchedAction.objects.count() == 1
    index(project)
    assert SearchedAction.objects.count() == 2


def test_when_the_time_is_up_more_work_is_reported(project: Project) -> None:
    session_of(project, message("one"))
    assert indexing.index_new_steps(project.id, seconds=-1)
    row = Indexing.objects.get(project=project)
    assert row.lease_until is None
    assert overdue(index_steps) == [project.id]


def test_a_project_is_not_enqueued_twice_or_while_a_worker_has_it(project: Project) -> None:
    assert overdue(index_steps) == []
    session_of(project, message("one"))
    assert overdue(index_steps) == [project.id]
    assert overdue(index_steps) == []
    Indexing.objects.update(enqueued_at=now() - timedelta(minutes=1))
    assert indexing.BACKLOG.is_due(project.id)
    Indexing.objects.update(enqueued_at=None, lease_until=now() + timedelta(seconds=9))
    assert overdue(index_steps, at_start=True) == []
    assert not indexing.index_new_steps(project.id)
    assert indexing.count_not_indexed(project) == 1


def test_a_killed_worker_blocks_no_other_after_its_lease_expires(project: Project) -> None:
    session_of(project, message("one"))
    Indexing.objects.create(project=project, lease_until=now() - timedelta(seconds=1))
    index(project)
    assert indexing.count_not_indexed(project) == 0


def test_a_worker_killed_between_its_rows_leaves_no_partial_state(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_of(project, message("one gateway"))

    def dying(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ActionMeaning.objects, "bulk_create", dying)
        with pytest.raises(KeyboardInterrupt):
            indexing.index_new_steps(project.id)
    assert SearchedAction.objects.count() == 0
    Indexing.objects.update(lease_until=now() - timedelta(seconds=1))
    index(project)
    assert steps(project, "gateway") == [("a run", 1)]


def test_steps_indexed_by_two_workers_are_stored_once(project: Project) -> None:
    session = session_of(project, message("one"), message("two"))
    assert indexing.index_some(project.id, session.id, 0)
    assert not indexing.index_some(project.id, session.id, 0)
    assert not indexing.index_some(project.id, session.id, 2)
    assert SearchedAction.objects.count() == 2
    assert IndexedSession.objects.get().indexed_through == 2


def test_erasing_a_session_removes_its_rows(project: Project) -> None:
    session = session_of(project, message("secret gateway"))
    other = session_of(project, message("open gateway"), name="kept")
    index(project)
    erase_session(session)
    assert steps(project, "gateway") == [("kept", 1)]
    assert {row.session_id for row in SearchedAction.objects.all()} == {other.id}
    assert ActionMeaning.objects.count() == IndexedSession.objects.count() == 1


def test_a_session_erased_during_indexing_leaves_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(project, message("secret gateway"))
    embed = indexing.MODEL.embed

    def erasing(texts: list[str]) -> object:
        erase_session(session)
        return embed(texts)

    monkeypatch.setattr(indexing, "_embed", erasing)
    assert not indexing.index_some(project.id, session.id, 0)
    assert SearchedAction.objects.count() == 0


def test_without_the_model_files_words_are_still_found(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> object:
        raise Unavailable("The files are missing.")

    monkeypatch.setattr(indexing, "_embed", missing)
    session_of(project, message("the gateway"))
    index(project)
    assert steps(project, "gateway") == [("a run", 1)]
    assert ActionMeaning.objects.count() == 0


@pytest.mark.parametrize(
    ("text", "word", "cut"),
    [
        ("before\x00after needle", "needle", False),
        ("lone \ud800 needle", "needle", False),
        ("needle " + "x" * 5_000_000, "needle", True),
        ("x" * 4_000 + " needle", "needle", False),
        (" ".join(f"word{n}" for n in range(100_000)) + " needle", "word20000", True),
        ("needle " + " ".join(f"http://h{n}.example.org/a{n}/b?q={n}" for n in range(9_000)), "needle", True),
        ({"deep": [{"text": "needle", "n": 404}]}, "404 needle", False),
        ({"content": "needle " + "y z " * 200_000}, "needle", True),
        ("<script>alert('needle')</script>", "needle", False),
        ("' || needle & | ! <-> :* \\", "needle", False),
    ],
    ids=[
        "nul",
        "surrogate",
        "5 MB",
        "long lexeme",
        "100,000 words",
        "too many lexemes",
        "json",
        "cut json",
        "markup",
        "operators",
    ],
)
def test_any_text_can_be_indexed(project: Project, text: object, word: str, cut: bool) -> None:
    session_of(project, message(text), message("harmless"))
    index(project)
    assert indexing.count_not_indexed(project) == 0
    assert steps(project, word) == [("a run", 1)]
    [group] = found(project, word, mode="text").groups
    assert group.hits[0].cut is cut
    assert steps(project, "harmless") == [("a run", 2)]


def test_text_after_the_first_256_kb_is_not_searched_and_this_is_reported(project: Project) -> None:
    session_of(project, message("first " + "filler " * 60_000 + "last"))
    index(project)
    assert steps(project, "last") == []
    assert found(project, "first", mode="text").groups[0].hits[0].cut


def test_errors_names_tools_and_both_payloads_are_searched(project: Project) -> None:
    session_of(
        project,
        message(
            "the outcome",
            kind="tool_call",
            role=None,
            input={"command": "grep"},
            tool="terminal",
            name="looking",
            error_type="PermissionError",
            error_message="access denied",
        ),
    )
    index(project)
    for word in ("outcome", "grep", "terminal", "looking", "PermissionError", "denied"):
        assert steps(project, word) == [("a run", 1)], word


def test_the_operator_command_indexes_the_remaining_steps_or_all_of_them(
    project: Project, other_project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    session_of(project, message("one"), message("two"))
    call_command("index_steps")
    assert "Prüfung: 2 steps indexed" in capsys.readouterr().out
    call_command("index_steps", again=True)
    assert "Prüfung: 2 steps indexed" in capsys.readouterr().out
    Indexing.objects.filter(project=project).update(lease_until=now() + timedelta(minutes=1))
    call_command("index_steps", again=True)
    assert "Prüfung: 0 steps indexed; 2 steps left" in capsys.readouterr().out
