"""Sessions as command-line and editor agents write them."""

from typing import Any

AT = "2026-03-01T10:00:0{}.000Z".format
GEMINI_HEAD = {
    "sessionId": "g1",
    "projectHash": "ab12",
    "startTime": AT(0),
    "lastUpdated": AT(0),
    "kind": "main",
}
GEMINI_USER = {"id": "m1", "timestamp": AT(1), "type": "user", "content": [{"text": "List the files"}]}
GEMINI_TOOL: dict[str, Any] = {
    "id": "t1",
    "name": "list_directory",
    "args": {"path": "."},
    "result": [{"functionResponse": {"id": "t1", "name": "list_directory", "response": {"output": "a\nb"}}}],
    "status": "success",
    "timestamp": AT(4),
    "agentId": "helper",
}
GEMINI_ANSWER: dict[str, Any] = {
    "id": "m2",
    "timestamp": AT(3),
    "type": "gemini",
    "content": "Two files.",
    "thoughts": [{"subject": "Look", "description": "See what is there", "timestamp": AT(2)}],
    "tokens": {"input": 100, "output": 10, "cached": 20, "thoughts": 5, "tool": 3, "total": 118},
    "model": "gemini-2.5-pro",
}
GEMINI = {
    **GEMINI_HEAD,
    "summary": "Listing files",
    "messages": [GEMINI_USER, {**GEMINI_ANSWER, "toolCalls": [GEMINI_TOOL]}],
}
GEMINI_LINES: list[dict[str, Any]] = [
    GEMINI_HEAD,
    GEMINI_USER,
    {"$set": {"lastUpdated": AT(1)}},
    GEMINI_ANSWER,
    {**GEMINI_ANSWER, "toolCalls": [GEMINI_TOOL]},
    {"id": "m3", "timestamp": AT(5), "type": "info", "content": "Request cancelled."},
    {"$rewindTo": "m2"},
    {"$set": {"summary": "Listing files", "lastUpdated": AT(9)}},
]

MS = 1_772_359_200_000
CLINE: dict[str, Any] = {
    "version": 1,
    "updated_at": AT(9),
    "agent": "lead",
    "sessionId": "cl1",
    "system_prompt": "You are Cline.",
    "messages": [
        {"id": "u1", "role": "user", "content": [{"type": "text", "text": "Read a.py"}], "ts": MS},
        {
            "id": "a1",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look first."},
                {"type": "text", "text": "I read it."},
                {"type": "tool_use", "id": "t1", "name": "read_files", "input": {"paths": ["a.py"]}},
            ],
            "ts": MS + 1000,
            "modelInfo": {"id": "anthropic/claude-x", "provider": "cline", "family": "claude"},
            "metrics": {
                "inputTokens": 100,
                "outputTokens": 10,
                "cacheReadTokens": 80,
                "cacheWriteTokens": 0,
                "cost": 0.25,
            },
        },
        {
            "id": "u2",
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "name": "read_files",
                    "content": [{"query": "a.py", "result": "x = 1", "success": True}],
                }
            ],
            "ts": MS + 2000,
        },
    ],
}
CLINE_HISTORY: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "<task>\nMend it\n</task>"},
            {"type": "text", "text": "<environment_details>\nVS Code\n</environment_details>"},
        ],
        "ts": MS,
    },
    {
        "role": "assistant",
        "content": "I look.\n<read_file>\n<path>a.py</path>\n</read_file>",
        "ts": MS + 2000,
        "modelInfo": {"modelId": "claude-x", "providerId": "anthropic", "mode": "act"},
    },
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "[read_file for 'a.py'] Result:"},
            {"type": "text", "text": "x = 1"},
            {"type": "text", "text": "<environment_details>\n</environment_details>"},
        ],
        "ts": MS + 3000,
    },
]
CLINE_SCREEN: list[dict[str, Any]] = [
    {"ts": MS, "type": "say", "say": "task", "text": "Mend it"},
    {
        "ts": MS + 500,
        "type": "say",
        "say": "api_req_started",
        "text": '{"request": "Mend it", "tokensIn": 5, "tokensOut": 0, "cost": 0.01, "cancelReason": "streaming_failed", '
        '"streamingFailedMessage": "Overloaded"}',
    },
    {
        "ts": MS + 1000,
        "type": "say",
        "say": "api_req_started",
        "text": '{"request": "Mend it", "tokensIn": 20, "tokensOut": 10, "cacheReads": 80, "cacheWrites": 7, "cost": 0.5}',
    },
    {"ts": MS + 1500, "type": "say", "say": "reasoning", "text": "Look first."},
    {"ts": MS + 1600, "type": "say", "say": "text", "text": "I look."},
    {"ts": MS + 1700, "type": "ask", "ask": "tool", "text": '{"tool": "readFile", "path": "a.py"}'},
    {"ts": MS + 1800, "type": "ask", "ask": "command", "text": "ls"},
    {"ts": MS + 1900, "type": "say", "say": "command_output", "text": "a.py"},
    {"ts": MS + 2000, "type": "say", "say": "error", "text": "No such file"},
    {
        "ts": MS + 2100,
        "type": "say",
        "say": "subagent_usage",
        "text": '{"tokensIn": 3, "tokensOut": 2, "cost": 0.125}',
    },
    {"ts": MS + 2200, "type": "say", "say": "checkpoint_created"},
]

