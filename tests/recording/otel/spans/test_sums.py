"""Every call counts once, whatever is around it."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.otel.spans.made import span
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.otel.pure.counts import is_counted
from timemachine.recording.otel.pure.drafts import action_id, draft_of
from timemachine.recording.otel.pure.sums import correction, counted_once, own_sums, settled
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.validation import check_action

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "gpt-4o"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
EMBED = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "text-embedding-3-large"}
READ = {"gen_ai.usage.input_tokens": 100}
MORE = {"gen_ai.usage.input_tokens": 900, "gen_ai.usage.output_tokens": 90}
SPENT = READ | {"gen_ai.usage.output_tokens": 10}


def made(number: int, parent: int, *attributes: dict[str, Any], name: str = "work") -> ActionDraft:
    found = {key: value for each in attributes for key, value in each.items()}
    parent_id = f"{parent:016x}" if parent else None
    return draft_of(span(found, id=f"{number:016x}", parent=parent_id, name=name))


def counted(drafts: list[ActionDraft]) -> list[int]:
    """The numbers of the spans whose tokens or cost count."""
    return [int(str(each.id).rpartition("-")[2], 16) for each in drafts if is_counted(each)]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        # an agent, its step and the call
        ([made(1, 0, AGENT, SPENT), made(2, 1, AGENT, SPENT), made(3, 2, CHAT, SPENT)], [3]),
        # no call was recorded
        ([made(1, 0, AGENT, SPENT), made(2, 1, TOOL)], [1]),
        # of two agents with the same sums, the innermost keeps them
        ([made(1, 0, AGENT, SPENT), made(2, 1, AGENT, SPENT)], [2]),
        # an agent whose sums are larger than those of the agents inside it
        ([made(1, 0, AGENT, MORE), made(2, 1, AGENT, SPENT), made(3, 1, AGENT, SPENT)], [1]),
        ([made(1, 0, AGENT, MORE), made(2, 1), made(3, 2, AGENT, MORE), made(4, 3, AGENT, SPENT)], [3]),
        # the agents inside state more
        ([made(1, 0, AGENT, SPENT), made(2, 1, AGENT, SPENT), made(3, 1, AGENT, MORE)], [2, 3]),
        # of two agents inside, one has a recorded call
        ([made(1, 0, AGENT, MORE), made(2, 1, AGENT, SPENT), made(3, 1, CHAT, SPENT)], [2, 3]),
        ([made(1, 0, AGENT, {"operation.cost": 0.5}), made(2, 1, AGENT, {"operation.cost": 0.2})], [1]),
        ([made(1, 0, AGENT, {"operation.cost": 0.5}), made(2, 1, AGENT, SPENT)], [2]),
        # two instrumentations recorded the same call
        ([made(1, 0, CHAT, SPENT), made(2, 1, CHAT, SPENT)], [2]),
        # a call below that states nothing leaves the agent its sums
        ([made(1, 0, AGENT, SPENT), made(2, 1, CHAT)], [1]),
        # an agent that a tool ran during a call, and a part of a call that repeats it
        ([made(1, 0, CHAT, SPENT), made(2, 1, TOOL), made(3, 2, CHAT, SPENT)], [1, 3]),
        ([made(1, 0, CHAT, SPENT), made(2, 1, SPENT)], [1]),
        # embeddings are not in the sums of an agent that wrote tokens
        ([made(1, 0, AGENT, SPENT), made(2, 1, EMBED, READ)], [1, 2]),
        ([made(1, 0, AGENT, READ), made(2, 1, EMBED, READ)], [2]),
        ([made(1, 0, CHAT, SPENT), made(2, 1, EMBED, READ)], [1, 2]),
        # tools have no sums
        ([made(1, 0, TOOL, SPENT), made(2, 1, CHAT, SPENT)], [2]),
        # a circle of parents
        ([made(1, 2, AGENT, SPENT), made(2, 1, CHAT, SPENT)], [2]),
    ],
)
def test_every_call_counts_once(spans: list[ActionDraft], expected: list[int]) -> None:
    assert counted(counted_once(spans)) == expected
    assert sorted(counted(counted_once(spans[::-1]))) == expected


def test_a_span_around_calls_is_an_event_without_a_model() -> None:
    outer, inner, plain = counted_once([made(1, 0, CHAT, SPENT), made(2, 1, CHAT, SPENT), made(3, 0, AGENT)])
    assert (outer.kind, outer.model, outer.usage) == ("event", None, None)
    assert (inner.kind, inner.model) == ("llm_call", "gpt-4o")
    assert (plain.kind, plain.model) == ("event", None)


def test_a_late_call_takes_the_sums_back_from_the_agent_that_was_recorded() -> None:
    (agent,) = settled([made(1, 0, AGENT, SPENT, {"operation.cost": 0.5})], [])
    assert (agent.model, agent.cost_usd) == (None, Decimal("0.5"))
    call, taken = settled([made(2, 1, CHAT, SPENT)], [agent])
    assert call.usage == Usage(input_tokens=100, output_tokens=10)
    assert (taken.parent, taken.kind) == (agent.id, "event")
    assert taken.usage == Usage(input_tokens=-100, output_tokens=-10)
    assert taken.cost_usd == Decimal("-0.5")
    check_action(taken)
    assert correction(made(1, 0, AGENT)).cost_usd is None


def test_only_corrections_can_be_below_zero() -> None:
    with pytest.raises(InvalidInput):
        check_action(ActionDraft(kind="event", usage=Usage(input_tokens=-1)))
    with pytest.raises(InvalidInput):
        check_action(ActionDraft(kind="event", cost_usd=Decimal(-1)))


def test_a_late_call_inside_a_recorded_call_is_the_same_call() -> None:
    outer = made(1, 0, CHAT, SPENT)
    (inner,) = settled([made(2, 1, CHAT, SPENT)], [outer])
    assert (inner.kind, inner.usage) == ("event", None)


def test_a_late_span_of_a_call_adds_the_numbers_that_the_recorded_one_has_not() -> None:
    inner = made(2, 1, CHAT)
    late = replace(made(1, 0, CHAT, SPENT), cost_usd=Decimal("0.5"), prices={"source": "genai-prices"})
    outer, corrected = settled([late], [inner])
    assert (outer.kind, outer.usage, outer.cost_usd) == ("event", None, None)
    assert (corrected.parent, corrected.model) == (inner.id, inner.model)
    assert (corrected.usage, corrected.cost_usd) == (late.usage, Decimal("0.5"))
    assert corrected.prices == {"source": "genai-prices", "correction": {"unknown_calls": -1}}


def test_a_late_agent_has_no_sums_of_calls_that_were_recorded() -> None:
    recorded = [made(3, 2, CHAT, SPENT), made(2, 1, TOOL)]
    (agent,) = settled([made(1, 0, AGENT, SPENT)], recorded)
    assert (agent.kind, agent.usage) == ("event", None)


def test_sums_are_not_priced_by_the_size_of_a_call() -> None:
    agent = made(1, 0, AGENT, SPENT)
    price = {"source": "genai-prices", "tier": 200_000}
    found = own_sums(ActionDraft(kind="event", usage=agent.usage, cost_usd=Decimal(1), prices=price))
    assert (found.cost_usd, found.prices) == (None, None)
    assert own_sums(made(2, 1, CHAT, SPENT)) == made(2, 1, CHAT, SPENT)


def test_a_request_of_claude_code_that_was_also_logged_is_one_call_with_the_logged_cost() -> None:
    request = {"request_id": "req_1", "model": "claude-sonnet-4-5", "input_tokens": 10, "output_tokens": 5}
    logged = {**request, "input_tokens": "10", "output_tokens": "5", "cost_usd": "0.0123"}
    call, record, other, nameless = counted_once(
        [
            made(1, 0, request, name="claude_code.llm_request"),
            made(2, 0, logged, name="claude_code.api_request"),
            made(3, 0, {**logged, "request_id": "req_2"}, name="claude_code.api_request"),
            made(4, 0, {**logged, "request_id": 3}, name="claude_code.api_request"),
        ]
    )
    assert (call.cost_usd, record.cost_usd, record.kind) == (Decimal("0.0123"), None, "event")
    assert other.cost_usd == nameless.cost_usd == Decimal("0.0123")
    assert call.usage == Usage(input_tokens=10, output_tokens=5)
    without_source = ActionDraft(kind="llm_call", id=action_id("a", "b"), name="claude_code.llm_request")
    assert counted_once([without_source]) == [without_source]


REQUEST = {"request_id": "req_1", "model": "claude-sonnet-4-5", "input_tokens": 10, "output_tokens": 5}
LOGGED = {**REQUEST, "cost_usd": "0.0123"}


def priced_span(cost: str | None) -> ActionDraft:
    span = made(1, 0, REQUEST, name="claude_code.llm_request")
    return replace(span, cost_usd=None if cost is None else Decimal(cost))


@pytest.mark.parametrize(("cost", "corrected"), [("0.01", "0.0023"), ("0.02", "-0.0077"), (None, "0.0123")])
def test_a_record_that_arrives_after_its_span_corrects_only_the_cost(
    cost: str | None, corrected: str
) -> None:
    record = made(2, 0, LOGGED, name="claude_code.api_request")
    event, correction = settled([record], [priced_span(cost)])
    assert (event.kind, event.usage, event.cost_usd) == ("event", None, None)
    assert (correction.kind, correction.usage, correction.cost_usd) == ("event", None, Decimal(corrected))
    assert correction.parent == priced_span(cost).id


def test_a_record_with_the_same_cost_or_none_corrects_nothing() -> None:
    for stated in (LOGGED, REQUEST):
        record = made(2, 0, stated, name="claude_code.api_request")
        (event,) = settled([record], [priced_span("0.0123")])
        assert (event.kind, event.cost_usd) == ("event", None)


def test_a_span_that_arrives_after_its_record_is_not_counted_again() -> None:
    record = made(2, 0, LOGGED, name="claude_code.api_request")
    (event,) = settled([priced_span("0.01")], [record])
    assert (event.kind, event.usage, event.cost_usd) == ("event", None, None)


def test_other_requests_and_spans_of_the_same_name_count() -> None:
    other = made(2, 0, {**LOGGED, "request_id": "req_2"}, name="claude_code.api_request")
    again = made(3, 0, REQUEST, name="claude_code.llm_request")
    found = settled([other, again], [priced_span("0.01")])
    assert [each.kind for each in found] == ["llm_call", "llm_call"]


def test_a_late_call_leaves_the_cost_unknown_if_the_sums_of_an_agent_inside_are_lost() -> None:
    outer, inner = replace(made(1, 0, AGENT, MORE), cost_usd=Decimal(1)), made(2, 1, AGENT, SPENT)
    recorded = [outer, replace(inner, usage=None), made(3, 1, TOOL)]
    _, taken = settled([made(4, 1, CHAT, SPENT)], recorded)
    assert taken.prices == {
        "source": "unknown",
        "reason": "tokens_not_recorded",
        "correction": {"unknown_calls": 1},
    }
    for inside in (inner, replace(inner, usage=None), replace(inner, usage=None, source=None)):
        _, *corrections = settled([made(4, 2, CHAT, SPENT)], [outer, inside])
        assert [each.prices for each in corrections if each.parent == outer.id] == [
            {"correction": {"unknown_calls": 0}}
        ]
    assert is_counted(settled([made(4, 1, CHAT, SPENT)], [outer, inner])[-1])
