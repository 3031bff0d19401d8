"""The answer is found in the recorded output of a model call, whatever tool recorded it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.requests.bodies import blocks, chat_messages, noisy, response_items, texts, values
from tests.recording.importing.sample_files import read
from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import Refusal, Text, Thinking, ToolCall
from timemachine.llm.pure.requests.recorded_answers import read_answer

CALL = ToolCall(id="c1", name="weather", arguments={"city": "Rom"})
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rom"}'}}
TOOL_USE = {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Rom"}}
TEXT = {"type": "text", "text": "I look."}
FORMS: dict[str, Any] = {
    "chat completion": {"choices": [{"message": {"content": "I look.", "tool_calls": [CHAT_CALL]}}]},
    "message of chat": {"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL]},
    "list of messages": [{"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL]}],
    "object with messages": {"messages": [{"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL]}]},
    "message of anthropic": {"type": "message", "role": "assistant", "content": [TEXT, TOOL_USE]},
    "claude code": {"content": [TEXT, TOOL_USE], "stop_reason": None},
    "pi": {"content": [TEXT, {"type": "toolCall", "id": "c1", "name": "weather", "arguments": {"city": "Rom"}}]},
    "goose": {"content": [TEXT, {"type": "toolRequest", "id": "c1", "toolCall": {
        "status": "success", "value": {"name": "weather", "arguments": {"city": "Rom"}}}}]},
    "response": {"output": [{"role": "assistant", "content": "I look."}, {
        "type": "function_call", "call_id": "c1", "name": "weather", "arguments": {"city": "Rom"}}]},
    "codex": {"content": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}, {
        "type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Rom"}'}]},
    "items": [{"role": "assistant", "content": "I look."}, {
        "type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Rom"}'}],
    "copilot": {"content": "I look.", "tool_requests": [{"toolCallId": "c1", "name": "weather", "arguments": {"city": "Rom"}}]},
    "gemini cli": {"content": "I look.", "tool_calls": [{"id": "c1", "name": "weather", "args": {"city": "Rom"}}]},
    "atif": {"message": "I look.", "tool_calls": [CHAT_CALL]},
    "otel": [{"role": "assistant", "finish_reason": "tool_call", "parts": [{"type": "text", "content": "I look."}, {
        "type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Rom"}}]}],
    "gemini": {"candidates": [{"content": {"parts": [{"text": "I look."}, {
        "functionCall": {"id": "c1", "name": "weather", "args": {"city": "Rom"}}}]}, "finishReason": "STOP"}]},
    "langchain": {"generations": [[{"text": "I look.", "generation_info": {}, "message": {
        "lc": 1, "id": ["AIMessage"], "kwargs": {"content": "I look.", "tool_calls": [
            {"id": "c1", "name": "weather", "args": {"city": "Rom"}}]}}}]]},
    "langchain message": {"message": {"type": "ai", "content": "I look.", "tool_calls": [
        {"id": "c1", "name": "weather", "args": {"city": "Rom"}}]}},
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_text_and_calls_are_read_in_every_form(form: str) -> None:
    answer = read_answer(FORMS[form])
    assert answer is not None
    assert (answer.text, answer.calls) == ("I look.", (CALL,))


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("Hello", (Text("Hello"),)),
        ("", ()),
        ('{"a": 1}', (Text('{"a": 1}'),)),
        ("[1]", (Text("[1]"),)),
        ("[1", (Text("[1"),)),
        ('[{"toolCallId": "c1", "toolName": "weather", "input": "{\\"city\\": \\"Rom\\"}"}]', (CALL,)),
        ({"refusal": "No."}, (Refusal("No."),)),
        ({"stop_reason": "aborted"}, ()),
        ({"text": "Hello"}, (Text("Hello"),)),
        ({"content": [TEXT, "more"]}, (Text("I look."), Text("more"))),
        (
            {"reasoning_content": "Hm.", "content": "Hi"},
            (Thinking(provider="openai", text="Hm."), Text("Hi")),
        ),
    ],
)
def test_other_outputs_are_read(value: Any, parts: Any) -> None:
    answer = read_answer(value)
    assert answer is not None
    assert answer.parts == parts


def test_what_else_is_recorded_is_read() -> None:
    value = {"content": "Hi", "stop_reason": "end_turn", "model": "claude", "id": "m"}
    assert read_answer(value) == Answer(parts=(Text("Hi"),), finish_reason="end_turn", model="claude", id="m")
    assert read_answer({"message": {"content": "Hi"}, "finish_reason": "stop"}) == Answer(
        parts=(Text("Hi"),), finish_reason="stop"
    )
    otel = read_answer(FORMS["otel"])
    assert otel is not None
    assert otel.finish_reason == "tool_call"


@pytest.mark.parametrize(
    "value",
    [None, 5, [], [[]], [5], ["Hi"], {}, {"score": 1}, {"choices": []}, {"content": 5}, {"message": {"score": 1}},
     {"content": [5]}, {"generations": [[]]}, {"candidates": [5]}, float("inf"), [{"role": "nobody"}]],
)  # fmt: skip
def test_anything_else_is_unknown(value: Any) -> None:
    assert read_answer(value) is None


anything = st.one_of(
    values,
    texts,
    noisy(chat_messages),
    st.lists(noisy(response_items), max_size=3),
    st.fixed_dictionaries({"content": st.lists(noisy(st.one_of(blocks, response_items)), max_size=3)}),
    st.sampled_from([*FORMS.values()]).flatmap(
        lambda form: st.builds(
            lambda name, value: {**form, name: value} if isinstance(form, dict) else [*form, value],
            st.sampled_from(
                ["content", "message", "tool_calls", "type", "parts", "output", "generations", "lc"]
            ),
            values,
        )
    ),
)


@given(anything)
def test_any_value_has_an_answer_or_is_unknown(value: Any) -> None:
    assert isinstance(read_answer(value), Answer | None)
    assert isinstance(read_answer(json.dumps(value)), Answer)


@pytest.mark.recordings
def test_the_answer_of_every_real_call_with_an_output_is_read(recordings: Path) -> None:
    found = 0
    for path in sorted(each for each in recordings.rglob("*") if each.is_file()):
        try:
            sessions = read(path.read_bytes()).sessions
        except InvalidInput:
            continue
        for action in (each for session in sessions for each in session.actions):
            if action.kind == "llm_call" and action.output is not None:
                answer = read_answer(action.output)
                assert answer is not None, path
                assert answer.parts or answer.finish_reason or action.output == "", path
                found += 1
    assert found >= 600
