"""How many steps hold a word is kept, and reads as if it were counted at each question."""

import pytest

from tests.search.recorded import index, said, session_of
from timemachine.accounts.models import Project
from timemachine.recall.legs import Term, terms_of
from timemachine.recording.erasure import erase_session
from timemachine.search import counting
from timemachine.search.models import CountedWord

pytestmark = pytest.mark.django_db
QUESTION = "which gateway lost the pool at parser.js:42, and the mutex?"


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_WORTH_COUNTING", 8)
    monkeypatch.setattr(counting, "_KEPT_FROM", 2)


def _counted_now(project: Project) -> list[Term]:
    CountedWord.objects.filter(project=project).delete()
    return terms_of(project, QUESTION)


def _kept(project: Project) -> dict[str, int]:
    return dict(CountedWord.objects.filter(project=project).values_list("word", "steps"))


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
def test_where_many_steps_went_words_are_counted_at_the_question(project: Project) -> None:
    session_of(project, *map(said, ["the gateway"] * 4))
    gone = session_of(project, *map(said, ["the gateway"] * 6))
    index(project)
    erase_session(gone)
    assert _kept(project) == {"gateway": 10}
    assert [term.steps for term in terms_of(project, QUESTION)] == [4]


@pytest.mark.usefixtures("_few_are_many")
def test_of_very_many_steps_a_part_is_counted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_PART", 10)
    session_of(project, *map(said, ["the gateway"] * 18))
    index(project)
    assert _kept(project) == {"gateway": 18}
