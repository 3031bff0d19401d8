"""Follow transcripts: find them, send what is new, and report what was recorded."""

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from timemachine.client.client import Client
from timemachine.client.errors import ClientError, Refused
from timemachine.client.watching.documents import (
    Document,
    gemini_document,
    opencode_document,
    opencode_documents,
)
from timemachine.client.watching.lines import SETTLED_SECONDS, Lines
from timemachine.client.watching.places import HEAD_BYTES, Agent, transcripts_in, working_folder
from timemachine.client.watching.state import States
from timemachine.client.watching.withholding import Edit, Ignored, edited, without_ignored
from timemachine.core.pure.json_types import JsonObject

_SUB_AGENT: Final = "agent-"
_SCAN_SECONDS: Final = 5.0
_HOT_SECONDS: Final = 600.0
_KEY_REFUSED: Final = frozenset({401, 403})
_BUSY: Final = frozenset({429})
_SERVER_FAILED: Final = 500
_SERVER_AWAY: Final = 501
_RETRY_SECONDS: Final = 60.0

type _RecordEdit = Callable[[JsonObject, set[str]], JsonObject]
"""Returns what may be sent of a record, and adds the ids of calls that are withheld to the set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Transcripts to follow: of which agent, and in which folder."""

    agent: Agent
    folder: Path


