"""The bundle: a zip with sealed records, what is disclosed of them, proofs and keys, under one signed statement of every file in it.

statement.json             DSSE over an in-toto statement: what this is, its trees, the SHA-256 of every other file
keys.json                  public keys; compare the fingerprint with one that came another way
payloads.jsonl             the disclosed payloads, each once
TREE/records.jsonl         the envelopes, byte for byte
TREE/disclosed.jsonl       fields with their salts: inline, or by the payload's SHA-256
TREE/checkpoints.jsonl     signed states of the tree, up to the one that is shown
TREE/proofs.jsonl          audit paths, where not every record is shown
TREE/log.json              the state's entry in the project's log, with its audit path
TREE/earlier.json          the log's entries of the seals before this one, where it ran again or was sealed anew after an erasure
TREE/erased.json           the log's tombstones of fields that were erased, where there are any and all that is left is told
replaced.json              the log's entries by which keys were replaced, where an earlier one signed what is in it, each under a state that this one signed
report.html                what is in it, to be read and printed
README.txt                 how to check it, and what it does not prove
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import IO, Any, Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core.pure.clock import written
from timemachine.evidence.bundles.report import NAME as REPORT
from timemachine.evidence.bundles.report import Shown, report
from timemachine.evidence.bundles.statement import dumped, sign, write_keys
from timemachine.evidence.log import keys, witness_statements
from timemachine.evidence.models import Anchored, LogCheckpoint, LogEntry, Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.pure.deterministic_zip import Zipped
from timemachine.evidence.pure.readme import About, readme
from timemachine.evidence.pure.record import Field, Record
from timemachine.evidence.pure.report_rows import Rows
from timemachine.evidence.pure.tree import Tree
from timemachine.evidence.sealing import disclosure, payload_groups
from timemachine.evidence.sealing.checkpoints import origin_of, signed_at
from timemachine.evidence.sealing.disclosure import Discloses
from timemachine.evidence.sealing.erased_fields import erased_at, tombstones_of
from timemachine.evidence.sealing.previous_seals import Earlier, Reader, earlier_of
from timemachine.evidence.sealing.replacements import replacements
from timemachine.evidence.sealing.subjects import Subject

BATCH: Final = 1_000
TOLD_TO_NO_LINK: Final = ("about", "prompt", "raw")
INLINE: Final = 16_384  # bytes; a batch of payloads of this size fits in memory

Erased = Mapping[int, Mapping[str, datetime]]
"""When which fields of which record were erased for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A tree of the bundle: whose, how many of its records count, which of them are shown (None: all), what of these is told, to the
    visitors of which link, and in which folder it stands, where that is not named by what it is.
    """

    subject: Subject
    seal: Seal
    size: int
    shown: Sequence[int] | None = None
    discloses: Discloses | None = None
    folder: str | None = None
    reader: Reader | None = None

    @property
    def path(self) -> str:
        return self.folder or self.subject.of


@dataclass(slots=True)
class Bundle:
    """A bundle while it is written."""

    zipped: Zipped
    payloads: dict[int, Field] = field(default_factory=dict)
    keys: set[int] = field(default_factory=set)
    trees: list[dict[str, Any]] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    sealed_by: list[str] = field(default_factory=list)
    log: Tree = field(default_factory=lambda: Tree([]))
    dated: dict[int, Anchored] = field(default_factory=dict)


def write(target: IO[bytes], parts: Sequence[Part], about: Mapping[str, Any]) -> None:
    """Write the bundle of these trees, the first of which is its subject; `about` is what the statement says of it beside.

    The states of the trees are signed already; call it in a `snapshot`, where all of it is read. The key in use signs the statement, whichever
    key signed the states. Raises `Unavailable` where it cannot be read, and `ErasedMeanwhile`.
    The same records, disclosed in the same way, make the same bytes.
    """
    key = keys.key_in_use(parts[0].subject.project)
    bundle = Bundle(zipped=Zipped(target), keys={key.pk})
    for part in parts:
        _tree(bundle, part)
    _payloads(bundle)
    _replaced(bundle, parts[0].seal.project_id)
    witness_statements.write_dated(bundle.zipped, bundle.dated)
    write_keys(bundle.zipped, bundle.keys)
    about_it = readme(bundle.trees[0], key.fingerprint, _about(bundle, about))
    bundle.zipped.add("README.txt", about_it.encode())
    together = zip(bundle.trees, bundle.rows, bundle.sealed_by, strict=True)
    shown = [Shown(stated=stated, rows=rows, sealed_by=signed) for stated, rows, signed in together]
    bundle.zipped.add(REPORT, report(shown, about, key.fingerprint).encode())
    sign(bundle.zipped, key, bundle.trees[0], bundle.trees, {"about": about})
    bundle.zipped.close()


def _replaced(bundle: Bundle, project: UUID) -> None:
    """Which keys were replaced by which since the earliest that signed what is in it: who holds an earlier fingerprint finds that of today."""
    found = [_in_log(bundle, state, [index]) for state, index in replacements(project, set(bundle.keys))]
    if found:
        bundle.zipped.add("replaced.json", dumped(found))


def _about(bundle: Bundle, about: Mapping[str, Any]) -> About:
    """What the README says beside its tree."""
    link, withheld = about.get("link"), sum((Counter(each.withheld) for each in bundle.rows), Counter[str]())
    never = 0
    if link is not None:
        all_of_it = not link.get("redaction") and not link.get("evidence_only")
        never = withheld.total() if all_of_it else sum(withheld[name] for name in TOLD_TO_NO_LINK)
    return About(
        sealed_by=bundle.sealed_by[0],
        erased=sum(each.erased.total() for each in bundle.rows),
        withheld=withheld.total() - never,
        never=never,
        link=link,
        dated=bool(bundle.dated),
        replayed=any(each["of"] != "session" for each in bundle.trees),
    )


def _tree(bundle: Bundle, part: Part) -> None:
    shown_at = signed_at(part.seal, part.size)
    rows = SealedRecord.objects.filter(seal=part.seal, index__lt=part.size).order_by("index")
    shown = rows if part.shown is None else rows.filter(index__in=part.shown)
    bundle.rows.append(Rows(of=part.subject.of))
    bundle.sealed_by.append(shown_at.key.fingerprint)
    with bundle.zipped.file(f"{part.path}/records.jsonl") as file:
        file.lines(_envelopes(bundle, shown))
    with bundle.zipped.file(f"{part.path}/disclosed.jsonl") as file:
        file.lines(_disclosed(bundle, part, erased_at(part.seal)))
    _checkpoints(bundle, part, shown_at)
    if part.shown is not None:
        _proofs(bundle, part)
    bundle.zipped.add(f"{part.path}/log.json", dumped(_log(bundle, shown_at)))
    if part.discloses is None and (tombstones := tombstones_of(part.seal)):
        bundle.zipped.add(f"{part.path}/erased.json", dumped(_tombstones(bundle, part.seal, tombstones)))
    before = earlier_of(part.seal, part.reader)
    if before:
        found = _in_log(bundle, _state_behind(bundle, shown_at), _entries_of(before, part))
        bundle.zipped.add(f"{part.path}/earlier.json", dumped(found))
    bundle.trees.append(
        {
            "path": part.path,
            "of": part.subject.of,
            "id": part.subject.id,
            "generation": part.seal.generation,
            "origin": origin_of(part.subject, part.seal),
            "size": part.size,
            "root": bytes(shown_at.root).hex(),
            "state": shown_at.state,
            "sealed_at": written(shown_at.at),
            "complete": part.shown is None,
            "withholds": part.discloses is not None,
            **_erased(part, bundle.rows[-1]),
            **({"earlier": [each.stated() for each in before]} if before else {}),
        }
    )


def _erased(part: Part, rows: Rows) -> dict[str, Any]:
    """How many fields were erased and when the last, where no tombstone says so: by whom and why is not a visitor's business."""
    if part.discloses is None or not rows.erased:
        return {}
    return {"erased": {"fields": rows.erased.total(), "last": rows.erased_last}}


