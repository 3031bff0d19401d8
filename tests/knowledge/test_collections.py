"""Collections: versions are kept, the past can be queried, and a find reports how it worked."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, TooLarge
from timemachine.knowledge.commands import (
    NewFrame,
    create_collection,
    delete_frame,
    erase_collection,
    get_or_create_collection,
    put_frames,
)
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import collection_of, empty_reason, frames_at, later_state, versions_of
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import detach_collection, start_session
from timemachine.recording.sessions.models import Hit

FACTS = [
    NewFrame(title="Retention", text="Invoices are kept for ten years, then shredded by the archive team."),
    NewFrame(
        title="Travel",
        text="Train tickets are booked in second class unless the journey takes over four hours.",
    ),
    NewFrame(title="Garten", text="Im Frühjahr werden die Apfelbäume geschnitten und die Beete umgegraben."),
    NewFrame(
        title="Deploy", text="If ERR_CONN_RESET appears in parser.js:42, restart the gateway and page Zoë."
    ),
]


@pytest.fixture
def collection(project: Project) -> Collection:
    made = create_collection(project, "handbook", by="test")
    put_frames(made, FACTS, by="test")
    return made


def test_frames_are_numbered_from_zero_in_insertion_order(collection: Collection) -> None:
    assert [(f.number, f.version, text(f.payload)) for f in frames_at(collection)] == [
        (n, 1, fact.text) for n, fact in enumerate(FACTS)
    ]


def test_the_same_passage_again_is_the_same_frame(collection: Collection) -> None:
    duplicate = put_frames(collection, [FACTS[1]], by="test")
    assert duplicate[0].already_there
    assert duplicate[0].frame.number == 1
    assert Frame.objects.count() == len(FACTS)


def test_an_update_creates_a_version_and_the_past_reads_unchanged(collection: Collection) -> None:
    before = now()
    changed = put_frames(
        collection, [NewFrame(number=1, title="Travel", text="Everybody flies.")], by="test"
    )[0].frame
    assert (changed.number, changed.version) == (1, 2)
    assert [text(f.payload) for f in frames_at(collection) if f.number == 1] == ["Everybody flies."]
    assert [text(f.payload) for f in frames_at(collection, before) if f.number == 1] == [FACTS[1].text]
    assert [v.version for v in versions_of(collection, 1)] == [1, 2]


def test_the_later_state_of_a_frame_is_reported(collection: Collection) -> None:
    first = {f.number: f for f in frames_at(collection)}
    put_frames(collection, [NewFrame(number=0, text="Twelve years.")], by="test")
    delete_frame(collection, 1, by="test")
    put_frames(collection, [NewFrame(number=2, text="Im Herbst.")], by="test")
    delete_frame(collection, 2, by="test")
    states = {n: later_state(Frame.objects.get(id=first[n].id)) for n in range(4)}
    assert states == {0: "updated", 1: "deleted", 2: "deleted", 3: "unchanged"}
    with pytest.raises(NotFound):
        delete_frame(collection, 1, by="test")


def test_a_frame_never_changes(collection: Collection) -> None:
    for statement in (
        "UPDATE tm_frame SET title = 'x'",
        "UPDATE tm_frame SET valid_until = now(), ended_by = 'delete', sha256 = 'x'",
        "DELETE FROM tm_frame",
    ):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
@pytest.mark.parametrize(
    ("question", "frame"),
    [
        ("How long do we keep invoices?", 0),
        ("train tickets second class", 1),
        ("Apfelbäume schneiden im Frühjahr", 2),
    ],
)
def test_the_passage_with_the_answer_comes_first(
    collection: Collection, mode: str, question: str, frame: int
) -> None:
    findings = find(collection, Query(text=question, mode=mode))
    assert findings.hits[0].frame == frame
    assert [hit.rank for hit in findings.hits] == list(range(1, len(findings.hits) + 1))
    assert sorted((hit.score for hit in findings.hits), reverse=True) == [hit.score for hit in findings.hits]


def test_a_find_in_the_past_sees_only_what_existed_then(collection: Collection) -> None:
    before = now()
    put_frames(
        collection,
        [NewFrame(title="New", text="Invoices, invoices, invoices: all about invoices.")],
        by="test",
    )
    put_frames(collection, [NewFrame(number=0, title="Retention", text="Nothing is kept.")], by="test")
    past = find(collection, Query(text="invoices", mode="lexical", as_of=before))
    assert [(hit.frame, hit.version, hit.text) for hit in past.hits] == [(0, 1, FACTS[0].text)]
    assert not find(collection, Query(text="invoices", as_of=before - timedelta(days=1))).hits


def test_a_find_names_the_rule_that_ended_its_list(collection: Collection) -> None:
    assert find(collection, Query(text="the", mode="lexical")).cut_by == "all"
    assert find(collection, Query(text="train ticket invoices", mode="lexical", top_k=1)).cut_by == "top_k"
    adaptive = find(
        collection, Query(text="train tickets second class journey", mode="hybrid", adaptive=True)
    )
    assert [hit.frame for hit in adaptive.hits] == [1]
    assert adaptive.cut_by in {"relative", "cliff", "floor"}


@pytest.mark.parametrize(
    "text_", ["'; DROP TABLE tm_frame; --", "a\\b'c", "% %s {0}", "\x00\ud800", "!!! ((( &|", "x" * 100_000]
)
@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_any_text_can_be_searched_for(collection: Collection, text_: str, mode: str) -> None:
    find(collection, Query(text=text_, mode=mode))
    assert Frame.objects.count() == len(FACTS)


def test_hits_name_each_retriever_with_its_raw_score(collection: Collection) -> None:
    best = find(collection, Query(text="train tickets")).hits[0]
    assert set(best.scores) == {"lexical", "semantic"}
    assert best.scores["lexical"] > 0


@pytest.mark.parametrize(
    "query",
    [Query(text=" "), Query(text="x", mode="psychic"), Query(text="x", top_k=0), Query(text="x", top_k=1001)],
)
def test_an_invalid_query_is_refused(collection: Collection, query: Query) -> None:
    with pytest.raises(InvalidInput):
        find(collection, query)


def test_text_of_any_kind_is_stored_unchanged(collection: Collection) -> None:
    odd = "NUL \x00 surrogate \udfff rtl \u202e emoji 🕰"
    frame = put_frames(
        collection, [NewFrame(title=odd, uri=odd, text=odd, metadata={odd: [odd]})], by="test"
    )[0].frame
    stored = Frame.objects.select_related("payload").get(id=frame.id)
    assert (stored.title, stored.uri, text(stored.payload), stored.metadata) == (odd, odd, odd, {odd: [odd]})


def test_a_passage_of_five_megabytes_is_stored_completely_and_found_by_its_beginning(
    collection: Collection,
) -> None:
    long = "zeppelin " + "lorem ipsum dolor " * 300_000
    put_frames(collection, [NewFrame(text=long)], by="test")
    hit = find(collection, Query(text="zeppelin", mode="lexical")).hits[0]
    assert hit.text == long


@pytest.mark.parametrize(
    ("frame", "error"), [(NewFrame(text=" \n"), InvalidInput), (NewFrame(text="x" * 9_000_000), TooLarge)]
)
def test_an_invalid_frame_is_refused_and_nothing_is_stored(
    collection: Collection, frame: NewFrame, error: type[Exception]
) -> None:
    with pytest.raises(error):
        put_frames(collection, [NewFrame(text="fine"), frame], by="test")
    assert Frame.objects.count() == len(FACTS)


@pytest.mark.parametrize(
    "name", ["", " x", ".", "..", "a/b", "a?b", "x" * 201, "a\x00b", "c\ud800", "a%b", "tab\t"]
)
def test_a_name_that_does_not_fit_in_a_url_is_refused(project: Project, name: str) -> None:
    with pytest.raises(InvalidInput):
        create_collection(project, name, by="test")
    with pytest.raises(InvalidInput):
        get_or_create_collection(project, name, by="test")


def test_another_projects_collection_is_not_found(collection: Collection, other_project: Project) -> None:
    with pytest.raises(NotFound):
        collection_of(other_project, "handbook")
    assert get_or_create_collection(other_project, "handbook", by="test") != collection


def test_a_taken_name_is_a_conflict_and_can_be_looked_up(collection: Collection, project: Project) -> None:
    with pytest.raises(Conflict):
        create_collection(project, "handbook", by="test")
    assert get_or_create_collection(project, "handbook", by="test") == collection


def test_a_passage_created_by_an_update_is_not_added_again_in_the_same_put(collection: Collection) -> None:
    put_frames(collection, [NewFrame(text="Before."), NewFrame(text="Another.")], by="test")
    after = NewFrame(text="After.")
    update, duplicate = put_frames(collection, [replace(after, number=0), after], by="test")
    assert duplicate.already_there
    assert duplicate.frame == update.frame


def test_a_passage_replaced_by_an_update_can_be_added_again_in_the_same_put(collection: Collection) -> None:
    changed = NewFrame(number=0, title="Retention", text="Twelve years.")
    updated, added = put_frames(collection, [changed, FACTS[0]], by="test")
    assert (updated.frame.number, updated.frame.version) == (0, 2)
    assert not added.already_there
    assert (added.frame.number, added.frame.version) == (len(FACTS), 1)


def test_the_same_text_with_other_metadata_is_another_frame(collection: Collection) -> None:
    other = NewFrame(title=FACTS[0].title, text=FACTS[0].text, metadata={"seite": 3})
    assert not put_frames(collection, [other], by="test")[0].already_there
    assert put_frames(collection, [other], by="test")[0].already_there


def test_a_frame_has_exactly_one_version_at_any_moment(collection: Collection) -> None:
    changed = put_frames(collection, [NewFrame(number=0, text="Twelve years.")], by="test")[0].frame
    for moment in (changed.valid_from, changed.valid_from - timedelta(microseconds=1)):
        assert [frame.number for frame in frames_at(collection, moment)].count(0) == 1


def test_erasing_a_collection_removes_its_history_but_not_what_sessions_recorded(
    collection: Collection,
) -> None:
    session = start_session(collection.project, name="s", by="test", collection=collection)
    answering.find(collection, Query(text="invoices"), session=session)
    with pytest.raises(Conflict, match="is used by sessions"):
        erase_collection(collection)
    detach_collection(collection)
    assert erase_collection(collection) == len(FACTS)
    assert not Frame.objects.exists()
    hit = Hit.objects.select_related("payload", "stored_frame").order_by("rank")[0]
    assert hit.payload is not None
    assert text(hit.payload) == FACTS[0].text
    assert hit.stored_frame is None


def test_an_empty_passage_among_others_keeps_its_number_and_is_never_found(collection: Collection) -> None:
    empty = NewFrame(text="", metadata={"id": 471}, may_be_empty=True)
    done = put_frames(collection, [empty, NewFrame(text="Trams run every ten minutes.")], by="test")
    assert [each.frame.number for each in done] == [4, 5]
    assert 4 not in {hit.frame for hit in find(collection, Query(text="What runs in ten minutes?")).hits}
    assert put_frames(collection, [empty], by="test")[0].already_there
    with pytest.raises(InvalidInput, match="must not be empty"):
        put_frames(collection, [NewFrame(text=" ")], by="test")


def test_an_empty_result_states_whether_frames_came_later_or_were_all_deleted(
    project: Project,
) -> None:
    collection = get_or_create_collection(project, "c", by="test")
    before = now()
    empty = empty_reason(collection, before)
    assert empty is not None
    assert (empty.why, empty.first_frame_at) == ("no_frames_yet", None)
    [done] = put_frames(collection, [NewFrame(text="one")], by="test")
    too_early = empty_reason(collection, before)
    assert too_early is not None
    assert (too_early.why, too_early.first_frame_at) == ("no_frames_then", done.frame.valid_from)
    assert empty_reason(collection, done.frame.valid_from) is None
    delete_frame(collection, 0, by="test")
    all_deleted = empty_reason(collection, now())
    assert all_deleted is not None
    assert (all_deleted.why, all_deleted.first_frame_at) == ("no_frames_left", done.frame.valid_from)
