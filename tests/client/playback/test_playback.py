"""Requests are answered from the record: equal ones in order, others refused with the first difference."""

import json
from typing import Any

import pytest

from tests.client.playback.recorded import WEATHER, chat, playback, step
from timemachine.client.playback.pure.apis import APIS, CHAT, MESSAGES, RESPONSES_API, Api
from timemachine.client.playback.pure.playback import Reply

CHAT_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
}


def text_of(reply: Reply) -> Any:
    """Return the text of a chat completion."""
    return reply.body["choices"][0]["message"]["content"]


def why(reply: Reply) -> str:
    """Return the message of an error, without its general part."""
    message: str = reply.body["error"]["message"]
    return message.partition("(recorded and sent): ")[2] or message


def test_an_equal_request_gets_the_recorded_answer() -> None:
    made = playback(step(3, input=chat("Hi", temperature=0), output="Hello", usage={"input_tokens": 2}))
    reply = made.answer(CHAT, chat("Hi", temperature=0.0))
    assert (reply.status, reply.step, text_of(reply)) == (200, 3, "Hello")
    assert reply.body["usage"]["prompt_tokens"] == 2
    assert reply.stream is None
    assert made.unused == ()


@pytest.mark.parametrize("path", sorted(APIS))
def test_a_request_is_answered_in_the_form_of_its_api(path: str) -> None:
    made = playback(step(1, input=[{"role": "user", "content": "Hi"}], output="Hello"))
    field = "input" if path == "/responses" else "messages"
    reply = made.answer(
        APIS[path], {"model": "m", field: [{"role": "user", "content": "Hi"}], "stream": True}
    )
    assert "Hello" in json.dumps(reply.body)
    assert reply.stream is not None
    assert b"Hello" in reply.stream


@pytest.mark.parametrize(
    ("api", "request_body", "output"),
    [
        (
            CHAT,
            chat("Hi"),
            {
                "id": "x",
                "system_fingerprint": "fp",
                "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}],
            },
        ),
        (
            RESPONSES_API,
            {"model": "m", "input": "Hi"},
            {"id": "x", "object": "response", "output": [], "background": True},
        ),
        (
            MESSAGES,
            {"model": "claude-x", "messages": [{"role": "user", "content": "Hi"}]},
            {"id": "x", "type": "message", "content": [{"type": "text", "text": "Hello"}], "container": {}},
        ),
    ],
)
def test_a_whole_recorded_response_is_sent_as_it_is(api: Api, request_body: Any, output: Any) -> None:
    reply = playback(step(1, input=request_body, output=output)).answer(api, request_body)
    assert output.items() <= reply.body.items()


def test_a_recorded_response_of_another_api_is_converted() -> None:
    output = {"type": "message", "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"}
    reply = playback(step(1, input=chat("Hi"), output=output)).answer(CHAT, chat("Hi"))
    assert text_of(reply) == "Hello"
    assert "content" not in reply.body


def test_thinking_is_shown_in_the_form_of_the_api() -> None:
    parts = [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "Hello"}]
    made = playback(
        step(1, input=[{"role": "user", "content": "Hi"}], output=[{"role": "assistant", "parts": parts}]),
        start_over=True,
    )
    asked = [{"role": "user", "content": "Hi"}]
    assert made.answer(MESSAGES, {"messages": asked}).body["content"][0] == {
        "type": "thinking",
        "thinking": "Hm.",
        "signature": "",
    }
    assert made.answer(CHAT, {"messages": asked}).body["choices"][0]["message"]["reasoning_content"] == "Hm."
    signed = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    secret = {"type": "redacted_thinking", "data": "d"}
    made = playback(
        step(1, input=asked, output=[{"role": "assistant", "content": [signed, secret]}]), start_over=True
    )
    assert made.answer(MESSAGES, {"messages": asked}).body["content"] == [signed, secret]
    assert text_of(made.answer(CHAT, {"messages": asked})) is None


