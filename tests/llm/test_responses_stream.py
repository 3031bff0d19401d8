"""Assembling answers of the Responses API from their events, whole and broken off."""

from typing import Any

from timemachine.llm.pure.answer_stream import AnthropicStream, OpenAIStream
from timemachine.llm.pure.responses_stream import ResponsesStream


def test_the_last_event_has_the_response() -> None:
    stream = ResponsesStream()
    assert stream.add({"type": "response.output_text.delta", "delta": "Hi"}) == "Hi"
    assert not stream.complete
    stream.add({"type": "response.failed", "response": {"id": "r", "error": {"message": "No."}}})
    stream.add({"type": "response.unknown"})
    assert stream.complete
    assert stream.error == {"error": {"message": "No."}}
    assert stream.body == {"id": "r", "error": {"message": "No."}}


def test_a_broken_off_response_has_what_arrived() -> None:
    stream = ResponsesStream()
    message: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant", "content": []}
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": ""}
    for event in (
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "H"},
        {"type": "response.output_item.done", "output_index": 0, "item": {**message, "id": "done"}},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a'},
        {"type": "response.refusal.delta", "output_index": 2, "delta": "No"},
        {"type": "error", "message": "Broken."},
    ):
        stream.add(event)
    assert stream.error == {"type": "error", "message": "Broken."}
    refused = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]}
    assert stream.body == {
        "id": "r",
        "model": "m",
        "output": [{**message, "id": "done"}, {**call, "arguments": '{"a'}, refused],
    }


def test_everything_that_a_whole_chat_completion_has_is_assembled() -> None:
    stream = OpenAIStream()
    token = {"token": "a"}
    for index, delta in (
        (0, {"reasoning": "h", "audio": {"id": "a"}}),
        (0, {"reasoning": "m"}),
        (1, {"content": "b"}),
    ):
        choice = {
            "index": index,
            "delta": {**delta, "annotations": [1], "function_call": None},
            "logprobs": {"content": [token], "refusal": None} if index == 0 else None,
            "finish_reason": "stop",
            "matched": None,
        }
        stream.add({"object": "chat.completion.chunk", "obfuscation": "x", "created": 1, "choices": [choice]})
    first, second = stream.body["choices"]
    assert (stream.body["object"], stream.body["created"]) == ("chat.completion", 1)
    assert "obfuscation" not in stream.body
    assert (first["message"]["reasoning"], first["message"]["audio"]) == ("hm", {"id": "a"})
    assert first["message"]["annotations"] == [1, 1]
    assert first["logprobs"] == {"content": [token, token], "refusal": None}
    assert (second["message"]["content"], second["logprobs"]) == ("b", None)


def test_citations_and_the_end_of_a_message_are_assembled() -> None:
    stream = AnthropicStream()
    for event in (
        {"type": "message_start", "message": {"type": "message", "role": "assistant", "stop_sequence": None}},
        {
            "type": "content_block_delta",
            "delta": {"type": "citations_delta", "citation": {"cited_text": "a"}},
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "stop_sequence", "stop_sequence": "."},
            "context": 1,
        },
    ):
        stream.add(event)
    block = {"type": "text", "citations": [{"cited_text": "a"}]}
    ends = {"stop_reason": "stop_sequence", "stop_sequence": ".", "context": 1}
    assert stream.body == {"type": "message", "role": "assistant", "content": [block], "usage": {}, **ends}
