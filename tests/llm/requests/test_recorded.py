"""Messages are recognised in the forms in which tools record them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.requests.bodies import (
    anthropic_bodies,
    anthropic_messages,
    chat_bodies,
    chat_messages,
    noisy,
    response_bodies,
    response_items,
    texts,
    values,
)
from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.recorded import read_messages

ASKED = Message(role="user", parts=(Text("Weather?"),))
CALLED = Message(
    role="assistant", parts=(Text("I look."), ToolCall(id="c1", name="weather", arguments={"city": "Rom"}))
)
RETURNED = Message(role="tool", parts=(ToolResult(call_id="c1", parts=(Text("Sunny"),)),))
SAID = Message(role="system", parts=(Text("Be brief."),))
WHOLE = (SAID, ASKED, CALLED, RETURNED)

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief.", "source": "input"},
    {"role": "user", "content": "Weather?", "id": "m1"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rom"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Sunny", "function": "weather"},
]
INSPECT: list[dict[str, Any]] = [
    *CHAT[:2],
    {
        **CHAT[2],
        "tool_calls": [{"id": "c1", "function": "weather", "arguments": {"city": "Rom"}, "type": "function"}],
    },
    CHAT[3],
]
ANTHROPIC = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Rom"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Sunny"}]},
]
RESPONSES = [
    {"role": "system", "content": "Be brief."},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
    {"role": "assistant", "content": "I look."},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Rom"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "Sunny"},
]
OTEL = [
    {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
    {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
    {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": "I look."},
            {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Rom"}},
        ],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "Sunny"}]},
]
OPENINFERENCE = [
    {"message": {"role": "system", "content": "Be brief."}},
    {"message": {"role": "user", "contents": [{"message_content": {"type": "text", "text": "Weather?"}}]}},
    {
        "message": {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"tool_call": {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Rom"}'}}}
            ],
        }
    },
    {"message": {"role": "tool", "content": "Sunny", "tool_call_id": "c1"}},
]
FLATTENED = [
    {"message.role": "system", "message.content": "Be brief."},
    {"message.role": "user", "message.content": "Weather?"},
    {
        "message.role": "assistant",
        "message.content": "I look.",
        "message.tool_calls": [
            {
                "tool_call.id": "c1",
                "tool_call.function.name": "weather",
                "tool_call.function.arguments": '{"city": "Rom"}',
            }
        ],
    },
    {"message.role": "tool", "message.content": "Sunny", "message.tool_call_id": "c1"},
]
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "Be brief."},
    {"type": "human", "content": "Weather?", "additional_kwargs": {}},
    {
        "type": "ai",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Rom"}},
        ],
        "tool_calls": [{"name": "weather", "args": {"city": "Rom"}, "id": "c1", "type": "tool_call"}],
    },
    {"type": "tool", "content": "Sunny", "tool_call_id": "c1", "status": "success"},
]
CONSTRUCTED = [
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}
    for name, kwargs in [
        ("SystemMessage", {"content": "Be brief."}),
        ("HumanMessage", {"content": "Weather?"}),
        (
            "AIMessageChunk",
            {"content": "I look.", "additional_kwargs": {"tool_calls": CHAT[2]["tool_calls"]}},
        ),
        ("ToolMessage", {"content": "Sunny", "tool_call_id": "c1"}),
    ]
]
STORED = [{"type": each["type"], "data": each} for each in LANGCHAIN]
AI_SDK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": {"city": "Rom"}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "Sunny"}}
        ],
    },
]


@pytest.mark.parametrize(
    "recorded",
    [CHAT, INSPECT, ANTHROPIC, RESPONSES, OTEL, OPENINFERENCE, FLATTENED, LANGCHAIN, CONSTRUCTED, STORED, AI_SDK],
    ids=["chat", "inspect", "anthropic", "responses", "otel", "openinference", "flattened", "langchain",
         "constructed", "stored", "ai_sdk"],
)  # fmt: skip
@pytest.mark.parametrize("wrapped", [False, True])
def test_the_same_conversation_is_read_in_every_form(recorded: Any, wrapped: bool) -> None:
    value = json.dumps({"messages": [recorded]}) if wrapped else recorded
    assert read_messages(value) == WHOLE


def test_contents_of_gemini_are_read_and_their_calls_get_ids() -> None:
    recorded = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"parts": [{"text": "Weather?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"functionCall": {"name": "weather", "args": {"city": "Rom"}}},
                    {"functionCall": {"name": "weather", "args": {"city": "Ulm"}}},
                    {"functionCall": {"name": "time", "id": "call_2"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "time", "response": {"at": 12}}},
                    {"function_response": {"name": "weather", "response": "Sunny"}},
                    {"functionResponse": {"name": "weather", "response": "Rain"}},
                    {"functionResponse": {"name": "other", "response": None}},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                    {"file_data": {"mime_type": "audio/wav", "file_uri": "gs://x/a.wav"}},
                    {"executableCode": {"code": "1"}},
                ],
            },
        ],
    }
    messages = read_messages(recorded)
    assert messages is not None
    assert [call.id for message in messages for call in message.calls] == ["call_3", "call_4", "call_2"]
    results = [(result.call_id, result.parts) for message in messages for result in message.results]
    assert results == [
        ("call_2", (Text('{"at": 12}'),)),
        ("call_3", (Text("Sunny"),)),
        ("call_4", (Text("Rain"),)),
        ("", ()),
    ]
    assert messages[0] == SAID
    assert messages[2].parts[0] == Thinking(provider="the recording", text="Hm.")
    assert messages[-1].parts == (
        Media(kind="image", media_type="image/png", data="aGk="),
        Media(kind="audio", media_type="audio/wav", url="gs://x/a.wav"),
        Other("the recording", {"executableCode": {"code": "1"}}),
    )


def test_files_and_reasoning_of_opentelemetry_are_read() -> None:
    parts = [
        {"type": "reasoning", "content": "Hm."},
        {"type": "blob", "mime_type": "image/png", "modality": "image", "content": "aGk="},
        {"type": "uri", "modality": "image", "uri": "https://x.test/a.png"},
        {"type": "file", "modality": "audio", "file_id": "f"},
        {"type": "file_data", "modality": "video", "uri": "gs://x/a.mp4"},
        {"type": "other"},
    ]
    (message,) = read_messages([{"role": "user", "name": "Ann", "parts": parts}]) or ()
    assert message.name == "Ann"
    assert message.parts == (
        Thinking(provider="the recording", text="Hm."),
        Media(kind="image", media_type="image/png", data="aGk="),
        Media(kind="image", url="https://x.test/a.png"),
        Media(kind="audio", file_id="f"),
        Media(kind="document", url="gs://x/a.mp4"),
        Other("the recording", {"type": "other"}),
    )


def test_parts_of_the_ai_sdk_are_read() -> None:
    content = [
        {"type": "reasoning", "text": "Hm."},
        {"type": "image", "image": "https://x.test/a.png"},
        {"type": "image", "image": "data:image/gif;base64,aGk=", "mimeType": "image/png"},
        {"type": "file", "data": "aGk=", "mediaType": "application/pdf", "filename": "a.pdf"},
        {"type": "source"},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "args": "{"},
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "toolName": "weather",
            "result": {"sun": 1},
            "isError": True,
        },
    ]
    result, answer = read_messages([{"role": "assistant", "content": content}]) or ()
    assert result.results == (
        ToolResult(call_id="c1", name="weather", parts=(Text('{"sun": 1}'),), is_error=True),
    )
    assert answer.parts == (
        Thinking(provider="the recording", text="Hm."),
        Media(kind="image", media_type="image/png", url="https://x.test/a.png"),
        Media(kind="image", media_type="image/gif", data="aGk="),
        Media(kind="document", media_type="application/pdf", name="a.pdf", data="aGk="),
        Other("the recording", {"type": "source"}),
        ToolCall(id="c1", name="weather", raw="{"),
    )


def test_images_of_openinference_and_langchain_are_read() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    expected = (Media(kind="image", url="https://x.test/a.png"),)
    nested = {"message_content": {"type": "image", "image": {"image": {"url": "https://x.test/a.png"}}}}
    flat = {"message_content.type": "image", "message_content.image.image.url": "https://x.test/a.png"}
    for recorded in (
        {"type": "human", "content": [image]},
        {"message": {"role": "user", "contents": [nested]}},
        {"message.role": "user", "message.contents": [flat]},
    ):
        (message,) = read_messages([recorded]) or ()
        assert message.parts == expected


def test_failed_and_unreadable_calls_of_langchain_are_read() -> None:
    ai = {"type": "ai", "content": "", "invalid_tool_calls": [{"name": "f", "args": "{", "id": "c1"}]}
    failed = {
        "type": "tool",
        "content": ["no", {"type": "x"}],
        "tool_call_id": "c1",
        "status": "error",
        "name": "f",
    }
    chat = {
        "lc": 1,
        "id": ["langchain", "ChatMessage"],
        "kwargs": {"role": "user", "content": "Hi", "name": "Ann"},
    }
    call, result, said = read_messages([ai, failed, chat]) or ()
    assert call.calls == (ToolCall(id="c1", name="f", raw="{"),)
    (returned,) = result.results
    assert (returned.is_error, returned.name, returned.parts[0]) == (True, "f", Text("no"))
    assert said == Message(role="user", name="Ann", parts=(Text("Hi"),))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Weather?", (ASKED,)),
        ("", ()),
        ("[1", (Message(role="user", parts=(Text("[1"),)),)),
        ("[]", (Message(role="user", parts=(Text("[]"),)),)),
        ('{"a": 1}', (Message(role="user", parts=(Text('{"a": 1}'),)),)),
        (["Weather?"], (ASKED,)),
        ([], ()),
        ({"role": "user", "content": "Weather?"}, (ASKED,)),
        ({"type": "human", "content": "Weather?"}, (ASKED,)),
        ({"message.role": "user", "message.content": "Weather?"}, (ASKED,)),
        ({"prompt": "Weather?"}, (ASKED,)),
        ({"input": "Weather?", "instructions": "Be brief."}, (SAID, ASKED)),
        ({"messages": [{"role": "user", "content": "Weather?"}], "system": "Be brief."}, (SAID, ASKED)),
        ({"messages": 5}, None),
        ({"question": "Weather?"}, None),
        ([1], None),
        ([{"role": "nobody"}], None),
        ({"type": "human", "content": 5}, None),
        ({"lc": 1}, None),
        (5, None),
        (None, None),
        (float("nan"), None),
    ],
)  # fmt: skip
def test_other_values_are_prompts_or_unknown(value: Any, expected: tuple[Message, ...] | None) -> None:
    assert read_messages(value) == expected


def test_calls_of_the_older_form_get_ids() -> None:
    recorded = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]
    call, result = read_messages(recorded) or ()
    assert call.calls[0].id == result.results[0].call_id == "call_1"


KNOWN: list[list[Any]] = [OTEL, OPENINFERENCE, LANGCHAIN, CONSTRUCTED, AI_SDK]
forms = st.one_of(
    values,
    chat_bodies,
    response_bodies,
    anthropic_bodies,
    *(
        st.lists(noisy(each), max_size=3)
        for each in (
            chat_messages,
            response_items,
            anthropic_messages,
            *map(st.just, [*OTEL, *FLATTENED, *AI_SDK]),
        )
    ),
    st.sampled_from(KNOWN).flatmap(
        lambda known: st.builds(
            lambda place, name, value: [*known[:place], {**known[place], name: value}],
            st.integers(0, 3),
            st.sampled_from(
                ["role", "content", "parts", "tool_calls", "kwargs", "id", "type", "message", "data"]
            ),
            values | st.lists(st.dictionaries(st.sampled_from(["type", "name", "content", "text"]), values)),
        )
    ),
    st.dictionaries(st.sampled_from(["system", "messages", "input", "prompt"]), values | texts),
)


@given(forms)
def test_any_value_is_read_or_unknown(value: Any) -> None:
    messages = read_messages(value)
    assert messages is None or all(isinstance(each, Message) for each in messages)
    assert read_messages(json.dumps(value)) is not None
