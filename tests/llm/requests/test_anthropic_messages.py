"""Requests of Anthropic's Messages API."""

from typing import Any

import pytest

from timemachine.llm.pure.requests import anthropic_messages, openai_chat
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
)

SCHEMA = {"type": "object", "properties": {}}
CACHED = {"cache_control": {"type": "ephemeral"}}


def written(*parts: Part, role: Any = "user", **rest: Any) -> tuple[Any, tuple[str, ...]]:
    done = anthropic_messages.write(Request(messages=(Message(role=role, parts=parts, **rest),)))
    return done.body["messages"], done.dropped


def test_a_whole_request_goes_back_unchanged() -> None:
    image = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    body = {
        "model": "claude",
        "max_tokens": 2000,
        "system": [{"type": "text", "text": "Be brief.", **CACHED}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look", **CACHED},
                {"type": "image", "source": image, **CACHED},
                {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
                {"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "t", "context": "c"},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}},
                {"type": "document", "source": {"type": "content", "content": "Hi"}},
                {"type": "search_result", "source": "s"},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}, **CACHED},
                {"type": "tool_use", "id": "t2", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [
                    {"type": "text", "text": "a"}, {"type": "image", "source": image}]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True, **CACHED},
                {"type": "text", "text": "Go on."},
            ]},
            {"role": "system", "content": "In English."},
            {"role": "assistant", "content": "Well"},
        ],
        "tools": [
            {"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True, **CACHED},
            {"type": "bash_20250124", "name": "bash"},
        ],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}, "x": 1},
        "stop_sequences": ["a"],
        "metadata": {"user_id": "u"},
        "top_k": 5,
        "temperature": 1,
    }  # fmt: skip
    done = anthropic_messages.write(anthropic_messages.read(body))
    assert (done.body, done.dropped) == (body, ())


def test_results_become_messages_of_their_own_before_the_rest_of_the_turn() -> None:
    content = [{"type": "text", "text": "Here"}, {"type": "tool_result", "tool_use_id": "t1", "content": "a"}]
    messages = anthropic_messages.read({"messages": [
        {"role": "user", "content": content},
        {"role": "user", "content": "Go on.", "x": 1},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "tool_result"}]},
    ]}).messages  # fmt: skip
    assert messages == (
        Message(role="tool", parts=(ToolResult(call_id="t1", parts=(Text("a"),)),)),
        Message(role="user", parts=(Text("Here"), Text("Go on.")), extra={"anthropic": {"x": 1}}),
        Message(role="assistant"),
        Message(role="tool", parts=(ToolResult(call_id=""),)),
    )


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"type": "text", "text": 5},
        {"type": "image", "source": {"type": "base64", "data": "aGk="}},
        {"type": "image", "source": {"type": "url"}},
        {"type": "image", "source": {"type": "text", "media_type": "text/plain", "data": "a"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a", "x": 1}},
        {"type": "document", "source": {"type": "text", "media_type": "text/html", "data": "a"}},
        {"type": "thinking"},
        {"type": "redacted_thinking"},
    ],
)
def test_blocks_of_unknown_form_are_kept(block: dict[str, Any]) -> None:
    request = anthropic_messages.read({"messages": [{"role": "user", "content": [block]}]})
    assert request.messages[0].parts == (Other("anthropic", block),)
    assert anthropic_messages.write(request).body["messages"][0]["content"] == [block]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": [{"role": "tool"}]}, "has the role 'tool'"),
        (
            {"messages": [{"role": "user", "content": 5}]},
            r"`messages\[0\].content` is neither text nor a list",
        ),
        (
            {"messages": [{"role": "user", "content": [5]}]},
            r"`messages\[0\].content\[0\]` is not a JSON object",
        ),
        ({"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]}, "has no name"),
        ({"system": 5}, "`system` is neither"),
        ({"tools": [{"input_schema": SCHEMA}]}, r"`tools\[0\]` has no name"),
    ],
)
def test_what_is_not_a_request_is_refused(body: Any, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        anthropic_messages.read(body)


@pytest.mark.parametrize(
    "tool",
    [{"name": "f"}, {"name": "f", "input_schema": SCHEMA, "strict": 1}, {"name": "f", "input_schema": {}}],
)
def test_tools_of_unknown_form_are_kept(tool: dict[str, Any]) -> None:
    assert anthropic_messages.read({"tools": [tool]}).tools == (BuiltInTool("anthropic", tool),)


@pytest.mark.parametrize(
    ("choice", "kind", "parallel"),
    [
        ({"type": "auto"}, "auto", None),
        ({"type": "any", "disable_parallel_tool_use": True}, "required", False),
        ({"type": "auto", "disable_parallel_tool_use": False}, "auto", True),
        ({"type": "none"}, "none", None),
    ],
)
def test_the_choice_of_tools_is_read_and_written(
    choice: dict[str, Any], kind: str, parallel: bool | None
) -> None:
    request = anthropic_messages.read({"tool_choice": choice})
    assert request.tool_choice is not None
    assert (request.tool_choice.kind, request.parameters.parallel_tool_calls) == (kind, parallel)
    assert anthropic_messages.write(request).body["tool_choice"] == choice


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "tool"},
        {"type": "auto", "name": "f", "x": 1},
        {"type": "none", "disable_parallel_tool_use": True},
        {"type": "auto", "disable_parallel_tool_use": 1},
        "auto",
    ],
)
def test_a_choice_of_unknown_form_is_kept(choice: Any) -> None:
    request = anthropic_messages.read({"tool_choice": choice})
    assert request.tool_choice is None
    assert anthropic_messages.write(request).body["tool_choice"] == choice


