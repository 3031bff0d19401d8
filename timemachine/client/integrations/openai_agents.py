"""Record runs of the OpenAI Agents SDK with a trace processor: call `record()` once, before the first run.

A trace is a session, and its agents, model calls, tool calls, handoffs, guardrails and custom spans are steps. Traces of one group
(`RunConfig(group_id=…)`) are one session that stays open.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from agents import RunHooks
from agents.tracing import (
    Span,
    Trace,
    TracingProcessor,
    add_trace_processor,
    get_current_span,
    set_trace_processors,
)

from timemachine.client.integrations.sessions import (
    Sessions,
    milliseconds,
    model_of,
    usage_of,
    without_none,
)
from timemachine.client.machine import TimeMachine
from timemachine.client.recording.recorder import Session
from timemachine.core.pure.json_types import JsonObject

_OF_RESPONSE: Final = (
    "temperature", "top_p", "max_output_tokens", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation",
    "service_tier", "previous_response_id", "metadata",
)  # fmt: skip
"""What a response repeats of its request."""
_AROUND: Final = frozenset({"task", "turn"})
"""Spans that are no steps: the whole run, and a round of the loop."""


def record(
    machine: TimeMachine | None = None, *, session: Session | None = None, only: bool = False
) -> "Recorder":
    """Record all runs of this process, each as a session, or all into one `session`. With `only`, nothing is sent to OpenAI's traces."""
    recorder = Recorder(machine, session=session)
    if only:
        set_trace_processors([recorder])
    else:
        add_trace_processor(recorder)
    return recorder


@dataclass(slots=True)
class _Place:
    """Where a span is: the step around it, its agent, and the round of the loop."""

    parent: str | None = None
    agent: str | None = None
    iteration: int | None = None


@dataclass(slots=True)
class _Run:
    session: Session
    parent: str | None
    places: dict[str, _Place] = field(default_factory=dict)


class Recorder(TracingProcessor):  # type: ignore[misc]  # the SDK is not installed where types are checked
    """A trace processor that records. `record` installs one."""

    def __init__(self, machine: TimeMachine | None = None, *, session: Session | None = None) -> None:
        self._sessions = Sessions(machine, session)
        self._runs: dict[str, _Run] = {}

    def on_trace_start(self, trace: Trace) -> None:
        """Open the session of a run."""
        exported = trace.export() or {}
        group = exported.get("group_id")
        session = self._sessions.open(
            str(group or trace.trace_id), trace.name, ends=group is None, metadata=exported.get("metadata")
        )
        self._runs[trace.trace_id] = _Run(session, session.around.get())

    def on_trace_end(self, trace: Trace) -> None:
        """End the session of a run."""
        run = self._runs.pop(trace.trace_id, None)
        if run is not None:
            self._sessions.close(run.session)

    def on_span_start(self, span: Span[Any]) -> None:
        """Note where the span is."""
        run = self._runs.get(span.trace_id)
        if run is None:
            return
        around = run.places.get(span.parent_id or "", _Place(run.parent))
        data = span.span_data
        place = _Place(span.span_id, around.agent, around.iteration)
        if data.type in _AROUND:
            place.parent = around.parent
        if data.type == "turn":
            place.iteration = data.turn - 1
        if data.type == "agent":
            place.agent = data.name
        run.places[span.span_id] = place

    def on_span_end(self, span: Span[Any]) -> None:
        """Record the step."""
        run = self._runs.get(span.trace_id)
        if run is None or (span.span_data.type in _AROUND and span.error is None):
            return
        around = run.places.get(span.parent_id or "", _Place(run.parent))
        place = run.places.get(span.span_id, around)
        began, ended = _moment(span.started_at), _moment(span.ended_at)
        action = {
            "id": span.span_id,
            "parent": around.parent,
            "agent": place.agent,
            "iteration": place.iteration,
            "started_at": began,
            "duration_ms": milliseconds(began, ended) if began and ended else None,
            "error": _error(span.error),
            **_STEPS.get(span.span_data.type, _other)(span.span_data),
        }
        tools = _tools_given.pop(span.parent_id or "", None)
        if tools and action["kind"] == "llm_call" and "tools" not in action["parameters"]:
            action["parameters"]["tools"] = tools
        run.session.add(without_none(action))

    def shutdown(self) -> None:
        """Deliver what is possible."""
        self._sessions.flush(5.0)

    def force_flush(self) -> None:
        """Wait for the delivery."""
        self._sessions.flush()