OPENCODE: dict[str, Any] = {
    "info": {
        "id": "ses_2",
        "version": "1.0.0",
        "directory": "/app",
        "parentID": "ses_1",
        "title": "List files",
        "time": {"created": MS, "updated": MS + 9000},
    },
    "messages": [
        {
            "info": {"id": "msg_1", "role": "user", "sessionID": "ses_2", "time": {"created": MS}},
            "parts": [
                {"id": "p1", "type": "text", "text": "List the files"},
                {"id": "p2", "type": "text", "text": "Called the read tool", "synthetic": True},
                {"id": "p3", "type": "file", "mime": "image/png", "url": "data:"},
            ],
        },
        {
            "info": {
                "id": "msg_2",
                "role": "assistant",
                "agent": "build",
                "modelID": "claude-x",
                "providerID": "anthropic",
                "cost": 0.25,
                "tokens": {
                    "total": 135,
                    "input": 20,
                    "output": 10,
                    "reasoning": 5,
                    "cache": {"read": 90, "write": 10},
                },
                "time": {"created": MS + 1000, "completed": MS + 3000},
            },
            "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "Look.", "time": {"start": MS + 1100}},
                {
                    "type": "tool",
                    "callID": "k1",
                    "tool": "bash",
                    "state": {
                        "status": "completed",
                        "input": {"command": "ls"},
                        "output": "a.py",
                        "time": {"start": MS + 1500, "end": MS + 1750},
                    },
                },
                {"type": "text", "text": "a.py"},
                {"type": "step-finish", "cost": 0.25, "tokens": {"input": 20, "output": 10}},
            ],
        },
    ],
}

