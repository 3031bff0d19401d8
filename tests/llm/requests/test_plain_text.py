"""A prompt is one message of the user, and any request can be read by people as a transcript."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.llm.pure.requests import plain_text
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Other,
    Refusal,
    Request,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)


@given(st.text())
def test_a_prompt_is_read_and_written_as_it_is(prompt: str) -> None:
    assert plain_text.write(plain_text.read(prompt)) == prompt


def test_only_text_is_a_prompt() -> None:
    with pytest.raises(RequestError, match="not text"):
        plain_text.read({"prompt": "Hello"})


def test_a_conversation_is_written_as_a_transcript() -> None:
    parts = (
        Thinking(provider="anthropic", text="Hm."),
        Thinking(provider="anthropic", data="x"),
        Text("I search."),
        ToolCall(id="c1", name="search", arguments={"q": "é"}),
        ToolCall(id="", name="shell", raw="ls", free_text=True),
    )
    media = (
        Media(kind="image", media_type="image/png", data="aGk="),
        Media(kind="document", name="a.txt", text="Content"),
        Media(kind="document", text="Unnamed"),
        Media(kind="audio", data="aGk="),
        Other("openai_responses", {"type": "item_reference"}),
    )
    request = Request(
        system=(Text("Be brief."),),
        messages=(
            Message(role="user", name="Ann", parts=(Text("Look:"), *media)),
            Message(role="assistant", parts=parts),
            Message(role="tool", parts=(ToolResult(call_id="c1", is_error=True, parts=(Text("none"),)),)),
            Message(role="tool", parts=(ToolResult(call_id=""),)),
            Message(role="assistant", parts=(Refusal("No."),)),
        ),
    )
    assert plain_text.write(request).splitlines() == [
        "System:",
        "Be brief.",
        "",
        "User (Ann):",
        "Look:",
        "[image image/png]",
        "[document a.txt]",
        "Content",
        "[document without a name]",
        "Unnamed",
        "[audio in the request]",
        "[item_reference, only for OpenAI's Responses API]",
        "",
        "Assistant:",
        "[thinking] Hm.",
        "[thinking, not readable]",
        "I search.",
        '[call c1] search {"q": "é"}',
        "[call without ID] shell ls",
        "",
        "Tool:",
        "[result of c1, an error]",
        "none",
        "",
        "Tool:",
        "[result of a call without ID]",
        "",
        "Assistant:",
        "No.",
    ]


def test_one_message_with_tools_or_of_the_model_is_a_transcript() -> None:
    hello = (Text("Hello"),)
    assert (
        plain_text.write(Request(messages=(Message(role="assistant", parts=hello),))) == "Assistant:\nHello"
    )
    with_tool = Request(messages=(Message(role="user", parts=hello),), tools=(Tool(name="a"),))
    assert plain_text.write(with_tool) == "User:\nHello"
