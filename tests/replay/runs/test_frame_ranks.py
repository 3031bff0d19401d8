"""The rank of a frame at every find and ask, in the API and on the page."""

import html
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.conftest import Program, program
from tests.builders import FACTS, QUESTIONS, recorded_session
from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.pure.errors import TooLarge
from timemachine.knowledge import frame_ranks as ranks_module
from timemachine.knowledge.commands import NewFrame, delete_frame, get_or_create_collection, put_frames
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.frame_ranks import FrameRank, VersionRanks, frame_ranks, frame_ranks_of_queries
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.answering.commands import find as find_and_record
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs import frame_ranks as pages
from timemachine.replay.runs.frame_ranks import rank_words
from timemachine.replay.runs.retrieval import moment_of

MODES = ("hybrid", "semantic", "lexical")


@pytest.fixture(scope="module")
def stored_session(shared_rows: None) -> Session:
    return recorded_session(Project.objects.create(name="Prüfung"), top_k=1, key="s1")


@pytest.fixture
def session(stored_session: Session, db: None) -> Session:
    return Session.objects.get(pk=stored_session.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture(scope="module")
def invoices(stored_session: Session) -> Collection:
    project = stored_session.project
    collection = get_or_create_collection(project, "large", by="test")
    texts = [f"Invoice {n} is kept in folder {n % 7}, shelf {n % 11}." for n in range(150)]
    put_frames(
        collection, [NewFrame(title=f"Invoice {n}", text=text) for n, text in enumerate(texts)], by="test"
    )
    return collection


@pytest.fixture
def large(invoices: Collection, db: None) -> Collection:
    """More frames than fit into the windows of a find."""
    return Collection.objects.get(pk=invoices.pk)


def look_up(api: Program, **query: Any) -> Any:
    answer = api.get("/sessions/s1/where", **query)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize(
    ("mode", "top_k"), [("hybrid", 3), ("hybrid", 120), ("semantic", 3), ("lexical", 120)]
)
def test_a_frame_shown_by_a_find_has_the_rank_it_is_shown_at(
    large: Collection, mode: str, top_k: int
) -> None:
    query = Query(text="invoice in folder 3, shelf 5", mode=mode, top_k=top_k)
    shown = {hit.frame: hit.rank for hit in find(large, query).hits}
    found = frame_ranks(large, query, range(150)).frames
    assert len(found) == 150
    for number, rank in shown.items():
        assert found[number].places[mode].rank == rank
        assert found[number].places[mode].by_top_k
    others = [found[number].places[mode] for number in range(150) if number not in shown]
    assert all(place.rank is None or place.rank > len(shown) for place in others)
    assert not any(place.by_top_k for place in others)


@pytest.mark.parametrize("mode", MODES)
def test_every_frame_has_a_distinct_rank_at_any_depth(large: Collection, mode: str) -> None:
    found = frame_ranks(large, Query(text="invoice in folder 3, shelf 5"), range(150)).frames
    places = [each.places[mode] for each in found.values()]
    ranks = sorted(place.rank for place in places if place.rank is not None)
    assert ranks == list(range(1, len(ranks) + 1))
    assert {place.of for place in places} == {len(ranks)}
    assert max(ranks) > 100


def test_ranks_beyond_the_window_are_those_of_a_sorted_list(large: Collection) -> None:
    """The counted rank equals the position in a full sort, even with equal scores."""
    for mode in ("lexical", "semantic"):
        shown = find(large, Query(text="invoice in folder 3, shelf 5", mode=mode, top_k=150)).hits
        found = frame_ranks(large, Query(text="invoice in folder 3, shelf 5", mode=mode, top_k=3), range(150))
        ranks = {hit.frame: (hit.rank, hit.score) for hit in shown}
        assert len(ranks) > 100
        for number, (rank, score) in ranks.items():
            place = found.frames[number].places[mode]
            assert place.rank == rank
            assert place.score == pytest.approx(score)


@pytest.mark.parametrize("changed", [False, True])
def test_ranks_at_two_moments_are_the_same_together_and_separately(large: Collection, changed: bool) -> None:
    put_frames(large, [NewFrame(title="Before", text="Invoice folder 3 was empty.")], by="test")
    then = Frame.objects.latest("id").valid_from
    if changed:
        put_frames(large, [NewFrame(number=5, text="Invoice 5 is gone.")], by="test")
        put_frames(large, [NewFrame(text="A new invoice in folder 3, shelf 5.")], by="test")
        delete_frame(large, 14, by="test")
    text = "invoice in folder 3, shelf 5"
    queries = [Query(text=text, as_of=then), Query(text=text), Query(text=text, top_k=120, as_of=then)]
    together = frame_ranks_of_queries(large, queries, range(153))
    alone = [frame_ranks(large, query, range(153)) for query in queries]
    assert [each.frames for each in together] == [each.frames for each in alone]
    assert (together[0].frames == together[1].frames) is not changed
    shown = [{hit.frame: hit.rank for hit in find(large, query).hits} for query in queries]
    for ranks, found in zip(shown, together, strict=True):
        assert {number: found.frames[number].places["hybrid"].rank for number in ranks} == ranks


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(after=st.lists(st.sampled_from(["put", "delete", "update"]), max_size=4))
def test_past_ranks_do_not_depend_on_later_changes(session: Session, after: list[str]) -> None:
    """A replay never uses later data."""
    collection = session.collection
    assert collection is not None
    query = Query(text=QUESTIONS[0], as_of=moment_of(session.actions.get(sequence=1)))
    before = frame_ranks(collection, query, range(4))
    for change in after:
        _change(collection, change)
    now = frame_ranks(collection, query, range(4))
    assert now == before


def _change(collection: Collection, change: str) -> None:
    if change == "put":
        put_frames(
            collection, [NewFrame(text=f"Invoices kept {collection.frames.count()} years.")], by="test"
        )
    elif change == "update":
        put_frames(collection, [NewFrame(number=0, text=f"Gone {collection.frames.count()}.")], by="test")
    elif collection.frames.filter(number=1, valid_until=None).exists():
        delete_frame(collection, 1, by="test")


PLACE = FrameRank(rank=12, of=40, score=1.0, by_top_k=False, by_adaptive=True)
LEFT_OUT = FrameRank(rank=12, of=40, score=1.0, by_top_k=False, by_adaptive=False)
NEEDING = FrameRank(
    rank=12, of=40, score=1.0, by_top_k=False, by_adaptive=False, needs={"relative": 0.25, "min_score": 0.1}
)
NONE = FrameRank(rank=None, of=40, score=None, by_top_k=False, by_adaptive=False)
SECOND = FrameRank(rank=2, of=40, score=1.0, by_top_k=True, by_adaptive=False)


@pytest.mark.parametrize(
    ("recorded", "hybrid", "lexical", "says"),
    [
        (3, PLACE, PLACE, "found at rank 3"),
        (None, None, None, "was deleted by then"),
        (None, PLACE, NONE, "existed at rank 12 of 40; adaptive finds it"),
        (None, LEFT_OUT, NONE, "existed at rank 12 of 40; adaptive does not find it"),
        (
            None,
            NEEDING,
            NONE,
            "existed at rank 12 of 40; adaptive finds it only with relative 0.25 and min score 0.1",
        ),
        (
            None,
            PLACE,
            SECOND,
            "existed at rank 12 of 40; adaptive finds it; a lexical find shows it at rank 2",
        ),
        (None, NONE, NONE, "existed, and a hybrid find does not rank it"),
    ],
)
def test_the_rank_of_a_frame_is_described_in_words(
    recorded: int | None, hybrid: FrameRank | None, lexical: FrameRank | None, says: str
) -> None:
    then = None
    if hybrid is not None and lexical is not None:
        then = VersionRanks(frame=1, version=1, places={"hybrid": hybrid, "lexical": lexical})
    assert rank_words("hybrid", recorded, then) == says


def test_a_frame_is_ranked_at_every_find_and_ask(api: Program, session: Session) -> None:
    assert session.collection is not None
    put_frames(session.collection, [NewFrame(title="Later", text="Invoices are kept. Invoices!")], by="test")
    found = look_up(api, frame=0)
    assert found["frames"] == [
        {"frame": 0, "title": "Retention", "by": "named", "versions": None, "says": "named"}
    ]
    assert [step["sequence"] for step in found["items"]] == [1, 2, 4, 6]
    (first,) = found["items"][0]["frames"]
    assert (first["recorded_rank"], first["says"]) == (1, "found at rank 1")
    assert first["as_recorded"]["hybrid"]["by_top_k"] is True
    assert first["as_recorded"]["semantic"]["of"] == 4
    assert first["as_now"]["semantic"]["of"] == 5
    (other,) = found["items"][3]["frames"]
    assert other["says"].startswith("existed")
    (later,) = look_up(api, frame=4)["items"][0]["frames"]
    assert (later["says"], later["as_recorded"]) == ("did not exist yet", None)
    assert later["as_now"]["lexical"]["rank"] is not None


def test_a_sentence_finds_all_frames_that_contain_it_including_ended_ones(
    api: Program, session: Session
) -> None:
    assert session.collection is not None
    delete_frame(session.collection, 1, by="test")
    found = look_up(api, text="train   tickets are booked IN second class.")
    assert [(each["frame"], each["title"], each["by"], each["versions"]) for each in found["frames"]] == [
        (1, "Travel", "holds", [1])
    ]
    assert [each["as_now"] for step in found["items"] for each in step["frames"]] == [None] * 4
    nearest = look_up(api, text="When may one travel first class by train?")["frames"]
    assert {each["by"] for each in nearest} == {"nearest"}
    assert nearest[0]["frame"] == 1 or 1 in {each["frame"] for each in nearest}


def test_a_sentence_that_existed_only_between_two_steps_is_found(
    api: Program, project: Project, session: Session
) -> None:
    collection = session.collection
    assert collection is not None
    later_session = start_session(project, name="again", by="test", collection=collection, key="again")
    find_and_record(collection, Query(text=QUESTIONS[0]), session=later_session)
    sentence = "The blue bicycle belongs to nobody."
    put_frames(
        collection,
        [NewFrame(number=1, text=f"Look: the blue\n bicycle belongs to nobody. {FACTS[1][1]}")],
        by="test",
    )
    find_and_record(collection, Query(text=QUESTIONS[1]), session=later_session)
    put_frames(collection, [NewFrame(number=1, text=FACTS[1][1])], by="test")
    find_and_record(collection, Query(text=QUESTIONS[0]), session=later_session)
    found = api.get("/sessions/again/where", text=sentence).json()
    assert [(each["frame"], each["by"]) for each in found["frames"]] == [(1, "holds")]
    assert found["frames"][0]["says"] == "contained the sentence in version 2"
    steps = [each for step in found["items"] for each in step["frames"]]
    assert [each["as_recorded"]["version"] for each in steps] == [1, 2, 3]
    wrong = "; as version {}, which does not contain the sentence (version 2 did)"
    assert [each["says"].partition(";")[2] != "" for each in steps] == [True, False, True]
    assert steps[0]["says"].endswith(wrong.format(1))
    assert steps[2]["says"].endswith(wrong.format(3))


def test_a_deleted_frame_and_a_later_frame_are_distinguished(
    api: Program, project: Project, session: Session
) -> None:
    collection = session.collection
    assert collection is not None
    delete_frame(collection, 1, by="test")
    later_session = start_session(project, name="again", by="test", collection=collection, key="again")
    find_and_record(collection, Query(text=QUESTIONS[0]), session=later_session)
    (added,) = put_frames(collection, [NewFrame(text="Later.")], by="test")
    later = added.frame.number
    shown = [api.get("/sessions/again/where", frame=n).json()["items"][0]["frames"][0] for n in (1, later)]
    assert [(each["says"], each["as_now"] is None) for each in shown] == [
        ("was deleted by then", True),
        ("did not exist yet", False),
    ]


def test_steps_are_paginated(api: Program, session: Session) -> None:
    page = look_up(api, frame=0, limit=3)
    assert ([step["sequence"] for step in page["items"]], page["next"]) == ([1, 2, 4], 4)
    rest = look_up(api, frame=0, limit=3, after=page["next"])
    assert ([step["sequence"] for step in rest["items"]], rest["next"]) == ([6], None)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 422),
        ({"frame": 1, "text": "a"}, 422),
        ({"frame": 77}, 404),
        ({"frame": -1}, 422),
        ({"frame": 2**70}, 422),
    ],
)
def test_an_invalid_request_is_refused(
    api: Program, session: Session, query: dict[str, Any], status: int
) -> None:
    assert api.get("/sessions/s1/where", **query).status_code == status


