"""Comparing the database with a seal: every field hashed again, the chain, the tree and the signature; for a
session also what pages show of it and its steps that no record has (`labels`, `session_values`).

Any column may have been altered, so what cannot be read is reported as well and the comparison continues.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from timemachine.core.leases import Progress
from timemachine.core.pure.schemas import Schema
from timemachine.evidence.log.project_log import SignedLog, read_state, signed_log
from timemachine.evidence.models import Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.pure.envelope import NO_RECORD, commitment
from timemachine.evidence.pure.record import Record
from timemachine.evidence.pure.tree import Frontier, leaf_hash
from timemachine.evidence.sealing import payload_groups, session_values, stored_rows
from timemachine.evidence.sealing.checkpoints import origin_of
from timemachine.evidence.sealing.comparison_subject import ComparisonSubject
from timemachine.evidence.sealing.erased_fields import Tombstones, read_tombstones
from timemachine.evidence.sealing.labels import Labels, labels_of
from timemachine.evidence.sealing.replay_records import SINCE_VERSION_2
from timemachine.evidence.sealing.session_counts import compare_counts
from timemachine.evidence.sealing.subjects import SessionSubject, Subject
from timemachine.replay.comparison.results import are_altered

BATCH: Final = 1_000
MOST_PROBLEMS: Final = 100
Rows = Sequence[tuple[int, bytes, bytes, Mapping[str, str]]]
_HIDING: Final = frozenset({"seal", "chain", "missing", "changed", "log"})
"""The codes of problems after which totals cannot be checked: steps may be altered, or erasures unknown."""


class SealProblem(Schema):
    """A difference between the database and the seal; `index` is the record, null if the problem is not about one.

    `session` is the session whose recorded step differs, if a replay or comparison repeats it; otherwise it is absent.
    """

    code: str
    index: int | None
    says: str
    session: str | None = None


@dataclass(slots=True)
class Comparison:
    """The state of a comparison: records seen, problems, and the tree so far.

    `tombstones` name the erased fields and deleted steps; `erased` counts the fields that are missing.
    """

    records: int = 0
    problems: list[SealProblem] = field(default_factory=list)
    more: int = 0
    tree: Frontier = field(default_factory=Frontier)
    previous: bytes = NO_RECORD
    digests: dict[int, bytes] = field(default_factory=dict)
    tombstones: Tombstones = field(default_factory=Tombstones)
    erased: int = 0

    def problem(self, code: str, says: str, index: int | None = None, session: UUID | None = None) -> None:
        """Store a problem, the first hundred; `session` is set for a repeated recorded step."""
        if len(self.problems) < MOST_PROBLEMS:
            found = SealProblem.model_construct(code=code, index=index, says=says)
            self.problems.append(
                found if session is None else found.model_copy(update={"session": str(session)})
            )
        else:
            self.more += 1


def compare(
    subject: Subject, seal: Seal, only: AbstractSet[int] | None = None, progress: Progress | None = None
) -> Comparison:
    """Compare every signed record with the database. Call it in a `snapshot`; it can take a while.

    Records after the newest checkpoint are not signed yet and not compared. With `only`, just the fields of
    these records, and their labels, are compared and counted; the chain, the tree and its signature always cover
    all records, and `progress` counts all.
    """
    newest = SealCheckpoint.objects.filter(seal=seal).select_related("key").order_by("-size", "-id").first()
    entries = signed_log(seal.project_id)
    found = Comparison(tombstones=read_tombstones(seal, entries))
    size = seal.size if newest is None else newest.size
    for first in range(0, size, BATCH):
        last = min(first + BATCH, size) - 1
        rows = SealedRecord.objects.filter(seal=seal, index__gte=first, index__lte=last).order_by("index")
        sealed = [
            (index, bytes(data), bytes(leaf), salts)
            for index, data, leaf, salts in rows.values_list("index", "envelope", "leaf", "salts")
        ]
        sequences = range(first, last + 1) if only is None else sorted(only & set(range(first, last + 1)))
        read = subject.records(sequences[0], sequences[-1]) if sequences else ()
        chosen = frozenset(sequences)
        live = {record.index: record for record in read if record.index in chosen}
        labels = labels_of(subject.thing, list(live)) if isinstance(subject, SessionSubject) else None
        _hash_payloads(found, list(live.values()), labels)
        _compare_batch(found, sealed, live, range(first, last + 1), chosen, labels)
        if progress is not None:
            progress.done += last + 1 - first
    if newest is None:
        found.problem("checkpoint", "There is no signed checkpoint.")
    else:
        _compare_signature(found, newest, origin_of(subject, seal))
    _compare_log(found, seal, newest, entries)
    if entries is not None and only is None:
        states = list(SealCheckpoint.objects.filter(seal=seal).select_related("key").order_by("id"))
        stored_rows.compare_states(seal, states, entries, found.problem)
        stored_rows.compare_erasures(seal, entries, found.problem)
        stored_rows.compare_earlier_seals(seal, entries, found.problem)
    if isinstance(subject, ComparisonSubject) and are_altered(subject.thing):
        found.problem("results", "The stored results do not match the comparison's answers.")
    if isinstance(subject, SessionSubject) and only is None:
        _compare_session(found, subject, seal)
    return found


def _compare_batch(
    found: Comparison,
    sealed: Rows,
    live: Mapping[int, Record],
    batch: range,
    sequences: AbstractSet[int],
    labels: Labels | None,
) -> None:
    there = {index for index, *_ in sealed}
    for index in batch:
        if index not in there:
            found.problem("seal", "The sealed form of this record is missing.", index)
    for index, data, leaf, salts in sealed:
        if leaf_hash(data) != leaf:
            found.problem("seal", "The sealed form of this record was changed.", index)
        envelope = _envelope(data)
        if envelope is None or not isinstance(salts, dict):
            found.problem("seal", "The sealed form of this record cannot be read.", index)
        else:
            if envelope["prev"] != found.previous.hex() or envelope["index"] != index:
                found.problem(
                    "chain",
                    "It was sealed after a different record than the one that now precedes it.",
                    index,
                )
            if index in sequences:
                _compare_record(found, index, envelope, salts, live.get(index), labels)
        found.tree = found.tree.grown([leaf_hash(data)])
        found.previous = leaf
        found.records += index in sequences


def _hash_payloads(found: Comparison, records: Sequence[Record], labels: Labels | None) -> None:
    """Hash the current bytes of the payloads, each once, and read what the labels need."""
    needed = labels.media.keys() if labels else ()
    payload_ids = {
        each.payload: each
        for record in records
        for each in record.fields.values()
        if each.payload is not None and (each.payload not in found.digests or each.payload in needed)
    }
    for row, data in payload_groups.read(list(payload_ids.values())):
        found.digests[row] = hashlib.sha256(data).digest()
        if labels:
            labels.read(row, data)


def _envelope(data: bytes) -> Mapping[str, Any] | None:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return None
    shaped = isinstance(read, dict) and isinstance(read.get("fields"), dict)
    return read if shaped and {"prev", "index", "kind", "at"} <= read.keys() else None


def _compare_record(
    found: Comparison,
    index: int,
    envelope: Mapping[str, Any],
    salts: Mapping[str, str],
    record: Record | None,
    labels: Labels | None,
) -> None:
    if record is None:
        found.problem("missing", "It was recorded and sealed, but is missing from the database.", index)
        return
    before = len(found.problems) + found.more
    _compare_fields(found, index, envelope, salts, record)
    is_sound = before == len(found.problems) + found.more
    if labels and is_sound and (says := labels.difference(index, found.tombstones.steps.get(index, ()))):
        found.problem("label", says, index)


def _compare_fields(
    found: Comparison,
    index: int,
    envelope: Mapping[str, Any],
    salts: Mapping[str, str],
    record: Record,
) -> None:
    for name, here, sealed in (
        ("kind", record.kind, envelope["kind"]),
        ("time", record.at, envelope["at"]),
    ):
        if here != sealed:
            found.problem("changed", f"Its {name} is {here}. It must be {sealed}.", index)
    if dict(record.links) != envelope.get("links", {}):
        found.problem("link", "It repeats a different record than the one that was sealed.", index)
    unsealed = SINCE_VERSION_2 - envelope["fields"].keys()
    for name in sorted(set(record.fields) - unsealed | set(envelope["fields"])):
        if name not in salts and (index, name) in found.tombstones.fields:
            found.erased += 1
        elif not _is_sealed(found, record, envelope["fields"].get(name), salts.get(name), name):
            found.problem("changed", f"The field {name} does not match what was sealed.", index)


def _is_sealed(found: Comparison, record: Record, sealed: str | None, salt: Any, name: str) -> bool:
    each = record.fields.get(name)
    if each is None or sealed is None or salt is None:
        return False
    digest = each.digest if each.payload is None else found.digests.get(each.payload)
    try:
        salted = bytes.fromhex(salt)
    except (ValueError, TypeError):
        return False
    # the stored hash of a payload, which pages show, must be that of its bytes
    return digest is not None and digest == each.digest and commitment(salted, digest) == sealed


def _compare_session(found: Comparison, subject: SessionSubject, seal: Seal) -> None:
    """Compare totals, status and times. The steps tell the totals only if none of them was altered."""
    session, codes = subject.thing, {each.code for each in found.problems}
    states = SealCheckpoint.objects.filter(seal=seal, cut_for=None).select_related("key").order_by("id")
    signed = [state for each in states if (state := read_state(each.signed, each.key)) and state.is_signed]
    session_values.compare_signed(session, seal, signed, found.problem)
    session_values.compare_origin(session, found.problem)
    if not codes & _HIDING:
        session_values.compare_totals(session, found.problem)
        is_erased = bool(found.tombstones.fields or found.tombstones.steps)
        compare_counts(session, found.problem, erased=is_erased)


def _compare_signature(found: Comparison, newest: SealCheckpoint, origin: str) -> None:
    """Check that the newest checkpoint is signed and has the root of the stored records."""
    state = read_state(newest.signed, newest.key)
    if state is None:
        found.problem("signature", "The newest checkpoint cannot be read.")
        return
    if not state.is_signed:
        found.problem("signature", "The signature of the newest checkpoint is not valid.")
    if (state.origin, state.size, state.root) != (origin, found.tree.size, found.tree.root):
        found.problem("root", "The stored records have a different root than the one that was signed.")


def _compare_log(
    found: Comparison, seal: Seal, newest: SealCheckpoint | None, entries: SignedLog | None
) -> None:
    """Check that the newest checkpoint is in the project's log, and that no state of more records is."""
    if entries is None:
        found.problem("log", "The project's log differs from the one that was signed.")
        return
    states = entries.states_of(seal)
    size = 0 if newest is None else newest.size
    entry = states.get(newest.log_index) if newest else None
    if newest and (not entry or (entry["size"], entry["root"]) != (newest.size, newest.root_hex)):
        found.problem("log", "The newest checkpoint is not in the project's log.")
    longest = max((state["size"] for state in states.values()), default=0)
    if longest > size:
        found.problem(
            "checkpoint",
            f"The project's log has a signed state of {longest:,} records, but the newest stored checkpoint has {size:,}.",
        )