def test_calls_one_at_a_time_need_a_choice_of_tools() -> None:
    one = Request(parameters=Parameters(parallel_tool_calls=False))
    assert anthropic_messages.write(one).body["tool_choice"] == {
        "type": "auto",
        "disable_parallel_tool_use": True,
    }
    none = Request(tool_choice=ToolChoice(kind="none"), parameters=Parameters(parallel_tool_calls=False))
    assert anthropic_messages.write(none).dropped == (
        "The parameter `parallel_tool_calls` is not sent: Anthropic's Messages API has no equivalent.",
    )


@pytest.mark.parametrize("form", [{"type": "x"}, "json", {"type": "json_schema", "schema": SCHEMA, "x": 1}])
def test_a_form_of_the_answer_of_unknown_form_is_kept(form: Any) -> None:
    body = {"messages": [], "output_config": {"format": form}}
    request = anthropic_messages.read(body)
    assert request.response_format is None
    assert anthropic_messages.write(request).body == body
    assert anthropic_messages.read({"output_config": 5}).parameters.extra == {
        "anthropic": {"output_config": 5}
    }


def test_what_a_schema_has_beyond_itself_is_noted() -> None:
    form = ResponseFormat(kind="json_schema", name="n", strict=True, extra={"openai": {"x": 1}})
    done = anthropic_messages.write(Request(response_format=form))
    assert done.body["output_config"] == {"format": {"type": "json_schema", "schema": {}}}
    assert len(done.dropped) == 3
    text = anthropic_messages.write(Request(response_format=ResponseFormat(kind="text")))
    assert (text.body, text.dropped) == ({"messages": []}, ())
    assert anthropic_messages.write(Request(response_format=ResponseFormat(kind="json"))).dropped == (
        "The requirement that the answer be a JSON object without a schema is not sent: Anthropic's Messages API has no equivalent.",
    )


def test_tools_without_arguments_get_a_schema_and_those_of_others_are_noted() -> None:
    done = anthropic_messages.write(
        Request(tools=(Tool(name="f"), BuiltInTool("openai", {"type": "custom"})))
    )
    assert done.body["tools"] == [{"name": "f", "input_schema": SCHEMA}]
    assert done.dropped == ("The tool `custom` is not sent: only OpenAI's chat completions accepts it.",)


def test_neighbouring_messages_of_a_role_are_one_turn() -> None:
    body = {
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "a"},
            {"role": "user", "content": "b", "name": "Ann"},
            {"role": "system", "content": "c"},
            {"role": "developer", "content": "d"},
        ]
    }
    done = anthropic_messages.write(openai_chat.read(body))
    assert done.body == {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "system", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]},
        ],
    }
    assert done.dropped == (
        "Instructions before the first message are sent in the system prompt.",
        "Developer messages are sent as system messages (2 places).",
        "A message's author name is not sent: Anthropic's Messages API has no equivalent.",
        "Consecutive messages with the same role are sent as one.",
    )


def test_parallel_results_are_one_turn_with_what_the_user_says_next() -> None:
    results = [Message(role="tool", parts=(ToolResult(call_id=each, parts=(Text(each),)),)) for each in "ab"]
    said = Message(role="user", parts=(Text("Go on."),))
    done = anthropic_messages.write(Request(messages=(said, said, *results)))
    (turn,) = done.body["messages"]
    assert [block["type"] for block in turn["content"]] == ["tool_result", "tool_result", "text", "text"]


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        (Refusal("No"), "No", "Refusals are sent as text."),
        (Text(""), "", None),
        (Media(kind="audio", data="aGk="), "", "A recording is not sent: Anthropic's Messages API has no equivalent."),
        (Media(kind="image", file_id="f", uploaded_to="openai"), "", "An uploaded file is not sent: only OpenAI's chat"
         " completions accepts it."),
        (Media(kind="image", file_id="f"), "", "An uploaded file is not sent: only another server accepts it."),
        (Other("openai", {"type": "x"}), "", "A part of the type `x` is not sent: only OpenAI's chat completions accepts"
         " it."),
        (Thinking(provider="openai_responses"), "", "The reasoning is not sent: only OpenAI's Responses API accepts it."),
        (Media(kind="document", data="aGk=", name="a.pdf"), [{"type": "document", "title": "a.pdf", "source": {
            "type": "base64", "media_type": "application/pdf", "data": "aGk="}}], None),
        (Media(kind="image", data="aGk=", name="a.png"), [{"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "aGk="}}], None),
        (ToolCall(id="c", name="shell", raw="ls", free_text=True),
         [{"type": "tool_use", "id": "c", "name": "shell", "input": {"input": "ls"}}],
         "Call arguments that are not JSON are sent as text in `input`."),
        (ToolResult(call_id="c", name="f"), [{"type": "tool_result", "tool_use_id": "c"}],
         "The tool name next to a result is not sent: Anthropic's Messages API has no equivalent."),
        (Thinking(provider="anthropic", text="Hm."), [{"type": "thinking", "thinking": "Hm."}], None),
    ],
)  # fmt: skip
def test_what_the_api_does_not_have_is_noted(part: Part, content: Any, sentence: str | None) -> None:
    messages, dropped = written(part)
    assert (messages[0]["content"], dropped) == (content, (sentence,) if sentence else ())


def test_parameters_that_the_api_does_not_have_are_noted() -> None:
    parameters = Parameters(seed=1, stop=("a",), extra={"openai": {"user": "u", "empty": []}})
    done = anthropic_messages.write(Request(parameters=parameters))
    assert done.body == {"messages": [], "stop_sequences": ["a"]}
    assert done.dropped == (
        "`user` is not sent: only OpenAI's chat completions accepts it.",
        "The parameter `seed` is not sent: Anthropic's Messages API has no equivalent.",
    )
