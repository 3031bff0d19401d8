"""What can be sealed: a session, a finished replay, and a finished comparison (`comparison_subject`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from timemachine.core.accounts.models import Project
from timemachine.evidence.models import REPLAY, SESSION
from timemachine.evidence.pure.record import Record
from timemachine.evidence.sealing import replay_records, session_records
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay


class Subject(Protocol):
    """A thing with records, from 0 (the thing itself) to `last`; `closed` if no more may follow."""

    @property
    def of(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def project(self) -> Project: ...
    @property
    def generation(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    @property
    def run_ended_at(self) -> datetime | None:
        """Return when the sealed run finished; None for a session."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the fields that find its seal."""
        ...

    def records(self, first: int, last: int) -> Iterator[Record]:
        """Yield the records from one index to another, both included."""
        ...

    def row(self, index: int) -> str | None:
        """Return the name of the row that a record is about, if its index does not tell."""
        ...


@dataclass(frozen=True, slots=True)
class SessionSubject:
    """A session: record N is its action N."""

    session: Session
    of: str = SESSION
    generation: int = 1

    @property
    def id(self) -> str:
        return str(self.session.id)

    @property
    def project(self) -> Project:
        return self.session.project

    @property
    def last(self) -> int:
        return self.session.last_sequence

    @property
    def closed(self) -> bool:
        return self.session.status == Session.ENDED

    @property
    def run_ended_at(self) -> datetime | None:
        return None

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"session": self.session}

    def records(self, first: int, last: int) -> Iterator[Record]:
        if first == 0:
            yield session_records.header(self.session)
        yield from session_records.actions(self.session, max(first, 1), last)

    def row(self, index: int) -> str | None:  # noqa: ARG002  # an action's sequence is its index
        return None


@dataclass(frozen=True, slots=True)
class ReplaySubject:
    """A finished replay of a session that is sealed at least as far as it goes: record N is its Nth step."""

    replay: Replay
    leaves: Mapping[int, str]
    generation: int
    of: str = REPLAY

    @property
    def id(self) -> str:
        return str(self.replay.id)

    @property
    def project(self) -> Project:
        return self.replay.project

    @property
    def last(self) -> int:
        return len(self.leaves)

    @property
    def closed(self) -> bool:
        return True

    @property
    def run_ended_at(self) -> datetime | None:
        return self.replay.finished_at

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"replay": self.replay}

    def records(self, first: int, last: int) -> Iterator[Record]:
        if first == 0:
            yield replay_records.header(self.replay)
        yield from replay_records.steps(self.replay, self.leaves, max(first, 1), last)

    def row(self, index: int) -> str | None:  # noqa: ARG002  # the steps have an order of their own
        return None
