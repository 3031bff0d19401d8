"""What a `TimeMachine` reads and has done: sessions, replays, comparisons, and going on from a checkpoint."""

import asyncio
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from timemachine.client.errors import NotFound, Refused
from timemachine.client.replayed import ReplayUnderWay, memory_shape
from timemachine.client.server import Server

log = logging.getLogger(__name__)
_NAME: Final = re.compile(r"[A-Za-z0-9._:@-]{1,200}")
"""What can be the key or the id of a session."""

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.client import Client
    from timemachine.client.connection import Document
    from timemachine.client.recording.recorder import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What an agent knew at a checkpoint, and the session that goes on from it. `state` is the API's document with every part of it."""

    session: "Session"
    state: "Document"

    @property
    def messages(self) -> list[Any]:
        """The messages, where the checkpoint has them."""
        return list(self.state["messages"] or [])


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What earlier sessions say to a first message: the `results`, the best first, and a `text` for a prompt, empty where there is nothing.

    `times` are the words of time that were read in it, each with what it was read as; `times_left_out` says that these times had nothing, and
    that the results are of any time. `document` is the API's whole answer.
    """

    results: list[dict[str, Any]]
    text: str
    times: list[dict[str, Any]]
    document: "Document"
    times_left_out: bool = False


class Reading(ABC):
    """The side of `TimeMachine` that needs an answer: each method raises `ClientError` where there is none."""

    _current: "Session | None" = None

    @abstractmethod
    def _found_server(self) -> Server:
        """The server that is named, else the environment's, else this machine's. Raises `NoServer`."""

    @abstractmethod
    def session(self, name: str, **more: Any) -> "Session":
        """A session that records."""

    @property
    def url(self) -> str:
        """The server's address. Raises `NoServer`."""
        return self._found_server().url

    @cached_property
    def client(self) -> "Client":
        """All that the server offers. Raises `NoServer`."""
        from timemachine.client.client import Client

        return Client(self._found_server())

    def sessions(self, **wanted: Any) -> "Iterator[Document]":
        """The sessions, newest first; `wanted` are `agent`, `user`, `tool`, `kind`, `model`, `status`, `tag`, `q`, `since`, `until`, `min_cost`, `held`.

        With `limit` the first so many; without it all of them, page by page.
        """
        return self.client.sessions.every(**wanted)

    def replay(
        self, session: "str | Session", *, use_model: str | None = None, **options: Any
    ) -> ReplayUnderWay:
        """Launch a replay: `audit` (with a `reason`) over the frozen passages, else of retrieval; `options` are those of the API.

        What was recorded and is not delivered yet is waited for.
        """
        from timemachine.client.resources.replays import ReplayOptions

        self._delivered(session)
        models = (use_model,) if use_model else ()
        chosen = ReplayOptions(use_models=models, **options)
        launched = self.client.replays.launch(_key(session), chosen)
        return ReplayUnderWay(self.client, launched["replay_id"])

    def compare(self, a: "str | Session", b: "str | Session") -> "Document":
        """Two sessions or replays, aligned step by step, with the totals of both."""
        self._delivered(a)
        self._delivered(b)
        return self.client.sessions.compare(_key(a), _key(b))

    def transcript(self, session: "str | Session", **asked: Any) -> "Document":
        """The session's turns in order, all or those `asked` for: by `significance`, `role`, `kind`, `tag`, `min_importance`, `budget` (tokens).

        `items` are the turns; with `form="messages"` it has `messages` for a chat model instead.
        """
        self._delivered(session)
        return self.client.sessions.transcript(_key(session), **asked)

    def transcript_text(self, session: "str | Session", **asked: Any) -> str:
        """The same as words for a prompt."""
        self._delivered(session)
        return self.client.sessions.transcript_text(_key(session), **asked)

    def weigh(self, session: "str | Session", sequence: int, **said: Any) -> "Document":
        """Say `significance` or `importance` of a step beside the record, which stays; None goes back to what was recorded."""
        self._delivered(session)
        return self.client.sessions.weigh(_key(session), sequence, **said)

    def proposals(self, session: "str | Session") -> "list[Document]":
        """The significance that rules propose for steps to which nobody gave one: `sequence`, `rule`, `significance` and `reason` of each."""
        self._delivered(session)
        return list(self.client.sessions.proposals(_key(session))["items"])

    def compress(self, session: "str | Session", *, preview: bool = False) -> "Document":
        """Let the exploratory turns of an ended session count 0.30; with `preview` only say what that does.

        `kept` and `falls` are the turns and tokens that stay and fall.
        """
        self._delivered(session)
        of = self.client.sessions
        return of.compression(_key(session)) if preview else of.compress(_key(session))

    def undo_compression(self, session: "str | Session") -> "Document":
        """Let every turn of a compressed session count again what it counted before."""
        return self.client.sessions.undo_compression(_key(session))

    def recall(self, *queries: str, besides: "str | Session | None" = None, **asked: Any) -> "Document":
        """What earlier sessions say to each of the questions, in `items`: turns with their session and step, best first.

        Words of time in them are understood ("last Tuesday", "in May", "last session") and shown in `times`. `besides` is the session that asks.
        `asked` are `agent`, `user`, `session`, `tags`, `kinds`, `significances`, `min_importance`, `since`, `until`, `mode`, `time_words`, `time_zone`,
        `around` (turns before and behind each result), `limit`, and `budget` for a `text` for a prompt of so many tokens.
        """
        if besides is not None:
            self._delivered(besides)
        return self.client.recall(*queries, besides=None if besides is None else _key(besides), **asked)

    def context_for(self, first_message: str, *, budget: int = 2_000, **asked: Any) -> Context:
        """What earlier sessions say to the first message of a conversation; `asked` as of `recall`. Its `text` has at most `budget` tokens.

        A message may name a date that it plans for, so only words of time that look back ("last week", "2 days ago") say which turns are looked
        at (`past_times=False`: all do). Where those times have nothing, it is asked again without them.
        """
        given = {"budget": budget, "past_times": True, **asked}
        found = self.recall(first_message, **given)
        [item] = found["items"]
        times, left_out = item["times"], False
        if times and not item["results"]:
            found = self.recall(first_message, **given | {"time_words": False})
            [item], left_out = found["items"], True
        return Context(
            results=item["results"],
            text=found["text"],
            times=times,
            document=found,
            times_left_out=left_out and bool(item["results"]),
        )

    async def arecall(self, *queries: str, **asked: Any) -> "Document":
        """As `recall`, while others work."""
        return await asyncio.to_thread(self.recall, *queries, **asked)

    async def acontext_for(self, first_message: str, **asked: Any) -> Context:
        """As `context_for`, while others work."""
        return await asyncio.to_thread(self.context_for, first_message, **asked)

    def summarise(self, session: "str | Session", **how: Any) -> "Document":
        """Put a summary of the session into a `collection` (its own where none is named), by `use_model` or quoted from what matters most.

        The answer names the `frame` and the `steps` it rests on.
        """
        self._delivered(session)
        return self.client.sessions.summarise(_key(session), **how)

    def patterns(self, **wanted: Any) -> "list[Document]":
        """The same error or question in several sessions, the one that was seen last first, each with what solved it lately, or null.

        `wanted` are `kind` (`error`, `question`), `q`, `since`, `solved` (`yes`, `no`), `min_sessions`; with `limit` the first so many.
        """
        if "limit" in wanted:
            found: list[Document] = self.client.patterns.page(**wanted)["items"]
            return found
        return list(self.client.patterns.every(**wanted))

    def similar_to(
        self, what: "str | Session", step: int | None = None, *, kind: str | None = None
    ) -> "list[Document]":
        """The patterns that a `step` of a session is like, or, without one, a text: an error, or a question; the nearest first.

        Each has `resolution`, what solved it in another session, null where the steps there show nothing. Raises `TypeError` for a session
        without a step; a text that names one is taken for it where no pattern is like it.
        """
        if step is None and isinstance(what, str):
            found = list(self.client.patterns.similar(text=what, kind=kind)["items"])
            if found or not self._is_session(what):
                return found
        if step is None:
            raise TypeError(f"similar_to({_key(what)!r}, step) needs the step; or give a text")
        self._delivered(what)
        return list(self.client.patterns.similar(f"{_key(what)}:{step}", kind=kind)["items"])

    def forget(
        self,
        session: "str | Session | None" = None,
        *,
        reason: str | None = None,
        turn: int | None = None,
        dry_run: bool = False,
        **which: Any,
    ) -> "Document":
        """Delete a session, one `turn` of it, or all sessions that fit: `agent`, `user`, `tag`, `older_than_days` … For good, for a reason.

        A turn leaves its place. Several sessions are waited for, and the answer says what became of them; with `dry_run`, which needs no reason,
        nothing is deleted: it says how many `sessions` and `turns` that would be, and how many of the sessions are `held`. The key needs the
        scope `admin`.
        """
        if (session is None) != bool(which) or (turn is not None and session is None):
            raise ValueError(
                "name a session, or say which are meant: agent=, user=, tag=, older_than_days= …"
            )
        if reason is None and not dry_run:
            raise TypeError("forget(…, reason=…) needs the reason, which stays; or dry_run=True")
        if session is None:
            found = self.client.forgetting.prepare(**which)
            if dry_run or not found["sessions"]:
                self.client.forgetting.cancel(found["id"])
                return found
            self.client.forgetting.confirm(found["id"], reason=reason or "")
            return self.client.forgetting.wait(found["id"])
        self._delivered(session)
        if dry_run:
            return self.client.forgetting.of_session(_key(session), turn)
        if turn is not None:
            return self.client.forgetting.turn(_key(session), turn, reason=reason or "")
        return self.client.sessions.delete(_key(session), reason=reason)

    def training_report(self, **asked: Any) -> "Document":
        """What `training_pairs` of the same would come to, in numbers: pairs and sessions of each part, what is withheld, what is left out and why."""
        return self.client.training.report(**asked)

    def training_pairs(self, **asked: Any) -> "Iterator[Document]":
        """Problems and what solved them, of ended sessions with a solution: `{"messages": […]}`, or with `form="dpo"` a `prompt` with what was `chosen` and `rejected`.

        `asked` are `form`, `what` (`resolution`, `chain`), `part` (`train`, `valid`, `test`), `seed`, `shares`, `redaction`, and of which sessions.
        `shares` are numbers (80, 10, 10); `training_report` says what is left out and why.
        """
        return self.client.training.pairs(**asked)

    def resume(self, session: "str | Session", checkpoint: int | str | None = None, **more: Any) -> Resumed:
        """What the agent knew at a checkpoint (the last one where none is named), and a new session whose parent is (session, sequence).

        `more` are options of `session`; its name is the old one's unless one is given.
        """
        self._delivered(session)
        state = self.client.sessions.resume(_key(session), checkpoint=checkpoint)
        before = self.client.sessions.get(_key(session))
        options = {
            "name": before["name"],
            "agent": before["agent"],
            "collection": before["collection"],
            **more,
        }
        return Resumed(session=self.session(parent=state["parent"], **options), state=state)

    def resume_and_continue(
        self, session: "str | Session", checkpoint: int | str | None, query: str, **more: Any
    ) -> Resumed:
        """As `resume`; the new session begins with the query, which stands last in `messages` as well."""
        found = self.resume(session, checkpoint, **more)
        found.session.record("user", query)
        going_on = [*found.messages, {"role": "user", "content": query}]
        return Resumed(session=found.session, state={**found.state, "messages": going_on})

    def session_replay(
        self,
        session: "str | Session",
        *,
        audit: bool = False,
        use_model: str | None = None,
        diff: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """Replay a session and wait: `total_actions`, `matched_actions`, `match_rate`, `results` …; with `diff` both answers of each ask."""
        if audit:
            options.setdefault("reason", "session_replay")
        result = self.replay(session, audit=audit, use_model=use_model, **options).wait()
        return memory_shape(result, diff=diff)

    def session_start(self, name: str, **more: Any) -> str:
        """Start a session that is recorded into by `current`, and say its key; `more` are options of `session`.

        One that `session_start` began before and that is still open ends first, which is logged.
        """
        before, self._current = self._current, None
        if before is not None and not before.is_over:
            log.warning("Session %s was still open; it ends where %r begins.", before.key, name)
            before.end()
        self._current = self.session(name, **more)
        return self._current.key

    @property
    def current(self) -> "Session":
        """The session that `session_start` began. Raises `NotFound` where there is none."""
        if self._current is None:
            raise NotFound("No session is open; begin one with `session_start`.", code="no_session")
        return self._current

    def session_end(self) -> dict[str, Any]:
        """End that session, and say what it holds: `session_id`, `name`, `action_count`, `checkpoint_count`, `duration_secs` …

        What is not delivered is not counted: the counts are the server's. Raises `ClientError` where it cannot be asked.
        """
        session = self.current
        session.end()
        self._current = None
        self._delivered(session)
        about = self.client.sessions.get(session.key)
        summary = self.client.sessions.summary(session.key)
        return {
            "session_id": about["id"],
            "key": about["key"],
            "name": about["name"],
            "created": about["started_at"],
            "ended": about["ended_at"],
            "action_count": about["actions"],
            "checkpoint_count": summary["kinds"].get("checkpoint", 0),
            "duration_secs": _seconds(summary["duration_ms"]),
        }

    def _is_session(self, text: str) -> bool:
        if _NAME.fullmatch(text) is None:
            return False
        try:
            self.client.sessions.get(text)
        except Refused as why:
            if why.code not in {"session_not_found", "session_deleted"}:
                raise
            return False
        return True

    def _delivered(self, session: "str | Session") -> None:
        if not isinstance(session, str):
            session.flush()


def _key(session: "str | Session") -> str:
    return session if isinstance(session, str) else session.key


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