def test_a_step_without_a_recorded_query_is_marked_and_the_others_are_ranked(
    project: Project, api: Program, session: Session
) -> None:
    half_recorded = start_session(project, name="half", by="test", collection=session.collection, key="half")
    append(half_recorded.id, [ActionDraft(kind="find", input={"strange": 1})])
    find_and_record(Collection.objects.get(name="handbook"), Query(text=QUESTIONS[0]), session=half_recorded)
    first, second = api.get("/sessions/half/where", frame=0).json()["items"]
    assert "not recorded" in first["error"]
    assert (first["mode"], first["top_k"], first["adaptive"]) == (None, None, None)
    assert (second["mode"], second["top_k"], second["adaptive"]) == ("hybrid", 8, False)
    shown = browser_of(project, VIEWER).get(f"/sessions/{half_recorded.id}/where/", {"frame": "0"}).text
    assert "mode not recorded, top-k not recorded" in shown
    assert second["frames"][0]["says"] == "found at rank 1"
    bare = start_session(project, name="bare", by="test", key="bare")
    assert api.get(f"/sessions/{bare.id}/where", frame=0).json()["code"] == "collection_needed"


def test_a_collection_that_is_too_large_is_not_ranked(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks_module, "MOST_RANKED", 3)
    assert session.collection is not None
    with pytest.raises(TooLarge, match="4 frames"):
        frame_ranks(session.collection, Query(text="x"), [0])


