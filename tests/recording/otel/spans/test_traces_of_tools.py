"""Traces as frameworks, clients and gateways send them together: every model call and tool call is counted once.

Attributes as in the source of openllmetry, openinference, adk-python, vercel/ai (`packages/otel`), litellm and pydantic-ai, and
in Anthropic's and MLflow's documentation.
"""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.otel.spans.made import span
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.sums import counted_once
from timemachine.recording.sessions.pure.draft import ActionDraft

type Sent = tuple[int, int, str, dict[str, Any]]
"""A span: its number, its parent's (0: none), its name and its attributes; `scope` is the name of its sender."""

GPT = {"gen_ai.request.model": "gpt-4o"}
CHAT = GPT | {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
AGENT = {"gen_ai.operation.name": "invoke_agent"}
CLAUDE = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-sonnet-4-5"}
EMBED = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "text-embedding-3-small"}
ADK = {"gen_ai.system": "gcp.vertex.agent", "gen_ai.request.model": "gemini-2.5-flash"}


def used(read: int, written: int) -> dict[str, Any]:
    return {"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": written}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}


def drafts(sent: list[Sent]) -> list[ActionDraft]:
    found = []
    for number, parent, name, attributes in sent:
        own = dict(attributes)
        scope = own.pop("scope", None)
        above = f"{parent:016x}" if parent else None
        made = span(own, id=f"{number:016x}", parent=above, name=name, scope={"name": scope} if scope else {})
        found.append(draft_of(made))
    return counted_once(found)


def counted(sent: list[Sent]) -> tuple[int, int, int | None, int | None]:
    """Model calls, tool calls, and the tokens read and written."""
    actions = drafts(sent)
    usages = [each.usage for each in actions if each.usage is not None]
    read, written = (
        [count for each in usages if (count := getattr(each, name)) is not None]
        for name in ("input_tokens", "output_tokens")
    )
    return (
        sum(each.kind == "llm_call" for each in actions),
        sum(each.kind == "tool_call" for each in actions),
        sum(read) if read else None,
        sum(written) if written else None,
    )


