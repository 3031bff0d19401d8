"""Recall with filters returns what a check of every turn finds."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any, Final

import pytest
from django.db import connection

from tests.api.conftest import Program, api, stranger
from tests.memory.search.recall.test_recall import found
from tests.memory.search.recorded import index, message, session_of
from timemachine.core.accounts.models import Project
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.knowledge.embedding import table
from timemachine.knowledge.pure.cutoff import COSINE_FLOOR
from timemachine.knowledge.pure.fusion import fuse
from timemachine.knowledge.question import sparse
from timemachine.knowledge.ranking import dense
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.search.recall import retrievers
from timemachine.memory.search.recall.retrievers import terms_of
from timemachine.recording.annotations.significance import commands as weighing
from timemachine.recording.annotations.significance.compression import compress
from timemachine.recording.annotations.significance.queries import IMPORTANCE, SIGNIFICANCE
from timemachine.recording.sessions.commands import end_session
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES
from timemachine.text.pure.language.words import word_set

__all__ = ["api", "stranger"]
pytestmark = pytest.mark.django_db
QUESTION: Final = "why did the gateway lose a connection of the harbour office"
WORDS: Final = sorted(
    word_set(
        "gateway connection pool harbour office lose worker job deploy button screen phone slow query index server letter parcel winter garden"
    )
)
BEGUN: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
SESSIONS: Final = 6
TURNS: Final = 24
FILTERS: Final[dict[str, Any]] = {
    "agent": "ada",
    "user": "ann",
    "session": "s-3",
    "besides": "s-4",
    "tags": ["cause", "backend"],
    "kinds": ["message", "tool_call"],
    "significances": ["decision", "error"],
    "min_importance": 0.9,
    "since": "2026-03-04",
    "until": "2026-03-06T12:00:00Z",
}
FEW: Final[tuple[dict[str, Any], ...]] = (
    {"min_importance": 0},
    {"min_importance": 0.3},
    {"min_importance": 0.31},
    {"min_importance": 0.97, "user": "bob"},
    {"agent": "eve", "since": "2026-03-06"},
    {"significances": ["breakthrough"], "session": "s-5"},
    {"tags": ["none"]},
    {"agent": "a\x00b"},
    {"tags": ["\ud800"]},
    {"user": "nobody"},
    {"session": "s-3", "besides": "s-3"},
    {"since": "2026-03-05T10:00:00Z", "until": "2026-03-05T10:01:00Z"},
)


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> Project:
    """Record turns of every kind, some later given a significance, compressed or deleted; and the same words in another project."""
    project, other_project = (Project.objects.create(name=name) for name in ("ours", "theirs"))
    chance = random.Random(11)
    for number in range(SESSIONS):
        at = BEGUN + timedelta(days=number)
        drafts = [_draft(chance, at + timedelta(minutes=turn)) for turn in range(TURNS)]
        session = session_of(
            project,
            *drafts,
            key=f"s-{number}",
            agent=chance.choice(["ada", "eve", None]),
            user=chance.choice(["ann", "bob", None]),
            tags=chance.sample(["backend", "phones"], chance.randint(0, 2)),
        )
        for sequence in chance.sample(range(1, TURNS + 1), 3):
            weighing.change(session, sequence, by="ann", significance=chance.choice(SIGNIFICANCES))
        for sequence in chance.sample(range(1, TURNS + 1), 2):
            weighing.change(session, sequence, by="ann", importance=chance.choice([0.1, 0.3, 0.9, 0.98]))
        if number % 3 == 0:
            compress(end_session(session.id), by="ann")
            delete_turn(session.actions.get(sequence=7), reason="asked for", by="ann")
    session_of(other_project, *(_draft(chance, BEGUN) for _ in range(10)), key="s-3", agent="ada", user="ann")
    index(project)
    index(other_project)
    indexed = Session.objects.get(project=project, key="s-3")
    delete_turn(indexed.actions.get(sequence=8), reason="asked for", by="ann")
    return project


@pytest.fixture
def project(recorded: Project, db: None) -> Project:
    return Project.objects.get(pk=recorded.pk)


def _draft(chance: random.Random, at: datetime) -> Any:
    kind = chance.choice(["message", "message", "tool_call", "event"])
    return message(
        " ".join(chance.sample(WORDS, chance.randint(2, 8))),
        kind=kind,
        tool="harbour" if kind == "tool_call" else None,
        agent=chance.choice(["ada", "eve", "a\x00b", None, None, None]),
        tags=tuple(chance.sample(["cause", "later", "\ud800"], chance.randint(0, 2))),
        significance=chance.choice([*SIGNIFICANCES, None, None, None]),
        importance=chance.choice([0.05, 0.5, 0.91, 1.0, None, None, None, None]),
        started_at=chance.choice([at, at, None]),
    )


def _filter_sets(together: int) -> Iterator[dict[str, Any]]:
    """Yield no filter, then filters that match few turns, then each one alone and with this many others."""
    yield {}
    yield from FEW
    for number in range(1, together + 1):
        for names in combinations(FILTERS, number) if number < 2 else _some(number):
            yield {name: FILTERS[name] for name in names}


def _some(number: int) -> list[tuple[str, ...]]:
    return random.Random(5).sample(list(combinations(FILTERS, number)), 10)


def test_with_any_filter_recall_finds_what_a_check_of_every_turn_finds(
    api: Program, project: Project
) -> None:
    every = AllTurns(project)
    for mode, together in (("hybrid", 3), ("text", 0), ("semantic", 0)):
        for filters in _filter_sets(together):
            assert found(api, QUESTION, mode=mode, limit=20, **filters) == every.best(mode, filters), (
                mode,
                filters,
            )


def test_common_words_and_cut_windows_change_nothing(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrievers, "WINDOW", 12)
    terms = terms_of(project, QUESTION)
    for most_counted, common in ((terms[len(terms) // 2].steps, {True, False}), (1, {True})):
        monkeypatch.setattr(retrievers, "MOST_COUNTED", most_counted)
        assert {term.is_common for term in terms_of(project, QUESTION)} == common
        every = AllTurns(project)
        for filters in _filter_sets(1):
            assert found(api, QUESTION, limit=20, **filters) == every.best("hybrid", filters), (
                common,
                filters,
            )


def test_with_any_filter_the_most_important_turns_are_listed_even_before_indexing(
    api: Program, project: Project
) -> None:
    session_of(project, *(_draft(random.Random(3), BEGUN) for _ in range(9)), key="new", agent="ada")
    steps = [action for action in _steps(project) if not _is_deleted(action)]
    for filters in _filter_sets(2):
        fitting = [action for action in steps if _fits(action, filters)]
        best = sorted(fitting, key=lambda each: (-_worth(each), -_at(each).timestamp(), -each.pk))[:20]
        best.sort(key=lambda each: (-_worth(each), -each.pk))
        expected = [(each.session.key, each.sequence) for each in best]
        assert found(api, "what did we find out", limit=20, **filters) == expected, filters


def _worth(action: Any) -> float:
    return 0.72 if action.worth is None else float(action.worth)


def _is_deleted(action: Action) -> bool:
    return ErasedTurn.objects.filter(session=action.session, sequence=action.sequence).exists()


def _at(action: Action) -> datetime:
    return action.started_at or action.recorded_at


def _steps(project: Project) -> list[Any]:
    steps = Action.objects.filter(project=project).select_related("session")
    return list(steps.annotate(worth=IMPORTANCE, meant=SIGNIFICANCE))


def _fits(action: Any, filters: dict[str, Any]) -> bool:
    session: Session = action.session
    begin, end = (
        datetime.fromisoformat(filters[name]) if name in filters else None for name in ("since", "until")
    )
    return all(
        (
            "agent" not in filters or filters["agent"] == (action.agent or session.agent),
            "user" not in filters or filters["user"] == session.user,
            "session" not in filters or filters["session"] == session.key,
            "besides" not in filters or filters["besides"] != session.key,
            "tags" not in filters or {*filters["tags"]} & {*action.tags, *session.tags},
            "kinds" not in filters or action.kind in filters["kinds"],
            "significances" not in filters or action.meant in filters["significances"],
            "min_importance" not in filters
            or (action.worth is not None and action.worth >= filters["min_importance"]),
            begin is None or _at(action) >= (begin if begin.tzinfo else begin.replace(tzinfo=UTC)),
            end is None or _at(action) <= end,
        )
    )


class AllTurns:
    """All turns of a project with their scores, read once, without an index or a filter."""

    def __init__(self, project: Project) -> None:
        self.steps = {action.pk: action for action in _steps(project)}
        self.words = _scores_by_words(project, [*self.steps])
        self.near = _scores_by_meaning([*self.steps])

    def best(self, mode: str, filters: dict[str, Any]) -> list[tuple[str, int]]:
        """Return the best 20 matching turns, as session key and sequence."""
        words, near = (self._window(scores, filters) for scores in (self.words, self.near))
        by_mode = {"text": words, "semantic": near, "hybrid": fuse(words, near, MODEL.semantic_weight)}
        best = sorted(by_mode[mode].items(), key=lambda each: (-each[1], -each[0]))[:20]
        return [(self.steps[row].session.key, self.steps[row].sequence) for row, _ in best]

    def _window(self, scores: dict[int, float], filters: dict[str, Any]) -> dict[int, float]:
        fitting = [(row, score) for row, score in scores.items() if _fits(self.steps[row], filters)]
        return dict(sorted(fitting, key=lambda each: (-each[1], -each[0]))[: retrievers.WINDOW])


def _scores_by_words(project: Project, rows: list[int]) -> dict[int, float]:
    terms = terms_of(project, QUESTION)
    question = sparse({term.dimension: term.weight for term in terms})
    rare = {term.term for term in terms if not term.is_common}
    every = {term.term for term in terms[: retrievers.MOST_COMMON]}
    sql = "SELECT action_id, -(weights <#> %s::sparsevec), tsvector_to_array(words) FROM tm_searched_action WHERE action_id = ANY(%s)"
    with connection.cursor() as cursor:
        cursor.execute(sql, [question, rows])
        found = [(row, score, set(words)) for row, score, words in cursor]
    return {row: score for row, score, words in found if (rare & words if rare else every <= words)}


def _scores_by_meaning(rows: list[int]) -> dict[int, float]:
    sql = "SELECT action_id, (vector <=> %(vector)s::halfvec) FROM tm_action_meaning WHERE action_id = ANY(%(rows)s)"
    facts: dict[str, Any] = {"vector": dense(table.query_vector(MODEL, QUESTION)), "rows": rows}
    with connection.cursor() as cursor:
        cursor.execute(sql, facts)
        return {row: 1 - distance for row, distance in cursor if distance < 1 - COSINE_FLOOR}
