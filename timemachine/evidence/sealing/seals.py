"""Sealing: what was recorded since is committed to, the tree grows by it, and its new state is signed and entered into the log."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.pure.errors import Conflict
from timemachine.evidence.models import Seal, SealedRecord, SealedResults
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.pure.envelope import SALT_BYTES, Place, commitment, envelope
from timemachine.evidence.pure.record import Record
from timemachine.evidence.pure.tree import Frontier, leaf_hash
from timemachine.evidence.sealing import checkpoints, comparison_results
from timemachine.evidence.sealing.comparison_subject import (
    ComparisonSubject,
    comparison_subject,
    run_ended_at,
)
from timemachine.evidence.sealing.subjects import ReplaySubject, SessionSubject, Subject
from timemachine.recording.sessions.locks import keep_from_erasure
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import sessions_of
from timemachine.replay.runs.models import Replay, ReplayStep

BATCH: Final = 1_000
Found = Callable[[], Subject | None]


class NotWhole(Conflict):
    """What is to be sealed has a gap: a record is not where the order of recording says that it must be."""

    default_code = "record_missing"


def seal_session(session_id: UUID) -> Seal | None:
    """Seal every action recorded so far; None where the session was erased. To seal what is sealed already changes nothing.

    Raises `NotWhole`; the seal then says what is missing. Raises `Unavailable` where the project's key cannot be read: what was committed to
    stays, and is signed with the next call that can.
    """

    def found() -> Subject | None:
        session = Session.objects.select_related("project").filter(id=session_id).first()
        return None if session is None else SessionSubject(session)

    return _sealed(found, [session_id])


def seal_replay(replay_id: UUID) -> Seal | None:
    """Seal a replay that is over, behind its session; None where it was erased. Raises `Conflict` while it runs, `NotWhole`, and `Unavailable` as `seal_session` does.

    A replay that was sealed, and ran once more since, gets another seal; the one before stays in the log.
    """

    def found() -> Subject | None:
        replay = Replay.objects.select_related("project", "session").filter(id=replay_id).first()
        return None if replay is None else replay_subject(replay)

    replay = Replay.objects.filter(id=replay_id).first()
    if replay is None or seal_session(replay.session_id) is None:
        return None
    if replay.finished_at is None:
        raise Conflict("This replay still runs; it is sealed when it is over.", code="replay_running")
    return _sealed(found, [replay.session_id])


def seal_comparison(comparison_id: UUID) -> Seal | None:
    """Seal a comparison that is over, behind its sessions, with all that was said of its cells; None where it was erased.

    Raises `Conflict` while it runs, `NotWhole`, and `Unavailable` as `seal_session` does. One that ran once more since gets another seal; the one before stays in the log.
    """

    def found() -> ComparisonSubject | None:
        there = Comparison.objects.select_related("project").filter(id=comparison_id).first()
        return None if there is None else comparison_subject(there)

    comparison = Comparison.objects.select_related("project").filter(id=comparison_id).first()
    if comparison is None:
        return None
    if run_ended_at(comparison) is None:
        raise Conflict("This comparison still runs; it is sealed when it is over.", code="comparison_running")
    sessions = [session.id for session in sessions_of(comparison)]
    for each in sessions:
        seal_session(each)
    _keep_results(found, sessions)
    return _sealed(found, sessions)


def replay_subject(replay: Replay) -> ReplaySubject:
    """The replay with what its records link: the sealed records of its session."""
    latest = Seal.objects.filter(replay=replay).order_by("-generation").first()
    if latest is not None and latest.run_ended_at == replay.finished_at:
        generation = latest.generation
    else:
        generation = latest.generation + 1 if latest else 1
    sequences = ReplayStep.objects.filter(replay=replay).values("sequence")
    records = SealedRecord.objects.filter(seal__session=replay.session_id, index__in=sequences)
    return ReplaySubject(
        replay=replay,
        leaves={
            index: bytes(leaf).hex() for index, leaf in records.order_by("index").values_list("index", "leaf")
        },
        generation=generation,
    )


def frontier_of(seal: Seal) -> Frontier:
    """The seal's tree, as far as it needs to be known to grow."""
    return Frontier(size=seal.size, peaks=tuple(bytes(peak) for peak in seal.peaks))


