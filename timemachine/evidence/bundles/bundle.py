"""An evidence bundle: a ZIP file with sealed records, the disclosed part of their content, proofs and keys.

One signed statement covers every file in it.

statement.json             DSSE over an in-toto statement: what this is, its trees, the SHA-256 of every other file
keys.json                  public keys; compare the fingerprint with one from another source
payloads.jsonl             the disclosed payloads, each once
TREE/records.jsonl         the envelopes, byte for byte
TREE/disclosed.jsonl       fields with their salts: inline, or by the payload's SHA-256
TREE/checkpoints.jsonl     signed states of the tree, up to the one that is shown
TREE/proofs.jsonl          audit paths, if not every record is shown
TREE/log.json              the state's entry in the project's log, with its audit path
TREE/earlier.json          the log's entries of previous seals, after another run or an erasure
TREE/erased.json           the log's tombstones of erased fields, if nothing is withheld
replaced.json              the log's entries of key replacements, each under a state that the old key signed
timestamps/N.tsr           an authority's answer (RFC 3161) for the signed state of the log's first N entries
timestamps/N.json          that state, byte for byte
report.html                what is in the bundle, for reading and printing
README.txt                 how to check it, and what it does not prove
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import IO, Any, Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.evidence import models
from timemachine.evidence.bundles.report import NAME as REPORT
from timemachine.evidence.bundles.report import Shown, report
from timemachine.evidence.bundles.statement import dumped, sign, write_keys
from timemachine.evidence.log import keys
from timemachine.evidence.log.project_log import key_replacements
from timemachine.evidence.pure.deterministic_zip import Zipped
from timemachine.evidence.pure.readme import About, readme
from timemachine.evidence.pure.record import Field, Record
from timemachine.evidence.pure.report_rows import Rows
from timemachine.evidence.pure.tree import Tree
from timemachine.evidence.sealing import disclosure, payload_groups
from timemachine.evidence.sealing.checkpoints import origin_of, required_state
from timemachine.evidence.sealing.disclosure import Discloses
from timemachine.evidence.sealing.erased_fields import erased_at, tombstones_of
from timemachine.evidence.sealing.previous_seals import PreviousSeal, Reader, previous_seals_of
from timemachine.evidence.sealing.subjects import Subject

BATCH: Final = 1_000
NEVER_SHARED: Final = ("about", "prompt", "raw")
INLINE: Final = 16_384  # bytes; a batch of payloads of this size fits in memory

Erased = Mapping[int, Mapping[str, datetime]]
"""When each field was erased, by record and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A tree of the bundle.

    The first `size` records count, and `shown` are those in the bundle (None: all). `discloses` chooses the
    disclosed fields (None: all) and `reader` is the share link that the bundle is for. The tree's folder is
    `folder`, or the kind of its subject.
    """

    subject: Subject
    seal: models.Seal
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
    """A bundle while it is being written."""

    zipped: Zipped
    payloads: dict[int, Field] = field(default_factory=dict)
    keys: set[int] = field(default_factory=set)
    trees: list[JsonObject] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    sealed_by: list[str] = field(default_factory=list)
    log: Tree = field(default_factory=lambda: Tree([]))
    dated: dict[int, models.AnchorReceipt] = field(default_factory=dict)


def write(target: IO[bytes], parts: Sequence[Part], about: Mapping[str, Any]) -> None:
    """Write the bundle of these trees. The first is its subject; `about` goes into the statement.

    Call it in a `snapshot`: everything is read there, and the trees' states must have been signed before. The
    key in use signs the statement, whichever key signed the states. The same records, disclosed in the same
    way, make the same bytes.

    Raises `Unavailable` if the key cannot sign, and `ErasedMeanwhile`.
    """
    key = keys.key_in_use(parts[0].subject.project)
    with closing(Zipped(target)) as zipped:
        bundle = Bundle(zipped=zipped, keys={key.pk})
        for part in parts:
            _write_tree(bundle, part)
        _write_payloads(bundle)
        _write_key_replacements(bundle, parts[0].seal.project_id)
        write_dated(bundle.zipped, bundle.dated)
        write_keys(bundle.zipped, bundle.keys)
        text = readme(bundle.trees[0], key.fingerprint, _readme_facts(bundle, about))
        bundle.zipped.add("README.txt", text.encode())
        trees = zip(bundle.trees, bundle.rows, bundle.sealed_by, strict=True)
        shown = [Shown(stated=stated, rows=rows, sealed_by=signed) for stated, rows, signed in trees]
        bundle.zipped.add(REPORT, report(shown, about, key.fingerprint).encode())
        sign(bundle.zipped, key, bundle.trees[0], bundle.trees, {"about": about})


def _write_key_replacements(bundle: Bundle, project: UUID) -> None:
    """Write how keys were replaced since the earliest that signed something here."""
    found = [
        _log_entries(bundle, state, [index]) for state, index in key_replacements(project, set(bundle.keys))
    ]
    if found:
        bundle.zipped.add("replaced.json", dumped(found))


def _readme_facts(bundle: Bundle, about: Mapping[str, Any]) -> About:
    link, withheld = about.get("link"), sum((Counter(each.withheld) for each in bundle.rows), Counter[str]())
    never = 0
    if link is not None:
        all_of_it = not link.get("redaction") and not link.get("evidence_only")
        never = withheld.total() if all_of_it else sum(withheld[name] for name in NEVER_SHARED)
    return About(
        sealed_by=bundle.sealed_by[0],
        erased=sum(each.erased.total() for each in bundle.rows),
        withheld=withheld.total() - never,
        never=never,
        link=link,
        dated=bool(bundle.dated),
        replayed=any(each["of"] != "session" for each in bundle.trees),
    )


def _write_tree(bundle: Bundle, part: Part) -> None:
    shown_at = required_state(part.seal, part.size)
    rows = models.SealedRecord.objects.filter(seal=part.seal, index__lt=part.size).order_by("index")
    shown = rows if part.shown is None else rows.filter(index__in=part.shown)
    bundle.rows.append(Rows(of=part.subject.of))
    bundle.sealed_by.append(shown_at.key.fingerprint)
    with bundle.zipped.file(f"{part.path}/records.jsonl") as file:
        file.lines(_envelopes(bundle, shown))
    with bundle.zipped.file(f"{part.path}/disclosed.jsonl") as file:
        file.lines(_disclosed_lines(bundle, part, erased_at(part.seal)))
    _write_checkpoints(bundle, part, shown_at)
    if part.shown is not None:
        _write_proofs(bundle, part)
    bundle.zipped.add(f"{part.path}/log.json", dumped(_log_entry(bundle, shown_at)))
    if part.discloses is None and (tombstones := tombstones_of(part.seal)):
        bundle.zipped.add(f"{part.path}/erased.json", dumped(_tombstones(bundle, part.seal, tombstones)))
    previous = previous_seals_of(part.seal, part.reader)
    if previous:
        found = _log_entries(bundle, _first_log_state(bundle, shown_at), _entries_about(previous, part))
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
            **_erased_counts(part, bundle.rows[-1]),
            **({"earlier": [each.public().model_dump() for each in previous]} if previous else {}),
        }
    )


def _erased_counts(part: Part, rows: Rows) -> JsonObject:
    """Return how many fields were erased and when the last was, for visitors, who get no tombstones."""
    if part.discloses is None or not rows.erased:
        return {}
    return {"erased": {"fields": rows.erased.total(), "last": rows.erased_last}}


def _envelopes(bundle: Bundle, shown: QuerySet[models.SealedRecord]) -> Iterator[bytes]:
    for data in shown.values_list("envelope", flat=True).iterator(chunk_size=BATCH):
        envelope = bytes(data)
        bundle.rows[-1].envelope(envelope)
        yield envelope


def _disclosed_lines(bundle: Bundle, part: Part, erased: Erased) -> Iterator[bytes]:
    """Yield a line for each shown record: its current fields with the salts of the seal."""
    chosen_range = range(part.size) if part.shown is None else part.shown
    for indexes in batched(chosen_range, BATCH):
        first, last = indexes[0], indexes[-1]
        chosen = set(indexes)
        salts = dict(
            models.SealedRecord.objects.filter(seal=part.seal, index__gte=first, index__lte=last).values_list(
                "index", "salts"
            )
        )
        for index in chosen & erased.keys():
            bundle.rows[-1].erase(index, {name: written(at) or "" for name, at in erased[index].items()})
        records = [record for record in part.subject.records(first, last) if record.index in chosen]
        if part.discloses is not None:
            records = list(disclosure.disclosed(records, part.subject, part.discloses))
        yield from _lines(bundle, records, salts)


def _lines(bundle: Bundle, records: Sequence[Record], salts: Mapping[int, dict[str, str]]) -> Iterator[bytes]:
    data = dict(payload_groups.read([each for record in records for each in _inline_payloads(record)]))
    for record in records:
        salted = salts.get(record.index, {})
        fields = sorted(record.fields.items())
        values = {
            name: _disclosed_value(bundle, each, salted[name], data)
            for name, each in fields
            if name in salted
        }
        bundle.rows[-1].disclose(record.index, values)
        yield dumped({"index": record.index, "fields": values})


def _inline_payloads(record: Record) -> Iterator[Field]:
    """Yield the payloads that go into their record's line: small ones that are rarely repeated."""
    for name, each in record.fields.items():
        if each.payload is not None and each.size <= INLINE and not name.endswith(".text"):
            yield each