def test_equal_requests_are_answered_in_order_and_each_answer_is_used_once() -> None:
    made = playback(step(1, input=chat("Hi"), output="One"), step(2, input=chat("Hi"), output="Two"))
    assert [call.sequence for call in made.unused] == [1, 2]
    assert [text_of(made.answer(CHAT, chat("Hi"))) for _ in range(2)] == ["One", "Two"]
    reply = made.answer(CHAT, chat("Hi"))
    assert (reply.status, reply.body["error"]["code"], reply.body["error"]["steps"]) == (
        409,
        "used_up",
        [1, 2],
    )
    assert why(reply).startswith("The recorded 2 answers to this request were already used (step 1, 2)")


def test_with_start_over_equal_requests_begin_again_with_the_first_answer() -> None:
    made = playback(
        step(1, input=chat("Hi"), output="One"), step(2, input=chat("Hi"), output="Two"), start_over=True
    )
    assert [text_of(made.answer(CHAT, chat("Hi"))) for _ in range(3)] == ["One", "Two", "One"]


def test_a_single_answer_that_was_used_is_named_by_its_step() -> None:
    made = playback(step(4, input=chat("Hi"), output="One"))
    made.answer(CHAT, chat("Hi"))
    assert why(made.answer(CHAT, chat("Hi"))).startswith(
        "The recorded answer to this request was already used (step 4)"
    )


@pytest.mark.parametrize(
    ("sent", "difference"),
    [
        (
            chat("Hi", "Hello", "And in Oslo?"),
            "message 3 (user): text differs. Recorded: 'And in Rome?'. Sent: 'And in Oslo?'.",
        ),
        (chat("Hi"), "3 messages and 1."),
        (chat("Hi", "Hello", "And in Rome?", temperature=1), "parameter temperature differs."),
        (chat("Hi", "Hello", "And in Rome?", temperature=0, seed=1), "parameter seed differs."),
        (chat("Hi", "Hello", "And in Rome?", temperature=0, tools=[]), "1 tool and 0."),
        ({**chat("Hi", "Hello", "And in Rome?", temperature=0), "model": "gpt-y"}, "model: gpt-x and gpt-y."),
    ],
)
def test_a_changed_request_is_refused_with_the_first_difference(
    sent: dict[str, Any], difference: str
) -> None:
    recorded = chat("Hi", "Hello", "And in Rome?", temperature=0, tools=[WEATHER])
    made = playback(step(1, input=chat("Other"), output="A"), step(2, input=recorded, output="B"))
    reply = made.answer(CHAT, {"tools": [WEATHER], **sent})
    assert reply.status == 409
    assert (reply.body["error"]["code"], reply.body["error"]["nearest_step"]) == ("request_not_recorded", 2)
    assert why(reply) == difference
    assert [call.sequence for call in made.unused] == [1, 2]


def test_a_changed_result_of_a_tool_is_named_as_such() -> None:
    def body(result: str) -> dict[str, Any]:
        found = chat("Weather?")
        found["messages"] += [CHAT_CALL, {"role": "tool", "tool_call_id": "c1", "content": result}]
        return found

    reply = playback(step(1, input=body("sunny"), output="A")).answer(CHAT, body("rainy"))
    assert why(reply) == "message 3 (tool): result differs."


def test_a_part_that_only_one_api_knows_is_compared() -> None:
    def body(value: str) -> dict[str, Any]:
        return {
            "model": "gpt-x",
            "messages": [{"role": "user", "content": [{"type": "new", "value": value}]}],
        }

    made = playback(step(1, input=body("a"), output="A"))
    assert why(made.answer(CHAT, body("b"))) == "message 1 (user): part differs."
    assert made.answer(CHAT, body("a")).status == 200


def test_a_text_that_was_only_continued_is_shown_from_where_it_differs() -> None:
    made = playback(step(1, input=chat("a" * 100), output="A"))
    reply = made.answer(CHAT, chat("a" * 100 + "!"))
    assert why(reply).endswith(f"Recorded: '{'a' * 20}'. Sent: '{'a' * 20}!'.")