SECOND = MS // 1000
MINI_MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an assistant."},
    {"role": "user", "content": "Mend it"},
    {"role": "assistant", "content": "I look.\n\n```bash\nls\n```"},
    {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py</output>"},
    {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
    {"role": "user", "content": "Please give exactly one action."},
    {"role": "assistant", "content": "```mswea_bash_command\necho COMPLETE\n```"},
    {"role": "user", "content": "diff"},
]
MINI_RUN: dict[str, Any] = {
    "info": {
        "exit_status": "Submitted",
        "submission": "diff",
        "model_stats": {"instance_cost": 0.75, "api_calls": 3},
        "mini_version": "2.0.0",
        "config": {"model": {"model_name": "anthropic/claude-x"}},
    },
    "messages": [
        *MINI_MESSAGES[:2],
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "k1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
            "extra": {
                "actions": [{"command": "ls", "tool_call_id": "k1"}],
                "cost": 0.5,
                "timestamp": SECOND,
                "response": {
                    "usage": {
                        "prompt_tokens": 100,
                        "completion_tokens": 10,
                        "total_tokens": 110,
                        "prompt_tokens_details": {"cached_tokens": 80},
                        "completion_tokens_details": {"reasoning_tokens": 4},
                    }
                },
            },
        },
        {
            "role": "tool",
            "tool_call_id": "k1",
            "content": "<returncode>0</returncode><output>a.py</output>",
            "extra": {"raw_output": "a.py", "returncode": 0, "timestamp": SECOND + 1},
        },
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}
PI: list[dict[str, Any]] = [
    {"type": "session", "version": 3, "id": "pi1", "timestamp": AT(0), "cwd": "/app"},
    {
        "type": "message",
        "id": "a1",
        "parentId": None,
        "timestamp": AT(1),
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": "List the files"}],
            "timestamp": MS + 1000,
        },
    },
    {
        "type": "message",
        "id": "a2",
        "parentId": "a1",
        "timestamp": AT(3),
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look."},
                {"type": "text", "text": "I look."},
                {"type": "toolCall", "id": "k1", "name": "bash", "arguments": {"command": "ls"}},
            ],
            "provider": "anthropic",
            "model": "claude-x",
            "usage": {
                "input": 7,
                "output": 20,
                "cacheRead": 100,
                "cacheWrite": 50,
                "totalTokens": 177,
                "cost": {"input": 0.01, "total": 0.25},
            },
            "stopReason": "toolUse",
            "timestamp": MS + 2000,
        },
    },
    {
        "type": "message",
        "id": "a3",
        "parentId": "a2",
        "timestamp": AT(4),
        "message": {
            "role": "toolResult",
            "toolCallId": "k1",
            "toolName": "bash",
            "content": [{"type": "text", "text": "a.py"}],
            "isError": False,
            "timestamp": MS + 4000,
        },
    },
]


def copilot(kind: str, second: int, /, **data: Any) -> dict[str, Any]:
    """An event of Copilot CLI."""
    return {"type": kind, "id": f"e{second}-{kind}", "timestamp": AT(second), "parentId": None, "data": data}


COPILOT: list[dict[str, Any]] = [
    copilot(
        "session.start",
        0,
        sessionId="co1",
        copilotVersion="1.0.34",
        context={"cwd": "/app", "branch": "main"},
    ),
    copilot("session.model_change", 0, newModel="claude-x"),
    copilot("system.message", 1, role="system", content="You are Copilot."),
    copilot("user.message", 1, content="List the files", transformedContent="<now>List the files"),
    copilot(
        "assistant.message",
        2,
        content="I look.",
        reasoningText="Look.",
        outputTokens=30,
        toolRequests=[{"toolCallId": "k1", "name": "bash", "arguments": {"command": "ls"}}],
    ),
    copilot("tool.execution_start", 3, toolCallId="k1", toolName="bash", arguments={"command": "ls"}),
    copilot("tool.execution_complete", 4, toolCallId="k1", success=True, result={"content": "a.py"}),
    copilot("subagent.started", 5, toolCallId="k1", agentName="explore"),
    copilot("assistant.message", 6, content="Found.", parentToolCallId="k1", outputTokens=5),
    copilot(
        "session.shutdown",
        9,
        totalPremiumRequests=2,
        modelMetrics={
            "claude-x": {
                "requests": {"count": 2, "cost": 2},
                "usage": {
                    "inputTokens": 100,
                    "outputTokens": 35,
                    "cacheReadTokens": 80,
                    "cacheWriteTokens": 0,
                    "reasoningTokens": 8,
                },
            }
        },
    ),
]
