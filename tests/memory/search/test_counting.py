"""How many steps hold a word is kept, and reads as if it were counted at each question."""

import pytest

from tests.memory.search.recorded import index, said, session_of
from timemachine.core.accounts.models import Project
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.memory.search import counting
from timemachine.memory.search.models import CountedWord
from timemachine.memory.search.recall.retrievers import Term, terms_of
from timemachine.recording.sessions.deletions import erase_session

pytestmark = pytest.mark.django_db
QUESTION = "which gateway lost the pool at parser.js:42, and the mutex?"


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_WORTH_COUNTING", 8)
    monkeypatch.setattr(counting, "_CACHED_FROM", 2)


def _counted_now(project: Project) -> list[Term]:
    CountedWord.objects.filter(project=project).delete()
    return terms_of(project, QUESTION)


def _kept(project: Project) -> dict[str, int]:
    """The words that are kept, without how many steps there were."""
    kept = CountedWord.objects.filter(project=project).exclude(word="")
    return dict(kept.values_list("word", "steps"))


@pytest.mark.usefixtures("_few_are_many")
def test_words_that_many_steps_hold_are_kept_and_weigh_what_they_weigh_counted(
    project: Project, other_project: Project
) -> None:
    told = [*["the gateway"] * 5, *["a pool"] * 3, "the mutex", "lost at parser.js:42"]
    session_of(project, *map(said, told))
    session_of(other_project, *map(said, [*["the mutex"] * 7, "the gateway"]))
    index(project)
    index(other_project)
    assert _kept(project) == {"gateway": 5, "pool": 3}
    assert _kept(other_project) == {"mutex": 7}
    found = terms_of(project, QUESTION)
    assert {term.term: term.steps for term in found}.items() >= {"gateway": 5, "pool": 3, "mutex": 1}.items()
    assert found == _counted_now(project)


@pytest.mark.usefixtures("_few_are_many")
def test_they_are_counted_anew_where_there_are_a_quarter_more_steps_and_grow_with_them_until_then(
    project: Project,
) -> None:
    session_of(project, *map(said, ["the gateway"] * 10))
    index(project)
    session_of(project, *map(said, ["the gateway"] * 2))
    index(project)
    assert _kept(project) == {"gateway": 10}
    assert terms_of(project, QUESTION) == _counted_now(project)
    session_of(project, said("the gateway"))
    index(project)
    assert _kept(project) == {"gateway": 13}


@pytest.mark.usefixtures("_few_are_many")
def test_nothing_is_kept_of_a_project_when_something_of_it_was_deleted_and_a_worker_counts_again(
    project: Project, other_project: Project
) -> None:
    for each in (project, other_project):
        session_of(each, *map(said, ["the gateway"] * 8))
    gone = session_of(project, *map(said, ["of jane@example.com"] * 6))
    index(project)
    index(other_project)
    assert _kept(project).items() >= {"gateway": 8, "=jane@example.com": 6}.items()
    erase_session(gone)
    assert not CountedWord.objects.filter(project=project).exists()
    assert [term.steps for term in terms_of(project, QUESTION)] == [8]
    index(project)
    assert _kept(project) == {"gateway": 8}
    assert _kept(other_project) == {"gateway": 8}


@pytest.mark.usefixtures("_few_are_many")
def test_a_word_of_turns_that_were_deleted_is_kept_nowhere(project: Project) -> None:
    session = session_of(project, *map(said, [*["the gateway"] * 8, *["of jane@example.com"] * 2]))
    index(project)
    assert "=jane@example.com" in _kept(project)
    for step in session.actions.filter(sequence__gt=8):
        delete_turn(step, reason="she asked for it", by="test")
    assert not CountedWord.objects.filter(project=project).exists()
    index(project)
    kept = _kept(project)
    assert kept["gateway"] == 8
    assert "=jane@example.com" not in kept


@pytest.mark.usefixtures("_few_are_many")
def test_a_word_that_may_be_common_or_not_is_counted_at_the_question(project: Project) -> None:
    session_of(project, *map(said, ["the gateway"] * 10))
    index(project)
    CountedWord.objects.filter(project=project, word="gateway").update(steps=counting.MANY + 1)
    assert [term.steps for term in terms_of(project, QUESTION)] == [10]
    CountedWord.objects.filter(project=project, word="gateway").update(steps=2 * counting.MANY)
    assert [term.steps for term in terms_of(project, QUESTION)] == [counting.MANY]


@pytest.mark.usefixtures("_few_are_many")
def test_of_very_many_steps_a_part_is_counted_whatever_they_alternate_with(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_PART", 300)
    session_of(project, *map(said, ["the gateway", "a pool"] * 200))
    index(project)
    assert set(_kept(project)) == {"gateway", "pool"}
    assert all(100 < steps < 300 for steps in _kept(project).values())
