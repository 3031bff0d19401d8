"""Requests of chat completions: what each form means, and what goes back to which server."""

from typing import Any

import pytest

from timemachine.llm.pure.requests import openai_chat
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import (
    BuiltInTool,
    Media,
    Message,
    Other,
    Parameters,
    Part,
    Refusal,
    Request,
    ResponseFormat,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Written,
)

SCHEMA = {"type": "object", "properties": {}}


def read_message(**message: Any) -> Message:
    (read,) = openai_chat.read({"messages": [message]}).messages
    return read


def written(*parts: Part, role: Any = "user", provider: str = "openai") -> tuple[Any, tuple[str, ...]]:
    request = Request(messages=(Message(role=role, parts=parts),))
    done = openai_chat.write(request, provider=provider)
    return done.body["messages"], done.dropped


def back(body: dict[str, Any]) -> Any:
    return openai_chat.write(openai_chat.read(body)).body


def test_a_whole_request_goes_back_unchanged() -> None:
    body = {
        "model": "gpt",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "In English."},
            {"role": "user", "name": "Ann", "content": [
                {"type": "text", "text": "Look", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}, "x": 1},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"}},
                {"type": "file", "file": {"file_id": "file-1", "x": 1}, "y": 2},
                {"type": "video_url", "video_url": {"url": "https://x.test/a.mp4"}},
            ]},
            {"role": "assistant", "content": None, "audio": {"id": "a"}, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'},
                 "extra_content": {"google": {"thought_signature": "s"}}},
                {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{", "x": 1}},
                {"id": "c3", "type": "custom", "custom": {"name": "shell", "input": "ls", "x": 1}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "1"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "tool", "tool_call_id": "c3", "content": "", "name": "shell"},
            {"role": "assistant", "content": "No", "refusal": "I refuse.", "reasoning_content": "Hm."},
            {"role": "assistant", "content": [
                {"type": "refusal", "refusal": "No."}, {"type": "text", "text": "Really."}]},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": ""},
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}},
            {"type": "function", "function": {"name": "g", "x": 1}, "cache_control": {}},
            {"type": "custom", "custom": {"name": "shell"}},
        ],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True, "x": 1}},
        "parallel_tool_calls": False,
        "metadata": {"a": "b"},
        "stop": ["a"],
        "top_p": 0.5,
        "seed": 1,
        "frequency_penalty": 1,
        "presence_penalty": -1,
        "reasoning_effort": "low",
        "verbosity": "low",
        "service_tier": "flex",
        "max_completion_tokens": 5,
        "temperature": 0,
    }  # fmt: skip
    assert back(body) == body
    assert openai_chat.write(openai_chat.read(body)).dropped == ()


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ({"role": "user", "content": "Hi"}, (Text("Hi"),)),
        ({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, (Text("Hi"),)),
        ({"role": "user", "content": ["Hi", ""]}, (Text("Hi"),)),
        ({"role": "user", "content": None}, ()),
        ({"role": "user"}, ()),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, (Other("openai", {"type": "text", "text": 5}),)),
        ({"role": "user", "content": [{"type": "image_url", "image_url": "https://x.test/a.png"}]},
         (Media(kind="image", url="https://x.test/a.png"),)),
        ({"role": "user", "content": [{"type": "image_url"}]}, (Other("openai", {"type": "image_url"}),)),
        ({"role": "user", "content": [{"type": "input_audio"}]}, (Other("openai", {"type": "input_audio"}),)),
        ({"role": "user", "content": [{"type": "file", "file": {}}]}, (Other("openai", {"type": "file", "file": {}}),)),
        ({"role": "user", "content": [{"type": "file", "file": {"file_data": "JVBERi0x"}}]},
         (Media(kind="document", data="JVBERi0x", media_type="application/pdf"),)),
        ({"role": "user", "content": [{"type": "file", "file": {"file_data": "aGk="}}]},
         (Media(kind="document", data="aGk="),)),
        ({"role": "assistant", "content": "", "refusal": "", "tool_calls": [], "function_call": None}, ()),
        ({"role": "assistant", "function_call": {"name": "f", "arguments": ""}}, (ToolCall(id="", name="f", arguments={}),)),
        ({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}]},
         (ToolCall(id="c", name="f", arguments={"a": 1}),)),
        ({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
         (ToolCall(id="c", name="f", arguments={}),)),
        ({"role": "function", "name": "f", "content": "1"}, (ToolResult(call_id="", name="f", parts=(Text("1"),)),)),
        ({"role": "tool", "content": [{"type": "refusal", "refusal": "No"}]}, (ToolResult(call_id=""),)),
    ],
)  # fmt: skip
def test_a_message_is_read(message: dict[str, Any], parts: tuple[Part, ...]) -> None:
    assert read_message(**message).parts == parts


