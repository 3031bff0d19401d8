"""A small input for each row of the table of what is read, in docs/importing.md: a plain session with all that the format can say.

The formats that are not here have a sample that is one.
"""

from typing import Any

from tests.recording.importing.agents.run_samples import SDK_ARCHIVE
from tests.recording.importing.chats.export_samples import CHATGPT
from tests.recording.importing.chats.log_samples import ROWS
from tests.recording.importing.chats.samples import GOOSE
from tests.recording.importing.own_samples import OURS
from tests.recording.importing.sample_files import archive, codex_line, document, lines
from tests.recording.importing.samples import AGENTOS, ATIF, DAKERA, MEMVID, SAMPLES
from tests.recording.importing.trace_samples import INSPECT_HEAD, INSPECT_SAMPLE, LANGSMITH, trace
from tests.recording.importing.transcript_samples import CHAT

_AT = "2026-03-01T10:00:00Z"


_ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}]
_SAID = [{"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}]}]
_TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "weather",
    "gen_ai.tool.call.arguments": '{"city": "Oslo"}',
    "gen_ai.tool.call.result": "sun",
}
_TOKENS = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
DIALECTS: dict[str, bytes] = {
    "GenAI conventions": trace(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"},
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-x",
            "gen_ai.input.messages": _ASKED,
            "gen_ai.output.messages": _SAID,
            **_TOKENS,
        },
        _TOOL,
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"},
    ),
    "Vercel AI SDK 7": trace(
        {"gen_ai.operation.name": "invoke_agent"},
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-x",
            "gen_ai.input.messages": _ASKED,
            "gen_ai.output.messages": _SAID,
            **_TOKENS,
        },
        _TOOL,
    ),
    "Anthropic's SDK and API": trace(
        {"name": "agent.run"},
        {
            "name": "anthropic.messages",
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "claude-x",
            **_TOKENS,
        },
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"},
    ),
    "Google ADK": trace(
        {"name": "invoke_agent desk", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"},
        {
            "name": "call_llm",
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.request.model": "gemini-x",
            "gcp.vertex.agent.llm_request": '{"contents": [{"role": "user", "parts": [{"text": "Weather?"}]}]}',
            "gcp.vertex.agent.llm_response": '{"content": {"role": "model", "parts": [{"text": "Sunny."}]}}',
            **_TOKENS,
        },
        {
            "name": "execute_tool weather",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gcp.vertex.agent.tool_call_args": '{"city": "Oslo"}',
            "gcp.vertex.agent.tool_response": '{"sky": "sun"}',
        },
        {
            "name": "invoke_agent helper",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "helper",
        },
    ),
    "LiteLLM": trace(
        {
            "name": "litellm_request",
            "llm.request.type": "acompletion",
            "gen_ai.request.model": "gpt-x",
            "gen_ai.input.messages": _ASKED,
            "gen_ai.output.messages": _SAID,
            "gen_ai.cost.total_cost": 0.25,
            **_TOKENS,
        },
    ),
    "Vercel AI SDK 5 and 6": trace(
        {"operation.name": "ai.generateText", "ai.operationId": "ai.generateText"},
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.provider": "openrouter",
            "ai.model.id": "gpt-x",
            "ai.prompt.messages": '[{"role": "user", "content": "Weather?"}]',
            "ai.response.text": "Sunny.",
            "ai.usage.inputTokens": 10,
            "ai.usage.outputTokens": 2,
            "ai.response.providerMetadata": '{"openrouter": {"usage": {"cost": 0.25}}}',
        },
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "weather",
            "ai.toolCall.args": '{"city": "Oslo"}',
            "ai.toolCall.result": '"sun"',
        },
    ),
    "Claude Code": trace(
        {"name": "claude_code.interaction", "user_prompt": "Weather?", "session.id": "s1"},
        {
            "name": "claude_code.api_request",
            "model": "claude-x",
            "input_tokens": 10,
            "output_tokens": 2,
            "cost_usd": 0.25,
        },
        {"name": "claude_code.tool", "tool_name": "Bash", "tool_input": '{"command": "ls"}'},
    ),
    "OpenInference": trace(
        {
            "openinference.span.kind": "AGENT",
            "agent.name": "desk",
            "input.value": "Weather?",
            "output.value": "Sunny.",
        },
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-x",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Weather?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Sunny.",
            "llm.token_count.prompt": 10,
            "llm.token_count.completion": 2,
            "llm.cost.total": 0.25,
        },
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "weather",
            "input.value": '{"city": "Oslo"}',
            "output.value": "sun",
        },
        {"openinference.span.kind": "AGENT", "agent.name": "helper"},
    ),
    "Strands": trace(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "desk",
            "gen_ai.system": "strands-agents",
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "strands-agents",
            "gen_ai.request.model": "gpt-x",
            **_TOKENS,
            "events": {
                "gen_ai.user.message": {"content": '[{"text": "Weather?"}]'},
                "gen_ai.choice": {"finish_reason": "end_turn", "message": '[{"text": "Sunny."}]'},
            },
        },
        _TOOL,
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "helper",
            "gen_ai.system": "strands-agents",
        },
    ),
    "Pydantic AI, Logfire": trace(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk", "final_result": "Sunny."},
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-x",
            "gen_ai.input.messages": _ASKED,
            "gen_ai.output.messages": _SAID,
            "operation.cost": 0.25,
            **_TOKENS,
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "tool_arguments": '{"city": "Oslo"}',
            "tool_response": "sun",
        },
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"},
    ),
    "Langfuse": trace(
        {"langfuse.observation.type": "agent"},
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": "gpt-x",
            "langfuse.observation.input": '[{"role": "user", "content": "Weather?"}]',
            "langfuse.observation.output": "Sunny.",
            "langfuse.observation.usage_details": '{"input": 10, "output": 2}',
            "langfuse.observation.cost_details": '{"total": 0.25}',
        },
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": '{"city": "Oslo"}',
            "langfuse.observation.output": "sun",
        },
    ),
    "MLflow": trace(
        {"mlflow.spanType": "AGENT"},
        {
            "mlflow.spanType": "CHAT_MODEL",
            "mlflow.llm.model": "gpt-x",
            "mlflow.spanInputs": '{"messages": [{"role": "user", "content": "Weather?"}]}',
            "mlflow.spanOutputs": '{"content": "Sunny."}',
            "mlflow.chat.tokenUsage": '{"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}',
            "mlflow.llm.cost": '{"total_cost": 0.25}',
        },
        {
            "name": "weather",
            "mlflow.spanType": "TOOL",
            "mlflow.spanInputs": '{"city": "Oslo"}',
            "mlflow.spanOutputs": '"sun"',
        },
    ),
    "LangSmith": trace(
        {"langsmith.span.kind": "chain", "gen_ai.operation.name": "chain"},
        {
            "langsmith.span.kind": "llm",
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "langchain",
            "gen_ai.request.model": "gpt-x",
            "gen_ai.prompt": '{"messages": [{"role": "user", "content": "Weather?"}]}',
            "gen_ai.completion": '{"content": "Sunny."}',
            **_TOKENS,
        },
        {
            "name": "weather",
            "langsmith.span.kind": "tool",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.prompt": '{"city": "Oslo"}',
            "gen_ai.completion": "sun",
        },
    ),
    "OpenLLMetry": trace(
        {"traceloop.span.kind": "workflow"},
        {
            "gen_ai.request.model": "gpt-x",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Weather?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "Sunny.",
            "gen_ai.usage.prompt_tokens": 10,
            "gen_ai.usage.completion_tokens": 2,
        },
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "weather",
            "traceloop.entity.input": '{"city": "Oslo"}',
            "traceloop.entity.output": "sun",
        },
    ),
}
"""Spans by the name of the dialect in docs/opentelemetry.md."""

