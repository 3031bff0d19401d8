from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.recording.timeline.conftest import Record
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, get_or_create_collection, put_frames
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.timeline.state import between, state_at

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_the_totals_at_a_step_include_it_and_nothing_after_it(record: Record) -> None:
    def call(n: int, cost: str | None) -> ActionDraft:
        return ActionDraft(
            kind="llm_call",
            model="acme:m",
            started_at=START + timedelta(seconds=10 * n),
            duration_ms=500,
            usage=Usage(input_tokens=100 * n, output_tokens=n),
            cost_usd=None if cost is None else Decimal(cost),
        )

    session = record(
        [call(1, "0.0000000001"), call(2, None), ActionDraft(kind="event", error_type="Late"), call(3, "5")]
    )
    totals = state_at(session, 3).totals
    assert dict(totals.kinds) == {"llm_call": 2, "event": 1}
    assert (totals.input_tokens, totals.output_tokens, totals.errors) == (300, 3, 1)
    assert (totals.cost_usd, totals.unknown_cost_calls) == (Decimal("0.0000000001"), 1)
    assert totals.elapsed_ms == 10_500


def test_at_the_last_step_the_totals_are_those_of_the_session(record: Record) -> None:
    session = record(
        [
            ActionDraft(
                kind="ask", model="a:m", usage=Usage(input_tokens=3, output_tokens=4), cost_usd=Decimal("0.1")
            ),
            ActionDraft(kind="ask", model="a:m", usage=Usage(input_tokens=5), error_message="broken"),
            ActionDraft(kind="llm_call", usage=Usage(output_tokens=7)),
            ActionDraft(kind="llm_call", usage=Usage(input_tokens=0, output_tokens=0)),
            ActionDraft(kind="event", usage=Usage(input_tokens=9)),
        ]
    )
    totals = state_at(session, session.last_sequence).totals
    assert totals.actions == session.last_sequence
    assert totals.errors == session.error_count
    assert (totals.input_tokens, totals.output_tokens) == (session.input_tokens, session.output_tokens)
    assert (totals.cost_usd, totals.unknown_cost_calls) == (session.cost_usd, session.unknown_cost_calls)
    # the failed ask, the two calls without a model, and the event with tokens of calls
    assert session.unknown_cost_calls == 4


def test_without_recorded_tokens_the_totals_have_none(record: Record) -> None:
    totals = state_at(record([ActionDraft(kind="event"), ActionDraft(kind="ask", model="a:m")]), 2).totals
    assert (totals.input_tokens, totals.output_tokens, totals.tokens) == (None, None, None)
    assert totals.unknown_cost_calls == 1


def test_messages_so_far_are_in_order_and_an_ask_counts_as_two(record: Record) -> None:
    session = record(
        [
            ActionDraft(kind="message", role="user", output="Hello"),
            ActionDraft(kind="ask", input="Why?", output="Because."),
            ActionDraft(kind="message", role="agent", output="Later"),
        ]
    )
    state = state_at(session, 2)
    assert [(message.sequence, message.role, message.text.text) for message in state.messages] == [
        (1, "user", "Hello"),
        (2, "user", "Why?"),
        (2, "agent", "Because."),
    ]
    assert state.message_count == 2


def test_only_the_latest_messages_are_listed_and_all_are_counted(record: Record) -> None:
    session = record([ActionDraft(kind="message", output=f"message {n}") for n in range(1, 9)])
    state = state_at(session, 8, most_messages=3)
    assert [message.text.text for message in state.messages] == ["message 6", "message 7", "message 8"]
    assert state.message_count == 8


def test_a_system_prompt_is_a_message_and_system_notes_are_not(record: Record) -> None:
    session = record(
        [
            ActionDraft(kind="message", role="system", layer="sys", output="You are brief."),
            ActionDraft(kind="message", role="user", layer="sys", output="a reminder"),
            ActionDraft(kind="message", layer="tool", output="a note"),
            ActionDraft(kind="message", role="user", output="Hello"),
        ]
    )
    state = state_at(session, 4)
    assert [message.text.text for message in state.messages] == ["You are brief.", "Hello"]
    assert state.message_count == 2
    found = between(session, None, session.actions.get(sequence=3))
    assert ([message.text.text for message in found.messages], found.message_count) == (["You are brief."], 1)


def test_a_message_without_text_is_counted_and_has_no_text(record: Record) -> None:
    state = state_at(record([ActionDraft(kind="message", role="user")]), 1)
    assert (state.messages, state.message_count) == ([], 1)


def test_frames_that_existed_at_a_step_and_frames_used_so_far_are_known(
    record: Record, project: Project
) -> None:
    collection = get_or_create_collection(project, "handbook", by="test")
    first = put_frames(collection, [NewFrame(title="one", text="first passage")], by="test")[0].frame
    put_frames(collection, [NewFrame(title="two", text="second passage")], by="test")
    hit = HitDraft(rank=1, frame=0, version=1, title="one", text="first passage")
    session = record(
        [
            ActionDraft(kind="find", retrieval=RetrievalDraft(as_of=first.valid_from, hits=(hit,))),
            ActionDraft(kind="find", retrieval=RetrievalDraft(hits=(hit,))),
        ],
        collection=collection,
    )
    then, now = state_at(session, 1), state_at(session, 2)
    assert (then.frames_existed, then.as_of) == (1, first.valid_from)
    assert now.frames_existed == 2
    assert [(used.frame, used.version, used.title, used.sequence) for used in now.frames_used] == [
        (0, 1, "one", 1)
    ]


def test_without_a_collection_the_number_of_frames_is_unknown(record: Record) -> None:
    state = state_at(record([ActionDraft(kind="event", started_at=START)]), 1)
    assert state.frames_existed is None
    assert state.as_of == START


def test_before_the_first_step_nothing_had_happened(record: Record) -> None:
    state = state_at(record([], started_at=START), 0)
    assert (state.totals.actions, state.as_of) == (0, START)