@pytest.mark.parametrize(
    ("text", "arguments", "raw"),
    [
        ('{"a": [1]}', {"a": [1]}, None),
        ("  ", {}, None),
        ("null", None, None),
        ("{", None, "{"),
        ('{"a": 1, "a": 2}', None, '{"a": 1, "a": 2}'),
        ("NaN", None, "NaN"),
        ("1e999", None, "1e999"),
        ("[" * 300 + "]" * 300, None, "[" * 300 + "]" * 300),
    ],
)
def test_arguments_are_json_or_kept_as_text(text: str, arguments: Any, raw: str | None) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": text}}
    (read,) = read_message(role="assistant", tool_calls=[call]).calls
    assert (read.arguments, read.raw) == (arguments, raw)


def test_halves_of_surrogate_pairs_are_escaped() -> None:
    messages, _ = written(ToolCall(id="c", name="f", arguments={"a": "\ud800", "é": 1}), role="assistant")
    assert messages[0]["tool_calls"][0]["function"]["arguments"] == '{"a": "\\ud800", "\\u00e9": 1}'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], "not a JSON object"),
        ({"messages": 5}, "`messages` is not a list"),
        ({"messages": [5]}, r"`messages\[0\]` is not a JSON object"),
        ({"messages": [{"role": "nobody"}]}, "has the role 'nobody'"),
        (
            {"messages": [{"role": "user", "content": 5}]},
            r"`messages\[0\].content` is neither text nor a list",
        ),
        ({"messages": [{"role": "user", "content": [5]}]}, r"`messages\[0\].content\[0\]` is neither"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
            r"`messages\[0\].tool_calls\[0\]` has no name",
        ),
        ({"tools": [{"type": "function", "function": {}}]}, r"`tools\[0\]` has no name"),
        ({"temperature": float("inf")}, "too large"),
    ],
)
def test_what_is_not_a_request_is_refused_with_the_place(body: Any, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        openai_chat.read(body)


def test_only_a_plain_first_system_message_is_the_system_prompt() -> None:
    system = {"role": "system", "content": "a"}
    assert openai_chat.read({"messages": [system]}).system == (Text("a"),)
    for message in ({**system, "name": "n"}, {**system, "x": 1}, {"role": "system"}):
        assert openai_chat.read({"messages": [message]}).system == ()


@pytest.mark.parametrize(
    ("body", "parameters"),
    [
        ({"max_tokens": 5}, Parameters(max_tokens=5)),
        ({"max_tokens": 5, "max_completion_tokens": 6}, Parameters(max_tokens=6, extra={"openai": {"max_tokens": 5}})),
        ({"stop": "a"}, Parameters(stop=("a",))),
        ({"stop": []}, Parameters(extra={"openai": {"stop": []}})),
        ({"temperature": "hot"}, Parameters(extra={"openai": {"temperature": "hot"}})),
        ({"random_seed": 1}, Parameters(seed=1)),
        ({"stream": True, "stream_options": {}, "temperature": None}, Parameters()),
        ({"tool_choice": {"type": "allowed_tools"}}, Parameters(extra={"openai": {"tool_choice": {"type": "allowed_tools"}}})),
        ({"tool_choice": "auto"}, Parameters()),
        ({"response_format": {"type": "x"}}, Parameters(extra={"openai": {"response_format": {"type": "x"}}})),
        ({"response_format": "json"}, Parameters(extra={"openai": {"response_format": "json"}})),
        ({"response_format": {"type": "text", "x": 1}},
         Parameters(extra={"openai": {"response_format": {"type": "text", "x": 1}}})),
        ({"response_format": {"type": "json_schema", "json_schema": {}}},
         Parameters(extra={"openai": {"response_format": {"type": "json_schema", "json_schema": {}}}})),
    ],
)  # fmt: skip
def test_parameters_are_read_and_those_of_unknown_form_kept(
    body: dict[str, Any], parameters: Parameters
) -> None:
    assert openai_chat.read(body).parameters == parameters


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ({"type": "text"}, ResponseFormat(kind="text")),
        ({"type": "json_object"}, ResponseFormat(kind="json")),
        ({"type": "json_schema", "json_schema": {"name": "n", "description": "d"}},
         ResponseFormat(kind="json_schema", name="n", description="d")),
    ],
)  # fmt: skip
def test_forms_of_the_answer_are_read_and_written(body: dict[str, Any], form: ResponseFormat) -> None:
    request = openai_chat.read({"response_format": body})
    assert request.response_format == form
    assert openai_chat.write(request).body["response_format"] == body


