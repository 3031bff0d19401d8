"""Answers of models are read from the response of each API, and written as one again."""

from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from hypothesis import given
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from tests.llm.requests.bodies import blocks, chat_messages, noisy, response_items, values
from timemachine.llm.pure.requests.answer_bodies import write_anthropic, write_chat, write_responses
from timemachine.llm.pure.requests.answers import Answer, read_anthropic, read_chat, read_responses
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import Other, Refusal, Text, Thinking, ToolCall
from timemachine.llm.pure.usage import TokenUsage

CALLS = (
    ToolCall(id="c1", name="search", arguments={"q": "a"}),
    ToolCall(id="c2", name="search", arguments={"q": "b"}),
)
USAGE = TokenUsage(
    input_tokens=10,
    output_tokens=5,
    total_tokens=15,
    cached_tokens=4,
    cache_write_tokens=2,
    reasoning_tokens=3,
)
ANSWER = Answer(parts=(Text("I search."), *CALLS), finish_reason="tool_calls", model="m", id="x", usage=USAGE)

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "model": "gpt",
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "I search.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"q": "a"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"q":"b"}'},
                    },
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}


def test_text_and_parallel_calls_are_read_from_a_chat_completion() -> None:
    answer = read_chat(CHAT)
    assert (answer.text, answer.calls) == ("I search.", CALLS)
    assert (answer.finish_reason, answer.model, answer.id) == ("tool_calls", "gpt", "chatcmpl-1")
    assert answer.usage == TokenUsage(input_tokens=3, output_tokens=2, total_tokens=5)


def test_a_refusal_is_read_from_a_chat_completion() -> None:
    answer = read_chat(
        {"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}
    )
    assert answer.refused
    assert (answer.text, answer.parts, answer.usage) == ("No.", (Refusal("No."),), None)


def test_thinking_and_calls_are_read_from_a_message_of_anthropic() -> None:
    answer = read_anthropic(
        {
            "id": "msg_1",
            "model": "claude",
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "I search."},
                {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "a"}},
                {"type": "tool_use", "id": "c2", "name": "search", "input": {"q": "b"}},
            ],
            "usage": {
                "input_tokens": 4,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 2,
                "output_tokens": 5,
            },
        }
    )
    assert (answer.thinking, answer.text, answer.calls) == ("Hm.", "I search.", CALLS)
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.cached_tokens) == (10, 4)


def test_the_explanation_of_anthropics_refusal_is_read() -> None:
    answer = read_anthropic(
        {"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "This is not allowed."}}
    )
    assert answer.parts == (Refusal("This is not allowed."),)
    assert read_anthropic({"content": [], "stop_reason": "refusal"}).parts == ()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"status": "failed"}, "failed"),
        ({}, None),
    ],
)
def test_a_response_gets_the_finish_reason_of_a_chat_completion(
    state: dict[str, Any], reason: str | None
) -> None:
    assert read_responses({"output": [], **state}).finish_reason == reason


def test_a_response_is_read() -> None:
    item = {"type": "message", "role": "assistant", "id": "m", "status": "completed"}
    answer = read_responses(
        {
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {**item, "content": [{"type": "output_text", "text": "I search.", "annotations": []}]},
                {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q":"a"}'},
                {"type": "function_call", "call_id": "c2", "name": "search", "arguments": '{"q":"b"}'},
            ],
            "usage": {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 3},
                "total_tokens": 15,
            },
        }
    )
    assert (answer.thinking, answer.text, answer.calls) == ("Hm.", "I search.", CALLS)
    assert (answer.finish_reason, answer.usage) == ("tool_calls", USAGE)


@pytest.mark.parametrize(
    ("read", "body"),
    [(read_chat, {}), (read_chat, []), (read_responses, {}), (read_anthropic, {"content": "text"})],
)
def test_what_is_not_an_answer_is_refused(read: Any, body: Any) -> None:
    with pytest.raises(RequestError):
        read(body)