TRACES: dict[str, tuple[list[Sent], tuple[int, int, int | None, int | None]]] = {
    "openllmetry records LangGraph, LangChain and the client of OpenAI": (
        [
            (1, 0, "LangGraph.workflow", {"traceloop.span.kind": "workflow"}),
            (2, 1, "agent.task", {"traceloop.span.kind": "task"}),
            (3, 2, "ChatOpenAI.chat", {"llm.request.type": "chat", "gen_ai.usage.prompt_tokens": 100,
                                       "gen_ai.usage.completion_tokens": 10, "llm.usage.total_tokens": 110}),
            (4, 3, "openai.chat", {"llm.request.type": "chat", **GPT, **used(100, 10)}),
        ],
        (1, 0, 100, 10),
    ),
    "openllmetry records CrewAI, whose call states no tokens, and the client below it": (
        [
            (1, 0, "crewai.workflow", {"gen_ai.system": "crewai"}),
            (2, 1, "research.task", {"traceloop.span.kind": "task"}),
            (3, 2, "researcher.agent", {"traceloop.span.kind": "agent", **GPT}),
            (4, 3, "gpt-4o.llm", {"gen_ai.system": "crewai", **GPT}),
            (5, 4, "openai.chat", {"llm.request.type": "chat", **GPT, **used(100, 10)}),
        ],
        (1, 0, 100, 10),
    ),
    "a client without tokens below a framework that counts them": (
        [(1, 0, "chat gpt-4o", CHAT | used(100, 10)), (2, 1, "openai.chat", {"llm.request.type": "chat", **GPT})],
        (1, 0, 100, 10),
    ),
    "a framework and a client, and nobody counted": (
        [(1, 0, "chat gpt-4o", CHAT), (2, 1, "openai.chat", {"llm.request.type": "chat", **GPT})],
        (1, 0, None, None),
    ),
    "LiteLLM and its raw request": (
        [
            (1, 0, "litellm_request", {"llm.request.type": "acompletion", "gen_ai.operation.name": "acompletion",
                                       **GPT, **used(100, 10)}),
            (2, 1, "raw_gen_ai_request", {"llm.openai.model": "gpt-4o"}),
        ],
        (1, 0, 100, 10),
    ),
    "LiteLLM's proxy repeats the request": (
        [
            (1, 0, "Received Proxy Server Request", {"llm.request.type": "completion", **GPT, **used(100, 10)}),
            (2, 1, "litellm_request", {"llm.request.type": "completion", **GPT, **used(100, 10)}),
        ],
        (1, 0, 100, 10),
    ),
    "ADK runs tools inside the call and merges their results": (
        [
            (1, 0, "invocation", {}),
            (2, 1, "invoke_agent desk", AGENT),
            (3, 2, "call_llm", ADK | used(100, 10)),
            (4, 3, "execute_tool a", tool("a")),
            (5, 3, "execute_tool b", tool("b")),
            (6, 3, "execute_tool (merged)", tool("(merged tools)")),
            (7, 2, "call_llm", ADK | used(200, 20)),
        ],
        (2, 2, 300, 30),
    ),
    "ADK hands over to another agent inside the call": (
        [
            (1, 0, "invoke_agent desk", AGENT),
            (2, 1, "call_llm", ADK | used(100, 10)),
            (3, 2, "execute_tool transfer_to_agent", tool("transfer_to_agent")),
            (4, 2, "invoke_agent billing", AGENT),
            (5, 4, "call_llm", ADK | used(200, 20)),
            (6, 4, "call_llm", ADK | used(300, 30)),
        ],
        (3, 1, 600, 60),
    ),
    "ADK and the client of Gemini record the call": (
        [
            (1, 0, "invoke_agent desk", AGENT),
            (2, 1, "call_llm", ADK | used(100, 10)),
            (3, 2, "generate_content", {"gen_ai.operation.name": "generate_content", **used(100, 10)}),
        ],
        (1, 0, 100, 10),
    ),
    "an agent during a call, whose own calls were not recorded": (
        [(1, 0, "call_llm", ADK | used(100, 10)), (2, 1, "invoke_agent billing", AGENT | used(200, 20))],
        (1, 0, 300, 30),
    ),
    "a generation around the agent that it consists of": (
        [
            (1, 0, "answer", {"langfuse.observation.type": "generation", **GPT, **used(300, 30)}),
            (2, 1, "ai.generateText", {"ai.operationId": "ai.generateText", "ai.usage.inputTokens": 300,
                                       "ai.usage.outputTokens": 30}),
            (3, 2, "ai.generateText.doGenerate", {"ai.operationId": "ai.generateText.doGenerate", **used(100, 10)}),
            (4, 2, "ai.generateText.doGenerate", {"ai.operationId": "ai.generateText.doGenerate", **used(200, 20)}),
        ],
        (2, 0, 300, 30),
    ),
    "version 7 of the AI SDK": (
        [
            (1, 0, "invoke_agent gpt-4o", AGENT | GPT | used(300, 30)),
            (2, 1, "step 1", {"gen_ai.operation.name": "agent_step", "ai.usage.outputTokenDetails.reasoningTokens": 5}),
            (3, 2, "chat gpt-4o", CHAT | used(100, 10)),
            (4, 2, "execute_tool weather", tool("weather")),
            (5, 1, "step 2", {"gen_ai.operation.name": "agent_step"}),
            (6, 5, "chat gpt-4o", CHAT | used(200, 20)),
        ],
        (2, 1, 300, 30),
    ),
    "embeddings of version 7 of the AI SDK": (
        [(1, 0, "embeddings", EMBED | {"gen_ai.usage.input_tokens": 14}),
         (2, 1, "embeddings", EMBED | {"gen_ai.usage.input_tokens": 14})],
        (1, 0, 14, None),
    ),
    "embeddings in parts by version 5 of the AI SDK": (
        [
            (1, 0, "ai.embedMany", {"ai.operationId": "ai.embedMany", "ai.usage.tokens": 30}),
            (2, 1, "ai.embedMany.doEmbed", {"ai.operationId": "ai.embedMany.doEmbed", "ai.usage.tokens": 10}),
            (3, 1, "ai.embedMany.doEmbed", {"ai.operationId": "ai.embedMany.doEmbed", "ai.usage.tokens": 20}),
        ],
        (2, 0, 30, None),
    ),
    "OpenInference inside Pydantic AI": (
        [
            (1, 0, "invoke_agent desk", AGENT | {"gen_ai.aggregated_usage.input_tokens": 100}),
            (2, 1, "chat gpt-4o", CHAT | used(100, 10)),
            (3, 2, "ChatCompletion", {"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o",
                                      "llm.token_count.prompt": 100, "llm.token_count.completion": 10}),
        ],
        (1, 0, 100, 10),
    ),
    "a cycle of Strands": (
        [
            (1, 0, "invoke_agent Strands Agents", AGENT | used(300, 30)),
            (2, 1, "execute_event_loop_cycle", {"gen_ai.operation.name": "execute_event_loop_cycle"}),
            (3, 2, "chat", {"gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents", **used(300, 30)}),
            (4, 2, "execute_tool look", tool("look")),
        ],
        (1, 1, 300, 30),
    ),
    "the Claude Agent SDK through OpenInference, which records no calls": (
        [
            (1, 0, "ClaudeAgentSDK.query", {"openinference.span.kind": "AGENT", "llm.model_name": "claude-sonnet-4-5",
                                            "llm.token_count.prompt": 900, "llm.token_count.completion": 90}),
            (2, 1, "Read", {"openinference.span.kind": "TOOL", "tool.name": "Read"}),
        ],
        (0, 1, 900, 90),
    ),
    "the Claude Agent SDK with a sub-agent and a tool that calls a model": (
        [
            (1, 0, "ClaudeAgentSDK.query", {"openinference.span.kind": "AGENT", "llm.model_name": "claude-sonnet-4-5",
                                            "llm.token_count.prompt": 900, "llm.token_count.completion": 90}),
            (2, 1, "Task", {"openinference.span.kind": "TOOL", "tool.name": "Task"}),
            (3, 2, "ClaudeAgentSDK.Task", {"openinference.span.kind": "AGENT", "llm.token_count.prompt": 500}),
            (4, 1, "ask", {"openinference.span.kind": "TOOL", "tool.name": "ask"}),
            (5, 4, "ChatCompletion", {"openinference.span.kind": "LLM", "llm.token_count.prompt": 70}),
        ],
        (1, 2, 1470, 90),
    ),
    "the client of Claude and the API itself": (
        [(1, 0, "anthropic.messages", CLAUDE | used(1000, 100)), (2, 1, "anthropic.messages", CLAUDE | used(1000, 100))],
        (1, 0, 1000, 100),
    ),
    "a tool of an MCP server": (
        [
            (1, 0, "execute_tool weather", tool("weather", scope="agents")),
            (2, 1, "tools/call weather", tool("weather", scope="mcp.client", **{"mcp.method.name": "tools/call"})),
            (3, 2, "tools/call weather", tool("weather", scope="mcp.server", **{"mcp.method.name": "tools/call"})),
        ],
        (0, 1, None, None),
    ),
    "a tool that an MCP server passes on to another one": (
        [
            (1, 0, "tools/call ask", tool("ask", scope="mcp")),
            (2, 1, "tools/call weather", tool("weather", scope="mcp")),
        ],
        (0, 2, None, None),
    ),
    "two instrumentations record a tool": (
        [
            (1, 0, "weather.tool", {"traceloop.span.kind": "tool", "traceloop.entity.name": "weather", "scope": "traceloop"}),
            (2, 1, "execute_tool weather", tool("weather", scope="pydantic-ai")),
        ],
        (0, 1, None, None),
    ),
    "the same call of a tool by its id": (
        [(1, 0, "a", tool("a", **{"gen_ai.tool.call.id": "c1"})), (2, 1, "a", tool("a", **{"gen_ai.tool.call.id": "c1"}))],
        (0, 1, None, None),
    ),
    "a tool that calls itself": (
        [(1, 0, "walk", tool("walk", scope="own")), (2, 1, "walk", tool("walk", scope="own")),
         (3, 2, "walk", tool("walk"))],
        (0, 3, None, None),
    ),
    "a sub-agent that uses the tool that started it": (
        [
            (1, 0, "task", tool("task", scope="one")),
            (2, 1, "invoke_agent", AGENT),
            (3, 2, "task", tool("task", scope="other")),
        ],
        (0, 2, None, None),
    ),
    "a tool that a model called during a tool of the same name": (
        [(1, 0, "ask", tool("ask", scope="one")), (2, 1, "chat", CHAT), (3, 2, "ask", tool("ask", scope="other"))],
        (1, 2, None, None),
    ),
    "a failed try and a good one inside a call": (
        [
            (1, 0, "gpt-4o.llm", GPT),
            (2, 1, "chat", CHAT),
            (3, 1, "chat", CHAT | used(100, 10)),
        ],
        (2, 0, 100, 10),
    ),
    "a failed try and a good one beside each other": (
        [(1, 0, "chat", CHAT), (2, 0, "chat", CHAT | used(100, 10))],
        (2, 0, 100, 10),
    ),
    "a parent that was not sent": ([(2, 9, "chat", CHAT | used(100, 10))], (1, 0, 100, 10)),
    "a stream that nobody counted": ([(1, 0, "chat", CHAT)], (1, 0, None, None)),
    "zeros, because nobody counted": ([(1, 0, "chat", CHAT | used(0, 0))], (1, 0, None, None)),
    "numbers as texts": (
        [(1, 0, "chat", CHAT | {"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "1e1"})],
        (1, 0, 100, 10),
    ),
    "numbers that are none": (
        [(1, 0, "chat", CHAT | {"gen_ai.usage.input_tokens": "NaN", "gen_ai.usage.output_tokens": -3})],
        (1, 0, None, None),
    ),
    "more tokens than there can be": ([(1, 0, "chat", CHAT | used(10**13, 10))], (1, 0, None, 10)),
    "LiteLLM's embeddings": (
        [(1, 0, "litellm_request", {"gen_ai.operation.name": "aembedding", "gen_ai.usage.input_tokens": 14})],
        (1, 0, 14, None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_every_call_of_a_trace_is_counted_once(name: str) -> None:
    sent, expected = TRACES[name]
    assert counted(sent) == expected
    assert counted(sent[::-1]) == expected


def only(attributes: dict[str, Any]) -> ActionDraft:
    return drafts([(1, 0, "call", attributes)])[0]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # the AI SDK 5 leaves the thoughts of Gemini out of the output
        (
            {"ai.operationId": "ai.generateText.doGenerate", "ai.usage.inputTokens": 100, "ai.usage.outputTokens": 10,
             "ai.usage.reasoningTokens": 40, "ai.usage.totalTokens": 150},
            (100, 50, None, None, 40),
        ),
        # more thoughts than output: they cannot be part of it
        (CHAT | used(100, 10) | {"gen_ai.usage.experimental.reasoning_tokens": 40}, (100, 50, None, None, 40)),
        (CHAT | used(100, 50) | {"gen_ai.usage.details.reasoning_tokens": 40}, (100, 50, None, None, 40)),
        (CHAT | {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.reasoning_tokens": 40}, (100, None, None, None, 40)),
        # ADK states the output without thoughts, and the answer as Gemini gave it
        (
            ADK | used(100, 10) | {"gcp.vertex.agent.llm_response": json.dumps(
                {"usage_metadata": {"prompt_token_count": 100, "candidates_token_count": 10, "thoughts_token_count": 40,
                                    "cached_content_token_count": 60, "total_token_count": 150}})},
            (100, 50, 60, None, 40),
        ),
        # OpenInference stated only what Claude did not read from the cache
        (
            {"openinference.span.kind": "LLM", "llm.token_count.prompt": 5000, "llm.token_count.completion": 10,
             "output.value": json.dumps({"usage": {"input_tokens": 5000, "output_tokens": 10,
                                                   "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 50}})},
            (6050, 10, 1000, 50, None),
        ),
        (
            {"openinference.span.kind": "LLM", "llm.token_count.prompt": 7, "output.value": '{"usage": {"input_tokens": 5}}'},
            (7, None, None, None, None),
        ),
        (
            {"openinference.span.kind": "LLM", "llm.token_count.prompt": 7,
             "output.value": '{"usage": {"cache_read_input_tokens": 5}, "usage_metadata": {"prompt_token_count": 3}}'},
            (7, None, None, None, None),
        ),
        # Bedrock leaves cached tokens out of its input, but not out of its total
        (
            CHAT | used(5000, 20) | {"gen_ai.usage.cache_read_input_tokens": 900, "gen_ai.usage.total_tokens": 5920},
            (5900, 20, 900, None, None),
        ),
        # Anthropic's own spans
        (CLAUDE | used(1000, 100) | {"gen_ai.usage.cache_write.input_tokens": 400}, (1000, 100, None, 400, None)),
        # earlier versions of Pydantic AI
        (CHAT | used(1000, 9) | {"gen_ai.usage.details.cache_read_tokens": 800}, (1000, 9, 800, None, None)),
        # MLflow
        (
            {"mlflow.spanType": '"CHAT_MODEL"',
             "mlflow.chat.tokenUsage": '{"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}'},
            (100, 10, None, None, None),
        ),
        # Langfuse, with both kinds of tokens written to the cache
        (
            {"langfuse.observation.type": "generation", "langfuse.observation.usage_details": json.dumps(
                {"input": 10, "input_cache_creation_5m": 100, "input_cache_creation_1h": 400, "output": 5})},
            (510, 5, None, 500, None),
        ),
        # a sum has more than the last answer
        (
            {"ai.operationId": "ai.generateText", "ai.usage.inputTokens": 3000, "ai.usage.outputTokens": 30,
             "ai.response.providerMetadata": json.dumps({"anthropic": {"usage": {"input_tokens": 5,
                                                                                "cache_read_input_tokens": 900}}})},
            (3000, 30, None, None, None),
        ),
    ],
)  # fmt: skip
def test_the_tokens_of_a_span(attributes: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    usage = only(attributes).usage
    assert usage is not None
    assert expected == (
        usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens,
    )  # fmt: skip


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.request.type": "completion", "gen_ai.cost.total_cost": 0.25},
        {"mlflow.spanType": "CHAT_MODEL", "mlflow.llm.cost": '{"input_cost": 0.2, "output_cost": 0.05, "total_cost": 0.25}'},
        CHAT | {"operation.cost": "0.25"},
        CHAT | {"llm.cost.prompt": 0.05, "llm.cost.completion": 0.2},
        CHAT | {"gen_ai.cost.input_cost": "0.25", "gen_ai.cost.output_cost": 0},
    ],
)  # fmt: skip
def test_the_cost_that_a_sender_states(attributes: dict[str, Any]) -> None:
    assert only(attributes).cost_usd == Decimal("0.25")


@pytest.mark.parametrize("stated", [{"llm.cost.prompt": 0.05}, {"operation.cost": 1e12}])
def test_a_part_of_a_cost_or_an_impossible_one_is_unknown(stated: dict[str, float]) -> None:
    assert only(CHAT | stated).cost_usd is None


def test_the_fast_mode_of_claude_code_is_kept() -> None:
    fast = {"model": "claude-opus-4-8", "input_tokens": "10", "output_tokens": "5", "speed": "fast"}
    (found,) = drafts([(1, 0, "claude_code.llm_request", fast)])
    assert found.parameters == {"speed": "fast"}
