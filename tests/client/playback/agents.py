"""The same agent with each vendor's SDK: it asks for the weather, calls a tool, and returns the answer.

`recorded` is the run of each as a session holds it: two model calls with the whole requests and responses.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from anthropic import Anthropic
from openai import OpenAI

QUESTION: Final = "How is the weather in Rome?"
SYSTEM: Final = "Be brief."
ANSWER: Final = "Sunny, 31 degrees, and no cloud from the sea to the hills."
_SCHEMA: Final[dict[str, Any]] = {"type": "object", "properties": {"city": {"type": "string"}}}
_RESULT: Final = "sunny, 31"
_FUNCTION: Final[dict[str, Any]] = {"name": "weather", "description": "Of a city.", "parameters": _SCHEMA}
_USAGE: Final = {"input_tokens": 20, "output_tokens": 8}


def chat(url: str, question: str = QUESTION, *, streamed: bool = False) -> tuple[str, int]:
    """Run the agent with chat completions; return its answer and how many tokens it took."""
    client: Any = OpenAI(base_url=f"{url}/v1", api_key="none")
    body = _chat_body(question)
    tokens = 0
    while True:
        if streamed:
            with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
                list(stream)
                found = stream.get_final_completion()
        else:
            found = client.chat.completions.create(**body)
        tokens += found.usage.total_tokens
        message = found.choices[0].message
        if found.choices[0].finish_reason == "stop":
            return message.content, tokens
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
        body["messages"].append({"role": "assistant", "content": message.content, "tool_calls": calls})
        body["messages"] += [
            {"role": "tool", "tool_call_id": call["id"], "content": _RESULT} for call in calls
        ]


def responses(url: str, question: str = QUESTION, *, streamed: bool = False) -> tuple[str, int]:
    """Run the agent with the Responses API."""
    client: Any = OpenAI(base_url=f"{url}/v1", api_key="none")
    body = _responses_body(question)
    tokens = 0
    while True:
        if streamed:
            with client.responses.stream(**body) as stream:
                list(stream)
                found = stream.get_final_response()
        else:
            found = client.responses.create(**body)
        tokens += found.usage.total_tokens
        items = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in found.output]
        calls = [item for item in items if item["type"] == "function_call"]
        if not calls:
            return found.output_text, tokens
        body["input"] += items
        body["input"] += [
            {"type": "function_call_output", "call_id": call["call_id"], "output": _RESULT} for call in calls
        ]


def messages(url: str, question: str = QUESTION, *, streamed: bool = False) -> tuple[str, int]:
    """Run the agent with Anthropic's messages."""
    client: Any = Anthropic(base_url=url, api_key="none")
    body = _messages_body(question)
    tokens = 0
    while True:
        if streamed:
            with client.messages.stream(**body) as stream:
                list(stream)
                found = stream.get_final_message()
        else:
            found = client.messages.create(**body)
        tokens += found.usage.input_tokens + found.usage.output_tokens
        if found.stop_reason == "end_turn":
            return found.content[-1].text, tokens
        blocks = [block.model_dump(exclude_none=True) for block in found.content]
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": each, "content": _RESULT} for each in uses]
        body["messages"] += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]


AGENTS: Final[Mapping[str, Callable[..., tuple[str, int]]]] = {
    "chat": chat,
    "responses": responses,
    "messages": messages,
}


def _chat_body(question: str) -> dict[str, Any]:
    return {
        "model": "gpt-x",
        "temperature": 0,
        "tools": [{"type": "function", "function": _FUNCTION}],
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}],
    }


def _responses_body(question: str) -> dict[str, Any]:
    return {
        "model": "gpt-x",
        "instructions": SYSTEM,
        "reasoning": {"effort": "low"},
        "tools": [{"type": "function", **_FUNCTION}],
        "input": [{"role": "user", "content": question}],
    }


def _messages_body(question: str) -> dict[str, Any]:
    return {
        "model": "claude-x",
        "max_tokens": 1000,
        "system": SYSTEM,
        "tools": [{"name": "weather", "description": "Of a city.", "input_schema": _SCHEMA}],
        "messages": [{"role": "user", "content": question}],
    }


def recorded(agent: str) -> list[dict[str, Any]]:
    """Return the steps of a run of one of the agents."""
    first, second = {"chat": _chat_run, "responses": _responses_run, "messages": _messages_run}[agent]()
    model = "anthropic:claude-x" if agent == "messages" else "openai:gpt-x"
    return [
        {"kind": "llm_call", "model": model, "input": asked, "output": answered, "usage": _USAGE}
        for asked, answered in (first, second)
    ]


def _chat_run() -> list[tuple[Any, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    calling = {"role": "assistant", "content": None, "tool_calls": [call]}
    second = _chat_body(QUESTION)
    second["messages"] += [calling, {"role": "tool", "tool_call_id": "c1", "content": _RESULT}]
    return [
        (_chat_body(QUESTION), _completion(calling, "tool_calls")),
        (second, _completion({"role": "assistant", "content": ANSWER}, "stop")),
    ]


def _completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "gpt-x-2026-01-02",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28},
    }


def _responses_run() -> list[tuple[Any, Any]]:
    reasoning = {
        "type": "reasoning",
        "id": "r1",
        "summary": [{"type": "summary_text", "text": "A tool has it."}],
    }
    call = {
        "type": "function_call",
        "id": "f1",
        "call_id": "c1",
        "name": "weather",
        "arguments": '{"city": "Rome"}',
    }
    said = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
    }
    second = _responses_body(QUESTION)
    second["input"] += [reasoning, call, {"type": "function_call_output", "call_id": "c1", "output": _RESULT}]
    return [
        (_responses_body(QUESTION), _response([reasoning, call])),
        (second, _response([said])),
    ]


def _response(output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": "gpt-x-2026-01-02",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 8,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 28,
        },
    }


def _messages_run() -> list[tuple[Any, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "A tool has it. " * 5, "signature": "signed"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Rome"}},
    ]
    second = _messages_body(QUESTION)
    second["messages"] += [
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": _RESULT}]},
    ]
    return [
        (_messages_body(QUESTION), _message(blocks, "tool_use")),
        (second, _message([{"type": "text", "text": ANSWER}], "end_turn")),
    ]


def _message(content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 20, "output_tokens": 8},
    }


def exported(folder: Path, *steps: Mapping[str, Any], key: str = "run") -> Path:
    """Write a session with these steps as an export and return the file."""
    about = {"format": "timemachine-session", "version": 1, "key": key, "through": len(steps)}
    numbered = [{"sequence": number, **each} for number, each in enumerate(steps, start=1)]
    file = folder / f"{key}.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (about, *numbered)))
    return file
