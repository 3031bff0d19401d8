"""Fields that are erased from something sealed: their salts go, and a tombstone in the project's log names them.

What changed is what has another digest after the erasure than before it, so nothing that was altered otherwise passes for erased.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, Final

from django.db.models import QuerySet

from timemachine.evidence.log import project_log
from timemachine.evidence.log.signed_log import SignedLog
from timemachine.evidence.models import COMPARISON, REPLAY, SESSION, ErasedField, Seal, SealedRecord
from timemachine.evidence.pure.record import Record
from timemachine.evidence.sealing import replay_records, session_records
from timemachine.evidence.sealing.locks import seals_over
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay

TOGETHER: Final = 1_000
"""Records that one tombstone names."""
Digests = Mapping[int, Mapping[str, bytes]]
Names = Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A session or replay while something of it is erased: its newest seal, what its records' fields hash to, and their steps."""

    session: Session
    replay: Replay | None
    seal: Seal | None
    digests: Digests

    @property
    def identity(self) -> dict[str, Any]:
        """What a tombstone calls it."""
        of, id_ = (SESSION, self.session.id) if self.replay is None else (REPLAY, self.replay.id)
        return {"of": of, "id": str(id_), "generation": self.seal.generation if self.seal else 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """How many fields an erasure takes: of a session's records, and of its replays'; and of how many of these something was erased before."""

    session: int = 0
    session_again: int = 0
    replays: int = 0
    replays_again: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.session + self.replays

    def as_json(self) -> dict[str, Any]:
        """The numbers as an erasure keeps them, and the API gives them."""
        return {
            "fields": self.total,
            "fields_of": {
                "session": self.session,
                "session_again": self.session_again,
                "replays": self.replays,
                "replays_again": self.replays_again,
            },
        }


def look(session: Session, sequences: Collection[int]) -> list[Watched]:
    """As `watch`, for who only counts what would go: nothing is held, and no seal is looked for."""
    replays = Replay.objects.filter(session=session).order_by("id")
    own = Watched(session=session, replay=None, seal=None, digests=_of_session(session, sequences))
    return [
        own,
        *(Watched(session=session, replay=each, seal=None, digests=_of_replay(each)) for each in replays),
    ]


def count(watched: Iterable[Watched]) -> Fields:
    """How many fields changed since; call it before the tombstones are written. A query for each session or replay that lost something, beside reading them."""
    return _counted((each, _changed(each)) for each in watched)


def watch(session: Session, sequences: Collection[int]) -> list[Watched]:
    """The session with these steps, and its replays with all of theirs, as they are now. Call it after `keep_from_sealing`."""
    replays = list(Replay.objects.select_for_update().filter(session=session).order_by("id"))
    own_seals = [each for each in seals_over(session) if each.of != COMPARISON]
    newest = {each.replay_id: each for each in sorted(own_seals, key=lambda each: each.generation)}
    own = Watched(
        session=session, replay=None, seal=newest.get(None), digests=_of_session(session, sequences)
    )
    return [
        own,
        *(
            Watched(
                session=session,
                replay=each,
                seal=_of_run(newest.get(each.id), each),
                digests=_of_replay(each),
            )
            for each in replays
        ),
    ]


def erase(
    watched: Iterable[Watched], *, by: str, reason: str, at: datetime, turns: Sequence[int] = ()
) -> Fields:
    """Drop the salts of what changed since, and leave the tombstones; how many fields those are. `turns` are steps that are deleted whole."""
    changed = [(each, _changed(each)) for each in watched]
    found = _counted(changed)
    for each, names in changed:
        whole = turns if each.replay is None else ()
        if names or whole:
            _note(each, {**dict.fromkeys(whole, ()), **names}, by=by, reason=reason, at=at, turns=whole)
    return found


def _counted(changed: Iterable[tuple[Watched, Names]]) -> Fields:
    numbers = {"session": 0, "session_again": 0, "replays": 0, "replays_again": 0}
    for each, names in changed:
        whose = "session" if each.replay is None else "replays"
        numbers[whose] += sum(len(fields) for fields in names.values())
        numbers[f"{whose}_again"] += _erased_before(each, names) if names else 0
    return Fields(**numbers)


def _erased_before(each: Watched, names: Names) -> int:
    """Of how many of these fields something was erased before."""
    rows = ErasedField.objects.filter(session=each.session, replay=each.replay, index__in=list(names))
    return sum(name in names[index] for index, name in rows.values_list("index", "field").distinct())


def named_by_tombstones(seal: Seal, entries: SignedLog | None) -> set[tuple[int, str]]:
    """The fields of which the project's signed log says that they were erased, by record and name; where it is not as it was signed, none."""
    if entries is None:
        return set()
    return {named for entry in entries.at(tombstones_of(seal)) for named in _named(entry, seal)}


def erased_at(seal: Seal) -> dict[int, dict[str, datetime]]:
    """When each field that is sealed there, and whose salt is gone, was erased last, by record and name. Two queries."""
    found = defaultdict[int, dict[str, datetime]](dict)
    rows = _of(seal).order_by("erased_at").values_list("index", "field", "erased_at")
    for index, name, at in rows:
        found[index][name] = at
    records = SealedRecord.objects.filter(seal=seal, index__in=list(found)) if found else ()
    return {each.index: gone for each in records if (gone := _without_salt(each, found[each.index]))}


def _without_salt(record: SealedRecord, erased: Mapping[str, datetime]) -> dict[str, datetime]:
    sealed = json.loads(bytes(record.envelope))["fields"].keys() - record.salts.keys()
    return {name: at for name, at in erased.items() if name in sealed}


def tombstones_of(seal: Seal) -> list[int]:
    """The entries of the project's log that say so, in order."""
    return sorted(set(_of(seal).values_list("log_index", flat=True)))


def _of(seal: Seal) -> QuerySet[ErasedField]:
    """What was erased of a session or replay; of a comparison nothing is, it is sealed anew."""
    if seal.replay_id is not None:
        return ErasedField.objects.filter(replay=seal.replay_id)
    return ErasedField.objects.filter(session=seal.session_id, replay=None)


def _named(entry: Mapping[str, Any], seal: Seal) -> Iterator[tuple[int, str]]:
    whose = (seal.of, seal.subject_id, seal.generation)
    if (
        entry["entry"] == project_log.ERASED_FIELDS
        and (entry["of"], entry["id"], entry["generation"]) == whose
    ):
        yield from ((index, name) for index, names in entry["records"] for name in names)


def _of_run(seal: Seal | None, replay: Replay) -> Seal | None:
    """The seal of the replay's last run; one of an earlier run says nothing of what is there."""
    return seal if seal is not None and seal.run_ended_at == replay.finished_at else None


def _of_session(session: Session, sequences: Collection[int]) -> Digests:
    found = [session_records.header(session)]
    wanted = set(sequences)
    for window in sorted({each // TOGETHER for each in wanted}):
        first = max(window * TOGETHER, 1)
        rows = session_records.actions(session, first, window * TOGETHER + TOGETHER - 1)
        found += [record for record in rows if record.index in wanted]
    return _digests(found)


def _of_replay(replay: Replay) -> Digests:
    steps = replay_records.steps(replay, defaultdict(str), 1, replay.steps.count())
    return _digests([replay_records.header(replay), *steps])


def _digests(records: Iterable[Record]) -> Digests:
    return {record.index: {name: each.digest for name, each in record.fields.items()} for record in records}


def _changed(each: Watched) -> Names:
    if each.replay is None:
        each.session.refresh_from_db()
        now = _of_session(each.session, [index for index in each.digests if index])
    else:
        each.replay.refresh_from_db()
        now = _of_replay(each.replay)
    changed = {}
    for index, before in each.digests.items():
        after = now[index]
        names = sorted(name for name in before if after.get(name) != before[name])
        if names:
            changed[index] = names
    return changed


def _whole(part: Iterable[tuple[int, Sequence[str]]], turns: Sequence[int]) -> dict[str, list[int]]:
    """Which of these records are of steps that are deleted whole."""
    found = [index for index, _ in part if index in turns]
    return {"turns": found} if found else {}


def _note(each: Watched, names: Names, *, by: str, reason: str, at: datetime, turns: Sequence[int]) -> None:
    parts = list(batched(sorted(names.items()), TOGETHER))
    told = {"entry": project_log.ERASED_FIELDS, **each.identity, "by": by, "reason": reason}
    entries = [
        {**told, **_whole(part, turns), "records": [[index, list(fields)] for index, fields in part]}
        for part in parts
    ]
    first = project_log.append(each.session.project, entries, at)
    steps = _steps_of(each)
    for offset, part in enumerate(parts):
        sealed = _without_salts(each.seal, dict(part))
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
    _forget_earlier(each)


def _without_salts(seal: Seal | None, names: Names) -> dict[int, Mapping[str, str]]:
    """Drop the salts of these fields; the commitments that stay, by record."""
    if seal is None:
        return {}
    found = {}
    for row in SealedRecord.objects.filter(seal=seal, index__in=list(names)):
        left = {name: salt for name, salt in row.salts.items() if name not in names[row.index]}
        SealedRecord.objects.filter(pk=row.pk).update(salts=left)
        found[row.index] = json.loads(bytes(row.envelope))["fields"]
    return found


def _forget_earlier(each: Watched) -> None:
    """The seals of earlier runs of a replay: what they were of is not there, and must not be guessed at."""
    if each.replay is not None:
        earlier = SealedRecord.objects.filter(seal__replay=each.replay)
        (earlier.exclude(seal=each.seal) if each.seal else earlier).update(salts={})


def _steps_of(each: Watched) -> dict[int, int]:
    """The step of the session that each record is of."""
    if each.replay is None:
        return {}
    rows = each.replay.steps.order_by("sequence").values_list("sequence", flat=True)
    return {0: 0, **dict(enumerate(rows, start=1))}
