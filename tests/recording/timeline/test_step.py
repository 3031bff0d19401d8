from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.core.pure.errors import NotFound
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.step import nearest, neighbours, relatives, step

pytestmark = pytest.mark.django_db


def action(session: Session, sequence: int) -> Action:
    return Action.objects.get(session=session, sequence=sequence)


def test_a_step_has_its_frozen_hits_in_rank_order(record: Record) -> None:
    hits = tuple(HitDraft(rank=rank, title=f"hit {rank}", text=f"passage {rank}") for rank in (1, 2, 3))
    session = record(
        [ActionDraft(kind="find", input="Why?", retrieval=RetrievalDraft(mode="hybrid", hits=hits))]
    )
    found = step(session, 1)
    assert [(each.hit.rank, each.text and each.text.text) for each in found.passages] == [
        (1, "passage 1"),
        (2, "passage 2"),
        (3, "passage 3"),
    ]
    assert found.input is not None
    assert (found.input.text, found.input.media_type, found.input.cut) == ("Why?", "text/plain", False)
    assert found.output is None


def test_a_hit_without_a_text_is_marked(record: Record) -> None:
    retrieval = RetrievalDraft(hits=(HitDraft(rank=1, sha256="0" * 64),))
    session = record([ActionDraft(kind="find", retrieval=retrieval)])
    (passage,) = step(session, 1).passages
    assert passage.text is None


@pytest.mark.parametrize(
    ("output", "first_bytes", "text", "cut"),
    [
        ("abcdef", 4, "abcd", True),
        ("abcd", 4, "abcd", False),
        ("aé🕰", 4, "aé", True),  # the cut is inside the four bytes of the clock
        ("a\x00\ud800b", 99, "a\x00\ud800b", False),
        ("ab\ud800", 4, "ab", True),
        ([1, 2], 99, "[1,2]", False),
    ],
)
def test_a_payload_is_cut_between_characters_and_stored_unchanged(
    record: Record, output: object, first_bytes: int, text: str, cut: bool
) -> None:
    session = record([ActionDraft(kind="event", output=output)])
    head = step(session, 1, first_bytes).output
    assert head is not None
    assert (head.text, head.cut) == (text, cut)


def test_a_parent_is_found_by_id_or_sequence_even_if_it_came_later(record: Record) -> None:
    session = record(
        [
            ActionDraft(kind="event", parent="late"),
            ActionDraft(kind="event", id="late"),
            ActionDraft(kind="event", parent=2),
            ActionDraft(kind="event", parent="nowhere"),
            ActionDraft(kind="event", parent=5),
        ]
    )
    above = {n: relatives(session, action(session, n))[0] for n in range(1, 6)}
    assert {n: row and row.sequence for n, row in above.items()} == {1: 2, 2: None, 3: 2, 4: None, 5: None}
    assert [row.sequence for row in relatives(session, action(session, 2))[1]] == [1, 3]


def test_two_steps_may_be_each_others_parents(record: Record) -> None:
    session = record(
        [ActionDraft(kind="event", id="a", parent="b"), ActionDraft(kind="event", id="b", parent="a")]
    )
    above, inside = relatives(session, action(session, 1))
    assert above is not None
    assert (above.sequence, inside) == (2, [])


def test_the_neighbours_of_a_step_follow_the_filter_and_its_kind(record: Record) -> None:
    kinds = ["ask", "event", "ask", "find", "event", "ask"]
    session = record([ActionDraft(kind=kind) for kind in kinds])
    adjacent = neighbours(session, action(session, 3))
    assert (adjacent.first, adjacent.previous, adjacent.next, adjacent.last) == (1, 2, 4, 6)
    assert (adjacent.previous_same_kind, adjacent.next_same_kind) == (1, 6)
    events = neighbours(session, action(session, 3), parse("kind:event"))
    assert (events.first, events.previous, events.next, events.last) == (2, 2, 5, 5)
    last = neighbours(session, action(session, 6))
    assert (last.next, last.last, last.next_same_kind) == (None, None, None)


def test_the_neighbours_of_a_step_include_failed_steps_and_checkpoints(record: Record) -> None:
    failed = ActionDraft(kind="event", error_type="Odd")
    point, plain = ActionDraft(kind="checkpoint"), ActionDraft(kind="event")
    session = record([failed, point, plain, plain, failed, point])
    adjacent = neighbours(session, action(session, 4), parse("kind:message"))
    assert (adjacent.previous_error, adjacent.next_error) == (1, 5)
    assert (adjacent.previous_checkpoint, adjacent.next_checkpoint) == (2, 6)
    first = neighbours(session, action(session, 1))
    assert (first.previous_error, first.next_error, first.previous_checkpoint) == (None, 5, None)


@pytest.mark.parametrize(("requested", "found"), [(-5, 1), (0, 1), (2, 2), (3, 3), (4, 3), (2**63, 3)])
def test_any_number_leads_to_the_nearest_step(record: Record, requested: int, found: int) -> None:
    session = record([ActionDraft(kind="event")] * 3)
    assert nearest(session, requested) == found


def test_a_session_without_steps_has_no_nearest_step(record: Record) -> None:
    assert nearest(record([]), 1) is None


def test_an_unknown_step_is_not_found(record: Record) -> None:
    with pytest.raises(NotFound, match="It has steps 1 to 1"):
        step(record([ActionDraft(kind="event")]), 2)


def test_a_step_takes_four_queries_whatever_its_size(
    record: Record, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    hits = tuple(HitDraft(rank=rank, text=f"passage {rank}") for rank in range(1, 60))
    drafts = [
        ActionDraft(kind="ask", id="a", input="?", output="!", source={"a": 1}, cost_usd=Decimal(1)),
        *(ActionDraft(kind="find", parent="a", retrieval=RetrievalDraft(hits=hits)) for _ in range(3)),
    ]
    session = record(drafts)
    for sequence in (1, 2):
        with django_assert_num_queries(4):
            step(session, sequence)