def _envelopes(bundle: Bundle, shown: QuerySet[SealedRecord]) -> Iterator[bytes]:
    for data in shown.values_list("envelope", flat=True).iterator(chunk_size=BATCH):
        envelope = bytes(data)
        bundle.rows[-1].envelope(envelope)
        yield envelope


def _disclosed(bundle: Bundle, part: Part, erased: Erased) -> Iterator[bytes]:
    """A line for each record that is shown: its fields as they stand now, with the salts of the seal; those that are `erased` are counted."""
    wanted = range(part.size) if part.shown is None else part.shown
    for indexes in batched(wanted, BATCH):
        first, last = indexes[0], indexes[-1]
        chosen = set(indexes)
        salts = dict(
            SealedRecord.objects.filter(seal=part.seal, index__gte=first, index__lte=last).values_list(
                "index", "salts"
            )
        )
        for index in chosen & erased.keys():
            bundle.rows[-1].erase(index, {name: written(at) or "" for name, at in erased[index].items()})
        records = [record for record in part.subject.records(first, last) if record.index in chosen]
        if part.discloses is not None:
            records = list(disclosure.told(records, part.subject, part.discloses))
        yield from _lines(bundle, records, salts)


def _lines(bundle: Bundle, records: Sequence[Record], salts: Mapping[int, dict[str, str]]) -> Iterator[bytes]:
    """A line for each of some records."""
    data = dict(payload_groups.read([each for record in records for each in _inline(record)]))
    for record in records:
        salted = salts.get(record.index, {})
        fields = sorted(record.fields.items())
        told = {name: _told(bundle, each, salted[name], data) for name, each in fields if name in salted}
        bundle.rows[-1].tell(record.index, told)
        yield dumped({"index": record.index, "fields": told})


