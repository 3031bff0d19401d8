"""A request of chat completions that goes through Anthropic's form and back keeps what was said, called and returned."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.llm.requests.bodies import arguments, names
from tests.llm.requests.real_requests import real_requests
from timemachine.llm.pure.requests import anthropic_messages, openai_chat, openai_responses
from timemachine.llm.pure.requests.canonical import canonical_arguments, canonical_json
from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Part,
    Refusal,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.refusals import refusals

words = st.text("abc é\n", min_size=1, max_size=6)


def contents(request: Request) -> list[Any]:
    """Return what was said, called and returned, in order, regardless of how it is divided into messages."""
    system = [Message(role="system", parts=request.system)]
    return [
        _content(message.role, part)
        for message in (*system, *request.messages)
        for part in message.parts
        if _content(message.role, part) is not None
    ]


def _content(role: str, part: Part) -> Any:
    if isinstance(part, Text | Refusal):
        return ("system" if role == "developer" else role, part.text)
    if isinstance(part, ToolCall):
        return ("call", part.id, part.name, canonical_arguments(part))
    if isinstance(part, ToolResult):
        return ("result", part.call_id, [_content("tool", each) for each in part.parts])
    if isinstance(part, Media):
        return (role, part.kind, part.url, part.data, part.media_type)
    return None


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, Any]:
    """Return the body of a sound request of chat completions."""
    messages: list[Any] = []
    if draw(st.booleans()):
        messages.append({"role": draw(st.sampled_from(["system", "developer"])), "content": draw(words)})
    for number in range(draw(st.integers(1, 3))):
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
        text = draw(words)
        parts = draw(st.sampled_from([text, [{"type": "text", "text": text}, image]]))
        messages.append({"role": "user", "content": parts})
        if draw(st.booleans()):
            messages.append({"role": "system", "content": draw(words)})
        calls = [
            {
                "id": f"call_{number}_{each}",
                "type": "function",
                "function": {"name": draw(names), "arguments": json.dumps(draw(arguments))},
            }
            for each in range(draw(st.integers(0, 3)))
        ]
        said = draw(st.none() | words) if calls else draw(words)
        messages.append({"role": "assistant", "content": said, **({"tool_calls": calls} if calls else {})})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": draw(words)} for call in calls]
    messages.append({"role": "user", "content": draw(words)})
    return {"messages": messages, "max_completion_tokens": 5, "temperature": 0.5}


@settings(max_examples=200)
@given(conversations())
def test_a_conversation_keeps_everything_on_its_way_through_anthropic_and_back(body: dict[str, Any]) -> None:
    request = openai_chat.read(body)
    assert refusals(request, "openai") == ()
    there = anthropic_messages.write(request)
    assert refusals(anthropic_messages.read(there.body), "anthropic") == ()
    back = openai_chat.write(anthropic_messages.read(there.body))
    returned = openai_chat.read(back.body)
    assert contents(returned) == contents(request)
    assert returned.parameters == request.parameters
    assert back.dropped == ()


@settings(max_examples=100)
@given(conversations())
def test_a_conversation_keeps_everything_on_its_way_through_the_responses_api(body: dict[str, Any]) -> None:
    request = openai_chat.read(body)
    there = openai_responses.read(openai_responses.write(request).body)
    assert refusals(there, "openai", api="openai_responses") == ()
    assert canonical_json(there) == canonical_json(request)


def is_answerable(request: Request) -> bool:
    """Return whether every call in the request has its result."""
    return not [reason for reason in refusals(request, "anthropic") if "result" in reason]


@pytest.mark.recordings
def test_real_requests_keep_everything_on_their_way_through_anthropic_and_back(recordings: Path) -> None:
    counts: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for name, recorded in real_requests(recordings):
        first = openai_chat.write(recorded)
        request = openai_chat.read(first.body)
        there = anthropic_messages.write(request)
        back = openai_chat.write(anthropic_messages.read(there.body))
        assert contents(openai_chat.read(back.body)) == contents(request), name
        counts[name] += 1
        dropped.update(first.dropped + there.dropped + back.dropped)
    print(dict(counts), dict(dropped))
    assert sum(counts.values()) >= 200
    assert len(counts) >= 8
