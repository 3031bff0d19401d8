"""Comparing what stands in the database with its seal: every field of every record hashed again, the chain, the tree, the signature.

Whoever altered something may have altered any column of it, so what cannot be read is named as well, and the comparison goes on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from timemachine.evidence.log import signed_state
from timemachine.evidence.log.signed_log import SignedLog, signed_log
from timemachine.evidence.models import Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.pure.envelope import NO_RECORD, commitment
from timemachine.evidence.pure.record import Record
from timemachine.evidence.pure.tree import Frontier, leaf_hash
from timemachine.evidence.sealing import payload_groups
from timemachine.evidence.sealing.checkpoints import origin_of
from timemachine.evidence.sealing.erased_fields import named_by_tombstones
from timemachine.evidence.sealing.subjects import Subject

BATCH: Final = 1_000
MOST_PROBLEMS: Final = 100
Rows = Sequence[tuple[int, bytes, bytes, Mapping[str, str]]]


@dataclass(slots=True)
class Comparison:
    """How far the comparison is: records seen, what is wrong (`index` None: not of one record), the tree so far.

    `tombstones` name the fields that were erased, by record and name; `erased` counts those that are gone.
    """

    records: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    tree: Frontier = field(default_factory=Frontier)
    previous: bytes = NO_RECORD
    digests: dict[int, bytes] = field(default_factory=dict)
    tombstones: AbstractSet[tuple[int, str]] = frozenset()
    erased: int = 0

    def problem(self, code: str, says: str, index: int | None = None, session: UUID | None = None) -> None:
        """Keep what is wrong; beyond the first hundred it is only counted. `session`: it is of a recorded step that is repeated."""
        if len(self.problems) < MOST_PROBLEMS:
            of = {} if session is None else {"session": str(session)}
            self.problems.append({"code": code, "index": index, "says": says, **of})
        else:
            self.more += 1


def compare(subject: Subject, seal: Seal, only: AbstractSet[int] | None = None) -> Comparison:
    """Compare every record that is signed for with what stands in the database now. Call it in a `snapshot`, where reading all of it may take a while.

    Records behind the newest checkpoint are not signed for yet, and not compared. With `only`, the fields of these records alone are
    compared, and counted; the chain, the tree and its signature are of all of them.
    """
    newest = SealCheckpoint.objects.filter(seal=seal).select_related("key").order_by("-size", "-id").first()
    entries = signed_log(seal.project_id)
    found = Comparison(tombstones=named_by_tombstones(seal, entries))
    size = seal.size if newest is None else newest.size
    for first in range(0, size, BATCH):
        last = min(first + BATCH, size) - 1
        rows = SealedRecord.objects.filter(seal=seal, index__gte=first, index__lte=last).order_by("index")
        sealed = [(index, bytes(data), bytes(leaf), salts) for index, data, leaf, salts in _columns(rows)]
        wanted = range(first, last + 1) if only is None else sorted(only & set(range(first, last + 1)))
        read = subject.records(wanted[0], wanted[-1]) if wanted else ()
        _batch(found, sealed, {record.index: record for record in read}, first, last, frozenset(wanted))
    if newest is None:
        found.problem("checkpoint", "There is no signed checkpoint.")
    else:
        _signature(found, newest, origin_of(subject, seal))
    _entered(found, seal, newest, entries)
    return found


def _columns(rows: Any) -> Iterator[tuple[int, Any, Any, Mapping[str, str]]]:
    yield from rows.values_list("index", "envelope", "leaf", "salts")


def _batch(
    found: Comparison,
    sealed: Rows,
    live: Mapping[int, Record],
    first: int,
    last: int,
    wanted: AbstractSet[int],
) -> None:
    _hash_payloads(found, [record for index, record in live.items() if index in wanted])
    there = {index for index, *_ in sealed}
    for index in range(first, last + 1):
        if index not in there:
            found.problem("seal", "The sealed form of this record is not there any more.", index)
    for index, data, leaf, salts in sealed:
        if leaf_hash(data) != leaf:
            found.problem("seal", "The sealed form of this record was changed.", index)
        envelope = _envelope(data)
        if envelope is None or not isinstance(salts, dict):
            found.problem("seal", "The sealed form of this record cannot be read any more.", index)
        else:
            _chain(found, index, envelope)
            if index in wanted:
                _fields(found, index, envelope, salts, live.get(index))
        found.tree = found.tree.grown([leaf_hash(data)])
        found.previous = leaf
        found.records += index in wanted


def _hash_payloads(found: Comparison, records: Any) -> None:
    """Hash the bytes of the payloads as they stand now, each once."""
    wanted = {
        each.payload: each
        for record in records
        for each in record.fields.values()
        if each.payload is not None and each.payload not in found.digests
    }
    for row, data in payload_groups.read(list(wanted.values())):
        found.digests[row] = payload_groups.digest(data)


def _envelope(data: bytes) -> Mapping[str, Any] | None:
    """The envelope in these bytes; None where they are none."""
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return None
    shaped = isinstance(read, dict) and isinstance(read.get("fields"), dict)
    return read if shaped and {"prev", "index", "kind", "at"} <= read.keys() else None


def _chain(found: Comparison, index: int, envelope: Mapping[str, Any]) -> None:
    if envelope["prev"] != found.previous.hex() or envelope["index"] != index:
        found.problem("chain", "It was sealed behind another record than the one that is there now.", index)


def _fields(
    found: Comparison,
    index: int,
    envelope: Mapping[str, Any],
    salts: Mapping[str, str],
    record: Record | None,
) -> None:
    if record is None:
        found.problem("missing", "It was recorded and sealed, and is not in the database any more.", index)
        return
    if record.kind != envelope["kind"] or record.at != envelope["at"]:
        found.problem("changed", "Its kind or time is not the one that was sealed.", index)
    if dict(record.links) != envelope.get("links", {}):
        found.problem("link", "It repeats another record than the one that was sealed.", index)
    for name in sorted(set(record.fields) | set(envelope["fields"])):
        if name not in salts and (index, name) in found.tombstones:
            found.erased += 1
        elif not _is_sealed(found, record, envelope["fields"].get(name), salts.get(name), name):
            found.problem("changed", f"The field {name} is not what was sealed.", index)


def _is_sealed(found: Comparison, record: Record, sealed: str | None, salt: Any, name: str) -> bool:
    each = record.fields.get(name)
    if each is None or sealed is None or salt is None:
        return False
    digest = each.digest if each.payload is None else found.digests.get(each.payload)
    try:
        salted = bytes.fromhex(salt)
    except (ValueError, TypeError):
        return False
    return digest is not None and commitment(salted, digest) == sealed


def _signature(found: Comparison, newest: SealCheckpoint, origin: str) -> None:
    """The newest checkpoint is signed, and states the root of the records that are there."""
    state = signed_state.read(newest.signed, newest.key)
    if state is None:
        found.problem("signature", "The newest checkpoint cannot be read any more.")
        return
    if not state.is_signed:
        found.problem("signature", "The signature of the newest checkpoint is not valid.")
    if (state.origin, state.size, state.root) != (origin, found.tree.size, found.tree.root):
        found.problem("root", "The records that are there have another root than the one that was signed.")


def _entered(found: Comparison, seal: Seal, newest: SealCheckpoint | None, entries: SignedLog | None) -> None:
    """The newest checkpoint stands in the project's log, and no state of more records does."""
    if entries is None:
        found.problem("log", "The project's log is not the one that was signed.")
        return
    states = entries.states_of(seal)
    size = 0 if newest is None else newest.size
    if newest is not None and not _states(states.get(newest.log_index), newest):
        found.problem("log", "The newest checkpoint is not in the project's log.")
    longest = max((state["size"] for state in states.values()), default=0)
    if longest > size:
        found.problem(
            "checkpoint",
            f"The project's log has a signed state of {longest:,} records, and the newest checkpoint that is there has {size:,}.",
        )


def _states(entry: Mapping[str, Any] | None, newest: SealCheckpoint) -> bool:
    return entry is not None and (entry["size"], entry["root"]) == (newest.size, newest.root_hex)