def _inline(record: Record) -> Iterator[Field]:
    """The payloads that are told in their record's line: what is small and hardly ever there twice."""
    for name, each in record.fields.items():
        if each.payload is not None and each.size <= INLINE and not name.endswith(".text"):
            yield each


def _told(bundle: Bundle, each: Field, salt: str, data: Mapping[int, bytes]) -> list[str | None]:
    if each.data is not None:
        return [salt, each.data.decode("ascii")]
    if each.payload is not None:
        with suppress(KeyError, UnicodeDecodeError):
            return [salt, data[each.payload].decode()]
        bundle.payloads[each.payload] = each
    return [salt, None, each.digest.hex()]


def _payloads(bundle: Bundle) -> None:
    """Every payload that a record refers to, once, in the order of their hashes."""
    once = {each.digest: each for each in bundle.payloads.values()}
    named = {each.payload: each.digest.hex() for each in once.values()}
    with bundle.zipped.file("payloads.jsonl") as file:
        for row, data in payload_groups.read([once[digest] for digest in sorted(once)]):
            file.write(_payload(named[row], data) + b"\n")


def _payload(sha256: str, data: bytes) -> bytes:
    """Bytes that JSON would not give back one by one are written in base64."""
    try:
        return dumped({"sha256": sha256, "text": data.decode("utf-8")})
    except UnicodeDecodeError:
        return dumped({"sha256": sha256, "base64": base64.b64encode(data).decode()})


def _checkpoints(bundle: Bundle, part: Part, last: SealCheckpoint) -> None:
    """The signed states up to the one that is shown. Only that one where records are left out, for the others could not be checked, and for
    visitors: what was signed for others, and when, is not their business.
    """
    found = SealCheckpoint.objects.filter(seal=part.seal, size__lt=last.size).order_by("size", "id")
    alone = part.shown is not None or part.discloses is not None
    rows = [*(() if alone else found), last]
    bundle.keys |= {row.key_id for row in rows}
    with bundle.zipped.file(f"{part.path}/checkpoints.jsonl") as file:
        file.lines(row.signed.encode() for row in rows)


def _proofs(bundle: Bundle, part: Part) -> None:
    leaves = SealedRecord.objects.filter(seal=part.seal, index__lt=part.size).order_by("index")
    tree = Tree([bytes(leaf) for leaf in leaves.values_list("leaf", flat=True)])
    with bundle.zipped.file(f"{part.path}/proofs.jsonl") as file:
        file.lines(
            dumped({"index": index, "path": [each.hex() for each in tree.inclusion(index)]})
            for index in part.shown or ()
        )


def _log(bundle: Bundle, shown: SealCheckpoint) -> dict[str, Any]:
    """The entry of a checkpoint in the project's log, with its audit path to the log's first signed state that has it, or that is dated."""
    found = _in_log(bundle, _state_behind(bundle, shown), [shown.log_index])
    return {**found["entries"][0], "checkpoint": found["checkpoint"]}


def _state_behind(bundle: Bundle, shown: SealCheckpoint) -> LogCheckpoint:
    return witness_statements.state_behind(shown.seal.project_id, shown.log_index, bundle.dated)


def _tombstones(bundle: Bundle, seal: Seal, indexes: Sequence[int]) -> dict[str, Any]:
    """Entries of the project's log, with their audit paths to its newest signed state."""
    signed = LogCheckpoint.objects.filter(project=seal.project_id).order_by("-size", "-id").first()
    if signed is None:
        raise LookupError(f"the log of {seal.project_id} has no checkpoint")
    return _in_log(bundle, signed, indexes)


def _entries_of(before: Sequence[Earlier], part: Part) -> list[int]:
    """The entries of the log that tell of earlier seals: every state that was signed, and why another took its place, which a visitor is not told."""
    states = [state.log_index for each in before for state in each.states]
    tombstones = [each.tombstone for each in before if each.tombstone is not None]
    return states if part.discloses is not None else [*states, *tombstones]


def _in_log(bundle: Bundle, signed: LogCheckpoint, indexes: Sequence[int]) -> dict[str, Any]:
    """These entries of a project's log, in order, with their audit paths to that signed state of it."""
    entries = LogEntry.objects.filter(project=signed.project_id).order_by("index")
    bundle.keys.add(signed.key_id)
    if len(bundle.log.leaves) < signed.size:  # read once for all trees of a bundle
        bundle.log = Tree([bytes(leaf) for leaf in entries.values_list("leaf", flat=True)])
    return {
        "checkpoint": json.loads(signed.signed),
        "entries": [
            {
                "index": each.index,
                "entry": bytes(each.entry).decode("ascii"),
                "path": [beside.hex() for beside in bundle.log.inclusion(each.index, signed.size)],
            }
            for each in entries.filter(index__in=indexes)
        ],
    }
