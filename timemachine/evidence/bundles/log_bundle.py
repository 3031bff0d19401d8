"""The bundle of a project's log.

log/entries.jsonl          every entry, byte for byte
log/checkpoints.jsonl      every signed state of the log
log/present.jsonl          the sealed things that exist now
log/access.jsonl           the lines of the access logs of share links
log/audit.jsonl            the lines of the audit log, if requested
log/witnessed.jsonl        for each state that a witness took, what it was sent, and its answer, verbatim
timestamps/                as in the other bundles
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import IO, Any, Final

from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.evidence.bundles.bundle import write_dated
from timemachine.evidence.bundles.report import MOST_ERASURES, TOMBSTONES, Counts, log_report
from timemachine.evidence.bundles.report import NAME as REPORT
from timemachine.evidence.bundles.statement import dumped, sign, write_keys
from timemachine.evidence.log import keys
from timemachine.evidence.models import (
    TIMESTAMP,
    WITNESS,
    AnchorReceipt,
    LogCheckpoint,
    LogEntry,
    SealCheckpoint,
)
from timemachine.evidence.pure.checkpoint import log_origin
from timemachine.evidence.pure.deterministic_zip import Zipped
from timemachine.evidence.pure.readme import log_readme

BATCH: Final = 1_000


def write(
    target: IO[bytes],
    project: Project,
    about: Mapping[str, Any],
    access: Iterable[bytes] = (),
    audit: Iterable[bytes] | None = None,
) -> None:
    """Write the bundle: entries, signed states, the sealed things that exist, lines of access logs, and those of the audit log
    unless it is None.

    Raises `Unavailable` if the key cannot sign.
    """
    key = keys.key_in_use(project)
    with closing(Zipped(target)) as zipped:
        last = LogCheckpoint.objects.filter(project=project).order_by("-size", "-id").first()
        if last is None:
            raise LookupError(f"the log of {project.pk} has no entry")
        states = LogCheckpoint.objects.filter(project=project, size__lte=last.size).order_by("size", "id")
        entries = LogEntry.objects.filter(project=project, index__lt=last.size).order_by("index")
        with zipped.file("log/entries.jsonl") as file:
            file.lines(
                bytes(entry) for entry in entries.values_list("entry", flat=True).iterator(chunk_size=BATCH)
            )
        with zipped.file("log/checkpoints.jsonl") as file:
            file.lines(
                signed.encode()
                for signed in states.values_list("signed", flat=True).iterator(chunk_size=BATCH)
            )
        with zipped.file("log/present.jsonl") as file:
            there = list(_present(project))
            file.lines(map(dumped, there))
        with zipped.file("log/access.jsonl") as file:
            file.lines(access)
        if audit is not None:
            with zipped.file("log/audit.jsonl") as file:
                file.lines(audit)
        _write_receipts(zipped, project, last.size)
        dated = any(name.startswith("timestamps/") for name in zipped.hashes)
        write_keys(zipped, {key.pk, *states.values_list("key_id", flat=True)})
        log = {
            "path": "log",
            "origin": log_origin(str(project.pk)),
            "size": last.size,
            "root": bytes(last.root).hex(),
        }
        named = {"of": "log", "id": project.pk, "sealed_at": written(last.at)} | log
        zipped.add("README.txt", log_readme(named, key.fingerprint, dated=dated).encode())
        counts = _counts(last.size, len(there), entries)
        zipped.add(REPORT, log_report(named, about, key.fingerprint, counts).encode())
        sign(zipped, key, log, [], {"about": about, "log": log})


def _counts(size: int, present: int, entries: QuerySet[LogEntry]) -> Counts:
    kinds, erasures = Counter[str](), list[tuple[int, JsonObject]]()
    replaced: list[tuple[int, JsonObject]] = []
    for index, line in entries.values_list("index", "entry").iterator(chunk_size=BATCH):
        entry = json.loads(bytes(line))
        kinds[entry["entry"]] += 1
        if entry["entry"] in TOMBSTONES and len(erasures) < MOST_ERASURES:
            erasures.append((index, entry))
        elif entry["entry"] == "key":
            replaced.append((index, entry))
    return Counts(entries=size, present=present, kinds=kinds, erasures=erasures, replaced=replaced)


def _present(project: Project) -> Iterator[JsonObject]:
    """Yield every existing seal with its newest signed state."""
    newest = (
        SealCheckpoint.objects.filter(seal__project=project).order_by("seal", "-size", "-id").distinct("seal")
    )
    for each in newest.select_related("seal").iterator(chunk_size=BATCH):
        seal = each.seal
        yield {
            "of": seal.of,
            "id": seal.subject_id,
            "generation": seal.generation,
            "size": each.size,
            "root": each.root_hex,
        }


def _write_receipts(zipped: Zipped, project: Project, size: int) -> None:
    """Write the receipts for log states up to that size."""
    found = AnchorReceipt.objects.filter(checkpoint__project=project, checkpoint__size__lte=size)
    rows = found.select_related("checkpoint").order_by("checkpoint__size", "id")
    with zipped.file("log/witnessed.jsonl") as file:
        file.lines(json.dumps(_receipt_line(each)).encode() for each in rows.filter(kind=WITNESS))
    write_dated(zipped, {each.checkpoint.size: each for each in rows.filter(kind=TIMESTAMP)})


def _receipt_line(anchored: AnchorReceipt) -> JsonObject:
    return {
        "size": anchored.checkpoint.size,
        "root": bytes(anchored.checkpoint.root).hex(),
        "at": written(anchored.at),
        "url": anchored.url,
        "sent": bytes(anchored.sent).decode("utf-8"),
        "answer": bytes(anchored.answer).decode("utf-8", "backslashreplace"),
    }
