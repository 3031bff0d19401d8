"""What the loggers of AutoGen 0.2 wrote."""

import json
from typing import Any

from tests.recording.importing.sample_files import lines

_REQUEST = {"messages": [{"role": "user", "content": "Who is 7?"}], "model": "gpt-x", "temperature": 0}
_RESPONSE = {
    "id": "r1",
    "model": "gpt-x-2",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Zoë"}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
}
_SHOWN = (
    "ChatCompletion(id='r1', choices=[Choice(message=ChatCompletionMessage(content='usage=CompletionUsage(completion_tokens=9, "
    "prompt_tokens=9, total_tokens=9)', role='assistant'))], model='gpt-x', "
    "usage=CompletionUsage(completion_tokens=2, prompt_tokens=10, total_tokens=12), cost=0.25)"
)
_TIMES = {"start_time": "2026-03-01 10:00:01.000000", "end_time": "2026-03-01 10:00:02.500000"}
ROWS: list[dict[str, Any]] = [
    {"id": 1, "invocation_id": "i1", "client_id": 1, "wrapper_id": 2, "session_id": "al1", "request": json.dumps(_REQUEST),
     "response": json.dumps(_RESPONSE), "is_cached": 0, "cost": 0.25, **_TIMES},
    {"id": 2, "invocation_id": "i2", "client_id": 1, "wrapper_id": 2, "session_id": "al1", "request": json.dumps(_REQUEST),
     "response": json.dumps(_RESPONSE), "is_cached": 1, "cost": 0.25, **_TIMES},
    {"id": 3, "invocation_id": "i3", "session_id": "al2", "request": "{}", "response": '{"response": null}', "is_cached": None,
     "cost": 0, "start_time": None, "end_time": None},
]  # fmt: skip
"""Rows of `chat_completions`."""
LINES: list[dict[str, Any]] = [
    {"id": 1, "agent_name": "helper", "wrapper_id": 2, "session_id": "al3", "current_time": "2026-03-01 10:00:00.000000",
     "agent_type": "AssistantAgent", "args": {"max_turns": 3}, "thread_id": 1},
    {"wrapper_id": 2, "session_id": "al3", "json_state": "{}", "timestamp": "2026-03-01 10:00:00.100000", "thread_id": 1},
    {"source_id": 1, "source_name": "helper", "event_name": "received_message", "agent_module": "autogen", "agent_class": "A",
     "json_state": '{"message": {"content": "Who is 7?", "role": "user"}, "sender": "desk", "valid": true}',
     "timestamp": "2026-03-01 10:00:00.200000", "thread_id": 1},
    {"invocation_id": "i1", "client_id": 1, "wrapper_id": 2, "request": _REQUEST, "response": _SHOWN, "is_cached": 0,
     "cost": 0.0, **_TIMES, "thread_id": 1, "source_name": "helper"},
    {"source_id": 1, "source_name": "helper", "agent_module": "autogen", "agent_class": "A",
     "timestamp": "2026-03-01 10:00:03.000000", "thread_id": 1, "input_args": '{"id": 7}', "returns": '"Zo\\u00eb"'},
    {"source_id": 1, "source_name": "helper", "event_name": "received_message", "json_state": '{"message": "Bye", "sender": "desk"}',
     "timestamp": "2026-03-01 10:00:04.000000", "thread_id": 1},
]  # fmt: skip
LOG = b"Started new session with Session ID: al3\n" + lines(*LINES)