@transaction.atomic
def _keep_results(found: Callable[[], ComparisonSubject | None], sessions: Sequence[UUID]) -> None:
    """Have what the figures show with the seal, in the form in which they are computed today."""
    keep_from_erasure(sessions)
    subject, form = found(), comparison_results.FORM
    if subject is None:
        return
    of_it = SealedResults.objects.filter(
        seal__comparison=subject.comparison, seal__generation=subject.generation
    )
    if of_it.filter(form=form).exists():
        return
    content = comparison_results.computed(subject.comparison)
    SealedResults.objects.get_or_create(seal=_locked(subject), form=form, defaults={"content": content})


def _sealed(found: Found, sessions: Sequence[UUID]) -> Seal | None:
    """Long subjects are sealed a thousand records at a time, each time in a transaction; then the whole is signed.

    `found` reads the subject anew in each, once nothing of these sessions can be erased.
    """
    try:
        while _grow(found, sessions):
            pass
    except NotWhole as why:
        _remember(found(), why)
        raise
    return _signed(found, sessions)


@transaction.atomic
def _grow(found: Found, sessions: Sequence[UUID]) -> bool:
    """Seal the next records; whether there are more."""
    keep_from_erasure(sessions)
    subject = found()
    if subject is None:
        return False
    seal = _locked(subject)
    last = min(subject.last, seal.size + BATCH - 1)
    if seal.size <= last:
        _add(seal, subject, subject.records(seal.size, last))
    if seal.size <= last:
        raise _gap(subject, seal.size)
    return seal.size <= subject.last


def _locked(subject: Subject) -> Seal:
    """The subject's seal, made where there is none; whoever else seals it waits."""
    made = Seal(
        project=subject.project,
        of=subject.of,
        generation=subject.generation,
        run_ended_at=subject.run_ended_at,
        **subject.identity,
    )
    Seal.objects.bulk_create([made], ignore_conflicts=True)
    return Seal.objects.select_for_update().get(generation=subject.generation, **subject.identity)


def _add(seal: Seal, subject: Subject, records: Iterable[Record]) -> None:
    """Commit to the records and put them behind those that the seal has. Raises `NotWhole` at a gap."""
    previous, rows = bytes(seal.last_leaf), []
    for index, record in enumerate(records, start=seal.size):
        if record.index != index:
            raise _gap(subject, index)
        row = _row(seal, subject, record, previous)
        previous = bytes(row.leaf)
        rows.append(row)
    SealedRecord.objects.bulk_create(rows, batch_size=500)
    grown = frontier_of(seal).grown(bytes(row.leaf) for row in rows)
    seal.size, seal.peaks, seal.last_leaf, seal.problem = grown.size, list(grown.peaks), previous, None
    seal.save(update_fields=["size", "peaks", "last_leaf", "problem"])


def _row(seal: Seal, subject: Subject, record: Record, previous: bytes) -> SealedRecord:
    """A record's envelope under fresh salts, behind the record whose leaf hash is `previous`."""
    salts = {name: os.urandom(SALT_BYTES) for name in record.fields}
    data = envelope(
        Place(of=subject.of, id=subject.id, index=record.index),
        kind=record.kind,
        at=record.at,
        previous=previous,
        commitments={name: commitment(salts[name], each.digest) for name, each in record.fields.items()},
        links=record.links,
    )
    kept = {name: salt.hex() for name, salt in salts.items()}
    return SealedRecord(
        seal=seal,
        index=record.index,
        envelope=data,
        leaf=leaf_hash(data),
        salts=kept,
        row=subject.row(record.index),
    )


@transaction.atomic
def _signed(found: Found, sessions: Sequence[UUID]) -> Seal | None:
    """The seal with a checkpoint over all that it holds."""
    keep_from_erasure(sessions)
    subject = found()
    if subject is None:
        return None
    seal = _locked(subject)
    state = checkpoint.CLOSED if subject.closed and seal.size == subject.last + 1 else checkpoint.OPEN
    if (seal.signed_size, seal.state) != (seal.size, state):
        signed = checkpoints.sign(subject, seal, frontier_of(seal), bytes(seal.last_leaf), state)
        seal.signed_size, seal.state, seal.signed_at = signed.size, state, signed.at
        seal.save(update_fields=["signed_size", "state", "signed_at"])
    return seal


def _gap(subject: Subject, index: int) -> NotWhole:
    return NotWhole(
        f"Record {index} of the {subject.of} {subject.id} is not in the database, so nothing behind it can be sealed. "
        "Compare with a backup: recorded steps are never deleted one by one.",
        index=index,
    )


def _remember(subject: Subject | None, why: NotWhole) -> None:
    if subject is not None:
        Seal.objects.filter(generation=subject.generation, **subject.identity).update(problem=why.message)
