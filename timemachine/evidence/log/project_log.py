"""A project's log: every seal, tombstone and key in one tree, signed again whenever it grows.

Readers of a signed log count only entries that the newest signed state covers.
"""

import base64
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BinaryField, F, Func, IntegerField, QuerySet, Value

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.log import keys
from timemachine.evidence.models import EvidenceLog, LogCheckpoint, LogEntry, Seal, SigningKey
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.pure.checkpoint import PAYLOAD_TYPE, Checkpoint
from timemachine.evidence.pure.dsse import Signed
from timemachine.evidence.pure.tree import Frontier, leaf_hash

VERSION = 1
SEALED, ERASED, KEY, ERASED_FIELDS = "sealed", "erased", "key", "erased_fields"
HOLD, RETENTION, AUDIT = "hold", "retention", "audit"
UNREADABLE = "unreadable"
Entry = Mapping[str, Any]


@transaction.atomic
def append(project: Project, entries: Sequence[Mapping[str, Any]], at: datetime | None = None) -> int:
    """Add entries (`entry` names the kind) in order, sign the log's new state; return the first index.

    Entries contain only strings, integers and lists of these. Other writers wait for this transaction.
    """
    log = locked_log(project)
    moment = at or now()
    first, lines = (
        log.size,
        [canonical_json({"v": VERSION, "at": written(moment), **entry}) for entry in entries],
    )
    leaves = [leaf_hash(line) for line in lines]
    LogEntry.objects.bulk_create(
        LogEntry(project=project, index=first + offset, entry=line, leaf=leaf)
        for offset, (line, leaf) in enumerate(zip(lines, leaves, strict=True))
    )
    grown = frontier_of(log).grown(leaves)
    log.size, log.peaks, log.last_leaf = grown.size, list(grown.peaks), leaves[-1]
    log.save(update_fields=["size", "peaks", "last_leaf"])
    _sign(log, grown, keys.key_in_use(project), moment)
    return first


def locked_log(project: Project) -> EvidenceLog:
    """Return the project's log, locked until the transaction ends: nobody else writes or replaces the key.

    Read the signing key only after taking this lock; it could be replaced otherwise.
    """
    log, _ = EvidenceLog.objects.get_or_create(project=project)
    return EvidenceLog.objects.select_for_update().get(pk=log.pk)


@transaction.atomic
def replace_key(project: Project, *, by: str) -> SigningKey:
    """Replace the signing key and return the new one.

    The log names it in a state that the old key signs too, or says that the old key could not sign.
    """
    locked_log(project)
    new, old = keys.replace_key(project, by=by)
    usable = keys.why_unusable(old) is None
    record(project, "evidence.key_replaced", "key", new.fingerprint, by=by)
    entry = {"entry": KEY, "key": new.fingerprint, "replaces": old.fingerprint}
    append(project, [entry if usable else entry | {"replaced": UNREADABLE}])
    if usable:
        log = EvidenceLog.objects.get(project=project)
        _sign(log, frontier_of(log), old, now())
    return new


def frontier_of(grows: EvidenceLog | Seal) -> Frontier:
    """Return the tree of a log or seal as far as it is needed for growing."""
    return Frontier(size=grows.size, peaks=tuple(bytes(peak) for peak in grows.peaks))


def signed_state(
    key: SigningKey,
    origin: str,
    tree: Frontier,
    last_leaf: bytes,
    state: str,
    at: datetime,
    more: Mapping[str, str] | None = None,
) -> str:
    """Return the state of a tree as an envelope with the key's signature. Raises as `keys.sign`."""
    stated = Checkpoint(
        origin=origin,
        size=tree.size,
        root=tree.root,
        last_leaf=last_leaf,
        at=written(at),
        state=state,
        more=more or {},
    )
    return keys.sign(key, PAYLOAD_TYPE, stated.text().encode()).dumped()


def _sign(log: EvidenceLog, grown: Frontier, key: SigningKey, at: datetime) -> None:
    origin = checkpoint.log_origin(str(log.project_id))
    LogCheckpoint.objects.create(
        project_id=log.project_id,
        size=grown.size,
        root=grown.root,
        signed=signed_state(key, origin, grown, bytes(log.last_leaf), checkpoint.OPEN, at),
        key=key,
        at=at,
    )


