"""Read the branch of a continuation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.continuation.branches import ACCEPTED_BY, PREFIX, SUPPLIED_BY
from timemachine.replay.runs.branch_ends import CONTINUATION_ENDED

_TURN: Final = re.compile(rf"{PREFIX}([0-9]+\.[0-9]+)(?:\.result)?")
_NAMING: Final = (SUPPLIED_BY, ACCEPTED_BY)
_COLUMNS: Final = ("sequence", "kind", "client_id", "name", "copied_from", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchSteps:
    """The steps with results of tools that came from the record and that a person supplied, those with messages of the user
    from the record and written by a person, those that name the person who supplied or accepted them, and the step that says how the run ended, None if the run went on after it or
    it is not among these."""

    recorded: tuple[int, ...]
    supplied: tuple[int, ...]
    messages: tuple[int, ...]
    written: tuple[int, ...]
    naming: tuple[int, ...]
    end: int | None


def branch_steps(steps: QuerySet[Action]) -> BranchSteps:
    """Return where these steps of a branch have results and messages from, and the last of them that says how it ended. One query."""
    recorded: dict[str, int] = {}
    supplied: dict[str, int] = {}
    messages: list[int] = []
    written: list[int] = []
    end: int | None = None
    own = Q(client_id__startswith=PREFIX) | Q(kind="event", name=CONTINUATION_ENDED)
    rows = list(steps.filter(own).order_by("sequence").values_list(*_COLUMNS))
    for sequence, kind, client_id, name, copied_from, metadata in rows:
        if kind == MODEL_CALL:
            end = None
        elif name == CONTINUATION_ENDED:
            end = sequence
        elif kind == "message":
            (messages if copied_from is not None else written).append(sequence)
        elif turn := _TURN.fullmatch(client_id or ""):
            if copied_from is not None:
                recorded[turn[1]] = sequence
            elif isinstance(metadata, Mapping) and SUPPLIED_BY in metadata:
                supplied[turn[1]] = sequence
    return BranchSteps(
        recorded=tuple(recorded.values()),
        supplied=tuple(supplied.values()),
        messages=tuple(messages),
        written=tuple(written),
        naming=tuple(sequence for sequence, *_, metadata in rows if _names_someone(metadata)),
        end=end,
    )


def _names_someone(metadata: object) -> bool:
    return isinstance(metadata, Mapping) and not metadata.keys().isdisjoint(_NAMING)
