"""Sealing: commit to new records, grow the tree, sign its new state and add it to the log."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.pure.errors import Conflict
from timemachine.evidence.log.project_log import frontier_of
from timemachine.evidence.models import Seal, SealedRecord, SealedResults
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.pure.envelope import SALT_BYTES, Place, commitment, envelope
from timemachine.evidence.pure.record import Record
from timemachine.evidence.pure.tree import leaf_hash
from timemachine.evidence.sealing import checkpoints, comparison_records
from timemachine.evidence.sealing.comparison_subject import (
    ComparisonSubject,
    comparison_subject,
    run_ended_at,
)
from timemachine.evidence.sealing.replay_records import ran_after
from timemachine.evidence.sealing.subjects import ReplaySubject, SessionSubject, Subject
from timemachine.recording.sessions.locks import lock_against_erasure
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import sessions_of
from timemachine.replay.runs.models import Replay, ReplayStep

BATCH: Final = 1_000
Load = Callable[[], Subject | None]


class RecordMissing(Conflict):
    """The thing to be sealed has a gap: a record is missing from its sequence."""

    default_code = "record_missing"


def seal_session(session_id: UUID) -> Seal | None:
    """Seal every action recorded so far; None if the session was deleted. Sealing twice changes nothing.

    Raises `RecordMissing`, whose message is stored with the seal, and `Unavailable` if the project's key
    cannot be read: the commitments stay and are signed by the next call that can.
    """

    load = partial(_session, session_id)
    return _seal_in_batches(load, [session_id])


def seal_replay(replay_id: UUID) -> Seal | None:
    """Seal a finished replay, after its session; None if it was deleted. A replay that ran again gets another
    seal; the old one stays in the log.

    Raises `Conflict` while it is running, `RecordMissing`, and `Unavailable` as `seal_session` does.
    """

    replay = Replay.objects.filter(id=replay_id).first()
    if replay is None or seal_session(replay.session_id) is None:
        return None
    return _seal_in_batches(partial(_finished_replay, replay_id), [replay.session_id])


def seal_comparison(comparison_id: UUID) -> Seal | None:
    """Seal a finished comparison with the remarks about its cells, after its sessions; None if deleted.

    Raises `Conflict` while it is running, `RecordMissing`, and `Unavailable` as `seal_session` does. One that
    ran again gets another seal; the old one stays in the log.
    """

    comparison = Comparison.objects.select_related("project").filter(id=comparison_id).first()
    if comparison is None:
        return None
    sessions = [session.id for session in sessions_of(comparison)]
    for each in sessions:
        seal_session(each)
    load = partial(_finished_comparison, comparison_id)
    _store_results(load, sessions)
    return _seal_in_batches(load, sessions)


def replay_subject(replay: Replay) -> ReplaySubject:
    """Return the replay with the sealed records of its session, which its own records link."""
    latest = Seal.objects.filter(replay=replay).order_by("-generation").first()
    if latest is not None and not ran_after(latest, replay):
        generation = latest.generation
    else:
        generation = latest.generation + 1 if latest else 1
    sequences = ReplayStep.objects.filter(replay=replay).values("sequence")
    records = SealedRecord.objects.filter(seal__session=replay.session_id, index__in=sequences)
    return ReplaySubject(
        thing=replay,
        leaves={
            index: bytes(leaf).hex() for index, leaf in records.order_by("index").values_list("index", "leaf")
        },
        generation=generation,
    )


def locked_seals(session: Session) -> list[Seal]:
    """Return the locked seals of the session, its replays and their comparisons, oldest first."""
    compared = Comparison.objects.filter(runs__replay__session=session)
    seals = (
        Seal.objects.filter(session=session)
        | Seal.objects.filter(replay__session=session)
        | Seal.objects.filter(comparison__in=compared)
    )
    return list(seals.select_for_update(of=("self",)).order_by("id"))


def _session(session_id: UUID) -> SessionSubject | None:
    session = Session.objects.filter(id=session_id).select_related("project").first()
    return None if session is None else SessionSubject(session)


def _finished_replay(replay_id: UUID) -> ReplaySubject | None:
    """Return the replay, which cannot run again until the transaction ends; None if it was deleted. Raises `Conflict` while it is running."""
    locked = Replay.objects.select_for_update(of=("self",), no_key=True)
    replay = locked.filter(id=replay_id).select_related("project", "session").first()
    if replay is None:
        return None
    if replay.finished_at is None:
        raise Conflict("This replay is still running. It is sealed when it finishes.", code="replay_running")
    return replay_subject(replay)


def _finished_comparison(comparison_id: UUID) -> ComparisonSubject | None:
    """Return the comparison, whose replays cannot run again until the transaction ends; None if it was deleted. Raises `Conflict` while one is running."""
    comparison = Comparison.objects.filter(id=comparison_id).select_related("project").first()
    if comparison is None:
        return None
    replays = Replay.objects.select_for_update(of=("self",), no_key=True).filter(run__comparison=comparison)
    list(replays.order_by("id").values_list("id"))
    if run_ended_at(comparison) is None:
        raise Conflict(
            "This comparison is still running. It is sealed when it finishes.", code="comparison_running"
        )
    return comparison_subject(comparison)


@transaction.atomic
def _store_results(load: Callable[[], ComparisonSubject | None], sessions: Sequence[UUID]) -> None:
    lock_against_erasure(sessions)
    subject, form = load(), comparison_records.FORM
    if subject is None:
        return
    of_it = SealedResults.objects.filter(seal__comparison=subject.thing, seal__generation=subject.generation)
    if of_it.filter(form=form).exists():
        return
    content = comparison_records.computed(subject.thing)
    SealedResults.objects.get_or_create(seal=_locked_seal(subject), form=form, defaults={"content": content})


def _seal_in_batches(load: Load, sessions: Sequence[UUID]) -> Seal | None:
    """Seal a thousand records at a time, each batch in its own transaction, then sign the seal.

    `load` reads the subject again for each batch, after these sessions are protected from erasure.
    """
    try:
        while _seal_next_batch(load, sessions):
            pass
    except RecordMissing as why:
        with transaction.atomic():
            if (subject := load()) is not None:
                Seal.objects.filter(generation=subject.generation, **subject.identity).update(
                    problem=why.message
                )
        raise
    return _sign_all(load, sessions)


@transaction.atomic
def _seal_next_batch(load: Load, sessions: Sequence[UUID]) -> bool:
    """Seal the next records and return whether there are more."""
    lock_against_erasure(sessions)
    subject = load()
    if subject is None:
        return False
    seal = _locked_seal(subject)
    last = min(subject.last, seal.size + BATCH - 1)
    if seal.size <= last:
        _add(seal, subject, subject.records(seal.size, last))
    if seal.size <= last:
        raise _gap(subject, seal.size)
    return seal.size <= subject.last


def _locked_seal(subject: Subject) -> Seal:
    """Return the subject's seal, locked; it is created if the subject has no seal."""
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
    """Commit to the records and append them to the seal. Raises `RecordMissing` at a gap."""
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
    """Return a record's envelope under new salts. `previous` is the leaf hash of the record before it."""
    salts = {name: os.urandom(SALT_BYTES) for name in record.fields}
    data = envelope(
        Place(of=subject.of, id=subject.id, index=record.index),
        kind=record.kind,
        at=record.at,
        previous=previous,
        commitments={name: commitment(salts[name], each.digest) for name, each in record.fields.items()},
        links=record.links,
    )
    stored = {name: salt.hex() for name, salt in salts.items()}
    return SealedRecord(
        seal=seal,
        index=record.index,
        envelope=data,
        leaf=leaf_hash(data),
        salts=stored,
        row=subject.row(record.index),
    )


@transaction.atomic
def _sign_all(load: Load, sessions: Sequence[UUID]) -> Seal | None:
    """Return the seal with a checkpoint over all of its records.

    What has ended does not begin again, so a closed state is not signed again as an open one.
    """
    lock_against_erasure(sessions)
    subject = load()
    if subject is None:
        return None
    seal = _locked_seal(subject)
    state = checkpoint.CLOSED if subject.closed and seal.size > subject.last else checkpoint.OPEN
    if seal.signed_size < seal.size or (seal.state, state) == (checkpoint.OPEN, checkpoint.CLOSED):
        facts = subject.signed_facts
        signed = checkpoints.sign(subject, seal, frontier_of(seal), bytes(seal.last_leaf), state, more=facts)
        seal.signed_size, seal.state, seal.signed_at = signed.size, state, signed.at
        seal.save(update_fields=["signed_size", "state", "signed_at"])
    return seal


def _gap(subject: Subject, index: int) -> RecordMissing:
    return RecordMissing(
        f"Record {index} of the {subject.of} {subject.id} is missing from the database, so nothing after it can be "
        "sealed. Compare with a backup.",
        index=index,
    )
