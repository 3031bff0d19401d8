"""What can be sealed: a session, a finished replay, and a finished comparison (`comparison_subject`)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from timemachine.core.accounts.models import Project
from timemachine.evidence.models import REPLAY, SESSION
from timemachine.evidence.pure.record import Record
from timemachine.evidence.sealing import replay_records, session_records, session_values
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay


class Subject(ABC):
    """A thing with records, from 0 (the thing itself) to `last`; `closed` if no more may follow."""

    of: ClassVar[str]
    thing: Session | Replay | Comparison
    generation: int

    @property
    @abstractmethod
    def last(self) -> int: ...
    @property
    @abstractmethod
    def closed(self) -> bool: ...

    @abstractmethod
    def records(self, first: int, last: int) -> Iterator[Record]:
        """Yield the records from one index to another, both included."""

    @property
    def id(self) -> str:
        return str(self.thing.id)

    @property
    def project(self) -> Project:
        return self.thing.project

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return the fields that find its seal."""
        return {self.of: self.thing}

    @property
    def run_ended_at(self) -> datetime | None:
        """Return when the sealed run finished; None for a session."""
        return None

    @property
    def signed_facts(self) -> Mapping[str, str]:
        """Return what is signed with the state of the tree because no record has it."""
        return {}

    def row(self, index: int) -> str | None:  # noqa: ARG002  # an index is enough
        """Return the name of the row that a record is about, if its index does not tell."""
        return None


@dataclass(frozen=True)
class SessionSubject(Subject):
    """A session: record N is its action N."""

    of = SESSION
    thing: Session
    generation: int = 1

    @property
    def last(self) -> int:
        return self.thing.last_sequence

    @property
    def closed(self) -> bool:
        return self.thing.status == Session.ENDED

    @property
    def signed_facts(self) -> Mapping[str, str]:
        return session_values.signed_facts(self.thing)

    def records(self, first: int, last: int) -> Iterator[Record]:
        if first == 0:
            yield session_records.header(self.thing)
        yield from session_records.actions(self.thing, max(first, 1), last)


@dataclass(frozen=True)
class ReplaySubject(Subject):
    """A finished replay of a session that is sealed at least as far as it goes: record N is its Nth step."""

    of = REPLAY
    thing: Replay
    leaves: Mapping[int, str]
    generation: int

    @property
    def last(self) -> int:
        return len(self.leaves)

    @property
    def closed(self) -> bool:
        return True

    @property
    def run_ended_at(self) -> datetime | None:
        return self.thing.finished_at

    def records(self, first: int, last: int) -> Iterator[Record]:
        if first == 0:
            yield replay_records.header(self.thing)
        yield from replay_records.steps(self.thing, self.leaves, max(first, 1), last)
