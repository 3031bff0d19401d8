"""Model calls are read from the steps of an export: their requests, answers, usage and errors."""

import pytest

from tests.client.playback.recorded import chat, played, step
from timemachine.client.playback.pure.apis import CHAT, MESSAGES, RESPONSES_API
from timemachine.client.playback.pure.calls import SessionSteps, calls_of
from timemachine.llm.pure.requests.neutral import Message, Text, ToolCall
from timemachine.llm.pure.usage import TokenUsage


def user(text: str) -> Message:
    return Message(role="user", parts=(Text(text),))


def test_only_model_calls_that_happened_in_the_session_are_played() -> None:
    copied = step(2, input=chat("a"), output="A", copied_from={"session": "other", "step": 1})
    found = played(step(1, "message", role="user", output="Hi"), copied, step(3, input=chat("b"), output="B"))
    assert [call.sequence for call in found] == [3]


def test_the_api_of_a_whole_request_is_recognised() -> None:
    texts = [{"role": "user", "content": "a"}]
    whole = [
        ({"model": "gpt-x", "messages": texts}, "openai:gpt-x", CHAT),
        ({"model": "claude-x", "messages": texts, "max_tokens": 9}, None, MESSAGES),
        ({"model": "anthropic/claude-x", "messages": texts}, "openrouter:anthropic/claude-x", CHAT),
        (
            {
                "model": "claude-x",
                "messages": [{"role": "system", "content": "s"}, *texts, None],
                "max_tokens": 9,
            },
            None,
            CHAT,
        ),
        ({"model": "x", "messages": texts, "system": "s"}, None, MESSAGES),
        ({"model": "gpt-x", "input": "a"}, None, RESPONSES_API),
        ({"model": "gpt-x", "prompt": "a"}, None, None),
        ({"messages": texts}, "openai:gpt-x", None),
        (texts, "openai:gpt-x", None),
    ]
    for value, model, api in whole:
        (call,) = played(step(1, input=value, output="A", model=model))
        assert call.api is api


def test_the_model_that_was_asked_for_is_read_from_the_request_or_the_parameters() -> None:
    first, second, third = played(
        step(1, input=chat("a"), output="A", model="openai:gpt-x-2026-01-02"),
        step(2, input=[{"role": "user", "content": "b"}], output="B", parameters={"model": "gpt-y"}),
        step(3, input=[{"role": "user", "content": "b"}], output="B", model="local"),
    )
    assert (first.model, second.model, third.model) == ("gpt-x", "gpt-y", None)
    assert first.answer is not None
    assert first.answer.model == "gpt-x-2026-01-02"
    assert third.answer is not None
    assert third.answer.model == "local"


@pytest.mark.parametrize(
    ("recorded", "plain"),
    [
        ("ollama:llama3:8b", "llama3:8b"),
        ("llama3:8b", "llama3:8b"),
        ("phi:latest", "phi:latest"),
        (None, None),
    ],
)
def test_a_model_without_a_provider_keeps_its_size(recorded: str | None, plain: str | None) -> None:
    (call,) = played(step(1, input=chat("a"), output="A", model=recorded))
    assert call.answer is not None
    assert call.answer.model == plain


