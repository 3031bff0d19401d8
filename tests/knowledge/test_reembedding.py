"""Changing the model of a collection: it stays searchable, and nothing is computed twice or lost."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from tests.knowledge.slow_models import OTHER, SLOW, letters, missing_vectors, passages, run_backlog
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.commands import NewFrame, delete_frame, put_frames
from timemachine.knowledge.embedding.table import WORDLLAMA, Vectors
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import Collection, EmbeddingWork, FrameEmbedding
from timemachine.knowledge.reembedding import embedding_progress, reembed

pytestmark = pytest.mark.usefixtures("models")


def test_a_collection_stays_searchable_during_its_re_embedding(quick: Collection) -> None:
    before = find(quick, Query(text="passage 3"))
    reembed(quick, "slow", by="Zoë")
    while embedding_backlog.embed_missing(quick.id, seconds=0):
        now_ = find(quick, Query(text="passage 3"))
        assert now_.embedding_model == WORDLLAMA.name
        assert [hit.scores for hit in now_.hits] == [hit.scores for hit in before.hits]
        assert now_.not_embedded == 0
    quick.refresh_from_db()
    after = find(quick, Query(text="passage 3 xxx"))
    assert (after.embedding_model, after.not_embedded) == (SLOW.name, 0)


def test_at_the_switch_no_frame_of_any_version_lacks_a_vector(quick: Collection) -> None:
    put_frames(quick, [NewFrame(number=1, text="another version z")], by="test")
    delete_frame(quick, 2, by="test")
    reembed(quick, "slow", by="test")
    first = 10
    while embedding_backlog.embed_missing(quick.id, seconds=0):
        if first < 20:  # frames are added meanwhile
            put_frames(quick, passages(3, first=first), by="test")
            first += 3
    quick.refresh_from_db()
    assert quick.embedding_model == SLOW.name
    assert missing_vectors(quick, SLOW) == 0
    assert not EmbeddingWork.objects.exists()


def test_a_put_that_began_before_the_switch_is_embedded_after_it(quick: Collection) -> None:
    stale = Collection.objects.get(id=quick.id)
    reembed(quick, "slow", by="test")
    run_backlog(quick)
    put_frames(stale, passages(2, first=50), by="test")
    quick.refresh_from_db()
    assert find(quick, Query(text="x", mode="semantic")).not_embedded == 2
    run_backlog(quick)
    assert missing_vectors(quick, SLOW) == missing_vectors(quick, WORDLLAMA) == 0


def test_the_earlier_vectors_are_kept_and_can_be_searched(quick: Collection) -> None:
    moment = now()
    before = find(quick, Query(text="passage 3"))
    reembed(quick, "slow", by="test")
    run_backlog(quick)
    quick.refresh_from_db()
    put_frames(quick, passages(1, first=30), by="test")
    later = find(quick, Query(text="passage 3", embedding_model="wordllama", as_of=moment))
    assert [(hit.frame, hit.scores) for hit in later.hits] == [(hit.frame, hit.scores) for hit in before.hits]
    assert later.not_embedded == 0
    assert find(quick, Query(text="passage 3", embedding_model=WORDLLAMA.name)).not_embedded == 1


def test_a_model_without_vectors_is_refused_with_those_available(quick: Collection) -> None:
    with pytest.raises(InvalidInput, match="wordllama-l2-supercat-256@64b47a2d") as refused:
        find(quick, Query(text="x", embedding_model="minilm"))
    assert refused.value.facts["there"] == [WORDLLAMA.name]
    with pytest.raises(InvalidInput, match="Leave out `embedding_model`"):
        find(quick, Query(text="x", mode="lexical", embedding_model="wordllama"))


def test_a_second_request_replaces_the_target_and_the_worker_at_it_stops(
    quick: Collection, models: Callable[..., None]
) -> None:
    reembed(quick, "slow", by="test")

    def interrupted(texts: Sequence[str]) -> Vectors:
        reembed(quick, "other", by="test")
        return letters(texts)

    models(replace(SLOW, embed=interrupted), OTHER)
    run_backlog(quick)
    assert embedding_progress(quick).model == OTHER.name
    assert not FrameEmbedding.objects.filter(model=SLOW.name).exists()


def test_a_repeated_request_changes_nothing_and_one_for_the_current_model_drops_the_target(
    quick: Collection,
) -> None:
    first = reembed(quick, "slow", by="Zoë").target
    second = reembed(quick, "slow", by="somebody else").target
    assert first == second
    assert first is not None
    assert (first.requested_by, first.embedded) == ("Zoë", 0)
    assert reembed(quick, "wordllama", by="test").target is None
    assert not embedding_backlog.is_due(quick.id)


def test_vectors_computed_before_a_target_was_dropped_are_reused(
    quick: Collection, models: Callable[..., None]
) -> None:
    reembed(quick, "slow", by="test")
    embedding_backlog.embed_missing(quick.id, seconds=0)
    reembed(quick, "wordllama", by="test")
    target = reembed(quick, "slow", by="test").target
    assert target is not None
    assert target.embedded == SLOW.batch
