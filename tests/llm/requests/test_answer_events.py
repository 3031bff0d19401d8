"""Whole answers are streamed as each API does, and the pieces add up to the answer again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.server_sent import events_in
from timemachine.llm.pure.answer_stream import AnthropicStream, OpenAIStream
from timemachine.llm.pure.requests.answer_bodies import write_anthropic, write_chat, write_responses
from timemachine.llm.pure.requests.answer_events import anthropic_stream, chat_stream, responses_stream
from timemachine.llm.pure.requests.answers import Answer, read_anthropic, read_chat
from timemachine.llm.pure.requests.neutral import (
    ANTHROPIC,
    OPENAI,
    RESPONSES,
    Other,
    Refusal,
    Text,
    Thinking,
    ToolCall,
)
from timemachine.llm.pure.usage import TokenUsage

LONG = "The quick brown fox jumps over the lazy dog. " * 3
USAGE = TokenUsage(input_tokens=3, output_tokens=2, total_tokens=5)
words = st.text(max_size=130)
calls = st.builds(
    ToolCall,
    id=st.text(min_size=1, max_size=5),
    name=st.sampled_from(["search", "read"]),
    arguments=st.dictionaries(words, st.integers() | words, max_size=2),
)


def events(stream: bytes) -> list[Any]:
    """Return the JSON of each event."""
    return [json.loads(each.data) for each in events_in([stream]) if each.data != "[DONE]"]


def names(stream: bytes) -> list[str]:
    """Return the names of the events, each once if it is repeated."""
    found = [each.name for each in events_in([stream])]
    return [name for number, name in enumerate(found) if number == 0 or found[number - 1] != name]


@given(words.filter(bool), st.lists(calls, max_size=2))
def test_the_chunks_of_a_chat_completion_add_up_to_it(text: str, called: list[ToolCall]) -> None:
    body = write_chat(Answer(parts=(Text(text), *called), model="m", id="x", usage=USAGE)).body
    stream = OpenAIStream()
    assert "".join(stream.add(event) for event in events(chat_stream(body, with_usage=True))) == text
    assert stream.complete
    assert read_chat(stream.body) == read_chat(body)


@given(words.filter(bool), words, st.lists(calls, max_size=2))
def test_the_events_of_a_message_add_up_to_it(text: str, thought: str, called: list[ToolCall]) -> None:
    thinking = Thinking(provider=ANTHROPIC, text=thought, signature="s")
    body = write_anthropic(Answer(parts=(thinking, Text(text), *called), model="m", id="x", usage=USAGE)).body
    stream = AnthropicStream()
    assert "".join(stream.add(event) for event in events(anthropic_stream(body))) == text
    assert stream.complete
    assert read_anthropic(stream.body) == read_anthropic(body)


def test_a_chat_completion_ends_with_its_usage_only_if_that_was_asked_for() -> None:
    body = write_chat(Answer(parts=(Text("Hi"),), usage=USAGE)).body
    assert chat_stream(body).endswith(b"data: [DONE]\n\n")
    assert "usage" not in events(chat_stream(body))[-1]
    last = events(chat_stream(body, with_usage=True))[-1]
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 5)


def test_the_first_chunk_has_what_is_not_streamed_in_pieces() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "annotations": [1]}
    body = {"id": "x", "choices": [{"message": message, "finish_reason": "stop"}]}
    first, last = events(chat_stream(body))
    assert first["choices"][0]["delta"] == message
    assert last["choices"][0] == {"index": 0, "logprobs": None, "delta": {}, "finish_reason": "stop"}


def test_reasoning_refusals_and_calls_with_free_text_are_streamed_as_such() -> None:
    call = ToolCall(id="c", name="patch", raw=LONG, free_text=True)
    thinking = Thinking(provider=OPENAI, text="Hm.")
    body = write_chat(Answer(parts=(thinking, Refusal("No."), call))).body
    deltas = [event["choices"][0]["delta"] for event in events(chat_stream(body))]
    assert {"reasoning_content": "Hm."} in deltas
    assert {"refusal": "No."} in deltas
    pieces = [each["tool_calls"][0]["custom"]["input"] for each in deltas if "tool_calls" in each]
    assert "".join(pieces) == LONG


def test_the_events_of_a_response_are_those_of_the_api_in_its_order() -> None:
    parts = (
        Thinking(provider=RESPONSES, text="Hm.", extra={}),
        Text("Hi"),
        ToolCall(id="c1", name="search", arguments={"q": "a"}),
        ToolCall(id="c2", name="patch", raw="p", free_text=True),
    )
    body = write_responses(Answer(parts=parts, id="r")).body
    stream = responses_stream(body)
    assert names(stream) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
        "response.output_item.done",
        "response.completed",
    ]
    found = events(stream)
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    assert found[0]["response"]["output"] == []
    assert found[-1]["response"] == body
    done = next(event for event in found if event["type"] == "response.function_call_arguments.done")
    assert (done["arguments"], done["name"]) == ('{"q": "a"}', "search")


@pytest.mark.parametrize(("reason", "end"), [("length", "incomplete"), ("stop", "completed")])
def test_the_last_event_of_a_response_says_how_it_ended(reason: str, end: str) -> None:
    body = write_responses(Answer(parts=(Text("Hi"),), finish_reason=reason)).body
    assert events(responses_stream(body))[-1]["type"] == f"response.{end}"


def test_a_response_can_have_refusals_other_parts_and_other_items() -> None:
    content = [{"type": "refusal", "refusal": "No."}, {"type": "x"}]
    output = [{"type": "message", "id": "m", "content": content}, {"type": "web_search_call", "id": "w"}]
    found = events(responses_stream({"status": "completed", "output": output}))
    assert [event["delta"] for event in found if event["type"] == "response.refusal.delta"] == ["No."]
    assert [event["part"] for event in found if event["type"] == "response.content_part.done"] == content
    assert [event["item"] for event in found if event["type"] == "response.output_item.done"] == output


def test_blocks_of_a_message_that_are_not_streamed_in_pieces_begin_whole() -> None:
    parts = (Thinking(provider=ANTHROPIC, data="secret"), Other(ANTHROPIC, {"type": "x", "y": 1}))
    found = events(anthropic_stream(write_anthropic(Answer(parts=parts)).body))
    blocks = [event["content_block"] for event in found if event["type"] == "content_block_start"]
    assert blocks == [{"type": "redacted_thinking", "data": "secret"}, {"type": "x", "y": 1}]
    assert not [event for event in found if event["type"] == "content_block_delta"]


def test_citations_and_unsigned_thinking_are_streamed() -> None:
    cited = {"type": "text", "text": "Hi", "citations": [{"cited_text": "a"}]}
    thinking = {"type": "thinking", "thinking": "Hm."}
    found = events(anthropic_stream({"content": [thinking, cited], "usage": {"output_tokens": 2}}))
    deltas = [event["delta"] for event in found if event["type"] == "content_block_delta"]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "text_delta", "text": "Hi"},
        {"type": "citations_delta", "citation": {"cited_text": "a"}},
    ]
    assert found[0]["message"]["usage"] == {"output_tokens": 0}
    assert found[-2]["usage"] == {"output_tokens": 2}