def _disclosed_value(bundle: Bundle, each: Field, salt: str, data: Mapping[int, bytes]) -> list[str | None]:
    if each.data is not None:
        return [salt, each.data.decode("ascii")]
    if each.payload is not None:
        with suppress(KeyError, UnicodeDecodeError):
            return [salt, data[each.payload].decode()]
        bundle.payloads[each.payload] = each
    return [salt, None, each.digest.hex()]


def _write_payloads(bundle: Bundle) -> None:
    """Write every payload that a record refers to, once, ordered by hash."""
    once = {each.digest: each for each in bundle.payloads.values()}
    named = {each.payload: each.digest.hex() for each in once.values()}
    with bundle.zipped.file("payloads.jsonl") as file:
        for row, data in payload_groups.read([once[digest] for digest in sorted(once)]):
            file.write(_payload_line(named[row], data) + b"\n")


def _payload_line(sha256: str, data: bytes) -> bytes:
    try:
        return dumped({"sha256": sha256, "text": data.decode("utf-8")})
    except UnicodeDecodeError:
        return dumped({"sha256": sha256, "base64": base64.b64encode(data).decode()})


def _write_checkpoints(bundle: Bundle, part: Part, last: models.SealCheckpoint) -> None:
    """Write the signed states up to the one that is shown.

    Only that one is written if records are left out (others could not be checked) and for visitors, who must
    not learn what was signed for others.
    """
    found = models.SealCheckpoint.objects.filter(seal=part.seal, size__lt=last.size).order_by("size", "id")
    alone = part.shown is not None or part.discloses is not None
    rows = [*(() if alone else found), last]
    bundle.keys |= {row.key_id for row in rows}
    with bundle.zipped.file(f"{part.path}/checkpoints.jsonl") as file:
        file.lines(row.signed.encode() for row in rows)