@dataclass(slots=True, kw_only=True)
class Followed:
    """One transcript. `problem` is why it is not sent any further until it changes, or at `retry_at` on the monotonic clock."""

    source: Source
    path: Path
    lines: Lines | None = None
    changed: float = 0.0
    sent_at: float | None = None
    problem: tuple[float, str] | None = None
    retry_at: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What happened to a transcript: a session with the number of new steps, or a `problem`."""

    agent: str
    path: Path
    session: JsonObject | None = None
    added: int = 0
    problem: str | None = None


@dataclass(slots=True, kw_only=True)
class Watcher:
    """Follows the transcripts of the sources. With `only`, those of agents that worked in one of these folders."""

    client: Client
    sources: Sequence[Source]
    states: States
    only: Sequence[Path] = ()
    redact: Edit | None = None
    _followed: dict[Path, Followed] = field(default_factory=dict)
    _scanned: float = 0.0
    _reported: dict[Path, str] = field(default_factory=dict)

    @property
    def is_settled(self) -> bool:
        """Return whether waiting a few seconds would add nothing to what is recorded."""
        return all(
            each.lines is None or each.problem is not None or each.lines.is_resting
            for each in self._followed.values()
        )

    def round(self, *, everything: bool = False) -> Iterator[Update]:
        """Send what is new, and yield what was recorded.

        Raises `ClientError` if the server is away or refuses the key: everything is sent later then.
        """
        if everything or time.monotonic() - self._scanned >= _SCAN_SECONDS:
            self._scanned = time.monotonic()
            yield from self._find()
        now = time.time()
        for each in sorted(self._followed.values(), key=_sub_agents_last):
            if everything or now - each.changed < _HOT_SECONDS or each.sent_at is None:
                yield from self._follow(each)

    def _find(self) -> Iterator[Update]:
        for source in self.sources:
            unreadable: list[OSError] = []
            for path, changed in _transcripts(source, unreadable):
                self._note(source, path, changed)
            for why in unreadable:
                yield from self._problem(
                    source, Path(why.filename or source.folder), f"cannot read it ({why.strerror or why})"
                )

    def _problem(self, source: Source, path: Path, problem: str) -> Iterator[Update]:
        """Yield a problem if it is new."""
        if self._reported.get(path) != problem:
            self._reported[path] = problem
            yield Update(agent=source.agent.name, path=path, problem=problem)

    def _note(self, source: Source, path: Path, changed: float) -> None:
        found = self._followed.setdefault(path, Followed(source=source, path=path))
        if changed != found.changed:
            found.changed, found.sent_at = changed, None

    def _follow(self, each: Followed) -> Iterator[Update]:
        if each.problem is not None and each.problem[0] == each.changed and time.monotonic() < each.retry_at:
            return
        try:
            yield from self._send_lines(each) if each.path.suffix == ".jsonl" else self._send_document(each)
            each.problem = None
        except FileNotFoundError:
            self._followed.pop(each.path, None)
        except OSError as why:
            yield from self._failed(each, f"cannot read it ({why.strerror or why})")
        except ClientError as why:
            if not _is_about_one(why):
                raise
            yield from self._failed(each, why.message)
            if isinstance(why, Refused) and why.status == _SERVER_FAILED:
                each.retry_at, each.sent_at = time.monotonic() + _RETRY_SECONDS, None
        if self.states.failure is not None:
            yield from self._problem(each.source, self.states.folder, self.states.failure)

    def _failed(self, each: Followed, why: str) -> Iterator[Update]:
        """Note that a transcript is not sent until it changes, and say why if that is new."""
        is_new = each.problem is None or each.problem[1] != why
        each.problem, each.retry_at = (each.changed, why), math.inf
        each.sent_at = time.time()
        if is_new:
            yield Update(agent=each.source.agent.name, path=each.path, problem=why)

    def _send_lines(self, each: Followed) -> Iterator[Update]:
        stat = each.path.stat()
        each.changed = stat.st_mtime
        if each.lines is not None and not each.lines.is_due(stat):
            each.sent_at = time.time()
            return
        edits = self._edits(each)  # read each time, as ignore files can change
        if edits is None:
            each.sent_at = time.time()
            return
        if each.lines is None:
            if self._waits_for_its_call(each.path, stat):
                return
            each.lines = Lines(each.path, self.states, _editing(edits))
        each.lines.edit = _editing(edits)
        while each.lines.is_due(each.path.stat()):
            answer = each.lines.send(lambda *given: self._import_lines(each.source.agent.format, *given))
            if answer is None:
                break
            yield from _updates(each, answer["sessions"])
        each.sent_at = time.time()

    def _import_lines(
        self, format_name: str, lines: list[str], repeated: int, position: dict[str, int], idle: float
    ) -> Any:
        return self.client.import_lines(
            format=format_name, lines=lines, repeated=repeated, position=position, idle=idle
        )

    def _waits_for_its_call(self, path: Path, stat: os.stat_result) -> bool:
        """Return whether it is a sub-agent whose result is not recorded yet. It is sent then, so that its steps are under its call."""
        if not path.stem.startswith(_SUB_AGENT) or path.stem.removeprefix(_SUB_AGENT) in self.states.agents:
            return False
        own = time.time() - stat.st_mtime < SETTLED_SECONDS
        above = [path.parent.parent.with_suffix(".jsonl"), *path.parent.glob("*.jsonl")]
        sessions = [each for each in above if not each.stem.startswith(_SUB_AGENT) and each.is_file()]
        return own or any(time.time() - each.stat().st_mtime < SETTLED_SECONDS for each in sessions)

    def _send_document(self, each: Followed) -> Iterator[Update]:
        is_idle = time.time() - each.changed >= SETTLED_SECONDS
        if each.sent_at is not None and (each.sent_at >= each.changed + SETTLED_SECONDS or not is_idle):
            return
        opened = (
            gemini_document(each.path)
            if each.source.agent.name == "gemini"
            else opencode_document(each.path, each.changed)
        )
        edits = None if opened is None else self._edits(each, opened)
        if opened is None or edits is None:
            each.sent_at = time.time()
            return
        state = self.states.of(each.path, 0, 0)
        if state.mark != opened.mark(state.done):
            state.forget()
        settled, unfinished = opened.settled(), opened.open_mark() if is_idle else ""
        if settled > state.done or unfinished not in {"", state.unfinished}:
            hidden = set(state.hidden)
            part = opened.part(state.done, len(opened.messages) if unfinished else settled)
            for edit in edits:
                part = edit(part, hidden)
            answer: Any = self.client.import_file(
                json.dumps(part, ensure_ascii=False).encode(),
                filename=each.path.name,
                format_name=each.source.agent.format,
            )
            state.done, state.mark, state.hidden = settled, opened.mark(settled), sorted(hidden)
            state.unfinished = unfinished
            self.states.save(state)
            yield from _updates(each, answer.get("sessions", ()))
        each.sent_at = time.time()

    def _edits(self, each: Followed, opened: Document | None = None) -> list[_RecordEdit] | None:
        """Return what is done to each record before it is sent, None if nothing of the session may be sent."""
        head = json.dumps(opened.about).encode() if opened else _head(each.path)
        worked_in = working_folder(head)
        if self.only and (
            worked_in is None or not any(worked_in.is_relative_to(folder) for folder in self.only)
        ):
            return None
        ignored = Ignored(each.path, each.source.folder, worked_in)
        if ignored.is_whole:
            return None
        edits: list[_RecordEdit] = []
        if ignored:
            edits.append(lambda record, hidden: without_ignored(record, ignored, hidden))
        if (redact := self.redact) is not None:
            edits.append(lambda record, hidden: redact(record))  # noqa: ARG005
        return edits


def _editing(edits: Sequence[_RecordEdit]) -> Callable[[str, set[str]], str]:
    def edit(line: str, hidden: set[str]) -> str:
        def all_edits(record: JsonObject) -> JsonObject:
            for each in edits:
                record = each(record, hidden)
            return record

        return edited(line, all_edits) if edits else line

    return edit


def _is_about_one(why: ClientError) -> bool:
    """Return whether an error concerns one transcript, so that others can be sent."""
    if isinstance(why, Refused):
        return why.status not in _KEY_REFUSED and why.status not in _BUSY and why.status < _SERVER_AWAY
    return why.code == "unreadable_ignore"


def _sub_agents_last(each: Followed) -> tuple[bool, float, str]:
    """Return the order: sessions before their sub-agents, the latest change last, so that forks follow what they copy."""
    return each.path.stem.startswith(_SUB_AGENT), each.changed, str(each.path)


def _updates(each: Followed, sessions: Sequence[JsonObject]) -> Iterator[Update]:
    for session in sessions:
        if added := session["actions"] - session["already_there"]:
            yield Update(agent=each.source.agent.name, path=each.path, session=session, added=added)


def _transcripts(source: Source, unreadable: list[OSError]) -> Iterator[tuple[Path, float]]:
    """Yield the transcripts of a source, and when each last changed; what cannot be read is added to `unreadable`."""
    if source.agent.patterns:
        for path in transcripts_in(source.folder, source.agent.patterns, unreadable):
            yield path, _changed(path)
        return
    try:
        yield from opencode_documents(source.folder)
    except OSError as why:
        unreadable.append(why)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)
