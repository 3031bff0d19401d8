"""The functions of `TimeMachine` that memory files have, too: one session at a time, started and ended by name."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypedDict

from timemachine.client.errors import NotFound
from timemachine.client.reading import Reading
from timemachine.client.replayed import MemoryReplay

if TYPE_CHECKING:
    from timemachine.client.generated import types
    from timemachine.client.recording.recorder import Session
    from timemachine.core.pure.json_types import JsonObject

log = logging.getLogger(__name__)


class EndedSession(TypedDict):
    """A session that `session_end` ended, as the server counts it."""

    session_id: str
    key: str
    name: str
    created: str | None
    ended: str | None
    action_count: int
    checkpoint_count: int
    duration_secs: float | None


class ByName(Reading):
    """The part of `TimeMachine` that works on the session of `session_start`."""

    _current: Session | None = None

    def session_replay(
        self,
        session: str | Session,
        *,
        audit: bool = False,
        use_model: str | None = None,
        diff: bool = False,
        **options: Any,
    ) -> MemoryReplay:
        """Replay a session and wait: `total_actions`, `matched_actions`, `match_rate`, `results` …; with `diff` also both answers of each ask.

        Its attribute `ask_results` lists the asks as that of `replay` does.
        """
        if audit:
            options.setdefault("reason", "session_replay")
        result = self.replay(session, audit=audit, use_model=use_model, **options).wait()
        return MemoryReplay(result, diff=diff)

    def session_start(self, name: str, **more: Any) -> str:
        """Start a session that becomes `current`, and return its key; `more` are options of `session`.

        A session of an earlier `session_start` that is still open ends first, with a warning in the log.
        """
        before, self._current = self._current, None
        if before is not None and not before.has_ended:
            log.warning("Session %s was still open. It ends because %r is starting.", before.key, name)
            before.end()
        self._current = self.session(name, **more)
        return self._current.key

    @property
    def current(self) -> Session:
        """The session of `session_start`. Raises `NotFound` if no session is open."""
        if self._current is None:
            raise NotFound("No session is open. Start one with `session_start`.", code="no_session")
        return self._current

    def session_end(self) -> EndedSession:
        """End the session and return `session_id`, `name`, `action_count`, `checkpoint_count`, `duration_secs` …

        The counts are those of the server, so undelivered steps are not included. Raises `ClientError` if the server cannot be reached.
        """
        session = self.current
        session.end()
        self._current = None
        self._delivered(session)
        about = self.client.sessions.get(session.key)
        summary = self.client.sessions.summary(session.key)
        took = summary["duration_ms"]
        return {
            "session_id": about["id"],
            "key": about["key"],
            "name": about["name"],
            "created": about["started_at"],
            "ended": about["ended_at"],
            "action_count": about["actions"],
            "checkpoint_count": summary["kinds"].get("checkpoint", 0),
            "duration_secs": None if took is None else took / 1000,
        }

    def session_checkpoint(
        self, name: str | None = None, state: JsonObject | None = None, **parts: Any
    ) -> None:
        """Set a checkpoint in the current session."""
        self.current.checkpoint(name, state, **parts)

    def put(self, text: str | None = None, **more: Any) -> types.PutOut:
        """Put a passage into the collection of the current session, which records it."""
        return self.current.put(text, **more)

    def find(self, query: str, **more: Any) -> types.FindOut:
        """Find passages in the collection of the current session, which records it."""
        return self.current.find(query, **more)

    def ask(self, question: str, **more: Any) -> types.AskOut:
        """Ask a `model` over the collection of the current session, which records it."""
        return self.current.ask(question, **more)
