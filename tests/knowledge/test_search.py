"""A find explains every hit, matches identifiers exactly, and weights words by the frames of its moment."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from tests.database_roles import as_owner
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotFound, TooLarge, Unavailable
from timemachine.knowledge import collection_time, hit_rows, hnsw, ranking
from timemachine.knowledge.commands import (
    NewFrame,
    create_collection,
    delete_frame,
    erase_collection,
    put_frames,
)
from timemachine.knowledge.embedding import wordllama
from timemachine.knowledge.find import LONGEST_QUERY, Query, find
from timemachine.knowledge.models import Collection, Frame, FrameWeights, TermCount
from timemachine.knowledge.question import weighted_question

FACTS = [
    "Invoices are kept for ten years, then shredded.",
    "The parser breaks on invoices without a date; see src/billing/parser.js:42.",
    "The parser of the gateway, parser.js, was rewritten at line 42.",
    "ERR_CONN_RESET means that the gateway closed the connection.",
    "A connection may be reset by an err or by the gateway.",
    "Apple trees are cut in spring.",
]


@pytest.fixture
def collection(project: Project) -> Collection:
    made = create_collection(project, "handbook", by="test")
    put_frames(made, [NewFrame(text=fact) for fact in FACTS], by="test")
    made.refresh_from_db()
    return made


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
@pytest.mark.parametrize(
    ("question", "frame"),
    [
        ("parser.js:42", 1),
        ("why does src/billing/parser.js:42 fail?", 1),
        ("ERR_CONN_RESET", 3),
        ("err_conn_reset", 3),
    ],
)
def test_an_identifier_is_found_exactly_and_first(
    collection: Collection, question: str, frame: int, mode: str
) -> None:
    best = find(collection, Query(text=question, mode=mode)).hits[0]
    assert best.frame == frame
    assert best.matched.identifiers
    assert best.scores["identifier"] > 0


def test_a_hit_states_the_weight_of_each_word(collection: Collection) -> None:
    best = find(collection, Query(text="How long are invoices kept?", mode="lexical")).hits[0]
    assert set(best.matched.terms) == {"invoices", "kept"}
    assert sum(best.matched.terms.values()) == pytest.approx(best.score, abs=0.001)


@pytest.mark.parametrize(
    ("question", "shared"),
    [
        ("more than 12,000 rows", {"12,000", "rows"}),
        ("10,000 or 12,000 of them", {"12,000"}),
        ("12 files", {"12"}),
        ("7,000 files", {"000"}),
    ],
)
def test_a_fully_shared_number_is_shown_as_the_question_spells_it(
    collection: Collection, question: str, shared: set[str]
) -> None:
    put_frames(collection, [NewFrame(title="Limit", text="A table holds 12,000 rows.")], by="test")
    best = find(collection, Query(text=question, mode="lexical")).hits[0]
    assert best.title == "Limit"
    assert set(best.matched.terms) == shared
    assert sum(best.matched.terms.values()) == pytest.approx(best.score, abs=0.001)


def test_a_hit_by_meaning_only_shares_no_word(collection: Collection) -> None:
    found = find(collection, Query(text="pruning of fruit", mode="hybrid"))
    assert found.hits
    assert found.hits[0].matched.as_json() is None
    assert set(found.hits[0].scores) == {"semantic"}


def test_the_scores_around_a_cut_are_stored(collection: Collection) -> None:
    found = find(collection, Query(text="parser gateway invoices", top_k=2, mode="lexical"))
    assert (found.curve.leg, found.curve.kept, found.cut_by) == ("lexical", 2, "top_k")
    assert len(found.curve.scores) > found.curve.kept
    assert found.below is not None
    assert found.below.score == pytest.approx(found.curve.scores[2], rel=1e-4)
    uncut = find(collection, Query(text="parser gateway invoices", top_k=50, mode="lexical"))
    assert uncut.below is None
    assert uncut.hits[2].frame == found.below.frame


def test_an_adaptive_cut_stores_the_raw_scores_it_used(collection: Collection) -> None:
    found = find(collection, Query(text="apple trees in spring", adaptive=True, mode="lexical"))
    assert (found.curve.leg, found.cut_by) == ("lexical", "all")
    found = find(collection, Query(text="apple trees in spring", adaptive=True))
    assert found.curve.leg == "strength"
    assert found.curve.scores[0] == 1
    assert found.curve.kept == len(found.hits) == 1


def test_the_stored_counts_equal_counts_of_that_moment(collection: Collection) -> None:
    put_frames(collection, [NewFrame(number=0, text="Invoices of parser.js:42 are burnt.")], by="test")
    delete_frame(collection, 2, by="test")
    collection.refresh_from_db()
    assert collection.frame_count == 5
    question = "invoices of the parser.js:42 and ERR_CONN_RESET"
    stored = weighted_question(collection.id, question, now(), collection.frame_count)
    counted = weighted_question(collection.id, question, now(), None)
    assert stored == counted


def test_counting_back_from_now_equals_counting_again(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [now()]
    for n in range(3):
        put_frames(collection, [NewFrame(number=0, text=f"Invoices of parser.js:42 in week {n}.")], by="test")
        put_frames(collection, [NewFrame(text=f"It's a parser for ERR_CONN_RESET, number {n}.")], by="test")
        moments.append(now())
        delete_frame(collection, n + 1, by="test")
        moments.append(now())
    text = "invoices of the parser.js:42 and ERR_CONN_RESET, it's 'quoted \\ words'"
    back = [weighted_question(collection.id, text, at, None) for at in moments]
    monkeypatch.setattr("timemachine.knowledge.question.MOST_LOOKUPS", -1)
    recounted = [weighted_question(collection.id, text, at, None) for at in moments]
    assert back == recounted
    assert len({question.frames for question in back}) > 1


def test_a_find_in_the_past_weights_words_as_they_were(collection: Collection) -> None:
    before = find(collection, Query(text="invoices kept by the parser"))
    put_frames(collection, [NewFrame(text=f"More invoices, number {n}.") for n in range(5)], by="test")
    delete_frame(collection, 0, by="test")
    past = find(collection, Query(text="invoices kept by the parser", as_of=before.as_of))
    assert [(hit.frame, hit.scores, hit.matched) for hit in past.hits] == [
        (hit.frame, hit.scores, hit.matched) for hit in before.hits
    ]


def test_rare_words_are_looked_up_and_ranked_like_in_a_scan(project: Project) -> None:
    reports = create_collection(project, "many", by="test")
    texts = [f"Report {n} about the weather of {n % 7} days." for n in range(200)]
    put_frames(
        reports, [NewFrame(text=text) for text in [*texts, "A zebra reports from d-17/zoo."]], by="test"
    )
    reports.refresh_from_db()
    question = weighted_question(reports.id, "zebra d-17/zoo 'quoted \\ words'", now(), reports.frame_count)
    assert sum(term.frames for term in question.terms) < ranking.RARE * question.frames
    found = ranking.lexical(reports.id, question, now(), 10)()
    assert list(found) == _rows(reports, 200)
    explained = hit_rows.read_hit_rows(list(found), question)[next(iter(found))].matched
    assert sum([*explained.terms.values(), *explained.identifiers.values()]) == pytest.approx(
        next(iter(found.values())), abs=1e-3
    )


def test_ended_versions_hide_no_near_frame(collection: Collection) -> None:
    for n in range(2 * ranking.LEAST_SLACK):
        put_frames(
            collection, [NewFrame(number=0, text=f"Apple trees blossom in spring, week {n}.")], by="test"
        )
    [vector] = wordllama.embed(["apple trees in spring"])
    near = ranking.semantic(collection.id, vector.tolist(), wordllama.NAME, now(), 3)()
    current = Frame.objects.filter(collection=collection, valid_until=None)
    by_hand = {
        frame.id: float(vector @ wordllama.embed([f"{frame.search_title}\n{frame.search_text}".strip()])[0])
        for frame in current
    }
    best = sorted(by_hand, key=lambda row: -by_hand[row])[:3]
    assert list(near) == best
    assert list(near.values()) == pytest.approx([by_hand[row] for row in best], abs=2e-3)


def _rows(collection: Collection, number: int) -> list[int]:
    return list(
        FrameWeights.objects.filter(collection=collection, number=number).values_list("frame_id", flat=True)
    )


def test_a_question_that_is_too_long_is_refused_with_the_limit(collection: Collection) -> None:
    with pytest.raises(InvalidInput, match="100,000"):
        find(collection, Query(text="x" * (LONGEST_QUERY + 1)))
    assert find(collection, Query(text=" ".join(f"w{n}x" for n in range(12_000)))).hits


@given(st.lists(st.sampled_from(["put", "update", "delete"]), max_size=6))
@hypothesis_settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_counts_are_exact_after_any_changes(project: Project, changes: list[str]) -> None:
    made = create_collection(project, f"c{now().timestamp()}", by="test")
    standing: list[int] = []
    for place, change in enumerate(changes):
        if change == "put" or not standing:
            frame = put_frames(made, [NewFrame(text=f"apple {place} pear-{place}")], by="test")[0].frame
            standing.append(frame.number)
        elif change == "update":
            put_frames(made, [NewFrame(number=standing[0], text=f"plum {place} apple")], by="test")
        else:
            delete_frame(made, standing.pop(), by="test")
    made.refresh_from_db()
    assert made.frame_count == len(standing)
    assert _counted(made) == {
        row.term: row.frames for row in TermCount.objects.filter(collection=made) if row.frames
    }


def _counted(collection: Collection) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lexeme, count(*) FROM tm_frame, unnest(tm_search_terms(terms, identifiers))"
            " WHERE collection_id = %s AND valid_until IS NULL GROUP BY 1",
            [collection.id],
        )
        return dict(cursor.fetchall())


@pytest.mark.django_db(transaction=True)
def test_a_large_collection_is_searched_by_an_index_and_reports_it(
    collection: Collection, settings: Settings
) -> None:
    settings.APPROXIMATE_SEARCH_FROM = 6
    frames = [NewFrame(text=f"{fact} Variant {n}.") for n in range(30) for fact in FACTS]
    put_frames(collection, frames, by="test")
    exact = find(collection, Query(text="How long are invoices kept?", mode="semantic"))
    assert exact.semantic_search == "exact"
    assert hnsw.collections_without_index() == []  # the application may not build one
    with as_owner():
        assert hnsw.collections_without_index() == [collection.id]
        assert hnsw.build(collection.id, collection.embedding_model)
    assert hnsw.collections_without_index() == []
    near = find(collection, Query(text="How long are invoices kept?", mode="semantic"))
    assert near.semantic_search == "hnsw"
    assert [hit.frame for hit in near.hits] == [hit.frame for hit in exact.hits]
    past = find(
        collection, Query(text="How long are invoices kept?", mode="semantic", as_of=exact.as_of, top_k=500)
    )
    assert past.semantic_search == "exact"
    erase_collection(collection)
    assert not hnsw.has_index(collection.id, collection.embedding_model)


@pytest.mark.django_db(transaction=True)
def test_an_index_already_being_built_is_not_built_twice(collection: Collection, settings: Settings) -> None:
    settings.APPROXIMATE_SEARCH_FROM = 1
    empty = create_collection(collection.project, "empty", by="test")
    assert not hnsw.build(empty.id, empty.embedding_model)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_lock(hashtextextended(%s, 0))",
                [hnsw.index_name(collection.id, collection.embedding_model)],
            )
            assert not hnsw.build(collection.id, collection.embedding_model)
    finally:
        other.close()
    erase_collection(collection)


def test_a_word_in_every_frame_still_finds_them(project: Project) -> None:
    same = create_collection(project, "same", by="test")
    put_frames(same, [NewFrame(text=f"acme ticket{n}") for n in range(5)], by="test")
    question = weighted_question(same.id, "acme", now(), 10**9)
    assert question.terms[0].weight > 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tm_term_count SET frames = 10 ^ 9 WHERE term = 'acm'")
        cursor.execute("UPDATE tm_collection SET frame_count = 10 ^ 9 WHERE id = %s", [same.id])
    assert len(find(same, Query(text="acme", mode="lexical")).hits) == 5


def test_the_future_cannot_be_searched(collection: Collection) -> None:
    with pytest.raises(InvalidInput, match="future"):
        find(collection, Query(text="invoices", as_of=now() + timedelta(days=1)))
    soon = find(collection, Query(text="invoices", as_of=now() + timedelta(seconds=5)))
    assert soon.as_of < now()
    assert soon.hits


def test_timestamps_only_increase_whatever_the_clock_says(collection: Collection) -> None:
    ahead = now() + timedelta(hours=1)
    Collection.objects.filter(id=collection.id).update(changed_at=ahead)
    late = put_frames(collection, [NewFrame(text="Zebras are striped.")], by="test")[0].frame
    assert late.valid_from > ahead
    found = find(collection, Query(text="zebras"))
    assert found.hits[0].frame == late.number
    same_moment = find(collection, Query(text="zebras", as_of=found.as_of - timedelta(microseconds=0)))
    assert [hit.frame for hit in same_moment.hits] == [hit.frame for hit in found.hits]


def test_passages_that_would_exhaust_the_memory_are_refused(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hit_rows, "LARGEST_FINDING", 100)
    assert find(collection, Query(text="apple", top_k=1, mode="lexical")).hits
    with pytest.raises(TooLarge, match="smaller `top_k`"):
        find(collection, Query(text="gateway parser invoices", mode="lexical"))


def test_a_find_in_an_erased_collection_is_refused(collection: Collection) -> None:
    erase_collection(collection)
    with pytest.raises(NotFound):
        find(collection, Query(text="invoices", mode="lexical"))
    with pytest.raises(NotFound):
        put_frames(collection, [NewFrame(text="x")], by="test")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["put", "delete", "erase"])
def test_a_collection_does_not_change_during_a_find(collection: Collection, change: str) -> None:
    changes: dict[str, Callable[[], object]] = {
        "put": lambda: put_frames(collection, [NewFrame(text="Zebras are striped.")], by="test"),
        "delete": lambda: delete_frame(collection, 0, by="test"),
        "erase": lambda: erase_collection(collection),
    }
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(collection_time._LOCK, {"collection": collection.id, "longest_wait": "1s"})
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        with pytest.raises(OperationalError, match="lock timeout"):
            changes[change]()
    finally:
        other.close()
        connection.close()
    changes[change]()


@pytest.mark.django_db(transaction=True)
def test_a_find_waits_for_a_put_only_for_a_limited_time(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_time, "LONGEST_WAIT", "50ms")
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(tm_collection_lock(%s))", [collection.id])
            with pytest.raises(Unavailable, match="being changed"):
                find(collection, Query(text="invoices", mode="lexical"))
    finally:
        other.close()
