"""Record LangChain and LangGraph with a callback handler: call `record()` once, or pass `Recorder()` in `callbacks`.

A run is a session; runs of one LangGraph thread are one session that stays open. Model calls, tools, retrievers and the nodes around
them are steps. `checkpoints(saver)` also records the checkpoints of a graph.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.tracers.context import register_configure_hook

from timemachine.client.integrations.sessions import (
    Sessions,
    error_of,
    milliseconds,
    model_of,
    usage_of,
    without_none,
)
from timemachine.client.machine import TimeMachine
from timemachine.client.recording.recorder import Session
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.names import shortened

_CONTROL_FLOW: Final = frozenset({"GraphInterrupt", "NodeInterrupt", "ParentCommand", "GraphBubbleUp"})
"""Exceptions with which LangGraph passes control; they are no errors."""
_HIDDEN: Final = "langsmith:hidden"
"""The tag of runs that are only plumbing."""
_ALIASES: Final = {"azure": "azure", "google_genai": "google", "amazon_bedrock": "bedrock"}
_UNNAMED: Final = {"LangGraph", "RunnableSequence"}
"""What a graph or chain is called that nobody gave a name: its session is named by the first request."""
_PERSON: Final = ("human", "user")
_NO_PARAMETERS: Final = frozenset({"_type", "stream", "stream_options", "model", "model_name"})


def record(machine: TimeMachine | None = None, *, session: Session | None = None) -> "Recorder":
    """Record all runs of this process, each as a session, or all into one `session`."""
    recorder = Recorder(machine, session=session)
    register_configure_hook(
        ContextVar("timemachine_recorder", default=recorder), inheritable=True
    )  # every thread and task has the default
    return recorder


@dataclass(slots=True)
class _Run:
    """A run that has not ended: its step so far, unless it is hidden, and the id that its children have as their parent."""

    session: Session
    inner: str | None
    step: JsonObject | None
    is_root: bool
    agent: str | None


class Recorder(BaseCallbackHandler):  # type: ignore[misc]  # LangChain is not installed where types are checked
    """A callback handler that records. `record` installs one for all runs."""

    run_inline = True  # the order of steps is that of the events

    def __init__(self, machine: TimeMachine | None = None, *, session: Session | None = None) -> None:
        self._sessions = Sessions(machine, session)
        self._runs: dict[UUID, _Run] = {}
        self._threads: dict[str, Session] = {}

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until everything recorded so far is delivered; returns whether it is."""
        return self._sessions.flush(timeout)

    def on_chain_start(
        self, serialized: Mapping[str, Any] | None, inputs: Any, *, run_id: UUID, **more: Any
    ) -> None:
        """Begin a node, graph or chain."""
        name = _name(serialized, more)
        step = {"kind": "event", "layer": "agent", "role": "agent", "name": name, "input": _plain(inputs)}
        self._begin(run_id, step, more, hidden=_HIDDEN in (more.get("tags") or ()))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """Record a node, graph or chain."""
        self._end(run_id, {"output": _plain(outputs)})

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Record a node, graph or chain that failed."""
        self._fail(run_id, error)

    def on_chat_model_start(
        self,
        serialized: Mapping[str, Any] | None,
        messages: Sequence[Sequence[BaseMessage]],
        *,
        run_id: UUID,
        **more: Any,
    ) -> None:
        """Begin a call of a chat model."""
        given = [_message(each) for each in messages[0]] if messages else None
        self._begin(run_id, _model_call(serialized, given, more), more)

    def on_llm_start(
        self, serialized: Mapping[str, Any] | None, prompts: Sequence[str], *, run_id: UUID, **more: Any
    ) -> None:
        """Begin a call of a model that completes text."""
        self._begin(run_id, _model_call(serialized, list(prompts), more), more)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        """Record a model call."""
        generation = response.generations[0][0] if response.generations and response.generations[0] else None
        message = getattr(generation, "message", None)
        stated = response.llm_output or {}
        usage = getattr(message, "usage_metadata", None) or stated.get("token_usage")
        details = getattr(message, "response_metadata", None) or {}
        answered = details.get("model_name") or details.get("model") or stated.get("model_name")
        output = _message(message) if message is not None else getattr(generation, "text", None)
        found = {"output": output, "usage": usage_of(usage)}
        run = self._runs.get(run_id)
        if answered and run is not None and run.step is not None:
            provider = (run.step.get("model") or "").partition(":")[0]
            found["model"] = model_of(answered, provider or None)
        self._end(run_id, found)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Record a model call that failed."""
        self._fail(run_id, error)

    def on_tool_start(
        self,
        serialized: Mapping[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        inputs: Any = None,
        **more: Any,
    ) -> None:
        """Begin a tool call."""
        step = {
            "kind": "tool_call",
            "layer": "tool",
            "role": "agent",
            "tool": _name(serialized, more),
            "call_id": more.get("tool_call_id"),
            "input": input_str if inputs is None else _plain(inputs),
        }
        self._begin(run_id, step, more)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Record a tool call."""
        call_id = getattr(output, "tool_call_id", None)
        found = {"output": output.content if call_id else _plain(output)}
        if getattr(output, "status", None) == "error":
            found["error"] = {"type": "ToolError", "message": str(output.content)}
        self._end(run_id, found | ({"call_id": call_id} if call_id else {}))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Record a tool call that failed."""
        self._fail(run_id, error)

    def on_retriever_start(
        self, serialized: Mapping[str, Any] | None, query: str, *, run_id: UUID, **more: Any
    ) -> None:
        """Begin a search."""
        step = {"kind": "find", "layer": "tool", "role": "agent", "name": _name(serialized, more)}
        self._begin(run_id, step | {"input": query}, more)

    def on_retriever_end(self, documents: Sequence[Any], *, run_id: UUID, **_: Any) -> None:
        """Record a search with its passages."""
        hits = [
            without_none({"rank": rank, "text": each.page_content, "frame": each.id})
            | {"metadata": each.metadata}
            for rank, each in enumerate(documents, 1)
        ]
        self._end(run_id, {"retrieval": {"hits": hits}})

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Record a search that failed."""
        self._fail(run_id, error)

    def recorded_checkpoint(
        self, config: Mapping[str, Any], checkpoint: Mapping[str, Any], metadata: Any
    ) -> None:
        """Record a checkpoint of LangGraph in the session of its thread."""
        thread = str(config.get("configurable", {}).get("thread_id"))
        running = self._threads.get(thread)
        session = running or self._sessions.open(thread, None, ends=False)
        state = {name: _plain(each) for name, each in checkpoint.get("channel_values", {}).items()}
        visible = {name: each for name, each in state.items() if not name.startswith(("__", "branch:"))}
        session.add(
            {
                "kind": "checkpoint",
                "id": f"checkpoint:{checkpoint['id']}",
                "parent": None,
                "layer": "agent",
                "role": "agent",
                "name": f"langgraph {checkpoint['id']}",
                "output": visible,
                "metadata": {
                    "langgraph": {"checkpoint_id": checkpoint["id"], **_plain(dict(metadata or {}))}
                },
            }
        )
        if running is None:
            self._sessions.close(session)

    def _begin(self, run_id: UUID, step: JsonObject, more: JsonObject, *, hidden: bool = False) -> None:
        parent, metadata = more.get("parent_run_id"), more.get("metadata") or {}
        around = self._runs.get(parent) if parent is not None else None
        inner: str | None = str(run_id)
        if around is None:
            session, outside = self._opened(run_id, step, metadata)
        else:
            session, outside = around.session, around.inner
        agent = metadata.get("lc_agent_name") or metadata.get("langgraph_node")
        begun = datetime.now(UTC)
        facts = {"id": inner, "parent": outside, "agent": agent, "started_at": begun}
        facts |= {"iteration": metadata.get("langgraph_step"), "tags": _tags(more)}
        self._runs[run_id] = _Run(
            session=session,
            inner=outside if hidden else inner,
            step=None if hidden else step | facts,
            is_root=around is None,
            agent=agent,
        )

    def _opened(
        self, run_id: UUID, step: JsonObject, metadata: Mapping[str, Any]
    ) -> tuple[Session, str | None]:
        thread = metadata.get("thread_id") or metadata.get("session_id") or metadata.get("conversation_id")
        name = step.get("name") or step.get("tool") or step.get("model")
        if name in _UNNAMED:
            name = next(_requests(step.get("input")), name)
        session = self._sessions.open(str(thread or run_id), name, ends=thread is None)
        if thread is not None:
            self._threads[str(thread)] = session
        return session, session.around.get()

    def _end(self, run_id: UUID, found: JsonObject) -> None:
        run = self._runs.pop(run_id, None)
        if run is None:
            return
        if run.step is not None:
            took = milliseconds(run.step["started_at"], datetime.now(UTC))
            run.session.add(
                {"parent": None, **without_none(run.step | {"duration_ms": took} | without_none(found))}
            )
        if run.is_root:
            self._threads = {key: each for key, each in self._threads.items() if each is not run.session}
            self._sessions.close(run.session)

    def _fail(self, run_id: UUID, error: BaseException) -> None:
        name = type(error).__name__
        if name in _CONTROL_FLOW:
            self._end(run_id, {"output": {"interrupted": _plain(error.args)}, "tags": [name]})
        else:
            self._end(run_id, {"error": error_of(error)})


def checkpoints(saver: Any, recorder: Recorder | None = None) -> Any:
    """A LangGraph checkpointer that also records each checkpoint as a step from which a session can be resumed or branched.

    Use it as `graph.compile(checkpointer=checkpoints(InMemorySaver()))`. Everything else is done by the `saver`.
    """
    keeper = recorder or Recorder()
    put, aput = saver.put, saver.aput

    def recorded_put(config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
        with _outermost() as is_outermost:
            made = put(config, checkpoint, metadata, versions)
        if is_outermost:
            keeper.recorded_checkpoint(config, checkpoint, metadata)
        return made

    async def recorded_aput(config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
        with _outermost() as is_outermost:
            made = await aput(config, checkpoint, metadata, versions)
        if is_outermost:
            keeper.recorded_checkpoint(config, checkpoint, metadata)
        return made

    saver.put, saver.aput = recorded_put, recorded_aput
    return saver


_is_saving: Final = ContextVar("timemachine_is_saving", default=False)


@contextmanager
def _outermost() -> Iterator[bool]:
    """Yield whether no other call of a saver is around: its `aput` may call its `put`, or the other way round."""
    around = _is_saving.set(True)
    try:
        yield around.old_value in (Token.MISSING, False)
    finally:
        _is_saving.reset(around)


def _model_call(serialized: Mapping[str, Any] | None, given: Any, more: JsonObject) -> JsonObject:
    metadata, stated = more.get("metadata") or {}, dict(more.get("invocation_params") or {})
    name = metadata.get("ls_model_name") or stated.get("model") or stated.get("model_name")
    provider = metadata.get("ls_provider")
    parameters = {each: stated[each] for each in stated if each not in _NO_PARAMETERS}
    return {
        "kind": "llm_call",
        "layer": "agent",
        "role": "agent",
        "name": _name(serialized, more),
        "model": model_of(name, _ALIASES.get(str(provider), provider)),
        "input": given,
        "parameters": without_none(_plain(parameters)) or None,
    }


def _name(serialized: Mapping[str, Any] | None, more: JsonObject) -> str:
    found = serialized or {}
    return str(more.get("name") or found.get("name") or (found.get("id") or ["run"])[-1])


def _tags(more: JsonObject) -> list[str] | None:
    tags = [
        each
        for each in more.get("tags") or ()
        if not each.startswith(("seq:step", "graph:step", "langsmith:"))
    ]
    return tags or None


def _message(message: BaseMessage) -> JsonObject:
    """A message in LangChain's own form, which is read when a call is replayed."""
    return without_none(message.model_dump(mode="json", exclude={"response_metadata", "usage_metadata"}))


def _plain(value: Any) -> Any:
    """The value with its messages in LangChain's own form."""
    if isinstance(value, BaseMessage):
        return _message(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _requests(given: Any) -> Iterator[str]:
    """Yield the beginning of each text of a person in the input of a run."""
    messages = given.get("messages") if isinstance(given, dict) else given
    for each in messages if isinstance(messages, list) else [messages]:
        role, content = _role_and_content(each)
        parts = content if isinstance(content, list) else [content]
        texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
        words = shortened(" ".join(text for text in texts if isinstance(text, str)))
        if role in _PERSON and words:
            yield words


def _role_and_content(message: Any) -> tuple[Any, Any]:
    """Read a message in the forms that LangChain takes: an object, a pair, or a text, which is a person's."""
    if isinstance(message, dict):
        return message.get("type") or message.get("role"), message.get("content")
    pair = isinstance(message, list) and len(message) == 2  # noqa: PLR2004
    return tuple(message) if pair else ("user", message)
