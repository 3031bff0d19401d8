"""A call that two instrumentations recorded is one call, although neither span is inside the other one."""

from typing import Any

import pytest

from tests.recording.otel.spans.made import BEGAN, span
from tests.recording.otel.spans.test_sums import CHAT, EMBED, READ, SPENT, counted
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.sums import counted_once, settled
from timemachine.recording.sessions.pure.draft import ActionDraft

RESPONSE = {"gen_ai.response.id": "chatcmpl-1"}
MESSAGES = {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]'}


def sent(
    number: int,
    scope: str,
    *attributes: dict[str, Any],
    began: int = 0,
    lasted: int = 900,
    parent: int = 1,
    **more: Any,
) -> ActionDraft:
    """A call; times are in milliseconds."""
    found = {key: value for each in (CHAT, *attributes) for key, value in each.items()}
    times = {"began": BEGAN + began * 1_000_000, "ended": BEGAN + (began + lasted) * 1_000_000}
    ids = {"id": f"{number:016x}", "parent": f"{parent:016x}", "name": f"{scope} chat"}
    return draft_of(span(found, **times, **ids, scope={"name": scope}, **more))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        # both name the response, under different parents
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT, RESPONSE, parent=9)], [2]),
        # the span with the messages remains
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT, RESPONSE, MESSAGES)], [3]),
        # only one states tokens
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", RESPONSE)], [2]),
        # nobody names the response: the same tokens and model, one within the other
        ([sent(2, "a", SPENT), sent(3, "b", SPENT, began=10, lasted=800)], [2]),
        ([sent(3, "a", SPENT, {"gen_ai.request.model": "gpt-4o-2024-08-06"}, lasted=800), sent(2, "b", SPENT)], [2]),
        # only one names it
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT)], [2]),
        # one call after the other, other models, parents, tokens or responses, one sender, another trace, embeddings, no times
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT, RESPONSE, began=1000)], [2, 3]),
        ([sent(2, "a", SPENT), sent(3, "b", SPENT, began=10)], [2, 3]),
        ([sent(2, "a", SPENT), sent(3, "b", SPENT, {"gen_ai.request.model": "o3"})], [2, 3]),
        ([sent(2, "a", SPENT), sent(3, "b", SPENT, parent=9)], [2, 3]),
        ([sent(2, "a", SPENT), sent(3, "b", SPENT, {"gen_ai.usage.output_tokens": 11})], [2, 3]),
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT, {"gen_ai.response.id": "chatcmpl-2"})], [2, 3]),
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "a", SPENT, RESPONSE)], [2, 3]),
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT, RESPONSE, trace="d" * 32)], [2, 3]),
        ([sent(2, "a", EMBED, READ, RESPONSE), sent(3, "b", EMBED, READ, RESPONSE)], [2, 3]),
        ([sent(2, "a", SPENT, RESPONSE, lasted=-BEGAN), sent(3, "b", SPENT, RESPONSE)], [2, 3]),
        # three spans of one call
        ([sent(2, "a", SPENT, RESPONSE), sent(3, "b", SPENT, RESPONSE), sent(4, "c", SPENT, RESPONSE)], [2]),
    ],
)  # fmt: skip
def test_a_call_recorded_side_by_side_counts_once(spans: list[ActionDraft], expected: list[int]) -> None:
    assert counted(counted_once(spans)) == expected
    assert sorted(counted(counted_once(spans[::-1]))) == expected


def test_a_second_span_adds_the_numbers_that_the_recorded_one_lacks() -> None:
    event, added = settled([sent(3, "b", SPENT, RESPONSE)], [sent(2, "a", RESPONSE)])
    assert (event.kind, event.usage) == ("event", None)
    assert added.parent == sent(2, "a").id
    assert added.usage is not None
    assert added.usage.input_tokens == 100
