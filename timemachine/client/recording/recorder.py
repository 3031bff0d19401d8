"""A session that is being recorded: messages, calls, events and checkpoints of an agent."""

import asyncio
import logging
import re
import secrets
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, overload

from timemachine.client.errors import NotRecorded
from timemachine.client.recording.calls import Call, is_no_error, recorded
from timemachine.client.recording.fitting import (
    FIELDS,
    NANOSECONDS,
    SAME_ROLE,
    move_to_parameters,
    nanoseconds,
)
from timemachine.client.recording.lines import end_line, line_of_frozen
from timemachine.client.recording.outbox import Written
from timemachine.client.recording.sender import OURS
from timemachine.client.recording.snapshot import Frozen, frozen, safe_repr
from timemachine.client.recording.usage import fields_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.secret_names import SECRET_NAME, WITHHELD

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types
    from timemachine.client.recording.outbox import Outbox
    from timemachine.client.recording.sender import Sender

log = logging.getLogger(__name__)

KEY: Final = re.compile(r"[A-Za-z0-9._:@-]{1,200}")
ROLES: Final = ("user", "agent", "system", "tool")
SIGNIFICANCES: Final = ("normal", "hypothesis", "error", "decision", "solution", "breakthrough")
LAYERS: Final = ("agent", "tool", "sys")
_WAIT: Final = 30.0
"""Seconds that `put`, `find` and `ask` wait for the delivery of earlier steps."""


class Machine(Protocol):
    """The `TimeMachine` that a session belongs to."""

    strict: bool
    patience: float
    sender: "Sender"

    @property
    def url(self) -> str:
        """The URL of the server."""

    @property
    def client(self) -> "Client":
        """The client with all resources of the API."""

    def refuse(self, message: str) -> None:
        """Report that something cannot be recorded as given."""

    def watch(self, session: Any, capture: frozenset[str]) -> None:
        """Start recording what a session captures, or stop if `capture` is empty."""


