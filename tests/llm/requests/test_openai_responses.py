"""Requests of the Responses API."""

from typing import Any

import pytest

from timemachine.llm.pure.requests import openai_chat, openai_responses
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Other,
    Part,
    Refusal,
    Request,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

SCHEMA = {"type": "object", "properties": {}}
ITEM = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}


def read_items(*items: Any) -> tuple[Message, ...]:
    return openai_responses.read({"input": list(items)}).messages


def written(*parts: Part, role: Any = "user", **rest: Any) -> tuple[Any, tuple[str, ...]]:
    done = openai_responses.write(Request(messages=(Message(role=role, parts=parts, **rest),)))
    return done.body["input"], done.dropped


def test_a_whole_request_goes_back_unchanged() -> None:
    body = {
        "model": "gpt",
        "instructions": "Be brief.",
        "input": [
            {"role": "developer", "content": "In English."},
            {"type": "message", "role": "user", "id": "m", "content": [
                {"type": "input_text", "text": "Look"},
                {"type": "input_image", "image_url": "https://x.test/a.png", "detail": "low"},
                {"type": "input_image", "file_id": "file-1"},
                {"type": "input_file", "file_url": "https://x.test/a.pdf"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"},
                {"type": "input_video"},
            ]},
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "e"},
            {**ITEM, "content": [
                {"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "b"}]},
            {**ITEM, "id": "msg_2", "content": [{"type": "output_text", "text": "c", "annotations": []}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}', "id": "fc", "status": "completed"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "shell", "input": "ls"},
            {"type": "function_call_output", "call_id": "c1", "output": "1", "name": "f"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [
                {"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:image/png;base64,aGk="}]},
            {"type": "web_search_call", "id": "w"},
            {"type": "computer_call_output", "call_id": "x", "output": {}},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "Go on."},
            {"id": "msg_9"},
        ],
        "tools": [
            {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": True, "defer_loading": True},
            {"type": "web_search"},
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}, "verbosity": "low", "x": 1},
        "reasoning": {"effort": "low", "summary": "auto"},
        "parallel_tool_calls": True,
        "max_output_tokens": 5,
        "previous_response_id": "resp_1",
        "store": False,
    }  # fmt: skip
    done = openai_responses.write(openai_responses.read(body))
    assert (done.body, done.dropped) == (body, ())


def test_text_as_input_is_a_message_of_the_user() -> None:
    assert openai_responses.read({"input": "Hi"}).messages == (Message(role="user", parts=(Text("Hi"),)),)
    assert openai_responses.read({"input": ""}) == openai_responses.read({}) == Request()


def test_what_the_model_wrote_one_after_another_is_one_message() -> None:
    (message,) = read_items(
        {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "Hm."}, 5]},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": None, "name": "g", "arguments": "{"},
    )
    thinking, text, call, other = message.parts
    assert isinstance(thinking, Thinking)
    assert (thinking.text, text) == ("Hm.", Text("I look."))
    assert (call, other) == (ToolCall(id="c1", name="f", arguments={}), ToolCall(id="", name="g", raw="{"))


def test_an_answer_with_unknown_parts_is_kept_as_it_is() -> None:
    item = {"role": "assistant", "content": [{"type": "output_audio"}]}
    odd = {"role": "assistant", "content": [{"type": "output_text", "text": "a", "item": 1}]}
    (message,) = read_items(item, odd)
    assert message.parts == (Other("openai_responses", item), Other("openai_responses", odd))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ([{"type": "input_text", "text": ""}], ()),
        ([{"type": "refusal", "refusal": "No"}], (Refusal("No"),)),
        ([{"type": "input_image"}], (Other("openai_responses", {"type": "input_image"}),)),
        ([{"type": "input_file"}], (Other("openai_responses", {"type": "input_file"}),)),
        ([{"type": "input_text", "text": 5}], (Other("openai_responses", {"type": "input_text", "text": 5}),)),
        ([{"type": "text", "text": 5}, {"type": "input_text", "text": "a"}],
         (Other("openai_responses", {"type": "text", "text": 5}), Text("a"))),
    ],
)  # fmt: skip
def test_content_is_read_and_written(content: Any, parts: tuple[Part, ...]) -> None:
    (message,) = read_items({"role": "user", "content": content})
    assert message.parts == parts
    done = openai_responses.write(Request(messages=(message,)))
    assert openai_responses.read(done.body).messages == (message,)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"input": 5}, "`input` is not a list"),
        ({"input": [{"role": "nobody", "content": ""}]}, "has the role 'nobody'"),
        ({"input": [{"role": "user", "content": 5}]}, r"`input\[0\].content` is neither text nor a list"),
        ({"input": [{"role": "user", "content": [5]}]}, r"`input\[0\].content` is neither"),
        ({"input": [{"type": "function_call"}]}, r"`input\[0\]` has no name"),
    ],
)
def test_what_is_not_a_request_is_refused(body: Any, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        openai_responses.read(body)


def test_the_first_system_message_is_the_system_prompt_without_instructions() -> None:
    system = {"role": "system", "content": [{"type": "input_text", "text": text} for text in "ab"]}
    request = openai_responses.read({"input": [system]})
    assert (request.system, request.messages) == ((Text("a"), Text("b")), ())
    assert openai_responses.write(request).body["input"] == [system]
    with_instructions = openai_responses.read(
        {"instructions": "a", "input": [{"role": "system", "content": "b"}]}
    )
    assert [message.role for message in with_instructions.messages] == ["system"]
    assert openai_responses.read({"input": [{"role": "system", "content": "a", "id": "m"}]}).system == ()
    kept = openai_responses.read(
        {"instructions": [], "tool_choice": {"type": "mcp"}, "text": {"format": {"type": "x"}}}
    )
    assert kept.parameters.extra == {
        "openai_responses": {"instructions": [], "tool_choice": {"type": "mcp"}, "text.format": {"type": "x"}}
    }


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        (Media(kind="document", text="Hi"), "Hi", "Plain-text documents are sent as text."),
        (Media(kind="audio", data="aGk="), "", "A recording is not sent: OpenAI's Responses API has no equivalent."),
        (Media(kind="image", file_id="f", uploaded_to="anthropic"), "",
         "An uploaded file is not sent: only Anthropic's Messages API accepts it."),
        (Media(kind="image", file_id="f"), "", "An uploaded file is not sent: only another server accepts it."),
        (Other("anthropic", {"type": "x"}), "",
         "A part of the type `x` is not sent: only Anthropic's Messages API accepts it."),
        (Thinking(provider="anthropic"), "", "The reasoning is not sent: only Anthropic's Messages API accepts it."),
        (ToolCall(id="c", name="f"), "",
         "A part of the kind `ToolCall` in this type of message is not sent: OpenAI's Responses API has no equivalent."),
    ],
)  # fmt: skip
def test_what_the_api_does_not_have_is_noted(part: Part, content: str, sentence: str) -> None:
    items, dropped = written(part)
    assert (items[0]["content"], dropped) == (content, (sentence,))


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (Thinking(provider="anthropic", text="Hm."),
         "The reasoning is not sent: only Anthropic's Messages API accepts it."),
        (Other("anthropic", {"type": "x"}),
         "A part of the type `x` is not sent: only Anthropic's Messages API accepts it."),
        (Media(kind="image", url="https://x.test/a.png"),
         "Media that the model produced is not sent: OpenAI's Responses API has no equivalent."),
    ],
)  # fmt: skip
def test_parts_of_an_answer_that_the_api_does_not_have_are_noted(part: Part, sentence: str) -> None:
    assert written(part, role="assistant") == ([], (sentence,))


