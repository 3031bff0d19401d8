"""Stored counts of steps per word give the same results as counting for each question."""

import pytest

from tests.memory.search.recorded import index, message, session_of
from timemachine.core.accounts.models import Project
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.memory.search import counting
from timemachine.memory.search.models import CountedWord
from timemachine.memory.search.recall.retrievers import Term, terms_of
from timemachine.recording.sessions.deletions import erase_session

pytestmark = pytest.mark.django_db
QUESTION = "which gateway lost the pool at parser.js:42, and the mutex?"


@pytest.fixture
def _low_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_WORTH_COUNTING", 8)
    monkeypatch.setattr(counting, "_CACHED_FROM", 2)


def _counted_now(project: Project) -> list[Term]:
    CountedWord.objects.filter(project=project).delete()
    return terms_of(project, QUESTION)


def _stored(project: Project) -> dict[str, int]:
    """Return the stored words, without the total number of steps."""
    rows = CountedWord.objects.filter(project=project).exclude(word="")
    return dict(rows.values_list("word", "steps"))


@pytest.mark.usefixtures("_low_thresholds")
def test_common_words_are_stored_and_weighted_as_if_counted_now(
    project: Project, other_project: Project
) -> None:
    texts = [*["the gateway"] * 5, *["a pool"] * 3, "the mutex", "lost at parser.js:42"]
    session_of(project, *map(message, texts))
    session_of(other_project, *map(message, [*["the mutex"] * 7, "the gateway"]))
    index(project)
    index(other_project)
    assert _stored(project) == {"gateway": 5, "pool": 3}
    assert _stored(other_project) == {"mutex": 7}
    found = terms_of(project, QUESTION)
    assert {term.term: term.steps for term in found}.items() >= {"gateway": 5, "pool": 3, "mutex": 1}.items()
    assert found == _counted_now(project)


@pytest.mark.usefixtures("_low_thresholds")
def test_words_are_recounted_after_a_quarter_more_steps_and_scaled_until_then(
    project: Project,
) -> None:
    session_of(project, *map(message, ["the gateway"] * 10))
    index(project)
    session_of(project, *map(message, ["the gateway"] * 2))
    index(project)
    assert _stored(project) == {"gateway": 10}
    assert terms_of(project, QUESTION) == _counted_now(project)
    session_of(project, message("the gateway"))
    index(project)
    assert _stored(project) == {"gateway": 13}


@pytest.mark.usefixtures("_low_thresholds")
def test_a_deletion_drops_the_counts_of_a_project_until_a_worker_recounts(
    project: Project, other_project: Project
) -> None:
    for each in (project, other_project):
        session_of(each, *map(message, ["the gateway"] * 8))
    deleted = session_of(project, *map(message, ["of jane@example.com"] * 6))
    index(project)
    index(other_project)
    assert _stored(project).items() >= {"gateway": 8, "=jane@example.com": 6}.items()
    erase_session(deleted)
    assert not CountedWord.objects.filter(project=project).exists()
    assert [term.steps for term in terms_of(project, QUESTION)] == [8]
    index(project)
    assert _stored(project) == {"gateway": 8}
    assert _stored(other_project) == {"gateway": 8}


@pytest.mark.usefixtures("_low_thresholds")
def test_a_word_of_deleted_turns_is_not_stored(project: Project) -> None:
    session = session_of(project, *map(message, [*["the gateway"] * 8, *["of jane@example.com"] * 2]))
    index(project)
    assert "=jane@example.com" in _stored(project)
    for step in session.actions.filter(sequence__gt=8):
        delete_turn(step, reason="she asked for it", by="test")
    assert not CountedWord.objects.filter(project=project).exists()
    index(project)
    stored = _stored(project)
    assert stored["gateway"] == 8
    assert "=jane@example.com" not in stored


@pytest.mark.usefixtures("_low_thresholds")
def test_a_word_close_to_the_common_threshold_is_counted_per_question(project: Project) -> None:
    session_of(project, *map(message, ["the gateway"] * 10))
    index(project)
    CountedWord.objects.filter(project=project, word="gateway").update(steps=counting.MANY + 1)
    assert [term.steps for term in terms_of(project, QUESTION)] == [10]
    CountedWord.objects.filter(project=project, word="gateway").update(steps=2 * counting.MANY)
    assert [term.steps for term in terms_of(project, QUESTION)] == [counting.MANY]


@pytest.mark.usefixtures("_low_thresholds")
def test_with_very_many_steps_a_sample_is_counted_without_bias_from_alternation(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_PART", 300)
    session_of(project, *map(message, ["the gateway", "a pool"] * 200))
    index(project)
    assert set(_stored(project)) == {"gateway", "pool"}
    assert all(100 < steps < 300 for steps in _stored(project).values())
