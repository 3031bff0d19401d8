"""The part of `TimeMachine` that reads, replays, compares and resumes sessions."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, cast, overload

from timemachine.client.errors import Refused
from timemachine.client.replayed import RunningReplay
from timemachine.client.server import Server

_NAME: Final = re.compile(r"[A-Za-z0-9._:@-]{1,200}")
"""The form of keys and ids of sessions."""

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.client import Client
    from timemachine.client.generated import types
    from timemachine.client.recording.recorder import Session
    from timemachine.core.pure.json_types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The state of an agent at a checkpoint, and the session that continues from it. `state` is the document of the API."""

    session: Session
    state: types.ResumedOut

    @property
    def messages(self) -> list[Any]:
        """The messages, if the checkpoint has any."""
        return list(self.state["messages"] or [])


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What earlier sessions say about a first message: the `results`, best first, and a `text` for a prompt, empty without results.

    `times` are the time expressions that were understood. `times_left_out` means that nothing matched these times, so the results are
    of any time. `document` is the document of the API.
    """

    results: list[types.TurnRecalled]
    text: str
    times: list[types.TimeReadOut]
    document: types.RecallOut
    times_left_out: bool = False


class Reading(ABC):
    """The methods of `TimeMachine` that need an answer of the server; each can raise `ClientError`."""

    @abstractmethod
    def _found_server(self) -> Server:
        """The server of the arguments, else of the environment, else of this machine. Raises `NoServer`."""

    @abstractmethod
    def session(self, name: str, **more: Any) -> Session:
        """Start a session."""

    @property
    def url(self) -> str:
        """The URL of the server. Raises `NoServer`."""
        return self._found_server().url

    @cached_property
    def client(self) -> Client:
        """The client with all resources of the API. Raises `NoServer`."""
        from timemachine.client.client import Client

        return Client(self._found_server())

    def sessions(self, **filters: Any) -> Iterator[types.SessionOut]:
        """The sessions, newest first; `filters` are `agent`, `user`, `tool`, `kind`, `model`, `status`, `tag`, `q`, `since`, `until`, `min_cost`, `held`, `branch`.

        With `limit` only the first ones, without it all of them.
        """
        return self.client.sessions.every(**filters)

    def replay(
        self, session: str | Session, *, use_model: str | None = None, **options: Any
    ) -> RunningReplay:
        """Launch a replay: an `audit` (with a `reason`) over the frozen passages, else a new retrieval; `options` are those of the API.

        Waits until everything recorded so far is delivered.
        """
        self._delivered(session)
        models = [use_model] if use_model else []
        launched = cast(
            "types.ReplayLaunched", self.client.replays.launch(_key(session), use_models=models, **options)
        )
        return RunningReplay(self.client, launched["replay_id"])

    def compare(self, a: str | Session, b: str | Session) -> types.AlignmentOut:
        """Two sessions or replays, aligned step by step, with the totals of both."""
        self._delivered(a)
        self._delivered(b)
        return self.client.sessions.compare(_key(a), _key(b))

    @overload
    def transcript(
        self, session: str | Session, *, form: Literal["json"] = "json", **filters: Any
    ) -> types.TranscriptOut: ...

    @overload
    def transcript(
        self, session: str | Session, *, form: Literal["messages"], **filters: Any
    ) -> types.TranscriptMessages: ...

    def transcript(
        self, session: str | Session, *, form: str = "json", **filters: Any
    ) -> types.TranscriptOut | types.TranscriptMessages:
        """The turns of a session in order; `filters` are `significance`, `role`, `kind`, `tag`, `min_importance`, `budget` (tokens).

        `items` are the turns; with `form="messages"` the document has `messages` for a chat model instead.
        """
        self._delivered(session)
        return self.client.sessions.transcript(_key(session), form=form, **filters)

    def transcript_text(self, session: str | Session, **options: Any) -> str:
        """The same as text for a prompt."""
        self._delivered(session)
        return self.client.sessions.transcript_text(_key(session), **options)

    def weigh(self, session: str | Session, sequence: int, **changes: Any) -> types.ReadAction:
        """Set the `significance` or `importance` of a step without changing the record; None restores the recorded value."""
        self._delivered(session)
        return self.client.sessions.weigh(_key(session), sequence, **changes)

    def proposals(self, session: str | Session) -> list[types.ProposalOut]:
        """Suggestions of rules for steps without a significance: `sequence`, `rule`, `significance` and `reason` of each."""
        self._delivered(session)
        return list(self.client.sessions.proposals(_key(session))["items"])

    def compress(self, session: str | Session, *, preview: bool = False) -> types.CompressionOut:
        """Lower the importance of exploratory turns of an ended session to 0.30; with `preview` only show the effect.

        `kept` and `falls` count the turns and tokens that are unchanged and lowered.
        """
        self._delivered(session)
        of = self.client.sessions
        return of.compression(_key(session)) if preview else of.compress(_key(session))

    def undo_compression(self, session: str | Session) -> types.CompressionOut:
        """Undo the compression: every turn has its earlier importance again."""
        return self.client.sessions.undo_compression(_key(session))

    def recall(self, *queries: str, besides: str | Session | None = None, **options: Any) -> types.RecallOut:
        """What earlier sessions say about each question, in `items`: turns with session and step, best first.

        Time expressions ("last Tuesday", "in May", "last session") narrow the search and are listed in `times`. `besides` is the current
        session, which is left out.
        `options` are `agent`, `user`, `session`, `tags`, `kinds`, `significances`, `min_importance`, `since`, `until`, `mode`, `time_words`, `time_zone`,
        `around` (turns before and after each result), `limit` (or `top_k`, the same), and `budget` for a prompt `text` of at most this many tokens.
        """
        if besides is not None:
            self._delivered(besides)
        return self.client.recall(*queries, besides=None if besides is None else _key(besides), **options)

    def context_for(self, first_message: str, *, budget: int = 2_000, **options: Any) -> Context:
        """What earlier sessions say about the first message of a conversation; `options` are those of `recall`. `text` has at most `budget` tokens.

        Only expressions of past times ("last week", "2 days ago") narrow the search, because a message can name a future date;
        `past_times=False` allows all. If nothing matches these times, the search is repeated without them.
        """
        given = {"budget": budget, "past_times": True, **options}
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

    async def arecall(self, *queries: str, **options: Any) -> types.RecallOut:
        """As `recall`, while others work."""
        return await asyncio.to_thread(self.recall, *queries, **options)

    async def acontext_for(self, first_message: str, **options: Any) -> Context:
        """The same as `context_for`, without blocking the event loop."""
        return await asyncio.to_thread(self.context_for, first_message, **options)

    def summarise(self, session: str | Session, **how: Any) -> types.SessionSummaryOut:
        """Store a summary of the session in a `collection` (default: its own), written by `use_model` or quoted from the most important turns.

        The document names the `frame` and its source `steps`.
        """
        self._delivered(session)
        return self.client.sessions.summarise(_key(session), **how)

    def patterns(self, **filters: Any) -> list[types.PatternOut]:
        """Errors and questions that recur in several sessions, the most recently seen first, each with its latest solution, or null.

        `filters` are `kind` (`error`, `question`), `q`, `since`, `solved` (`yes`, `no`), `min_sessions`; with `limit` only the first ones.
        """
        if "limit" in filters:
            return self.client.patterns.page(**filters)["items"]
        return list(self.client.patterns.every(**filters))

    def similar_to(
        self, what: str | Session, step: int | None = None, *, kind: str | None = None
    ) -> list[types.SimilarPattern]:
        """The patterns that resemble a `step` of a session, or without a step a text (an error or a question), the most similar first.

        Each has `resolution`, what solved it in another session, or null. Raises `TypeError` for a session without a step, and for a
        text without a match that is the key or id of a session.
        """
        if step is None and isinstance(what, str):
            found = list(self.client.patterns.similar(text=what, kind=kind)["items"])
            if found or not self._is_session(what):
                return found
        if step is None:
            raise TypeError(f"similar_to({_key(what)!r}, step) needs the step, or text instead of a session")
        self._delivered(what)
        return list(self.client.patterns.similar(f"{_key(what)}:{step}", kind=kind)["items"])

    def forget(
        self,
        session: str | Session | None = None,
        *,
        reason: str | None = None,
        turn: int | None = None,
        dry_run: bool = False,
        **which: Any,
    ) -> Any:
        """Permanently delete a session, one `turn` of it, or all sessions that match `agent`, `user`, `tag`, `older_than_days` …

        Requires a reason and the scope `admin`. The number of a deleted turn stays. A bulk deletion is waited for, and its document has
        the results. With `dry_run`, which needs no reason, nothing is deleted: the document counts the `sessions` and `turns`, and how many
        sessions are `held`.
        """
        if (session is None) != bool(which) or (turn is not None and session is None):
            raise ValueError("name a session, or use filters: agent=, user=, tag=, older_than_days= …")
        if reason is None and not dry_run:
            raise TypeError("forget() needs reason= (stored in the log) or dry_run=True")
        if session is None:
            found = self.client.deletions.prepare(**which)
            if dry_run or not found["sessions"]:
                self.client.deletions.cancel(found["id"])
                return found
            self.client.deletions.confirm(found["id"], reason=reason or "")
            return self.client.deletions.wait(found["id"])
        self._delivered(session)
        if dry_run:
            return self.client.deletions.of_session(_key(session), turn)
        if turn is not None:
            return self.client.deletions.turn(_key(session), turn, reason=reason or "")
        return self.client.sessions.delete(_key(session), reason=reason)

    def training_report(self, **options: Any) -> types.TrainingReport:
        """The number of pairs and sessions of each part that `training_pairs` would return, and what is withheld or left out and why."""
        return self.client.training.report(**options)

    def training_pairs(self, **options: Any) -> Iterator[JsonObject]:
        """Training pairs of ended sessions with a solution: `{"messages": […]}`, or with `form="dpo"` a `prompt` with the `chosen` and `rejected` answers.

        `options` are `form`, `what` (`resolution`, `chain`), `part` (`train`, `valid`, `test`), `seed`, `shares`, `redaction`, and filters of sessions.
        `shares` are numbers (80, 10, 10); `training_report` shows what is left out and why.
        """
        return self.client.training.pairs(**options)

    def resume(self, session: str | Session, checkpoint: int | str | None = None, **more: Any) -> Resumed:
        """The state of the agent at a checkpoint (default: the last one), and a new session that branches from it.

        `more` are options of `session`; the default name is that of the parent.
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
        self, session: str | Session, checkpoint: int | str | None, query: str, **more: Any
    ) -> Resumed:
        """The same as `resume`; the query is the first step of the new session and the last of `messages`."""
        found = self.resume(session, checkpoint, **more)
        found.session.record("user", query)
        continued = [*found.messages, {"role": "user", "content": query}]
        return Resumed(session=found.session, state={**found.state, "messages": continued})

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

    def _delivered(self, session: str | Session) -> None:
        if not isinstance(session, str):
            session.flush()


def _key(session: str | Session) -> str:
    return session if isinstance(session, str) else session.key