def _write_proofs(bundle: Bundle, part: Part) -> None:
    leaves = models.SealedRecord.objects.filter(seal=part.seal, index__lt=part.size).order_by("index")
    tree = Tree([bytes(leaf) for leaf in leaves.values_list("leaf", flat=True)])
    with bundle.zipped.file(f"{part.path}/proofs.jsonl") as file:
        file.lines(
            dumped({"index": index, "path": [each.hex() for each in tree.inclusion(index)]})
            for index in part.shown or ()
        )


def _log_entry(bundle: Bundle, shown: models.SealCheckpoint) -> JsonObject:
    """Return the checkpoint's entry in the project's log, with its audit path to the first log state that
    includes it, or the first timestamped one.
    """
    found = _log_entries(bundle, _first_log_state(bundle, shown), [shown.log_index])
    return {**found["entries"][0], "checkpoint": found["checkpoint"]}


def _first_log_state(bundle: Bundle, shown: models.SealCheckpoint) -> models.LogCheckpoint:
    """Return the first timestamped log state that includes the checkpoint's entry, and put its timestamp into
    the bundle; without one, the first signed state.
    """
    project, index = shown.seal.project_id, shown.log_index
    stamps = models.AnchorReceipt.objects.filter(
        kind=models.TIMESTAMP, checkpoint__project=project, checkpoint__size__gt=index
    )
    stamp = stamps.select_related("checkpoint").order_by("checkpoint__size", "id").first()
    if stamp is not None:
        bundle.dated[stamp.checkpoint.size] = stamp
        return stamp.checkpoint
    states = models.LogCheckpoint.objects.filter(project=project, size__gt=index)
    signed = states.order_by("size", "id").first()
    if signed is None:
        raise LookupError(f"the log of {project} has no checkpoint after entry {index}")
    return signed


def _tombstones(bundle: Bundle, seal: models.Seal, indexes: Sequence[int]) -> JsonObject:
    """Return these entries of the project's log, with their audit paths to its newest signed state."""
    signed = models.LogCheckpoint.objects.filter(project=seal.project_id).order_by("-size", "-id").first()
    if signed is None:
        raise LookupError(f"the log of {seal.project_id} has no checkpoint")
    return _log_entries(bundle, signed, indexes)


def _entries_about(previous: Sequence[PreviousSeal], part: Part) -> list[int]:
    """Return the log entries of previous seals: their states and, except for visitors, why they ended."""
    states = [state.log_index for each in previous for state in each.states]
    tombstones = [each.tombstone for each in previous if each.tombstone is not None]
    return states if part.discloses is not None else [*states, *tombstones]


def _log_entries(bundle: Bundle, signed: models.LogCheckpoint, indexes: Sequence[int]) -> JsonObject:
    """Return these entries of a project's log, in order, with their audit paths to that signed state."""
    entries = models.LogEntry.objects.filter(project=signed.project_id).order_by("index")
    bundle.keys.add(signed.key_id)
    if len(bundle.log.leaves) < signed.size:  # read once for all trees of a bundle
        bundle.log = Tree([bytes(leaf) for leaf in entries.values_list("leaf", flat=True)])
    return {
        "checkpoint": json.loads(signed.signed),
        "entries": [
            {
                "index": each.index,
                "entry": bytes(each.entry).decode("ascii"),
                "path": [sibling.hex() for sibling in bundle.log.inclusion(each.index, signed.size)],
            }
            for each in entries.filter(index__in=indexes)
        ],
    }


def write_dated(zipped: Zipped, dated: Mapping[int, models.AnchorReceipt]) -> None:
    """Write the timestamps, each next to the state that it covers."""
    for entries, each in sorted(dated.items()):
        zipped.add(f"timestamps/{entries}.json", each.checkpoint.signed.encode())
        zipped.add(f"timestamps/{entries}.tsr", bytes(each.answer))
