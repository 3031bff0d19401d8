"""Requests from files that other people recorded: whole ones where they are recorded, and otherwise the turns before
each answer of the model."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from timemachine.llm.pure.requests import anthropic_messages, openai_responses
from timemachine.llm.pure.requests.neutral import Message, Request, Text
from timemachine.llm.pure.requests.recorded import read_messages

_WITH_INPUTS = {"12-openai-agents", "17-vercel-ai-claude-otel", "18-langsmith", "19-inspect-ai"}


def real_requests(recordings: Path) -> Iterator[tuple[str, Request]]:
    """Yield every request with the name of its file."""
    for path in sorted(path for path in recordings.rglob("*") if path.is_file()):
        for request in _requests(path):
            yield str(path.relative_to(recordings)), request


def _requests(path: Path) -> Iterator[Request]:
    folder = path.parent.name
    if folder in {"claude_code", "15-claude-code"}:
        yield from _of_claude_code(path)
    elif path.name.startswith("rollout"):
        yield from _of_codex(path)
    elif path.suffix in {".json", ".traj"}:
        value = json.loads(path.read_bytes())
        if folder == "tau_bench":
            yield from (request for run in value for request in _before_each_answer(run["traj"]))
        elif folder in {"swe_agent", "14-mini-swe-agent"}:
            yield from _before_each_answer(value["history"] if isinstance(value, dict) else value)
        elif folder in _WITH_INPUTS:
            yield from _recorded(value)


def _before_each_answer(turns: Any) -> Iterator[Request]:
    messages = read_messages(turns)
    assert messages is not None
    yield from _prefixes(Request(messages=messages))


def _prefixes(whole: Request) -> Iterator[Request]:
    for number, message in enumerate(whole.messages):
        if message.role == "assistant" and number:
            yield _with_system(replace(whole, messages=whole.messages[:number]))


def _with_system(request: Request) -> Request:
    first = request.messages[0]
    if first.role != "system":
        return request
    texts = tuple(part for part in first.parts if isinstance(part, Text))
    return replace(request, system=texts, messages=request.messages[1:])


def _of_claude_code(path: Path) -> Iterator[Request]:
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    messages = [
        line["message"]
        for line in lines
        if line.get("type") in {"user", "assistant"} and not line.get("isSidechain")
    ]
    yield from _prefixes(
        anthropic_messages.read(
            {"messages": [{"role": each["role"], "content": each["content"]} for each in messages]}
        )
    )


def _of_codex(path: Path) -> Iterator[Request]:
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    items = [line["payload"] for line in lines if line.get("type") == "response_item"]
    yield from _prefixes(openai_responses.read({"input": items}))


def _recorded(value: Any) -> Iterator[Request]:
    """Yield the request in each field `input` or `inputs` of the JSON."""
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            continue
        for name, field in each.items():
            if name in {"input", "inputs"} and (messages := _messages(field)):
                yield _with_system(Request(messages=messages))
            elif isinstance(field, list | dict):
                yield from _recorded(field)


def _messages(field: Any) -> tuple[Message, ...] | None:
    return None if isinstance(field, str) and field[:1] not in "[{" else read_messages(field)
