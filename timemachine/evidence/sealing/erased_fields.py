"""Erasing fields of sealed things: their salts are deleted, and a tombstone in the project's log names them.

A field counts as erased if its digest changed during the erasure; an alteration never passes for one.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema
from timemachine.evidence.log import project_log
from timemachine.evidence.log.project_log import SignedLog
from timemachine.evidence.models import COMPARISON, REPLAY, SESSION, ErasedField, Seal, SealedRecord
from timemachine.evidence.pure.record import Record
from timemachine.evidence.sealing import replay_records, session_records
from timemachine.evidence.sealing.seals import locked_seals
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay

RECORDS_PER_TOMBSTONE: Final = 1_000
"""Most records named by one tombstone."""
Digests = Mapping[int, Mapping[str, bytes]]
Names = Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A session or replay before an erasure: its newest seal and the digests of its records' fields."""

    session: Session
    replay: Replay | None
    seal: Seal | None
    digests: Digests

    @property
    def identity(self) -> JsonObject:
        """Return how a tombstone names it."""
        of, id_ = (SESSION, self.session.id) if self.replay is None else (REPLAY, self.replay.id)
        return {"of": of, "id": str(id_), "generation": self.seal.generation if self.seal else 1}


class FieldsOf(Schema):
    """How many sealed fields are erased in the session and in its replays; `…_again` had been erased in part before."""

    session: int
    session_again: int
    replays: int
    replays_again: int

    @property
    def total(self) -> int:
        return self.session + self.replays

    def as_json(self) -> JsonObject:
        """Return the numbers as they are stored with an erasure and returned by the API."""
        return {"fields": self.total, "fields_of": self.model_dump()}


def observe(session: Session, sequences: Collection[int]) -> list[Observed]:
    """Return the session with these steps and its replays as they are now, for previews; nothing is locked."""
    return _observed(session, sequences, Replay.objects.filter(session=session).order_by("id"), {})


def count_changed(observed: Iterable[Observed]) -> FieldsOf:
    """Return how many fields changed since. Call it before tombstones are written. One query for each session
    or replay that changed, besides reading them.
    """
    return _counted((each, _changed_fields(each)) for each in observed)


def observe_locked(session: Session, sequences: Collection[int]) -> list[Observed]:
    """Return the session with these steps and its replays, locked. Call it after `lock_against_sealing`."""
    replays = list(Replay.objects.select_for_update().filter(session=session).order_by("id"))
    own_seals = [each for each in locked_seals(session) if each.of != COMPARISON]
    newest = {each.replay_id: each for each in sorted(own_seals, key=lambda each: each.generation)}
    return _observed(session, sequences, replays, newest)


def _observed(
    session: Session, sequences: Collection[int], replays: Iterable[Replay], seals: Mapping[UUID | None, Seal]
) -> list[Observed]:
    digests = _session_digests(session, sequences)
    found = [Observed(session=session, replay=None, seal=seals.get(None), digests=digests)]
    for each in replays:
        seal = _current_seal(seals.get(each.id), each)
        found.append(Observed(session=session, replay=each, seal=seal, digests=_replay_digests(each)))
    return found


def record_erasure(
    observed: Iterable[Observed], *, by: str, reason: str, at: datetime, turns: Sequence[int] = ()
) -> FieldsOf:
    """Delete the salts of the fields that changed, write the tombstones and return the numbers. `turns` are
    steps that are deleted completely.
    """
    changed = [(each, _changed_fields(each)) for each in observed]
    found = _counted(changed)
    for each, names in changed:
        deleted = turns if each.replay is None else ()
        if names or deleted:
            _write_tombstones(
                each, {**dict.fromkeys(deleted, ()), **names}, by=by, reason=reason, at=at, turns=deleted
            )
    return found


def _counted(changed: Iterable[tuple[Observed, Names]]) -> FieldsOf:
    numbers = {"session": 0, "session_again": 0, "replays": 0, "replays_again": 0}
    for each, names in changed:
        whose = "session" if each.replay is None else "replays"
        numbers[whose] += sum(len(fields) for fields in names.values())
        numbers[f"{whose}_again"] += _erased_before(each, names) if names else 0
    return FieldsOf(**numbers)


def _erased_before(each: Observed, names: Names) -> int:
    rows = ErasedField.objects.filter(session=each.session, replay=each.replay, index__in=list(names))
    return sum(name in names[index] for index, name in rows.values_list("index", "field").distinct())


@dataclass(frozen=True, slots=True)
class Tombstones:
    """What the signed log says was erased: fields by record and name, and when whole steps were deleted."""

    fields: set[tuple[int, str]] = field(default_factory=set)
    steps: dict[int, list[str]] = field(default_factory=dict)


def read_tombstones(seal: Seal, entries: SignedLog | None) -> Tombstones:
    """Return the tombstones of a session or replay; none without the signed log."""
    found = Tombstones()
    for entry in () if entries is None else entries.erasures_of(seal).values():
        if entry["generation"] == seal.generation:
            found.fields.update((index, name) for index, names in entry["records"] for name in names)
            for index in entry.get("turns", ()):
                found.steps.setdefault(index, []).append(entry["at"])
    return found