WAYS: list[tuple[Any, Any, Any]] = [
    (write_chat, read_chat, ChatCompletion),
    (write_responses, read_responses, Response),
    (write_anthropic, read_anthropic, AnthropicMessage),
]


@pytest.mark.parametrize(("write", "read", "model"), WAYS)
@pytest.mark.parametrize("answer", [ANSWER, Answer(parts=(Text("Hello"),)), Answer(), Answer(parts=CALLS)])
def test_an_answer_written_as_a_response_is_one_for_the_vendors_client_and_reads_the_same(
    write: Any, read: Any, model: Any, answer: Answer
) -> None:
    written = write(answer)
    assert written.dropped == ()
    model.model_validate(written.body, strict=True)
    again = read(written.body)
    assert (again.text, [(call.id, call.name, call.arguments) for call in again.calls]) == (
        answer.text,
        [(call.id, call.name, call.arguments) for call in answer.calls],
    )
    if answer.usage is not None:
        assert (again.usage.input_tokens, again.usage.output_tokens) == (10, 5)


def test_thinking_goes_only_into_the_response_of_its_api() -> None:
    answer = Answer(parts=(Thinking(provider="anthropic", text="Hm.", signature="s"), Text("Hi")))
    assert read_anthropic(write_anthropic(answer).body).parts == answer.parts
    assert write_chat(answer).dropped == (
        "The reasoning is not sent: only Anthropic's Messages API accepts it.",
    )
    assert len(write_responses(answer).dropped) == 1


@pytest.mark.parametrize(
    ("answer", "chat", "anthropic", "status"),
    [
        (Answer(finish_reason="max_tokens"), "length", "max_tokens", "incomplete"),
        (Answer(finish_reason="length"), "length", "max_tokens", "incomplete"),
        (Answer(finish_reason="content_filter"), "content_filter", "refusal", "incomplete"),
        (Answer(finish_reason="refusal"), "content_filter", "refusal", "incomplete"),
        (Answer(finish_reason="stop"), "stop", "end_turn", "completed"),
        (Answer(finish_reason="end_turn", parts=CALLS), "tool_calls", "end_turn", "completed"),
        (Answer(finish_reason=None, parts=CALLS), "tool_calls", "tool_use", "completed"),
        (Answer(finish_reason="stop", parts=(Refusal("No."),)), "stop", "refusal", "completed"),
    ],
)
def test_the_finish_reason_is_that_of_the_api(answer: Answer, chat: str, anthropic: str, status: str) -> None:
    assert write_chat(answer).body["choices"][0]["finish_reason"] == chat
    assert write_anthropic(answer).body["stop_reason"] == anthropic
    assert write_responses(answer).body["status"] == status


def test_a_refusal_is_played_back_as_one_where_the_api_has_them() -> None:
    refused = Answer(parts=(Refusal("No."),))
    assert read_chat(write_chat(refused).body).parts == refused.parts
    assert read_responses(write_responses(refused).body).refused
    assert read_anthropic(write_anthropic(refused).body).text == "No."


def test_built_in_items_of_a_response_are_kept() -> None:
    item = {"type": "web_search_call", "id": "w", "status": "completed", "action": {}}
    answer = read_responses({"output": [item]})
    assert answer.parts == (Other("openai_responses", item),)
    assert write_responses(answer).body["output"] == [item]


@given(values, noisy(chat_messages), noisy(response_items), noisy(blocks))
def test_any_json_is_read_or_refused(value: Any, message: Any, item: Any, block: Any) -> None:
    bodies = [value, {"choices": [{"message": message}], "usage": value}, {"output": [item], "usage": value}]
    for body in (*bodies, {"content": [block], "stop_details": value, "stop_reason": "refusal"}):
        for _, read, _ in WAYS:
            try:
                answer = read(body)
            except RequestError:
                continue
            for each, _, _ in WAYS:
                assert each(answer).body
