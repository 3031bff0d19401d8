"""A project's log as far as it is signed: an entry counts where the newest signed state has it, and no other does."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import BinaryField, F, Func, IntegerField, QuerySet, Value

from timemachine.evidence.log import project_log, signed_state
from timemachine.evidence.models import LogCheckpoint, LogEntry, Seal
from timemachine.evidence.pure.checkpoint import log_origin
from timemachine.evidence.pure.tree import Frontier, leaf_hash

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLog:
    """The entries of a project's log; those of which the signed root is not made are none of it."""

    project: UUID

    def at(self, indexes: Collection[int]) -> list[Entry]:
        """Those of these entries that stand there as they were signed."""
        return list(_read(self._entries().filter(index__in=indexes)).values())

    def states_of(self, seal: Seal) -> dict[int, Entry]:
        """Every state of a seal that was entered, by the entry's index. Reads the whole log once."""
        named = Func(
            Value(seal.subject_id.encode(), output_field=BinaryField()),
            F("entry"),
            template="position(%(expressions)s)",
            arg_joiner=" IN ",
            output_field=IntegerField(),
        )
        found = _read(self._entries().alias(named=named).filter(named__gt=0))
        whose = (project_log.SEALED, seal.of, seal.subject_id, seal.generation)
        names = ("entry", "of", "id", "generation")
        return {
            index: entry
            for index, entry in found.items()
            if tuple(entry.get(name) for name in names) == whose
        }

    def _entries(self) -> QuerySet[LogEntry]:
        return LogEntry.objects.filter(project=self.project).order_by("index")


def signed_log(project: UUID) -> SignedLog | None:
    """The project's log; None where its entries are not those that its newest signed state was signed over."""
    newest = LogCheckpoint.objects.filter(project=project).select_related("key").order_by("-size", "-id")
    last = newest.first()
    state = None if last is None else signed_state.read(last.signed, last.key)
    if state is None or not state.is_signed or state.origin != log_origin(str(project)):
        return None
    rows = LogEntry.objects.filter(project=project).order_by("index").values_list("index", "leaf")
    leaves = [bytes(leaf) for place, (index, leaf) in enumerate(rows) if index == place]
    stated = (len(leaves), Frontier().grown(leaves).root)
    whole = stated == (state.size, state.root) and len(rows) == state.size
    return SignedLog(project=project) if whole else None


def _read(rows: QuerySet[LogEntry]) -> dict[int, Entry]:
    """The entries whose bytes are those that their leaf was made of, by their index."""
    return {
        each.index: json.loads(bytes(each.entry))
        for each in rows
        if leaf_hash(bytes(each.entry)) == bytes(each.leaf)
    }
