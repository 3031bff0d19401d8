"""Sheets of a session: keyset pages of steps, as a table and as documents."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.governance.deletion.erasure.queries import as_given
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.timeline import raw
from timemachine.recording.timeline.pure.filter import EVERYTHING, parse
from timemachine.recording.timeline.raw import raw_steps
from timemachine.recording.timeline.schemas.actions import ReadAction, with_everything
from timemachine.recording.timeline.sheet import Bar, Place, sheet, span_of, table_rows

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def session(record: Record) -> Session:
    """Fifty steps, every fifth of them failed."""
    return record(
        [
            ActionDraft(kind="event", input=str(n), error_type="Odd" if n % 5 == 4 else None)
            for n in range(50)
        ],
        agent="own",
    )


@pytest.mark.parametrize("written", ["", "status:error", "step:7-33", "kind:ask"])
def test_pages_continue_in_both_directions_to_the_end(session: Session, written: str) -> None:
    shown = parse(written)
    all_sequences = list(sheet(session, shown, Place(near=1), 100).sequences)
    there: list[int] = []
    back: list[int] = []
    at: int | None = 0
    while at is not None:
        found = sheet(session, shown, Place(near=1, after=at), 7)
        there += found.sequences
        at = found.later
    at = 51
    while at is not None:
        found = sheet(session, shown, Place(near=1, before=at), 7)
        back = [*found.sequences, *back]
        at = found.earlier
    assert there == back == all_sequences


@pytest.mark.parametrize(
    ("written", "near", "lead", "first", "earlier", "later"),
    [
        ("", 20, 0, 20, 20, 26),
        ("", 20, 5, 15, 15, 21),
        ("", 3, 5, 1, None, 7),
        ("", 48, 0, 48, 48, None),
        ("status:error", 20, 2, 10, 10, 40),
        ("status:error", 2, 2, 5, None, 35),
        ("", 51, 0, 44, 44, None),
        ("step:1-3", 40, 0, 1, None, None),
    ],
)
def test_a_sheet_opens_at_a_step_with_some_steps_before_it(
    session: Session, written: str, near: int, lead: int, first: int, earlier: int | None, later: int | None
) -> None:
    found = sheet(session, parse(written), Place(near=near, lead=lead), 7)
    assert (found.sequences[0], found.earlier, found.later) == (first, earlier, later)


def test_a_sheet_takes_three_queries(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(3):
        sheet(session, EVERYTHING, Place(near=20, lead=5), 7)
    with django_assert_num_queries(2):
        sheet(session, EVERYTHING, Place(near=1, before=20), 7)
    with django_assert_num_queries(1):
        assert len(table_rows(session, range(1, 41))) == 40
    with django_assert_num_queries(5):
        assert len(raw_steps(session, range(1, 41), as_given)) == 40
    with django_assert_num_queries(0):
        assert not table_rows(session, [])
        assert not raw_steps(session, [], as_given)


def test_a_row_shows_only_recorded_values(record: Record) -> None:
    session = record(
        [
            ActionDraft(kind="event"),
            ActionDraft(kind="llm_call", model="m", agent="sub", usage=Usage(input_tokens=3)),
            ActionDraft(kind="llm_call", model="m", cost_usd=Decimal("0.5"), error_type="E"),
        ],
        agent="own",
    )
    plain, unpriced, failed = table_rows(session, [1, 2, 3])
    assert (plain.agent, plain.model, plain.input_tokens, plain.cost_usd, plain.unknown_cost) == (
        "own",
        None,
        None,
        None,
        False,
    )
    assert (unpriced.agent, unpriced.unknown_cost, unpriced.input_tokens, unpriced.failed) == (
        "sub",
        True,
        3,
        False,
    )
    assert (failed.cost_usd, failed.unknown_cost, failed.failed) == (Decimal("0.5"), False, True)


def test_a_bar_is_placed_by_the_time_of_its_step(record: Record) -> None:
    began = [None, NOON, NOON + timedelta(seconds=5), NOON + timedelta(seconds=10)]
    took = [1_000, 2_000, None, 10_000]
    drafts = [
        ActionDraft(kind="event", started_at=at, duration_ms=length)
        for at, length in zip(began, took, strict=True)
    ]
    rows = table_rows(record(drafts), [1, 2, 3, 4])
    span = span_of(rows)
    assert span is not None
    assert (span.first, span.last) == (NOON, NOON + timedelta(seconds=20))
    assert [span.bar(row) for row in rows] == [
        None,
        Bar(start=0, length=0.1),
        Bar(start=0.25, length=0),
        Bar(start=0.5, length=0.5),
    ]
    moment = span_of(rows[2:3])
    assert moment is not None
    assert moment.bar(rows[2]) == Bar(start=0, length=0)
    assert span_of(rows[:1]) is None


def test_a_short_document_is_the_api_document(record: Record) -> None:
    hit = HitDraft(rank=1, text="The text.", frame=3)
    session = record(
        [
            ActionDraft(kind="find", input="Q", retrieval=RetrievalDraft(hits=(hit,))),
            ActionDraft(kind="tool_call", tool="t", input={"a": [1, None]}, output="a\x00\ud800b"),
        ]
    )
    found = raw_steps(session, [1, 2], as_given)
    actions = with_everything(Action.objects.filter(session=session)).order_by("sequence")
    assert [json.loads(each.text) for each in found] == [
        ReadAction.of(action).model_dump() for action in actions
    ]
    assert [(each.cut, each.payloads) for each in found] == [(False, []), (False, [])]


def test_long_payloads_are_truncated_with_a_link_to_the_full_value(record: Record) -> None:
    long = "ä" * 10_000
    hit = HitDraft(rank=1, text=long + "!", frame=3)
    session = record(
        [
            ActionDraft(kind="find", input={"q": long}, output=long, retrieval=RetrievalDraft(hits=(hit,))),
            ActionDraft(kind="event", tags=tuple(f"tag {n}" for n in range(400))),
        ]
    )
    cut, tagged = raw_steps(session, [1, 2], as_given)
    document = json.loads(cut.text)
    assert document["output"] == "ä" * (raw.FIRST_BYTES // 2) + "…"
    assert document["input"].startswith('{"q":"ä')
    assert [each.name for each in cut.payloads] == ["input", "output", "text of hit 1"]
    assert cut.payloads[1].size == 20_000
    assert not cut.cut
    assert tagged.cut
    assert len(tagged.text) == raw.LONGEST < tagged.size
