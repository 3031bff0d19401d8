"""A project's log as far as it is signed: only entries covered by the newest signed state count."""

import base64
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import LogCheckpoint, LogEntry, Seal, SigningKey
from timemachine.evidence.pure.checkpoint import log_origin
from timemachine.evidence.pure.dsse import Signed
from timemachine.evidence.pure.tree import Frontier, leaf_hash

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedState:
    """What a stored checkpoint, which may have been altered, says about a tree, and whether it is signed."""

    origin: str
    size: int
    root: bytes
    is_signed: bool


def read_state(signed: str, key: SigningKey) -> SignedState | None:
    """Return the state in a DSSE envelope, or None if it cannot be read."""
    try:
        document = json.loads(signed)
        payload = base64.b64decode(document["payload"])
        signature = base64.b64decode(document["signatures"][0]["sig"])
        kind = str(document["payloadType"])
        origin, size, root = payload.decode("ascii").split("\n")[:3]
        said = Signed(payload_type=kind, payload=payload, key=key.fingerprint, signature=signature)
        return SignedState(
            origin=origin,
            size=int(size),
            root=base64.b64decode(root),
            is_signed=keys.is_signed(key, said),
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

    def states_of(self, seal: Seal) -> dict[int, Entry]:
        """Return every logged state of a seal, by index of the entry. Reads the whole log once."""
        found = _read(project_log.entries_with(self.project, seal.subject_id))
        whose = (project_log.SEALED, seal.of, seal.subject_id, seal.generation)
        names = ("entry", "of", "id", "generation")
        return {
            index: entry
            for index, entry in found.items()
            if tuple(entry.get(name) for name in names) == whose
        }


def signed_log(project: UUID) -> SignedLog | None:
    """Return the project's log, or None if its entries are not those that the newest signed state covers."""
    newest = LogCheckpoint.objects.filter(project=project).select_related("key").order_by("-size", "-id")
    last = newest.first()
    state = None if last is None else read_state(last.signed, last.key)
    if state is None or not state.is_signed or state.origin != log_origin(str(project)):
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