def test_ids_of_calls_thinking_and_cache_marks_are_not_compared() -> None:
    def body(name: str, *, marked: bool) -> dict[str, Any]:
        mark = {"cache_control": {"type": "ephemeral"}} if marked else {}
        thinking = [{"type": "thinking", "thinking": name, "signature": name}]
        use = {"type": "tool_use", "id": name, "name": "weather", "input": {"city": "Rome"}}
        result = {"type": "tool_result", "tool_use_id": name, "content": "sunny", **mark}
        return {
            "model": "claude-x",
            "max_tokens": 10,
            "system": [{"type": "text", "text": "Be brief.", **mark}],
            "messages": [
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": [*thinking, use] if marked else [use]},
                {"role": "user", "content": [result]},
                {"role": "assistant", "content": [*thinking]}
                if marked
                else {"role": "assistant", "content": ""},
            ][: 4 if marked else 3],
            "tools": [
                {"name": "weather", "input_schema": {"type": "object"}, **mark},
                {"type": "web_search_1", "name": "web_search"},
            ],
            "metadata": {"user_id": name},
        }

    made = playback(step(1, input=body("a", marked=False), output="Sunny."))
    assert made.answer(MESSAGES, body("b", marked=True)).status == 200


def test_the_form_of_the_answer_is_compared() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    made = playback(step(1, input=chat("Hi", response_format=form), output="{}"))
    assert why(made.answer(CHAT, chat("Hi"))) == "response format differs."
    assert made.answer(CHAT, chat("Hi", response_format=form)).status == 200


def test_a_parameter_that_only_one_api_knows_is_compared_if_it_changes_the_answer() -> None:
    made = playback(step(1, input=chat("Hi", logit_bias={"1": 2}, user="a"), output="A"))
    assert why(made.answer(CHAT, chat("Hi", user="b"))) == "parameter logit_bias differs."
    assert made.answer(CHAT, chat("Hi", logit_bias={"1": 2}, user="b")).status == 200


def test_turns_that_an_api_joins_are_compared_as_one() -> None:
    made = playback(
        step(1, "message", role="user", output="Weather?"),
        step(2, "message", role="user", output="In Rome."),
        step(3, output="Sunny."),
    )
    texts = [{"role": "user", "content": text} for text in ("Weather?", "In Rome.")]
    assert made.answer(MESSAGES, {"messages": texts}).status == 200


def test_definitions_of_tools_of_which_only_some_were_recorded_are_not_compared() -> None:
    called = {"tool_calls": [{"id": "c", "function": {"name": "weather", "arguments": "{}"}}]}
    made = playback(
        step(1, "message", role="user", output="Weather?"),
        step(2, output=called, parameters={"tools": [{"name": "other"}]}),
    )
    assert made.answer(CHAT, chat("Weather?", tools=[WEATHER])).status == 200


def test_settings_that_the_record_does_not_have_are_not_compared() -> None:
    made = playback(
        step(1, "message", role="user", output="Weather?"),
        step(2, output="Sunny.", model="openai:gpt-x-2026-01-02"),
    )
    sent = chat(
        "Weather?", temperature=1, tools=[WEATHER], tool_choice="auto", stop=["x"], logit_bias={"1": 2}
    )
    sent["messages"] = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "In French."},
        *sent["messages"],
    ]
    assert text_of(made.answer(CHAT, sent)) == "Sunny."


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"model": "gpt-y"}, "model: openai:gpt-x and gpt-y."),
        ({"temperature": 1}, "parameter temperature differs."),
        ({"tool_choice": "none"}, "tool choice differs."),
        ({"tools": [{"type": "function", "function": {"name": "other"}}]}, "tool 1: weather and other."),
        ({"tools": [{"type": "custom", "custom": {"name": "weather"}}]}, "tool 1: weather differs."),
        ({"response_format": {"type": "text"}}, "response format differs."),
    ],
)
def test_settings_that_were_recorded_next_to_the_messages_are_compared(
    changed: dict[str, Any], difference: str
) -> None:
    parameters = {
        "temperature": 0,
        "stop": ["x"],
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
        "tools": [{"name": "weather"}],
    }
    messages = [{"role": "user", "content": "Hi"}]
    made = playback(step(1, input=messages, output="A", parameters=parameters, model="openai:gpt-x"))
    sent = {
        "model": "gpt-x",
        "messages": messages,
        "temperature": 0,
        "stop": "x",
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
        "tools": [WEATHER],
        "seed": 4,
    }
    assert why(made.answer(CHAT, {**sent, **changed})) == difference
    assert made.answer(CHAT, sent).status == 200