def test_names_and_errors_are_noted() -> None:
    assert written(Text("Hi"), name="Ann")[1] == (
        "A message's author name is not sent: OpenAI's Responses API has no equivalent.",
    )
    assert written(ToolResult(call_id="c", is_error=True), role="tool") == (
        [{"type": "function_call_output", "call_id": "c", "output": ""}],
        ("The flag that a result is an error is not sent: OpenAI's Responses API has no equivalent.",),
    )


def test_reasoning_is_written_with_its_summary() -> None:
    thinking = [Thinking(provider="openai_responses", text=text) for text in ("Hm.", "")]
    assert written(*thinking, role="assistant")[0] == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "reasoning", "summary": []},
    ]


def test_refusals_without_an_item_are_parts_of_an_answer() -> None:
    assert written(Refusal("No"), Text("a"), role="assistant")[0] == [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]},
        {"role": "assistant", "content": "a"},
    ]


def test_settings_that_both_apis_of_openai_have_are_sent_to_either() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}], "metadata": {"a": "b"}, "store": True, "n": 2}
    there = openai_responses.write(openai_chat.read(body))
    assert there.body["metadata"] == {"a": "b"}
    assert there.dropped == ("`n` is not sent: only OpenAI's chat completions accepts it.",)
    back = openai_chat.write(openai_responses.read(there.body))
    assert back.body == {name: value for name, value in body.items() if name != "n"}
    gemini = openai_chat.write(openai_responses.read(there.body), provider="gemini")
    assert len(gemini.dropped) == 2
