"""Assembling answers from the stream events of providers."""

from typing import Any

import pytest

from timemachine.llm.pure.answer_stream import AnthropicStream, OpenAIStream


def choice(delta: Any, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta, "finish_reason": finish}], **fields}


def test_chunks_are_assembled_into_a_chat_completion() -> None:
    stream = OpenAIStream()
    chunks = [
        choice({"role": "assistant", "content": ""}, id="c1", model="m"),
        choice({"content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "14 "}]}),
        choice({"content": "days."}, usage=None),
        choice({}, "stop", usage={"prompt_tokens": 1}),
        {"choices": [], "usage": {"prompt_tokens": 2}},
    ]
    assert [stream.add(chunk) for chunk in chunks] == ["", "14 ", "days.", "", ""]
    assert stream.complete
    assert not stream.error
    assert stream.body == {
        "id": "c1",
        "model": "m",
        "usage": {"prompt_tokens": 2},
        "choices": [
            {
                "message": {"role": "assistant", "content": "14 days.", "refusal": None},
                "finish_reason": "stop",
            }
        ],
    }


def test_a_streamed_refusal_is_not_content() -> None:
    stream = OpenAIStream()
    assert stream.add(choice({"refusal": "No."}, "stop")) == "No."
    assert stream.body["choices"][0]["message"] == {"content": None, "refusal": "No."}


def test_a_refusal_after_a_partial_answer_is_appended_to_it() -> None:
    stream = OpenAIStream()
    shown = [
        stream.add(each) for each in (choice({"content": "I think"}), choice({"refusal": " No."}, "stop"))
    ]
    assert shown == ["I think", " No."]
    assert stream.body["choices"][0]["message"] == {"content": "I think", "refusal": " No."}


HALVES = [
    (["a\ud83d", "\ude00b"], ["a", "😀b"]),
    (["\ud83d", "", "\ude00", "."], ["", "", "😀", "."]),
    (["\ud83d", "b"], ["", "\ud83db"]),
    (["b\ud83d"], ["b", "\ud83d"]),
    (["\ude00\ud83d\ude00"], ["\ude00😀"]),
]


@pytest.mark.parametrize(("pieces", "shown"), HALVES)
def test_surrogate_halves_are_joined_when_shown_and_stored(pieces: list[str], shown: list[str]) -> None:
    stream, other = OpenAIStream(), AnthropicStream()
    received = [stream.add(choice({"content": piece})) for piece in pieces] + [stream.add(choice({}, "stop"))]
    assert [text for text in received if text] == [text for text in shown if text]
    assert stream.body["choices"][0]["message"]["content"] == "".join(shown)
    events: list[dict[str, Any]] = [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}} for piece in pieces
    ]
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    assert [text for each in [*events, ended] if (text := other.add(each))] == [t for t in shown if t]
    assert other.body["content"] == [{"type": "text", "text": "".join(shown)}]


def test_usage_is_also_read_from_where_groq_sends_it() -> None:
    stream = OpenAIStream()
    stream.add({"choices": None, "x_groq": {"usage": {"prompt_tokens": 3}}})
    assert stream.body["usage"] == {"prompt_tokens": 3}
    assert not stream.complete


def test_an_error_among_the_chunks_is_the_provider_s() -> None:
    stream = OpenAIStream()
    stream.add({"error": {"message": "Overloaded"}})
    assert stream.error == {"error": {"message": "Overloaded"}}


def test_events_are_assembled_into_a_message() -> None:
    stream = AnthropicStream()
    usage = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m1", "model": "m", "usage": usage, "stop_reason": None}},
        {"type": "content_block_start", "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": "14"}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": " days."}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": None}},
        {"type": "ping"},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
    ]
    assert "".join(stream.add(event) for event in events[:-1]) == "14 days."
    assert not stream.complete
    assert stream.add(events[-1]) == ""
    stream.add({"type": "message_stop"})
    assert stream.complete
    assert stream.body == {
        "id": "m1",
        "model": "m",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "14 days."}],
        "usage": {"input_tokens": 5, "output_tokens": 4},
    }


def test_an_error_among_the_events_is_the_provider_s() -> None:
    stream = AnthropicStream()
    event = {"type": "error", "error": {"type": "overloaded_error"}}
    stream.add(event)
    assert stream.error == event


def test_calls_and_reasoning_of_a_chat_completion_are_assembled() -> None:
    stream = OpenAIStream()
    begun = {"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": '{"pa'}}
    for event in (
        choice({"reasoning_content": "hm"}),
        choice({"tool_calls": [begun]}),
        choice({"tool_calls": [{"index": 0, "function": {"arguments": 'th": "x"}'}}, None]}),
        choice({"tool_calls": [{"id": "b", "function": {"name": "list"}}]}, "tool_calls"),
    ):
        assert stream.add(event) == ""
    assert stream.body["choices"][0]["message"] == {
        "content": None,
        "refusal": None,
        "reasoning_content": "hm",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}},
            {"type": "function", "function": {"name": "", "arguments": ""}},
            {"id": "b", "type": "function", "function": {"name": "list", "arguments": ""}},
        ],
    }


def test_calls_and_thinking_of_a_message_are_assembled() -> None:
    stream = AnthropicStream()

    def begun(index: int, **block: Any) -> dict[str, Any]:
        return {"type": "content_block_start", "index": index, "content_block": block}

    def more(index: int, kind: str, **delta: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}

    for event in (
        begun(0, type="thinking", thinking=""),
        more(0, "thinking_delta", thinking="hm"),
        more(0, "signature_delta", signature="s"),
        more(0, "unknown_delta", other=1),
        begun(1, type="tool_use", id="a", name="read", input={}),
        more(1, "input_json_delta", partial_json='{"pa'),
        more(1, "input_json_delta", partial_json='th": "x"}'),
        begun(2, type="tool_use", id="b", name="list", input={}),
        more(2, "input_json_delta", partial_json=""),
        begun(3, type="tool_use", id="c", name="run", input={}),
        more(3, "input_json_delta", partial_json="{broken"),
    ):
        assert stream.add(event) == ""
    assert stream.body["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        {"type": "tool_use", "id": "b", "name": "list", "input": {}},
        {"type": "tool_use", "id": "c", "name": "run", "input": "{broken"},
    ]
