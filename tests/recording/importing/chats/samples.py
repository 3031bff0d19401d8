"""Samples of Codex's other forms, tau2-bench and Aider, in the shapes that their sources define."""

from typing import Any

CODEX_OLDER: list[dict[str, Any]] = [
    {"id": "co1", "timestamp": "2025-07-20T10:00:00.000Z", "instructions": None, "git": {"branch": "main"}},
    {"record_type": "state"},
    {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "Oil it."}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look first."}]},
    {
        "type": "function_call",
        "name": "shell",
        "arguments": '{"command": ["ls"]}',
        "call_id": "k1",
    },
    {"record_type": "state"},
    {
        "type": "function_call_output",
        "call_id": "k1",
        "output": '{"output": "no", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}',
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Oiled."}]},
    {"type": "odd"},
]
CODEX_OLDER_DOCUMENT = {
    "session": {"id": "co2", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": ""},
    "items": [*CODEX_OLDER[2:5], "half"],
}
CODEX_EXEC: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "I look first."}},
    {
        "type": "item.started",
        "item": {
            "id": "item_1", "type": "command_execution", "command": "ls", "aggregated_output": "",
            "exit_code": None, "status": "in_progress",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_1", "type": "command_execution", "command": "ls", "aggregated_output": "no",
            "exit_code": 2, "status": "failed",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_2", "type": "mcp_tool_call", "server": "files", "tool": "read", "arguments": {"path": "a"},
            "result": None, "error": {"message": "gone"}, "status": "failed",
        },
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_3", "type": "file_change", "changes": [{"path": "a", "kind": "add"}], "status": "completed",
        },
    },
    {"type": "item.started", "item": {"id": "item_4", "type": "web_search", "query": "hinges"}},
    {"type": "item.completed", "item": {"id": "item_5", "type": "todo_list", "items": []}},
    {"type": "item.completed", "item": {"id": "item_6", "type": "error", "message": "slow"}},
    {"type": "item.completed", "item": {"id": "item_7", "type": "agent_message", "text": "Oiled."}},
    {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 7}},
    {"type": "turn.completed", "usage": {"input_tokens": 150, "cached_input_tokens": 80, "output_tokens": 9}},
    {"type": "turn.completed", "usage": {"input_tokens": 20, "cached_input_tokens": 0, "output_tokens": 1}},
    {"type": "turn.failed", "error": {"message": "no credit"}},
    {"type": "error", "message": "stream closed"},
]  # fmt: skip
CODEX_EXEC_EARLY: list[dict[str, Any]] = [
    {"type": "session.created", "session_id": "t2"},
    {"type": "item.completed", "item": {"id": "item_0", "item_type": "assistant_message", "text": "Hello."}},
    {"type": "session.created", "session_id": "t3"},
    {"type": "item.completed", "item": {"id": "item_0", "item_type": "assistant_message", "text": "Again."}},
    {"type": "item.completed"},
]
TAU2: dict[str, Any] = {
    "timestamp": "2026-04-01T10:00:00",
    "info": {
        "agent_info": {"implementation": "llm_agent", "llm": "openai/gpt-x"},
        "user_info": {"llm": "gpt-y"},
        "environment_info": {"domain_name": "airline"},
    },
    "tasks": [{"id": "7"}],
    "simulations": [
        {
            "id": "s1",
            "task_id": "7",
            "trial": 0,
            "seed": 3,
            "start_time": "2026-04-01T10:00:00",
            "end_time": "2026-04-01T10:01:00",
            "termination_reason": "user_stop",
            "agent_cost": 0.02,
            "user_cost": 0.005,
            "reward_info": {"reward": 1.0},
            "messages": [
                {"role": "assistant", "content": "Hi!", "timestamp": "2026-04-01T10:00:01", "cost": 0.0},
                {
                    "role": "user", "content": "I am Zoë.", "timestamp": "2026-04-01T10:00:02",
                    "usage": {"prompt_tokens": 40, "completion_tokens": 4}, "cost": 0.005,
                },
                {
                    "role": "assistant", "content": None, "timestamp": "2026-04-01T10:00:05",
                    "tool_calls": [
                        {"id": "k1", "name": "get_user", "arguments": {"id": 7}, "requestor": "assistant"},
                        {"id": "k2", "name": "get_user", "arguments": {"id": 8}, "requestor": "assistant"},
                    ],
                    "usage": {"prompt_tokens": 90, "completion_tokens": 9}, "cost": 0.01,
                    "raw_data": {"model": "gpt-x-2026"}, "generation_time_seconds": 1.5,
                },
                {
                    "role": "tool",
                    "tool_messages": [
                        {"role": "tool", "id": "k1", "content": "{}", "requestor": "assistant", "error": False,
                         "timestamp": "2026-04-01T10:00:06"},
                        {"role": "tool", "id": "k2", "content": "no 8", "requestor": "assistant", "error": True,
                         "timestamp": "2026-04-01T10:00:06"},
                    ],
                },
                {
                    "role": "user", "content": None, "timestamp": "2026-04-01T10:00:07",
                    "tool_calls": [{"id": "k3", "name": "restart", "arguments": {}, "requestor": "user"}],
                },
                {"role": "tool", "id": "k3", "content": None, "requestor": "user", "error": True,
                 "timestamp": "2026-04-01T10:00:08"},
                "half",
            ],
            "ticks": [{"tick_id": 0}],
        },
        "half",
        {"id": "s2", "task_id": "8", "termination_reason": "agent_error", "agent_cost": None, "messages": []},
    ],
}  # fmt: skip
_SILENT = {"role": "user", "contains_speech": False}
TAU2_VOICE: dict[str, Any] = {
    "id": "s3",
    "task_id": "9",
    "trial": 1,
    "termination_reason": "user_stop",
    "mode": "full_duplex",
    "ticks": [
        {"tick_id": 0, "timestamp": "2026-04-01T10:00:00", "agent_chunk": None, "user_chunk": _SILENT},
        {"tick_id": 1, "timestamp": "2026-04-01T10:00:01", "agent_chunk": None, "user_chunk": _SILENT},
        {
            "tick_id": 2, "timestamp": "2026-04-01T10:00:02",
            "agent_chunk": {"role": "assistant", "content": "Hello", "contains_speech": True},
            "user_chunk": _SILENT,
            "agent_tool_calls": [{"id": "k1", "name": "find", "arguments": {"id": 7}}],
        },
        {
            "tick_id": 3, "timestamp": "2026-04-01T10:00:03",
            "agent_tool_results": [{"role": "tool", "id": "k1", "content": "Zoë"}],
            "user_chunk": {"role": "user", "content": "Hm", "contains_speech": True},
        },
        {"tick_id": 4, "timestamp": "2026-04-01T10:00:04", "user_chunk": {"contains_speech": True}},
        {"tick_id": 5, "agent_tool_results": ["half"]},
        {"tick_id": 6, "user_chunk": {"tool_calls": [{"id": "k2", "name": "look", "arguments": {}}]},
         "user_tool_calls": [{"id": "k2", "name": "look", "arguments": {}}]},
        "half",
    ],
}  # fmt: skip
AIDER = """
# aider chat started at 2026-04-01 10:00:00

> /usr/bin/aider --model gpt-x
> Aider v0.86.2
> Main model: openrouter/anthropic/claude-x with diff edit format, infinite output
> Weak model: gpt-y

#### fix the bug
#### in a.py

I will.

> quoted by the model

```python
print(1)
```

> Tokens: 1.2k sent, 300 cache write, 4k cache hit, 30 received.
Cost: $0.01 message, $0.01 session.
> Applied edit to a.py
#### /run make

> litellm.InternalServerError: AnthropicException - Overloaded
> Retrying in 0.2 seconds...

> Tokens: 5,244 sent, 604 received.

Not asked.

# aider chat started at 2026-04-01 11:00:00

> Model: gpt-x
> Tokens: 900 sent, 5 received. Cost: $0.0019 request, $0.0019 session.
> Main model: o9 with architect edit format
> Tokens: 1 sent, 1 received. Cost: $1,000.50 send, $1,000.50 session.
> Cost: $3.00 message, $3.00 session.
> Tokens: 1.2.3 sent, . received.
> Tokens: 99999999999999M sent, 1M received.
####
#### no more
"""
_CHAT_RUN = {"id": "r1", "trace_id": "r1", "dotted_order": "1", "name": "ChatOpenAI"}
_CHAT_MODEL = {"metadata": {"ls_provider": "openai", "ls_model_name": "gpt-x", "ls_model_type": "chat"}}
LANGSMITH_BODY: dict[str, Any] = {
    "post": [
        {
            **_CHAT_RUN, "run_type": "llm", "start_time": "2026-03-01T10:00:00+00:00", "extra": _CHAT_MODEL,
            "inputs": {"messages": [{"role": "user", "content": "Hello"}]}, "outputs": {}, "session_name": "default",
        },
        "half",
    ],
    "patch": [
        {
            **_CHAT_RUN, "end_time": "2026-03-01T10:00:02+00:00", "extra": _CHAT_MODEL, "parent_run_id": None,
            "outputs": {
                "choices": [{"message": {"role": "assistant", "content": "Hi"}}],
                "usage_metadata": {
                    "input_tokens": 9, "output_tokens": 3, "total_tokens": 12,
                    "input_token_details": {"cache_read": 4}, "output_token_details": {"reasoning": 1},
                },
            },
        },
        {"id": "r2", "trace_id": "r2", "dotted_order": "2", "extra": _CHAT_MODEL, "outputs": {"usage": {
            "input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 2,
        }}},
        {"id": "r3", "trace_id": "r3", "dotted_order": "3", "end_time": "2026-03-01T10:00:02+00:00"},
    ],
}  # fmt: skip
GOOSE_MESSAGES: list[dict[str, Any]] = [
    {
        "id": "g1",
        "role": "user",
        "created": 1_772_359_200,
        "content": [{"type": "text", "text": "Who is 7?"}],
        "metadata": {"userVisible": True, "agentVisible": True},
    },
    {
        "role": "assistant",
        "created": 1_772_359_201,
        "content": [
            {"type": "thinking", "thinking": "A name.", "signature": "x"},
            {"type": "text", "text": "I look."},
            {
                "type": "toolRequest",
                "id": "k1",
                "toolCall": {"status": "success", "value": {"name": "find", "arguments": {"id": 7}}},
            },
            {"type": "toolRequest", "id": "k2", "toolCall": {"status": "error", "error": "no such tool"}},
            {"type": "toolRequest", "id": "k3", "toolCall": {"name": "look", "arguments": {}}},
        ],
    },
    {
        "role": "user",
        "created": 1_772_359_202_000,
        "content": [
            {
                "type": "toolResponse",
                "id": "k1",
                "toolResult": {
                    "status": "success",
                    "value": {"content": [{"type": "text", "text": "none"}], "isError": True},
                },
            },
            {"type": "toolResponse", "id": "k2", "toolResult": {"status": "error", "error": "no such tool"}},
            {
                "type": "toolResponse",
                "id": "k3",
                "toolResult": {"status": "success", "value": [{"type": "text", "text": "Zoë"}]},
            },
            {"type": "systemNotification", "msg": "compacted"},
        ],
    },
    {"role": "assistant", "created": 1_772_359_203, "content": [], "metadata": {"userVisible": False}},
]
GOOSE: dict[str, Any] = {
    "id": "20260301_1", "name": "Users", "working_dir": "/home/zoe", "session_type": "user",
    "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:09Z", "extension_data": {},
    "total_tokens": 60, "input_tokens": 50, "output_tokens": 10,
    "accumulated_total_tokens": 160, "accumulated_input_tokens": 140, "accumulated_output_tokens": 20,
    "accumulated_cost": 0.02, "provider_name": "openai", "model_config": {"model_name": "gpt-x"},
    "message_count": 4, "conversation": GOOSE_MESSAGES,
}  # fmt: skip
GOOSE_LINES = [
    {"working_dir": "/home/zoe", "description": "Users", "message_count": 4, "total_tokens": 60},
    *GOOSE_MESSAGES,
]
AUTOGEN: dict[str, Any] = {
    "messages": [
        {"source": "user", "models_usage": None, "metadata": {}, "created_at": "2026-03-01T10:00:00Z",
         "content": "Who is 7?", "type": "TextMessage"},
        {"source": "planner", "models_usage": None, "created_at": "2026-03-01T10:00:01Z", "content": "A name.",
         "type": "ThoughtEvent"},
        {"source": "planner", "models_usage": {"prompt_tokens": 50, "completion_tokens": 5},
         "created_at": "2026-03-01T10:00:02Z", "type": "ToolCallRequestEvent",
         "content": [{"id": "k1", "name": "find", "arguments": '{"id": 7}'}]},
        {"source": "planner", "models_usage": None, "created_at": "2026-03-01T10:00:03Z", "type": "ToolCallExecutionEvent",
         "content": [{"call_id": "k1", "name": "find", "content": "no 7", "is_error": True}]},
        {"source": "writer", "models_usage": {"prompt_tokens": 60, "completion_tokens": 3},
         "created_at": "2026-03-01T10:00:04Z", "content": "Nobody.", "type": "TextMessage"},
        {"source": "writer", "content": "writer", "type": "MemoryQueryEvent", "created_at": "2026-03-01T10:00:05Z"},
    ],
    "stop_reason": "done",
}  # fmt: skip
AUTOGEN_CHAT: dict[str, Any] = {
    "chat_id": 7,
    "chat_history": [
        {"role": "assistant", "name": "user_proxy", "content": "Who is 7?"},
        {"role": "assistant", "name": "helper", "content": None,
         "tool_calls": [{"id": "k1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}]},
        {"role": "tool", "name": "user_proxy", "content": "Zoë",
         "tool_responses": [{"tool_call_id": "k1", "role": "tool", "content": "Zoë"}]},
        "half",
    ],
    "summary": "Zoë",
    "cost": {"usage_including_cached_inference": {
        "total_cost": 0.02, "gpt-x": {"cost": 0.02, "prompt_tokens": 80, "completion_tokens": 9, "total_tokens": 89}}},
}  # fmt: skip
AUTOGEN_BY_AGENT = {"chat_messages": {"helper": AUTOGEN_CHAT["chat_history"][:3], "nobody": [], "odd": 7}}
