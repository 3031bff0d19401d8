"""Changes between two steps: the difference of the states at both, at the same cost anywhere in the session."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.recording.timeline.conftest import Record
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, delete_frame, get_or_create_collection, put_frames
from timemachine.knowledge.find import Query
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.timeline.state import Between, between, state_at

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 20, 9, tzinfo=UTC)
MOST_QUERIES = 10


def drafts(number: int) -> list[ActionDraft]:
    """Messages, finds and priced calls in turn, every seventh failed; each find returns a frame of its own."""
    return [draft(n) for n in range(1, number + 1)]


def draft(n: int) -> ActionDraft:
    kind = ("message", "find", "llm_call")[n % 3]
    hits = (HitDraft(rank=1, frame=n, version=1, title=f"Frame {n}", text="t"),) if kind == "find" else ()
    call = kind == "llm_call"
    return ActionDraft(
        kind=kind,
        role="user" if kind == "message" else None,
        output=f"said at {n}",
        model="acme:m" if call else None,
        cost_usd=Decimal("0.01") if call and n % 2 else None,
        usage=Usage(input_tokens=n, output_tokens=1) if call else Usage(),
        error_type="Broken" if n % 7 == 0 else None,
        started_at=START + timedelta(seconds=n),
        duration_ms=100,
        retrieval=RetrievalDraft(hits=hits) if hits else None,
    )


def changed(session: Session, first: int, last: int) -> Between:
    found = {
        each.sequence: each for each in Action.objects.filter(session=session, sequence__in=[first, last])
    }
    return between(session, found.get(first), found[last])


@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 250), (3, 4), (99, 101), (17, 233), (200, 200)])
def test_the_totals_at_both_ends_are_those_of_the_states(record: Record, first: int, last: int) -> None:
    session = record(drafts(250))
    found = changed(session, first, last)
    assert found.after == state_at(session, last).totals
    if first:
        assert found.before == state_at(session, first).totals
    else:
        assert found.before.actions == 0
    assert (found.first, found.last) == (first, last)


def test_the_latest_messages_and_first_uses_are_listed_and_all_counted(record: Record) -> None:
    session = record(drafts(250))
    found = changed(session, 30, 240)
    assert found.message_count == len([n for n in range(31, 241) if n % 3 == 0])
    assert found.more_messages
    assert [each.sequence for each in found.messages] == [228, 231, 234, 237, 240]
    finds = [n for n in range(31, 241) if n % 3 == 1]
    assert found.frames_used_count == len(finds)
    assert [each.frame for each in found.frames_used] == finds[::-1][:20]
    assert {each.sequence for each in found.frames_used} == set(finds[::-1][:20])
    assert found.collection is None


def test_a_frame_used_before_is_not_a_first_use(record: Record) -> None:
    session = record([draft(1), draft(1), draft(4)])
    assert [each.frame for each in changed(session, 1, 3).frames_used] == [4]


def test_the_number_of_queries_depends_on_neither_step_nor_distance(record: Record) -> None:
    session = record(drafts(1_500))
    counts = []
    for first, last in ((3, 6), (1, 1_400), (1_350, 1_400)):
        with CaptureQueriesContext(connection) as queries:
            changed(session, first, last)
        counts.append(len(queries))
    assert max(counts) <= MOST_QUERIES
    assert len(set(counts)) == 1


@pytest.fixture
def with_puts(project: Project) -> Session:
    """A find, two puts of which the second changes nothing, a new version and an end, and another find."""
    collection = get_or_create_collection(project, "handbook", by="test")
    put_frames(collection, [NewFrame(title="First", text="The first text.")], by="test")
    session = start_session(project, name="s", by="test", collection=collection)
    query = Query(text="text", top_k=2)
    answering.find(collection, query, session=session)
    second = NewFrame(title="Second", text="The second text.")
    answering.put(collection, [second], by="test", session=session)
    answering.put(collection, [second], by="test", session=session)
    put_frames(collection, [NewFrame(number=1, title="Second", text="The second text, mended.")], by="test")
    delete_frame(collection, 0, by="test")
    answering.find(collection, query, session=session)
    session.refresh_from_db()
    return session


def test_frames_added_to_and_removed_from_the_collection_are_listed(with_puts: Session) -> None:
    found = changed(with_puts, 1, 4).collection
    assert found is not None
    assert (found.came, found.renewed, found.left) == (1, 1, 1)
    assert [(each.number, each.version) for each in found.arrived] == [(1, 2), (1, 1)]
    assert [(each.number, each.version) for each in found.gone] == [(0, 1)]
    assert not found.more


def test_a_put_of_an_existing_passage_does_not_change_the_collection(
    with_puts: Session,
) -> None:
    by_put, by_second = changed(with_puts, 1, 2).collection, changed(with_puts, 2, 3).collection
    assert by_put is not None
    assert by_second is not None
    assert [each.title for each in by_put.arrived] == ["Second"]
    assert (by_second.came, by_second.renewed, by_second.left) == (0, 0, 0)


def test_a_put_recorded_by_another_program_adds_no_frame(project: Project, with_puts: Session) -> None:
    odd = [
        "text",
        {"collection": "handbook"},
        {"collection": "\x00", "frame": 1, "version": 1},
        {"collection": "handbook", "frame": True, "version": 1},
        {"collection": "handbook", "frame": 2**70, "version": 1},
        {"collection": "handbook", "frame": 1, "version": 2**31},
        {"collection": "elsewhere", "frame": 1, "version": 1},
        ["a"],
        None,
    ]
    append(with_puts.id, [ActionDraft(kind="put", input="i", output=each) for each in odd])
    for sequence in range(5, 5 + len(odd)):
        assert changed(with_puts, 4, sequence).last == sequence