@pytest.mark.parametrize(
    ("recorded", "asked", "status"),
    [
        ("openai:gpt-x-2026-01-02", "gpt-x", 200),
        ("gpt-x", "gpt-x-latest", 200),
        ("anthropic:claude-x-20260102", "claude-x", 200),
        ("ollama:llama:8b", "llama:8b", 200),
        ("openai:gpt-x", "openai:gpt-x", 200),
        ("openai:gpt-x", None, 409),
        (None, "gpt-x", 200),
        (None, None, 200),
        ("openai:gpt-x", "gpt-x-mini", 409),
    ],
)
def test_a_model_is_the_same_with_and_without_its_provider_and_date(
    recorded: str | None, asked: str | None, status: int
) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    made = playback(step(1, input=messages, output="A", model=recorded))
    assert made.answer(CHAT, {"model": asked, "messages": messages}).status == status


def test_the_nearest_request_is_one_that_was_not_used_yet() -> None:
    made = playback(*(step(n, input=chat("Hi", "Hello", f"{n}"), output="A") for n in (1, 2, 3)))
    made.answer(CHAT, chat("Hi", "Hello", "1"))
    assert made.answer(CHAT, chat("Hi", "Hello", "x")).body["error"]["nearest_step"] == 2


def test_a_whole_request_that_its_api_cannot_read_is_compared_as_far_as_it_is_known() -> None:
    recorded = {"model": "claude-x", "messages": [{"role": "developer", "content": "Go."}]}
    made = playback(
        step(1, input=recorded, output="A"), step(2, input={"model": "m", "input": 7}, output="B")
    )
    assert made.answer(CHAT, recorded).status == 200


def test_a_recording_without_requests_says_so() -> None:
    reply = playback(step(1, output="Hi")).answer(CHAT, chat("Hi"))
    assert (reply.status, why(reply)) == (409, "No request of a model call was recorded.")


def test_a_body_that_is_no_request_is_refused() -> None:
    made = playback(step(1, input=chat("Hi"), output="A"))
    assert made.answer(CHAT, []).status == 400
    reply = made.answer(MESSAGES, {"messages": [{"role": "x"}]})
    assert (reply.status, reply.body["type"], reply.body["error"]["type"]) == (
        400,
        "error",
        "invalid_request_error",
    )


@pytest.mark.parametrize(("api", "kind"), [(CHAT, "server_error"), (MESSAGES, "api_error")])
def test_a_call_that_failed_fails_again(api: Api, kind: str) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    reply = playback(step(1, input=messages, error={"type": "Timeout", "message": None})).answer(
        api, {"messages": messages}
    )
    assert (reply.status, reply.body["error"]["type"]) == (500, kind)
    assert why(reply) == "This call failed when it was recorded (step 1): Timeout"


def test_an_answer_that_was_not_recorded_is_not_invented() -> None:
    reply = playback(step(1, input=chat("Hi"))).answer(CHAT, chat("Hi"))
    assert (reply.status, reply.body["error"]["code"]) == (409, "answer_not_recorded")


def test_the_models_are_those_that_were_asked_for() -> None:
    made = playback(
        step(1, input=chat("Hi"), output="A", model="openai:gpt-x-2026-01-02"),
        step(2, input=chat("Hi"), output="A"),
        step(3, input=[{"role": "user", "content": "Hi"}], output="A", model="openai:gpt-z"),
        step(4, input=[{"role": "user", "content": "Hi"}], model="openai:gpt-z"),
    )
    assert made.models == ("gpt-x", "gpt-z")