def erased_at(seal: Seal) -> dict[int, dict[str, datetime]]:
    """Return when each sealed field without a salt was last erased, by record and name. Two queries."""
    found = defaultdict[int, dict[str, datetime]](dict)
    rows = _erased_rows(seal).order_by("erased_at").values_list("index", "field", "erased_at")
    for index, name, at in rows:
        found[index][name] = at
    records = SealedRecord.objects.filter(seal=seal, index__in=list(found)) if found else ()
    return {
        each.index: without_salt
        for each in records
        if (without_salt := _without_salt(each, found[each.index]))
    }


def _without_salt(record: SealedRecord, erased: Mapping[str, datetime]) -> dict[str, datetime]:
    sealed = json.loads(bytes(record.envelope))["fields"].keys() - record.salts.keys()
    return {name: at for name, at in erased.items() if name in sealed}


def tombstones_of(seal: Seal) -> list[int]:
    """Return the log entries that name erased fields of a seal, in order."""
    return sorted(set(_erased_rows(seal).values_list("log_index", flat=True)))


def _erased_rows(seal: Seal) -> QuerySet[ErasedField]:
    """Return what was erased of a session or replay. A comparison has none of its own; it is resealed."""
    if seal.replay_id is not None:
        return ErasedField.objects.filter(replay=seal.replay_id)
    return ErasedField.objects.filter(session=seal.session_id, replay=None)


def _current_seal(seal: Seal | None, replay: Replay) -> Seal | None:
    """Return the seal of the replay's last run; one of an earlier run does not cover its present content."""
    return None if seal is None or replay_records.ran_after(seal, replay) else seal


def _session_digests(session: Session, sequences: Collection[int]) -> Digests:
    found = [session_records.header(session)]
    remaining = set(sequences)
    for window in sorted({each // RECORDS_PER_TOMBSTONE for each in remaining}):
        first = max(window * RECORDS_PER_TOMBSTONE, 1)
        rows = session_records.actions(
            session, first, window * RECORDS_PER_TOMBSTONE + RECORDS_PER_TOMBSTONE - 1
        )
        found += [record for record in rows if record.index in remaining]
    return _digests(found)


def _replay_digests(replay: Replay) -> Digests:
    steps = replay_records.steps(replay, defaultdict(str), 1, replay.steps.count())
    return _digests([replay_records.header(replay), *steps])


def _digests(records: Iterable[Record]) -> Digests:
    return {record.index: {name: each.digest for name, each in record.fields.items()} for record in records}


def _changed_fields(each: Observed) -> Names:
    if each.replay is None:
        each.session.refresh_from_db()
        now = _session_digests(each.session, [index for index in each.digests if index])
    else:
        each.replay.refresh_from_db()
        now = _replay_digests(each.replay)
    changed = {}
    for index, before in each.digests.items():
        after = now[index]
        names = sorted(name for name in before if after.get(name) != before[name])
        if names:
            changed[index] = names
    return changed


def _deleted_turns(part: Iterable[tuple[int, Sequence[str]]], turns: Sequence[int]) -> dict[str, list[int]]:
    """Return which of these records belong to steps that are deleted completely."""
    found = [index for index, _ in part if index in turns]
    return {"turns": found} if found else {}


def _write_tombstones(
    each: Observed, names: Names, *, by: str, reason: str, at: datetime, turns: Sequence[int]
) -> None:
    parts = list(batched(sorted(names.items()), RECORDS_PER_TOMBSTONE))
    entry = {"entry": project_log.ERASED_FIELDS, **each.identity, "by": by, "reason": reason}
    entries = [
        {**entry, **_deleted_turns(part, turns), "records": [[index, list(fields)] for index, fields in part]}
        for part in parts
    ]
    first = project_log.append(each.session.project, entries, at)
    steps = _steps_of(each)
    for offset, part in enumerate(parts):
        sealed = _drop_salts(each.seal, dict(part))
        ErasedField.objects.bulk_create(
            ErasedField(
                project=each.session.project,
                session=each.session,
                replay=each.replay,
                sequence=steps.get(index, index),
                index=index,
                field=name,
                commitment=sealed.get(index, {}).get(name),
                log_index=first + offset,
                erased_at=at,
                erased_by=by,
                reason=reason,
            )
            for index, fields in part
            for name in fields
        )
    _drop_earlier_salts(each)


def _drop_salts(seal: Seal | None, names: Names) -> dict[int, Mapping[str, str]]:
    """Delete the salts of these fields and return the commitments that stay, by record."""
    if seal is None:
        return {}
    found = {}
    for row in SealedRecord.objects.filter(seal=seal, index__in=list(names)):
        remaining = {name: salt for name, salt in row.salts.items() if name not in names[row.index]}
        SealedRecord.objects.filter(pk=row.pk).update(salts=remaining)
        found[row.index] = json.loads(bytes(row.envelope))["fields"]
    return found


def _drop_earlier_salts(each: Observed) -> None:
    """Delete the salts in seals of earlier runs of a replay, so that nobody can guess their content."""
    if each.replay is not None:
        earlier = SealedRecord.objects.filter(seal__replay=each.replay)
        (earlier.exclude(seal=each.seal) if each.seal else earlier).update(salts={})


def _steps_of(each: Observed) -> dict[int, int]:
    if each.replay is None:
        return {}
    rows = each.replay.steps.order_by("sequence").values_list("sequence", flat=True)
    return {0: 0, **dict(enumerate(rows, start=1))}