def test_a_schema_without_a_name_gets_one() -> None:
    form = ResponseFormat(kind="json_schema", schema=SCHEMA)
    written = openai_chat.write(Request(response_format=form)).body["response_format"]
    assert written["json_schema"] == {"name": "answer", "schema": SCHEMA}


def test_tools_of_unknown_form_are_kept() -> None:
    odd = {"type": "function", "function": {"name": "f", "strict": "yes"}}
    assert openai_chat.read({"tools": [odd]}).tools == (BuiltInTool("openai", odd),)


def test_the_choice_of_tools_is_read_and_written() -> None:
    request = openai_chat.read({"tool_choice": "required"})
    assert request.tool_choice == ToolChoice(kind="required")
    assert openai_chat.write(request).body == {"messages": [], "tool_choice": "required"}


def test_each_server_has_its_own_names_of_parameters() -> None:
    request = Request(parameters=Parameters(max_tokens=5, seed=1))
    mistral = openai_chat.write(
        request, provider="mistral", limit_parameter="max_tokens", seed_parameter="random_seed"
    )
    assert mistral.body == {"messages": [], "max_tokens": 5, "random_seed": 1}
    without = openai_chat.write(request, provider="x", seed_parameter=None)
    assert without.dropped == ("The parameter `seed` is not sent: x has no equivalent.",)


def test_what_one_server_knows_is_not_sent_to_another() -> None:
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "x"}], "cache": True},
            {"role": "assistant", "content": "", "reasoning_content": "Hm."},
        ],
        "tools": [{"type": "web_search"}, {"type": "custom", "custom": {"name": "shell"}}],
        "safe_prompt": True,
        "top_k": 1,
    }
    done = openai_chat.write(openai_chat.read(body, provider="mistral"), provider="openai")
    assert done.body == {"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]}
    assert done.dropped == (
        "`cache` is not sent: only mistral accepts it.",
        "A part of the type `x` is not sent: only mistral accepts it.",
        "The reasoning is not sent: only mistral accepts it.",
        "The tool `web_search` is not sent: only mistral accepts it.",
        "The tool `shell` is not sent: only mistral accepts it.",
        "`safe_prompt` is not sent: only mistral accepts it.",
        "`top_k` is not sent: only mistral accepts it.",
    )


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        (Media(kind="document", text="Hi"), "Hi", "Plain-text documents are sent as text."),
        (Media(kind="document", url="https://x.test/a.pdf"), "",
         "A document given by URL is not sent: OpenAI's chat completions has no equivalent."),
        (Media(kind="image", file_id="f"), "",
         "An uploaded image is not sent: OpenAI's chat completions has no equivalent."),
        (Media(kind="audio", url="https://x.test/a.wav"), "",
         "Audio that is not in the request is not sent: OpenAI's chat completions has no equivalent."),
    ],
)  # fmt: skip
def test_media_that_chat_completions_do_not_have_are_noted(part: Part, content: str, sentence: str) -> None:
    messages, dropped = written(part)
    assert (messages[0]["content"], dropped) == (content, (sentence,))


