"""Steps that were copied from an earlier session: where they came from, and that no sum contains them."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.db.models import Q

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of
from timemachine.recording.timeline.copies import Uncounted, copied_in, original_of, uncounted_in
from timemachine.recording.timeline.pieces import session_picture
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.rows import matches, rows_of
from timemachine.recording.timeline.sheet import table_rows
from timemachine.recording.timeline.sparkline_counts import activity_of
from timemachine.recording.timeline.state import between, state_at
from timemachine.recording.timeline.totals import summary_of, totals_by
from timemachine.recording.usage.costs import CostQuery, costs
from timemachine.recording.usage.pure.span import Span

pytestmark = pytest.mark.django_db


def test_a_copied_step_leads_to_its_original_by_id_or_sequence(record: Record) -> None:
    parent = record([ActionDraft(kind="event"), ActionDraft(kind="message", id="asked")], key="parent")
    fork = record([ActionDraft(kind="message", copied_from=copy_of("parent", "asked"))])
    for step in ("asked", 2):
        found = original_of(fork, copy_of("parent", step))
        assert found is not None
        assert (found.session, found.sequence) == (parent, 2)


def test_the_original_of_a_copy_is_unknown_without_its_session_or_step(record: Record) -> None:
    fork = record([ActionDraft(kind="event")], key="fork")
    assert original_of(fork, None) is None
    found = [
        original_of(fork, each)
        for each in (copy_of(), copy_of("elsewhere", 1), copy_of("fork", 9), copy_of("fork"))
    ]
    assert [each and (each.key, each.session, each.sequence) for each in found] == [
        (None, None, None),
        ("elsewhere", None, None),
        ("fork", fork, None),
        ("fork", fork, None),
    ]


COPIES = (
    ActionDraft(
        kind="llm_call",
        role="agent",
        tool="ignored",
        model="acme:m",
        started_at=datetime(2026, 11, 20, tzinfo=UTC),
        duration_ms=5.0,
        usage=Usage(input_tokens=1_000, output_tokens=100),
        cost_usd=Decimal(1),
        error_message="broken",
        copied_from=copy_of("parent", 1),
    ),
    ActionDraft(kind="message", role="user", output="Build a hut.", copied_from=copy_of("parent", 2)),
    ActionDraft(kind="message", layer="sys", output="internal", copied_from=copy_of("parent", 3)),
)
OWN = (
    ActionDraft(kind="message", role="user", output="Add a roof."),
    ActionDraft(
        kind="llm_call",
        model="acme:m",
        started_at=datetime(2026, 11, 21, tzinfo=UTC),
        duration_ms=7.0,
        usage=Usage(input_tokens=5, output_tokens=2),
        cost_usd=Decimal("0.25"),
    ),
    ActionDraft(kind="message", layer="sys", output="also internal"),
)


@pytest.fixture
def fork(record: Record) -> Session:
    return record([*COPIES, *OWN], key="fork")


def test_copied_steps_are_in_no_total(fork: Session) -> None:
    found = summary_of(fork)
    assert (found.actions, found.kinds, found.errors) == (3, {"llm_call": 1, "message": 2}, 0)
    assert (found.input_tokens, found.output_tokens, found.cost_usd, found.tools) == (5, 2, 0.25, {})
    assert (found.models, found.steps_ms) == ({"acme:m": 1}, 7.0)
    assert (fork.last_sequence, fork.error_count, fork.cost_usd) == (6, 0, Decimal("0.25"))


def test_the_summary_says_how_many_steps_are_copies(fork: Session) -> None:
    found = summary_of(fork)
    assert (found.actions, found.copied_actions, found.corrections) == (3, 3, 0)


def test_copies_are_counted_by_the_session_that_they_come_from(fork: Session, record: Record) -> None:
    assert uncounted_in(fork) == Uncounted(copies={"parent": 3}, corrections=0)
    assert uncounted_in(record([OWN[0]], key="plain")) == Uncounted()
    assert copied_in([fork]) == {fork.id: 3}


@pytest.mark.parametrize("text", ["", "step:1-6", "model:acme*"])
def test_the_totals_of_a_filter_leave_copies_out(fork: Session, text: str) -> None:
    found = totals_by(fork, "model", parse(text)).whole
    assert (found.calls, found.cost_usd, found.errors) == (1, Decimal("0.25"), 0)


def test_costs_leave_copies_out(fork: Session) -> None:
    span = Span(since=date(2026, 11, 20), until=date(2026, 11, 21))
    found = costs(fork.project, CostQuery(span=span), "day")
    assert (found.sums.calls, found.sums.cost_usd, found.sums.input_tokens) == (1, Decimal("0.25"), 5)


def test_a_copied_call_is_no_reason_of_an_unknown_cost(record: Record) -> None:
    call = ActionDraft(kind="llm_call", model="acme:m", started_at=datetime(2026, 11, 20, tzinfo=UTC))
    fork = record([replace(call, copied_from=copy_of("parent", 1)), call], key="unknown")
    span = Span(since=date(2026, 11, 20), until=date(2026, 11, 20))
    found = costs(fork.project, CostQuery(span=span), "day")
    assert (found.sums.unknown_cost_calls, sum(found.unknown_reasons.values())) == (1, 1)


def test_the_state_at_a_step_has_copied_messages_but_not_their_cost(fork: Session) -> None:
    at_copies, at_end = state_at(fork, 3), state_at(fork, 6)
    assert (at_copies.totals.actions, at_copies.totals.cost_usd) == (0, None)
    assert [each.text.text for each in at_end.messages] == ["Build a hut.", "Add a roof."]
    assert (at_copies.message_count, at_end.message_count) == (1, 2)
    assert at_end.totals.cost_usd == Decimal("0.25")
    first = fork.actions.get(sequence=1)
    assert between(fork, first, fork.actions.get(sequence=6)).message_count == 2


def test_a_copied_error_is_no_error_of_the_timeline(fork: Session) -> None:
    rows = rows_of(fork, Q(), 10)
    assert [row.copied for row in rows] == [True] * 3 + [False] * 3
    assert not any(row.failed for row in rows)
    assert matches(fork, parse("status:error")) == 0
    assert [row.copied for row in table_rows(fork, [1, 4])] == [True, False]
    drawn = session_picture(fork, "steps")
    assert drawn is not None
    assert (drawn.errors, drawn.number) == (0, 6)
    assert not any(activity_of([fork])[fork.id].failed)