def test_an_answer_has_the_usage_of_its_step() -> None:
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": None}
    whole = {
        "choices": [{"message": {"content": "A"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    first, second = played(
        step(1, input=chat("a"), output="A", usage=usage), step(2, input=chat("a"), output=whole)
    )
    assert first.answer is not None
    assert first.answer.usage == TokenUsage(input_tokens=3, output_tokens=2)
    assert second.answer is not None
    assert second.answer.usage is not None
    assert second.answer.usage.input_tokens == 1


def test_an_id_that_was_not_recorded_is_made_from_the_step() -> None:
    calls = [{"function": {"name": "search", "arguments": "{}"}}]
    kept = [{"id": "call_1", "function": {"name": "search", "arguments": "{}"}}]
    first, second = played(
        step(1, input=chat("a"), output={"content": "A", "tool_calls": calls}),
        step(2, input=chat("b"), output={"id": "x", "content": "B", "tool_calls": kept}),
    )
    assert first.answer is not None
    assert (first.answer.id, [call.id for call in first.answer.calls]) == ("recorded-1", ["call_1_1"])
    assert second.answer is not None
    assert (second.answer.id, [call.id for call in second.answer.calls]) == ("x", ["call_1"])


def test_an_answer_that_was_recorded_as_the_events_of_a_stream_is_put_together() -> None:
    chunks = [
        {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "Hel"}}]},
        {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "lo"}}]},
        "cut off",
    ]
    events = [
        {"type": "message_start", "message": {"id": "m", "model": "claude-x"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    first, second = played(step(1, input=chat("a"), output=chunks), step(2, input=chat("b"), output=events))
    assert first.answer is not None
    assert first.answer.text == "Hello"
    assert second.answer is not None
    assert second.answer.text == "Hi"


def test_an_answer_has_the_calls_that_only_the_steps_inside_it_have() -> None:
    inside = step(2, "tool_call", parent=1, tool="search", call_id="c", input={"q": "a"})
    said = step(3, "message", parent=1, role="agent", output="Let me look.")
    called = ToolCall(id="c", name="search", arguments={"q": "a"})
    (with_text,) = played(step(1, input=chat("a"), output="A"), inside)
    assert with_text.answer is not None
    assert with_text.answer.parts == (Text("A"), called)
    (without,) = played(step(1, input=chat("a")), inside, said)
    assert without.answer is not None
    assert without.answer.parts == (called, Text("Let me look."))


def test_a_whole_response_is_the_answer_whatever_happened_inside_the_call() -> None:
    whole = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    (call,) = played(
        step(1, input=chat("a"), output=whole), step(2, "tool_call", parent=1, tool="search", input={})
    )
    assert call.answer is not None
    assert call.answer.parts == (Text("A"),)


def test_what_failed_or_has_no_readable_answer_is_kept_as_such() -> None:
    failed = step(1, input=chat("a"), output=None, error={"type": "RateLimit", "message": "slow down"})
    unnamed = step(2, input=chat("a"), error={"type": None, "message": None})
    unknown = step(3, input=chat("a"), output=7)
    found = played(failed, unnamed, unknown)
    assert [call.failed for call in found] == ["RateLimit: slow down", "an error", None]
    assert [call.answer for call in found] == [None, None, None]


def test_a_request_that_was_not_recorded_is_rebuilt_from_the_steps_before_it() -> None:
    call = step(2, output="Sunny.", parameters={"temperature": 0})
    first, second = played(
        step(1, "message", role="user", output="Weather?"),
        call,
        step(3, "message", id="m", role="user", output="And in Rome?"),
        step(4, output="Rainy."),
    )
    assert first.frozen.verdict == "reconstructed"
    assert first.frozen.request.messages == (user("Weather?"),)
    assert first.frozen.request.parameters.temperature == 0
    assert [message.text for message in second.frozen.request.messages] == [
        "Weather?",
        "Sunny.",
        "And in Rome?",
    ]


def test_steps_inside_others_are_found_by_id_and_by_number() -> None:
    (_, second) = played(
        step(1, output={"content": None, "tool_calls": []}, id="first"),
        step(2, "tool_call", parent="first", tool="search", call_id="c", input={"q": "a"}),
        step(3, "tool_result", parent=2, call_id="c", output="found"),
        step(4, "message", parent="unknown", role="user", output="Go on."),
        step(5, output="Done."),
    )
    messages = second.frozen.request.messages
    assert messages[0].parts == (ToolCall(id="c", name="search", arguments={"q": "a"}),)
    assert [message.role for message in messages] == ["assistant", "tool", "user"]


def test_a_request_runs_through_the_session_that_its_session_continues() -> None:
    before = [
        step(1, "message", role="user", output="Weather?"),
        step(2, output="Sunny."),
        step(3, output="No."),
    ]
    after = [step(1, "message", role="user", output="Sure?"), step(2, output="Yes.")]
    parts = [SessionSteps(key="a", steps=before, through=2), SessionSteps(key="b", steps=after)]
    (call,) = calls_of(parts)
    assert call.sequence == 2
    assert [message.text for message in call.frozen.request.messages] == ["Weather?", "Sunny.", "Sure?"]


def test_a_call_without_any_conversation_has_no_request() -> None:
    (call,) = played(step(1, output="Hi"))
    assert call.frozen.verdict == "not_recorded"