class Session:
    """One session, created with `TimeMachine.session`. It has its `key` from the start, with or without a server.

    Recording never raises unless the `TimeMachine` is strict. `put`, `find` and `ask` return the answer of the server, or raise
    `ClientError`. All threads and tasks can record. A forked child process continues recording; its parent ends the session.
    """

    def __init__(
        self,
        machine: Machine,
        header: JsonObject,
        *,
        end: bool = True,
        checkpoint_every: int | None = None,
        state: Callable[[], JsonObject] | None = None,
        capture: frozenset[str] = frozenset(),
    ) -> None:
        self.name: str = header["session"]["name"]
        self.around: ContextVar[str | None] = ContextVar("around", default=None)
        self._machine = machine
        self._header = header
        self._ends = end
        self._every = checkpoint_every
        self._state = state
        self._ended = False
        self._outbox = machine.sender.outbox(header, self, strict=machine.strict)
        self._begin()
        self._box()
        if capture:
            machine.watch(self, capture)

    def _begin(self) -> None:
        self._adding = threading.RLock()
        self._prefix = secrets.token_hex(6)
        self._numbers = count(1)
        self._since = count(1)

    @property
    def key(self) -> str:
        """The key of the session. It changes once if a session with the requested key had already ended."""
        return self._outbox.key

    @property
    def has_ended(self) -> bool:
        """Whether it has ended in this process."""
        return self._ended

    @property
    def url(self) -> str:
        """The URL of its page."""
        return f"{self._machine.url}/sessions/{self.key}/"

    def record(self, role: str, content: Any, significance: str | None = None, **more: Any) -> None:
        """Record a message. `role` is user, agent, system or tool; `more` are fields of an action, such as `importance`, `tags`, `iteration`."""
        self.add(
            {
                "kind": "message",
                "layer": "agent",
                "role": role,
                "output": content,
                "significance": significance,
                **more,
            }
        )

    def event(self, name: str, data: Any = None, *, layer: str = "agent", **more: Any) -> None:
        """Record an event; `layer` is agent, tool or sys."""
        self.add({"kind": "event", "layer": layer, "role": "system", "name": name, "output": data, **more})

    def memory(self, name: str, data: Any = None, **more: Any) -> None:
        """Record an operation on the agent's own memory."""
        self.add(
            {"kind": "memory_op", "layer": "agent", "role": "agent", "name": name, "output": data, **more}
        )

    @overload
    def tool_call[F: Callable[..., Any]](self, tool: F, /) -> F: ...
    @overload
    def tool_call(self, tool: str | None = None, input: Any = None, **more: Any) -> Call: ...
    def tool_call(self, tool: Any = None, input: Any = None, **more: Any) -> Any:  # noqa: A002  # the name of the field
        """Record a tool call: `with s.tool_call("search", {"q": …}) as call: call.result = …`, or as a decorator, with or without a name.

        Without `tool`, `name` is the name of the tool.
        """
        if tool is None:
            tool = more.pop("name", None)
        facts = {"kind": "tool_call", "layer": "tool", "role": "agent", **more}
        return self._call(tool, "tool", facts, input)

    def tool_result(self, tool: str | None = None, output: Any = None, **more: Any) -> None:
        """Record the result of a tool as a step of its own, for agents that report it separately from the call (`call_id`)."""
        self.add(dict(kind="tool_result", layer="tool", role="tool", tool=tool, output=output, **more))

    @overload
    def llm_call[F: Callable[..., Any]](self, model: F, /) -> F: ...
    @overload
    def llm_call(self, model: str | None = None, input: Any = None, **more: Any) -> Call: ...
    def llm_call(self, model: Any = None, input: Any = None, **more: Any) -> Any:  # noqa: A002  # the name of the field
        """Record a model call: `with s.llm_call("openai:gpt-4o", messages) as call: call.output = …; call.usage = {…}`, or as a decorator."""
        facts = {"kind": "llm_call", "layer": "agent", "role": "agent", **more}
        return self._call(model, "model", facts, input)

    def checkpoint(self, name: str | None = None, state: JsonObject | None = None, **parts: Any) -> None:
        """Set a checkpoint to resume from, by its name or its step.

        Known parts of the state are `messages`, `system_prompt`, `working_directory`, `tools`, `last_query`, `last_result`, `model` and
        `environment`; other parts are stored too. Values of `environment` whose names look like secrets do not leave this process.
        """
        complete = {**(state or {}), **parts}
        if isinstance(complete.get("environment"), dict):
            complete["environment"] = without_secrets(complete["environment"])
        self.add({"kind": "checkpoint", "layer": "agent", "role": "agent", "name": name, "output": complete})

    def put(self, text: str | None = None, *, collection: str | None = None, **more: Any) -> "types.PutOut":
        """Put a passage (`title`, `uri`, `metadata`), or several as `frames`, into the session's collection; the server records it."""
        found: types.PutOut = self._do("put", {"text": text, "collection": collection, **more})
        return found

    def find(self, query: str, *, collection: str | None = None, **more: Any) -> "types.FindOut":
        """Find passages; `more` are options of the API: `top_k`, `mode`, `adaptive`, `as_of` … The server records it with every hit."""
        found: types.FindOut = self._do("find", {"query": query, "collection": collection, **more})
        return found

    def ask(
        self, question: str, *, collection: str | None = None, model: str | None = None, **more: Any
    ) -> "types.AskOut":
        """Find passages and ask a model over them; `more` are options of the API: `top_k`, `use_model` (the same as `model`) … The server records it."""
        asked = {"question": question, "collection": collection, "use_model": model, **more}
        found: types.AskOut = self._do("ask", asked)
        return found

    async def aput(self, text: str | None = None, **more: Any) -> "types.PutOut":
        """The same as `put`, without blocking the event loop."""
        return await asyncio.to_thread(self.put, text, **more)

    async def afind(self, query: str, **more: Any) -> "types.FindOut":
        """The same as `find`, without blocking the event loop."""
        return await asyncio.to_thread(self.find, query, **more)

    async def aask(self, question: str, **more: Any) -> "types.AskOut":
        """The same as `ask`, without blocking the event loop."""
        return await asyncio.to_thread(self.ask, question, **more)

    def flush(self, timeout: float = _WAIT) -> bool:
        """Wait until everything recorded so far is delivered; returns whether it is. If strict, raises `NotRecorded` instead of returning False."""
        if self._ended and not self._outbox.listed:
            done = not self._outbox.shortfall and not self._machine.sender.delivery.waits(self._outbox)
        else:
            done = self._machine.sender.flush(timeout, only=self._box())
        if not done and self._machine.strict:
            raise self._undelivered(timeout)
        return done

    def when_written(self, done: Callable[[], None]) -> None:
        """Call a function, on another thread, as soon as everything recorded so far is in the spool, or in memory if that cannot be written."""
        if not self._machine.sender.put(self._outbox, Written(done)):
            done()

    async def aflush(self, timeout: float = _WAIT) -> bool:  # noqa: ASYNC109  # only the wait times out
        """The same as `flush`, without blocking the event loop."""
        return await asyncio.to_thread(self.flush, timeout)

    def end(self, *, wait: bool = True) -> None:
        """End the session. Waits some seconds for the delivery, but not for an unreachable server, and without `wait` not at all."""
        with self._adding:  # nothing may follow the end
            if self._ended:
                return
            self._ended, outbox = True, self._box()
            if self._ends:
                self._machine.sender.put(outbox, end_line())
        self._machine.watch(self, frozenset())
        flush, patience = self._machine.sender.flush, self._machine.patience
        done = not wait or flush(patience, only=outbox, patient=self._machine.strict)
        outbox.closed = True
        self._machine.sender.delivery.wake()
        if not done and self._machine.strict:
            raise self._undelivered(patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None, _: object) -> None:
        if failure is not None and kind is not None and not is_no_error(failure):
            error = {"type": kind.__name__, "message": str(failure)}
            facts = {"kind": "event", "layer": "agent", "role": "system", "name": "session.failed"}
            self.add({**facts, "significance": "error", "error": error})
        self.end()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, at: object
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, failure, at)

    def next_id(self) -> str:
        """An id for an action, unique in the session even with several recorders."""
        return f"{self._prefix}:{next(self._numbers)}"

    def snapshot(self, value: Any) -> Any:
        """A copy of the value, to record later."""
        return value if value is None or type(value) is str else Frozen(value)

    def add(self, action: JsonObject) -> None:
        """Record an action in the form of the API. Its values are copied now."""
        if "id" not in action:
            action["id"] = self.next_id()
            action["parent"] = action.get("parent") or self.around.get()
        self._check(action)
        data = frozen(action)
        with self._adding:
            is_late = self._ended
            taken = not is_late and self._machine.sender.put(self._box(), data)
        if is_late:
            self._refuse_late(data)
        elif not taken:
            self._machine.refuse("Steps are recorded faster than they can be written. A step was lost.")
        elif self._every and action["kind"] != "checkpoint" and next(self._since) % self._every == 0:
            self._automatic()

    def _refuse_late(self, data: bytes) -> None:
        """Refuse a step after the end of the session, as the server would, and store it with other refused steps."""
        why = f"Session {self.key} has ended. Later steps are not recorded."
        self._outbox.refuse_late(line_of_frozen(data), why)
        self._machine.refuse(why)

    def forked(self) -> None:
        """Continue in a forked child process with its own id prefix and spool; the parent ends the session."""
        self._ends = False
        self._outbox = self._machine.sender.outbox(
            self._header, self, key=self.key, strict=self._machine.strict, begun=self._outbox.begun
        )
        self._begin()

    def _automatic(self) -> None:
        """Set a checkpoint with the result of the state function."""
        if self._state is None:
            return
        try:
            state = self._state()
        except Exception as why:  # code of the application
            log.exception("The state function of session %s failed. No checkpoint is set.", self.key)
            if self._machine.strict:
                raise NotRecorded(f"The state function failed: {why}") from why
            return
        self.checkpoint("automatic", state)

    def _call(self, named: Any, field: str, facts: JsonObject, given: Any) -> Any:
        if callable(named):
            return recorded(self, named, {**facts, field: named.__name__} if field == "tool" else facts)
        if named is not None:
            facts = {**facts, field: named}
        return Call(self, facts, given=given)

    def _check(self, action: JsonObject) -> None:
        """Check fields with a fixed vocabulary: an unknown value becomes a tag, because the server would refuse the action."""
        started = action.get("started_at")
        if started is None:
            action["started_at"] = time.time_ns()
        elif type(started) is not int or started not in NANOSECONDS:
            self._set_time(action, started)
        if "usage" in action and type(action["usage"]) is not dict:
            action["usage"] = fields_of(action["usage"])
        if not action.keys() <= FIELDS:
            unknown = sorted(action.keys() - FIELDS)
            move_to_parameters(action, unknown)
            self._machine.refuse(
                f"An action has no field {', '.join(unknown)}. It is stored in the parameters."
            )
        role = action.get("role")
        if role is not None and role not in ROLES:
            self._as_tag(action, "role", role, SAME_ROLE.get(role) if isinstance(role, str) else None)
        significance = action.get("significance")
        if significance is not None and significance not in SIGNIFICANCES:
            self._as_tag(action, "significance", significance, None)
        layer = action.get("layer")
        if layer is not None and layer not in LAYERS:
            self._as_tag(action, "layer", layer, None)

    def _set_time(self, action: JsonObject, given: Any) -> None:
        moment = nanoseconds(given)
        if moment is not None:
            action["started_at"] = moment
        else:
            move_to_parameters(action, ["started_at"])
            self._machine.refuse(
                f"`started_at` must be a datetime, ISO text, or seconds since 1970, not {safe_repr(given)[:60]}. It is stored in the parameters."
            )

    def _as_tag(self, action: JsonObject, field: str, word: Any, meant: str | None) -> None:
        action[field] = meant
        if meant is None:
            tags = action.get("tags") or ()
            action["tags"] = [*([tags] if isinstance(tags, str) else tags), f"{field}:{word}"]
            self._machine.refuse(f"`{field}` cannot be {word!r}. It is recorded as a tag.")

    def _do(self, verb: str, body: JsonObject) -> Any:
        """Do something on the server after everything recorded before is delivered."""
        outbox = self._box()
        if not self._machine.sender.flush(_WAIT, only=outbox):
            raise self._undelivered(_WAIT)
        given = {name: value for name, value in body.items() if value is not None}
        was_busy, OURS.busy = getattr(OURS, "busy", False), True  # what we open is not recorded
        try:
            return self._machine.client.sessions.do(self.key, verb, given)
        finally:
            OURS.busy = was_busy

    def _undelivered(self, seconds: float) -> NotRecorded:
        if self._outbox.shortfall:
            return NotRecorded(f"Session {self.key}: {self._outbox.shortfall}")
        why = self._outbox.stuck or self._machine.sender.delivery.unreachable
        reason = why.message if why else f"The server did not accept all of it within {seconds:g} s."
        return NotRecorded(f"Session {self.key} is not delivered yet and waits in the spool: {reason}")

    def _box(self) -> "Outbox":
        if not self._outbox.listed:
            self._machine.sender.open(self._outbox)
        return self._outbox


def without_secrets(environment: dict[Any, Any]) -> dict[Any, Any]:
    """An environment without the values whose names look like secrets."""
    return {
        name: WITHHELD if isinstance(name, str) and SECRET_NAME.search(name) else value
        for name, value in environment.items()
    }