def key_replacements(project: UUID, signing: Collection[int]) -> Iterator[tuple[LogCheckpoint, int]]:
    """Yield each replacement since the earliest of these keys: a log state signed by the replaced key, and
    the index of the entry that names the next one.

    Anyone who knows an old fingerprint can follow these to today's key. For a key that could not be read, the
    state is signed by a later key. One query if none of them was replaced, otherwise three for each.
    """
    earliest = (
        SigningKey.objects.filter(pk__in=signing, replaced_at__isnull=False).order_by("replaced_at").first()
    )
    if earliest is None:
        return
    replaced = SigningKey.objects.filter(project=project, replaced_at__gte=earliest.replaced_at)
    for key in replaced.order_by("replaced_at"):
        found = entries_with(project, f'"replaces":"{key.fingerprint}"')
        entry = next((each for each in found if json.loads(bytes(each.entry))["entry"] == KEY), None)
        if entry is None:
            continue
        states = LogCheckpoint.objects.filter(project=project, size__gt=entry.index).order_by("size", "id")
        if state := states.filter(key=key).first() or states.first():
            yield state, entry.index


def entries_with(project: UUID, text: str) -> QuerySet[LogEntry]:
    """Return the entries of a project's log that contain a text, in order."""
    place = Func(
        Value(text.encode(), output_field=BinaryField()),
        F("entry"),
        template="position(%(expressions)s)",
        arg_joiner=" IN ",
        output_field=IntegerField(),
    )
    return LogEntry.objects.filter(project=project).alias(place=place).filter(place__gt=0).order_by("index")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedState:
    """What a stored checkpoint, which may have been altered, says about a tree, and whether it is signed.

    `lines` are those after the root, by their first word.
    """

    origin: str
    size: int
    root: bytes
    is_signed: bool
    lines: Mapping[str, str]


def read_state(signed: str, key: SigningKey) -> SignedState | None:
    """Return the state in a DSSE envelope, or None if it cannot be read."""
    try:
        document = json.loads(signed)
        payload = base64.b64decode(document["payload"])
        signature = base64.b64decode(document["signatures"][0]["sig"])
        kind = str(document["payloadType"])
        origin, size, root, *lines = payload.decode("ascii").split("\n")
        state = Signed(payload_type=kind, payload=payload, key=key.fingerprint, signature=signature)
        return SignedState(
            origin=origin,
            size=int(size),
            root=base64.b64decode(root),
            is_signed=keys.is_signed(key, state),
            lines=dict(line.split(" ", 1) for line in lines if line),
        )
    except (ValueError, LookupError, TypeError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLog:
    """The entries of a project's log whose leaves make up the signed root."""

    project: UUID

    def entries_at(self, indexes: Collection[int]) -> list[Entry]:
        """Return those of these entries that are stored as they were signed."""
        return list(
            _read(LogEntry.objects.filter(project=self.project, index__in=indexes).order_by("index")).values()
        )

    def with_text(self, text: str) -> list[Entry]:
        """Return the entries that contain a text, in order."""
        return list(_read(entries_with(self.project, text)).values())

    def states_of(self, seal: Seal, generation: int | None = None) -> dict[int, Entry]:
        """Return every logged state of a seal, or of an earlier `generation`, by index of the entry. Reads the whole log once."""
        found = self._about(SEALED, seal)
        generation = seal.generation if generation is None else generation
        return {index: entry for index, entry in found.items() if entry.get("generation") == generation}

    def erasures_of(self, seal: Seal) -> dict[int, Entry]:
        """Return the tombstones of fields and steps of what the seal is for, by index. Reads the whole log once."""
        return self._about(ERASED_FIELDS, seal)

    def _about(self, kind: str, seal: Seal) -> dict[int, Entry]:
        found = _read(entries_with(self.project, seal.subject_id))
        whose = (kind, seal.of, seal.subject_id)
        return {
            index: entry
            for index, entry in found.items()
            if tuple(entry.get(name) for name in ("entry", "of", "id")) == whose
        }


def exists(project: UUID) -> bool:
    """Return whether anything was ever written to the project's log."""
    return any(each.objects.filter(project=project).exists() for each in (LogCheckpoint, LogEntry))


def signed_log(project: UUID) -> SignedLog | None:
    """Return the project's log, or None if its entries are not those that the newest signed state covers."""
    newest = LogCheckpoint.objects.filter(project=project).select_related("key").order_by("-size", "-id")
    last = newest.first()
    state = None if last is None else read_state(last.signed, last.key)
    if state is None or not state.is_signed or state.origin != checkpoint.log_origin(str(project)):
        return None
    rows = LogEntry.objects.filter(project=project).order_by("index").values_list("index", "leaf")
    leaves = [bytes(leaf) for place, (index, leaf) in enumerate(rows) if index == place]
    stated = (len(leaves), Frontier().grown(leaves).root)
    whole = stated == (state.size, state.root) and len(rows) == state.size
    return SignedLog(project=project) if whole else None


def _read(rows: QuerySet[LogEntry]) -> dict[int, Entry]:
    """Return the entries whose bytes match their leaf hash, by index."""
    return {
        each.index: json.loads(bytes(each.entry))
        for each in rows
        if leaf_hash(bytes(each.entry)) == bytes(each.leaf)
    }