class ToolDefinitions(RunHooks[Any]):  # type: ignore[misc]
    """Hooks for `Runner.run(…, hooks=ToolDefinitions())` that add the definitions of tools to calls of the Chat Completions API.

    Its spans do not have them; responses of the Responses API do.
    """

    async def on_llm_start(self, context: Any, agent: Any, *_: Any) -> None:
        """Note the tools of the call that follows."""
        span = get_current_span()
        tools = [*map(_function, await agent.get_all_tools(context)), *map(_handoff, agent.handoffs)]
        if span is not None and tools:
            _tools_given[span.span_id] = [tool for tool in tools if tool is not None]


_tools_given: dict[str, list[JsonObject]] = {}
"""The tools of the next model call inside a span."""


def _function(tool: Any) -> JsonObject | None:
    schema = getattr(tool, "params_json_schema", None)
    if schema is None:
        return None
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function | {"strict": tool.strict_json_schema}}


def _handoff(target: Any) -> JsonObject:
    from agents import Agent, handoff

    made = handoff(target) if isinstance(target, Agent) else target
    function = {"name": made.tool_name, "description": made.tool_description}
    return {"type": "function", "function": function | {"parameters": made.input_json_schema}}


def _agent(data: Any) -> JsonObject:
    facts = {"tools": data.tools, "handoffs": data.handoffs, "output_type": data.output_type}
    return {**_event(data.name), "metadata": without_none(facts)}


def _response(data: Any) -> JsonObject:
    """A call of the Responses API. Its response repeats the instructions, the tools and the parameters."""
    given = [{"role": "user", "content": data.input}] if isinstance(data.input, str) else data.input
    made: JsonObject = {**_model_call(), "input": given, "parameters": {}, "usage": usage_of(data.usage)}
    if data.response is None:
        return made
    response = data.response.model_dump(mode="json", exclude_none=True)
    parameters = {name: response[name] for name in _OF_RESPONSE if response.get(name)}
    if "temperature" in response:
        parameters["temperature"] = response["temperature"]
    if response.get("instructions"):
        parameters["system_instructions"] = response["instructions"]
    return made | {
        "model": model_of(response.get("model")),
        "output": response.get("output"),
        "parameters": parameters,
        "usage": usage_of(response.get("usage")) or made["usage"],
        "metadata": without_none({"response_id": response.get("id")}),
    }


def _generation(data: Any) -> JsonObject:
    """A call of the Chat Completions API."""
    output = list(data.output or ())
    if len(output) == 1 and isinstance(
        output[0].get("output"), list
    ):  # streamed, and put together as a response
        output = output[0]["output"]
    return {
        **_model_call(),
        "model": model_of(data.model),
        "input": data.input,
        "output": output or None,
        "parameters": without_none(dict(data.model_config or {})),
        "usage": usage_of(data.usage),
    }


def _tool(data: Any) -> JsonObject:
    return {
        "kind": "tool_call",
        "layer": "tool",
        "role": "agent",
        "tool": data.name,
        "input": _parsed(data.input),
        "output": data.output,
        "metadata": {"mcp": data.mcp_data} if data.mcp_data else None,
    }


def _handed_off(data: Any) -> JsonObject:
    return {**_event("handoff"), "output": {"from": data.from_agent, "to": data.to_agent}}


def _guardrail(data: Any) -> JsonObject:
    return {**_event(data.name), "tags": ["guardrail"], "output": {"triggered": data.triggered}}


def _custom(data: Any) -> JsonObject:
    return {**_event(data.name), "output": data.data}


def _other(data: Any) -> JsonObject:
    return {**_event(data.type), "output": data.export()}


_STEPS: Final[dict[str, Callable[[Any], JsonObject]]] = {
    "agent": _agent,
    "response": _response,
    "generation": _generation,
    "function": _tool,
    "handoff": _handed_off,
    "guardrail": _guardrail,
    "custom": _custom,
}


def _event(name: str) -> JsonObject:
    return {"kind": "event", "layer": "agent", "role": "agent", "name": name}


def _model_call() -> JsonObject:
    return {"kind": "llm_call", "layer": "agent", "role": "agent"}


def _parsed(arguments: Any) -> Any:
    """The arguments of a tool, which are JSON unless the model wrote something else."""
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return arguments


def _moment(given: str | None) -> datetime | None:
    return datetime.fromisoformat(given) if given else None


def _error(error: Any) -> JsonObject | None:
    if error is None:
        return None
    data = error.get("data") or {}
    details = data.get("message") or data.get("error") or (json.dumps(data, default=str) if data else None)
    message = error["message"]
    return {
        "type": str(data.get("name") or "SpanError"),
        "message": f"{message}: {details}" if details else message,
    }