def test_media_in_results_follow_all_results_in_a_message_of_the_user() -> None:
    png = Media(kind="image", data="aGk=", media_type="image/png")
    note = Media(kind="document", text="A note")
    pdf = Media(kind="document", data="JVBERi0x", media_type="application/pdf")
    results = [
        ToolResult(call_id="a", name="look", parts=(Text("Seen."), png, png)),
        ToolResult(call_id="b", parts=(note, pdf)),
        ToolResult(call_id="c", parts=(Text("Nothing."),)),
    ]
    messages = [Message(role="tool", parts=(result,)) for result in results]
    after = Message(role="assistant", parts=(Text("I see."),))
    found = openai_chat.write(Request(messages=(*messages, after, *messages[:1])))
    written = found.body["messages"]
    assert [each["role"] for each in written] == ["tool", "tool", "tool", "user", "assistant", "tool", "user"]
    assert [each["content"] for each in written[:3]] == ["Seen.", "A note", "Nothing."]
    assert [part.get("text", part["type"]) for part in written[3]["content"]] == [
        "From the result of look a:",
        "image_url",
        "image_url",
        "From the result of the call b:",
        "file",
    ]
    assert found.dropped == (
        "An image in a tool result is sent in a user message after it (4 places).",
        "A document in a tool result is sent in a user message after it.",
        "Plain-text documents are sent as text.",
    )
    again = openai_chat.read(found.body)
    assert openai_chat.write(again) == Written(body=found.body)


def test_parts_that_a_message_cannot_have_are_noted() -> None:
    thinking, call = Thinking(provider="anthropic", text="Hm."), ToolCall(id="c", name="f")
    assert written(thinking, call) == (
        [{"role": "user", "content": ""}],
        (
            "The reasoning is not sent: only Anthropic's Messages API accepts it.",
            "A part of the kind `ToolCall` in this type of message is not sent: OpenAI's chat completions has no"
            " equivalent.",
        ),
    )


def test_a_result_that_is_an_error_and_a_part_next_to_it_are_noted() -> None:
    result = ToolResult(call_id="c", parts=(Text("no"),), is_error=True)
    messages, dropped = written(result, Text("Hm"), role="tool")
    assert messages == [{"role": "tool", "tool_call_id": "c", "content": "no"}]
    assert dropped == (
        "A part next to a tool result is not sent: OpenAI's chat completions has no equivalent.",
        "The flag that a result is an error is not sent: OpenAI's chat completions has no equivalent.",
    )


def test_calls_and_results_without_ids_are_written_in_the_older_form() -> None:
    call = ToolCall(id="", name="f", arguments={})
    result = ToolResult(call_id="", name="f", parts=(Text("1"),))
    assert written(call, role="assistant")[0] == [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    ]
    assert written(result, role="tool")[0] == [{"role": "function", "content": "1", "name": "f"}]


def test_refusals_are_written_where_they_were() -> None:
    assert written(Text("a"), Refusal("No"), role="assistant")[0][0] == {
        "role": "assistant",
        "content": "a",
        "refusal": "No",
    }
    assert written(Refusal("No"), Refusal("Never"), role="assistant")[0][0]["content"] == [
        {"type": "refusal", "refusal": "No"},
        {"type": "refusal", "refusal": "Never"},
    ]


def test_reasoning_of_the_same_server_goes_back_to_it() -> None:
    thinking = Thinking(provider="deepseek", text="Hm.")
    messages, dropped = written(thinking, Text("Hi"), role="assistant", provider="deepseek")
    assert messages == [{"role": "assistant", "content": "Hi", "reasoning_content": "Hm."}]
    assert dropped == ()


def test_results_of_calls_with_free_text_are_known_as_such() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a"},
    ]
    read = openai_chat.read({"messages": messages})
    assert read.messages[1].results[0].free_text
    assert read.tools == ()


def test_tools_are_written_with_what_is_known() -> None:
    tools = (Tool(name="f"), Tool(name="g", description="d", schema=SCHEMA, strict=False))
    assert openai_chat.write(Request(tools=tools)).body["tools"] == [
        {"type": "function", "function": {"name": "f"}},
        {
            "type": "function",
            "function": {"name": "g", "description": "d", "parameters": SCHEMA, "strict": False},
        },
    ]
