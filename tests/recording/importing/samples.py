"""Sample files of every format, written after the format's documentation or after real files."""

from typing import Any

from tests.recording.importing.agents import run_samples as runs
from tests.recording.importing.agents import samples as agents
from tests.recording.importing.chats import export_samples as exports
from tests.recording.importing.chats import log_samples as logs
from tests.recording.importing.chats import samples as chats
from tests.recording.importing.chats import span_samples as spans
from tests.recording.importing.chats.codex_samples import CODEX_EXEC_FIRST, CODEX_EXEC_OLDER
from tests.recording.importing.own_samples import OURS
from tests.recording.importing.sample_files import archive, document, lines
from tests.recording.importing.trace_samples import (
    INSPECT,
    INSPECT_EVAL,
    LANGFUSE_SESSION,
    LANGFUSE_TRACE,
    LANGSMITH,
    OTLP_CHILD,
    OTLP_ROOT,
)
from tests.recording.importing.transcript_samples import (
    CHAT,
    CLAUDE_CODE,
    CODEX_RECORDS,
    SWE_AGENT,
    TAU_BENCH,
    WHO_AND_WHEN,
)

ATIF = {
    "schema_version": "ATIF-v1.7",
    "session_id": "at1",
    "trajectory_id": "at1-main",
    "agent": {"name": "harbor-agent", "version": "1.0", "model_name": "openai/gpt-x"},
    "steps": [
        {"step_id": 1, "timestamp": "2026-03-01T10:00:00Z", "source": "system", "message": "Be brief."},
        {"step_id": 2, "timestamp": "2026-03-01T10:00:01Z", "source": "user", "message": "List the files."},
        {
            "step_id": 3,
            "timestamp": "2026-03-01T10:00:02Z",
            "source": "agent",
            "message": "I look.",
            "reasoning_content": "They want a list.",
            "reasoning_effort": "low",
            "tool_calls": [{"tool_call_id": "k1", "function_name": "ls", "arguments": {"path": "."}}],
            "observation": {
                "results": [
                    {"source_call_id": "k1", "content": "a.py"},
                    {"content": "done", "subagent_trajectory_ref": [{"trajectory_id": "at1-sub"}]},
                ]
            },
            "metrics": {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "cached_tokens": 80,
                "cost_usd": 0.002,
            },
        },
        {"step_id": 4, "source": "agent", "message": "a.py", "llm_call_count": 0, "model_name": "local"},
    ],
    "final_metrics": {"total_prompt_tokens": 100, "total_completion_tokens": 10, "total_cost_usd": 0.002},
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "at1-sub",
            "agent": {"name": "helper", "version": "1.0"},
            "steps": [{"step_id": 1, "source": "user", "message": "Help."}],
            "final_metrics": {"total_prompt_tokens": 7, "total_cost_usd": 0.001},
        }
    ],
}
MEMVID = {
    "session_id": "0a1b",
    "name": "First look",
    "created_secs": 1_772_359_200,
    "ended_secs": 1_772_359_260,
    "version": 1,
    "metadata": {},
    "actions": [
        {
            "sequence": 0,
            "timestamp_secs": 1_772_359_201,
            "action_type": {"Put": {"frame_id": 4}},
            "input_preview": "Zoë is 7.",
            "affected_frames": [4],
            "duration_ms": 3,
        },
        {
            "sequence": 1,
            "timestamp_secs": 1_772_359_202,
            "action_type": {"Find": {"query": "who is 7", "mode": "lex", "result_count": 1}},
            "affected_frames": [4],
            "duration_ms": 5,
        },
        {
            "sequence": 2,
            "timestamp_secs": 1_772_359_203,
            "action_type": {"Ask": {"query": "Who is 7?", "provider": "openai", "model": "gpt-x"}},
            "output_preview": "Zoë",
        },
        {"sequence": 3, "timestamp_secs": 1_772_359_204, "action_type": {"Checkpoint": {"id": "c1"}}},
        {"sequence": 4, "action_type": {"type": "tool_call", "name": "ls", "args_hash": "00"}},
        {"sequence": 5, "action_type": {"Delete": {"frame_id": 4}}},
        {"sequence": 6, "action_type": "Rest"},
        {"sequence": 7, "action_type": {"Ask": {"query": "Who?", "model": "gpt-x"}}},
    ],
    "checkpoints": [
        {"id": "c1", "at_sequence": 3, "timestamp_secs": 1_772_359_204, "snapshot": {"frame_count": 1}},
        {"id": "c2", "name": "before", "at_sequence": 6, "snapshot": {"frame_count": 0}},
    ],
}
DEVDUCK = archive(
    {
        "events.jsonl": lines(
            {"timestamp": 1_772_359_200.5, "layer": "sys", "type": "file.open", "data": {"path": "a.py"}},
            {
                "timestamp": "2026-03-01T10:00:01",
                "layer": "agent",
                "type": "message",
                "data": {"role": "user", "content": [{"text": "Who is 7?"}]},
            },
            {
                "timestamp": 1_772_359_202,
                "layer": "tool",
                "type": "tool.call",
                "data": {"name": "find_user", "tool_use_id": "k1", "input": {"id": 7}},
            },
            {
                "timestamp": 1_772_359_203,
                "layer": "tool",
                "type": "tool.result",
                "data": {"tool_use_id": "k1", "status": "error", "result": "no 7"},
                "duration_ms": 12,
            },
            {"layer": "sys", "type": "snapshot.created", "data": {"description": "after"}},
            {"layer": "agent", "type": "message", "data": {"role": "assistant", "content": "Nobody."}},
            {"layer": "odd"},
        )
        + b"{half",
        "snapshots.json": [
            {"id": 1, "description": "after", "timestamp": 1_772_359_204, "model": "x", "agent": {}}
        ],
        "metadata.json": {"session_id": "dd1", "version": "1", "tools": []},
        "session.pkl": b"cos\nsystem\n(S'echo opened'\ntR.",
    }
)
AGENTOS: list[dict[str, Any]] = [
    {
        "sessionId": "ag1",
        "agentId": "helper",
        "action": "tool_result",
        "data": {"toolId": "find_user", "callId": "k1", "result": "Zoë", "error": {"message": "late"}},
        "durationMs": 12,
        "timestamp": 1_772_359_202_000,
        "iteration": 1,
        "sequence": 3,
    },
    {
        "sessionId": "ag1",
        "agentId": "helper",
        "action": "llm_call",
        "data": {
            "model": "gpt-x",
            "provider": "openai",
            "messages": [],
            "content": "I look.",
            "usage": {"inputTokens": 50, "outputTokens": 5},
            "cost": 0.001,
        },
        "durationMs": 800,
        "timestamp": 1_772_359_200_000,
        "iteration": 1,
        "sequence": 1,
    },
    {
        "sessionId": "ag1",
        "agentId": "helper",
        "action": "tool_call",
        "data": {"toolId": "find_user", "callId": "k1", "args": {"id": 7}},
        "timestamp": 1_772_359_201_000,
        "sequence": 2,
    },
    {"sessionId": "ag1", "agentId": "helper", "action": "memory_op", "data": {"op": "store"}},
    {"sessionId": "ag2", "agentId": "helper", "action": "reflect", "data": "Hm", "sequence": 1},
]
DAKERA: list[dict[str, Any]] = [
    {
        "id": "d2",
        "agent_id": "helper",
        "content": "[agent] It is Zoë.",
        "memory_type": "episodic",
        "importance": 0.95,
        "tags": ["episode", "dk1", "role:agent", "solution", "seq:2", "topic:users"],
        "created_at": 1_772_359_202,
    },
    {
        "agent_id": "helper",
        "content": "[user] Who is 7?",
        "memory_type": "episodic",
        "importance": 0.72,
        "tags": ["episode", "dk1", "role:user", "normal", "seq:1"],
        "created_at": "2026-03-01T10:00:00Z",
    },
    {
        "agent_id": "helper",
        "content": "A thought",
        "memory_type": "semantic",
        "importance": 7,
        "tags": ["episode"],
        "metadata": {"session_id": "dk1"},
    },
    {"agent_id": "helper", "content": "[oracle] ?", "memory_type": "episodic", "tags": []},
]
SAMPLES: dict[str, list[bytes]] = {
    "timemachine": [lines(*OURS), lines({**OURS[0], "through": 0})],
    "copilot_cli": [lines(*agents.COPILOT)],
    "mini_swe_agent": [document(agents.MINI_RUN), document(agents.MINI_MESSAGES)],
    "openai_agents": [lines(*runs.AGENTS), document(runs.AGENTS), document({"data": runs.AGENTS})],
    "pi": [lines(*agents.PI)],
    "openhands": [
        document(runs.OPENHANDS),
        lines(*runs.OPENHANDS),
        lines({"history": runs.OPENHANDS, "metrics": {"accumulated_cost": 1}}),
        runs.SDK_ARCHIVE,
        lines(*runs.SDK_EVENTS),
    ],
    "opencode": [document(agents.OPENCODE)],
    "otlp_json": [lines(OTLP_CHILD, OTLP_ROOT), document(OTLP_CHILD), lines(OTLP_CHILD, OTLP_CHILD)],
    "agentos": [lines(*AGENTOS), document(AGENTOS), document({"entries": AGENTOS})],
    "atif": [document(ATIF), document(ATIF)[:-200]],
    "dakera": [lines(*DAKERA), document(DAKERA), document({"memories": DAKERA})],
    "devduck": [DEVDUCK],
    "inspect": [document(INSPECT), INSPECT_EVAL],
    "gemini_cli": [document(agents.GEMINI), lines(*agents.GEMINI_LINES)],
    "langfuse": [
        document(LANGFUSE_TRACE),
        document(LANGFUSE_SESSION),
        document([LANGFUSE_TRACE, LANGFUSE_SESSION]),
    ],
    "langsmith": [
        lines(*LANGSMITH),
        document(LANGSMITH),
        document({"runs": LANGSMITH}),
        document(chats.LANGSMITH_BODY),
    ],
    "memvid": [document(MEMVID)],
    "claude_code": [CLAUDE_CODE],
    "chatgpt": [document([exports.CHATGPT]), exports.CHATGPT_ARCHIVE],
    "claude_ai": [document([exports.CLAUDE_AI]), exports.CLAUDE_AI_ARCHIVE],
    "phoenix": [lines(*spans.PHOENIX_ROWS), document(spans.PHOENIX_API)],
    "goose": [document(chats.GOOSE), lines(*chats.GOOSE_LINES)],
    "autogen": [
        document(chats.AUTOGEN),
        document(chats.AUTOGEN_CHAT),
        document(chats.AUTOGEN_BY_AGENT),
        logs.LOG,
        document(logs.ROWS),
    ],
    "codex_older": [lines(*chats.CODEX_OLDER), document(chats.CODEX_OLDER_DOCUMENT)],
    "codex_exec": [lines(*chats.CODEX_EXEC), lines(*chats.CODEX_EXEC_EARLY)],
    "codex_exec_older": [lines(*CODEX_EXEC_OLDER), lines(*CODEX_EXEC_FIRST)],
    "tau2_bench": [document(chats.TAU2), document(chats.TAU2_VOICE)],
    "aider": [chats.AIDER.encode()],
    "cline": [
        document(agents.CLINE),
        document(agents.CLINE_HISTORY),
        document(agents.CLINE_SCREEN),
        archive(
            {
                "1/api_conversation_history.json": agents.CLINE_HISTORY,
                "1/ui_messages.json": agents.CLINE_SCREEN,
            }
        ),
    ],
    "codex": [lines(*CODEX_RECORDS), lines(*CODEX_RECORDS)[:-9]],
    "openai_chat": [
        lines({"messages": CHAT}, {"messages": CHAT[:2], "model": "gpt-x", "tools": []}),
        document([{"messages": CHAT}]),
        document({"messages": CHAT}),
    ],
    "swe_agent": [
        document(SWE_AGENT),
        document(SWE_AGENT)[:400],
        document({"trajectory": [], "history": CHAT}),
    ],
    "tau_bench": [document(TAU_BENCH), lines(*TAU_BENCH)],
    "who_and_when": [document(WHO_AND_WHEN), document(WHO_AND_WHEN)[:-40]],
}