def test_a_person_looks_up_a_frame_on_the_session_page(project: Project, session: Session) -> None:
    viewer = browser_of(project, VIEWER)
    page = f"/sessions/{session.id}/where/"
    assert page in viewer.get(f"/sessions/{session.id}/?step=2").text
    assert "Find a frame's rank" in viewer.get(page).text
    found = viewer.get(page, {"frame": "0"}).text
    assert "found at rank 1" in found
    assert "of 4" in found
    assert "contains the sentence" in viewer.get(page, {"text": "Invoices are kept for ten years."}).text
    assert viewer.get(page, {"frame": "99"}).status_code == 404
    assert viewer.get(page, {"frame": "0", "text": "both"}).status_code == 422
    assert viewer.get(page, {"frame": "x"}).status_code == 422


def test_a_person_pages_to_the_later_steps(
    project: Project, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_STEPS", 2)
    viewer = browser_of(project, VIEWER)
    page = viewer.get(f"/sessions/{session.id}/where/", {"frame": "0"})
    later = re.search(r'href="(\?[^"]+)">Later steps', page.text)
    assert page.status_code == 200
    assert later
    rest = viewer.get(f"/sessions/{session.id}/where/{html.unescape(later[1])}")
    assert rest.status_code == 200
    first, then = ([int(each) for each in re.findall(r'/\?step=(\d+)"', each.text)] for each in (page, rest))
    assert then
    assert min(then) > max(first)