_USAGE = {"input_tokens": 10, "output_tokens": 2}
_CLAUDE_CODE: list[dict[str, Any]] = [
    {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "List them."}},
    {
        "type": "assistant",
        "uuid": "a1",
        "message": {
            "id": "m1", "role": "assistant", "model": "claude-x", "usage": _USAGE,
            "content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "List"}}],
        },
    },
    {"type": "user", "uuid": "u2", "isSidechain": True, "agentId": "a1b2", "message": {"role": "user", "content": "List"}},
    {
        "type": "user",
        "uuid": "u3",
        "toolUseResult": {"agentId": "a1b2"},
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]},
    },
]  # fmt: skip
_ATIF: dict[str, Any] = dict(ATIF)
_MEMVID: dict[str, Any] = dict(MEMVID)
_GOOSE_BLOCKS = GOOSE["conversation"][1]["content"]
_GOOSE_ASKED = {**GOOSE["conversation"][1], "content": [*_GOOSE_BLOCKS[:3], _GOOSE_BLOCKS[4]]}
_GOOSE_RESULTS = [each for each in GOOSE["conversation"][2]["content"] if each.get("id") in {"k1", "k3"}]
_GOOSE_ANSWERED = {**GOOSE["conversation"][2], "content": _GOOSE_RESULTS}
_HASHED = {
    "sequence": 4,
    "timestamp_secs": 1_772_359_205,
    "action_type": {"type": "tool_call", "name": "ls", "args_hash": "00"},
}
INPUTS: dict[str, list[bytes]] = {
    "timemachine": [
        lines(
            OURS[0],
            {"sequence": 1, "id": "m", "kind": "message", "role": "user", "started_at": _AT, "output": "Hi"},
            {**OURS[2], "parent": None, "started_at": _AT},
            {"sequence": 3, "id": "t", "kind": "tool_call", "tool": "ls", "started_at": _AT, "input": {}},
        )
    ],
    "claude_code": [lines(*({**each, "sessionId": "s1", "timestamp": _AT} for each in _CLAUDE_CODE))],
    "codex": [
        lines(
            codex_line("session_meta", id="c1", source={"subagent": {"thread_spawn": {"parent_thread_id": "c0"}}}),
            codex_line("turn_context", 1, model="gpt-x"),
            codex_line("response_item", 2, type="message", role="user", content=[{"type": "text", "text": "Hi"}]),
            codex_line("response_item", 3, type="function_call", name="shell", arguments="{}", call_id="k1"),
            codex_line("event_msg", 4, type="token_count", info={"last_token_usage": _USAGE}),
            codex_line("response_item", 5, type="function_call_output", call_id="k1", output="a.py"),
        )
    ],
    "agentos": [lines(*AGENTOS[:3])],
    "atif": [
        document(
            {
                **_ATIF,
                "steps": [
                    *_ATIF["steps"][:2],
                    {**_ATIF["steps"][2], "observation": {"results": [{"source_call_id": "k1", "content": "a.py"}]}},
                ],
                "subagent_trajectories": [
                    {
                        **_ATIF["subagent_trajectories"][0],
                        "steps": [{"step_id": 1, "source": "user", "message": "Help.", "timestamp": _AT}],
                    }
                ],
            }
        )
    ],
    "dakera": [lines(*DAKERA[:2])],
    "devduck": [
        archive(
            {
                "events.jsonl": lines(
                    {"timestamp": 1, "layer": "agent", "type": "message", "data": {"role": "user", "content": "Hi"}},
                    {"timestamp": 2, "layer": "tool", "type": "tool.call", "data": {"name": "ls", "tool_use_id": "k", "input": {}}},
                    {"timestamp": 3, "layer": "tool", "type": "tool.result", "data": {"tool_use_id": "k", "result": "a.py"}},
                )
            }
        )
    ],
    "inspect": [document(INSPECT_HEAD | {"samples": [INSPECT_SAMPLE]})],
    "memvid": [document({**_MEMVID, "actions": [*_MEMVID["actions"][:4], _HASHED], "checkpoints": []})],
    "langsmith": [lines(*LANGSMITH[:4])],
    "openhands": [*SAMPLES["openhands"][:1], SDK_ARCHIVE],
    "autogen": [SAMPLES["autogen"][0], document(ROWS[:2])],
    "chatgpt": [document([{**CHATGPT, "mapping": {f"n{at}": CHATGPT["mapping"][f"n{at}"] for at in range(8)}}])],
    "goose": [document({**GOOSE, "conversation": [_GOOSE_ASKED, _GOOSE_ANSWERED]})],
    "otlp_json": [DIALECTS["OpenInference"]],
    "openai_chat": [lines({"messages": CHAT})],
}  # fmt: skip


def inputs_of(row: str) -> tuple[str, list[bytes]]:
    """Return the format of a row, and its files."""
    if row in DIALECTS:
        return "otlp_json", [DIALECTS[row]]
    return row, INPUTS.get(row, SAMPLES[row][:1])
