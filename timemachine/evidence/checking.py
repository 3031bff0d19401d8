"""Comparing what stands in the database with its seal: every field of every record hashed again, the chain, the tree, the signature."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from timemachine.evidence import keys, payload_groups
from timemachine.evidence.dsse import Signed
from timemachine.evidence.envelope import NO_RECORD, commitment
from timemachine.evidence.erased_fields import named_by_tombstones
from timemachine.evidence.models import LogEntry, Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.record import Record
from timemachine.evidence.subjects import Subject
from timemachine.evidence.tree import Frontier, leaf_hash

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

    def problem(self, code: str, says: str, index: int | None = None) -> None:
        """Keep what is wrong; beyond the first hundred it is only counted."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append({"code": code, "index": index, "says": says})
        else:
            self.more += 1


def compare(subject: Subject, seal: Seal) -> Comparison:
    """Compare every sealed record with what stands in the database now. Reads it all; call it where that may take a while."""
    found = Comparison(tombstones=named_by_tombstones(seal))
    for first in range(0, seal.size, BATCH):
        last = min(first + BATCH, seal.size) - 1
        rows = SealedRecord.objects.filter(seal=seal, index__gte=first, index__lte=last).order_by("index")
        sealed = [(index, bytes(data), bytes(leaf), salts) for index, data, leaf, salts in _columns(rows)]
        live = {record.index: record for record in subject.records(first, last)}
        _batch(found, sealed, live, first, last)
    _signatures(found, seal)
    return found


def _columns(rows: Any) -> Iterator[tuple[int, Any, Any, Mapping[str, str]]]:
    yield from rows.values_list("index", "envelope", "leaf", "salts")


def _batch(found: Comparison, sealed: Rows, live: Mapping[int, Record], first: int, last: int) -> None:
    _hash_payloads(found, live.values())
    there = {index for index, *_ in sealed}
    for index in range(first, last + 1):
        if index not in there:
            found.problem("seal", "The sealed form of this record is not there any more.", index)
    for index, data, leaf, salts in sealed:
        envelope = json.loads(data)
        _chain(found, index, data, leaf, envelope)
        _fields(found, index, envelope, salts, live.get(index))
        found.tree = found.tree.grown([leaf_hash(data)])
        found.previous = leaf
        found.records += 1


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


def _chain(found: Comparison, index: int, data: bytes, leaf: bytes, envelope: Mapping[str, Any]) -> None:
    if leaf_hash(data) != leaf:
        found.problem("seal", "The sealed form of this record was changed.", index)
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
            found.problem("changed", f"`{name}` is not what was sealed.", index)


def _is_sealed(found: Comparison, record: Record, sealed: str | None, salt: str | None, name: str) -> bool:
    each = record.fields.get(name)
    if each is None or sealed is None or salt is None:
        return False
    digest = each.digest if each.payload is None else found.digests.get(each.payload)
    return digest is not None and commitment(bytes.fromhex(salt), digest) == sealed


def _signatures(found: Comparison, seal: Seal) -> None:
    """The newest checkpoint is signed, states the root of the records that are there, and stands in the log."""
    newest = SealCheckpoint.objects.filter(seal=seal).select_related("key").order_by("-size", "-id").first()
    if newest is None:
        found.problem("checkpoint", "There is no signed checkpoint.")
        return
    document = json.loads(newest.signed)
    payload = base64.b64decode(document["payload"])
    signature = base64.b64decode(document["signatures"][0]["sig"])
    signed = Signed(
        payload_type=document["payloadType"], payload=payload, key=newest.key.fingerprint, signature=signature
    )
    lines = payload.decode("ascii").split("\n")
    if not keys.is_signed(newest.key, signed):
        found.problem("signature", "The signature of the newest checkpoint is not valid.")
    if (int(lines[1]), base64.b64decode(lines[2])) != (found.tree.size, found.tree.root):
        found.problem("root", "The records that are there have another root than the one that was signed.")
    entry = LogEntry.objects.filter(project=seal.project_id, index=newest.log_index).first()
    if entry is None or json.loads(bytes(entry.entry)).get("root") != bytes(newest.root).hex():
        found.problem("log", "The newest checkpoint is not in the project's log.")
