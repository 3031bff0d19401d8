"""Queries about erasures: those of a session, one by its id, the erased fields of steps, and actions with them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.pure.errors import NotFound
from timemachine.evidence.models import ErasedField
from timemachine.governance.deletion.erasure.models import DONE, Erasure
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.recording.sessions.pure.turn_text import Deleted
from timemachine.recording.timeline.schemas.actions import (
    ActionOut,
    FieldErased,
    TurnDeleted,
    with_significance,
)
from timemachine.replay.runs.models import ReplayStep

_ERASED: Final = f"""
SELECT {columns(ErasedField)} FROM tm_erased_field
WHERE session_id = %(session)s AND replay_id IS NULL AND sequence = ANY(%(sequences)s) ORDER BY sequence, id
"""  # noqa: S608  # names of columns
_HAS_MARKS: Final = "SELECT FROM tm_erased_field WHERE session_id = %(session)s LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedParts:
    """What was erased of a replayed step: an `answer`, how many frozen `passages`, and any that it `found`."""

    answer: bool = False
    passages: int = 0
    found: bool = False

    def __bool__(self) -> bool:
        return self.answer or self.passages > 0 or self.found


def erasures_of(session: Session) -> QuerySet[Erasure]:
    """Return the erasures of a session, newest first."""
    return Erasure.objects.filter(session=session).select_related("session").order_by("-id")


def done_of(session: Session) -> QuerySet[Erasure]:
    """Return the finished erasures of a session, newest first."""
    return erasures_of(session).filter(status=DONE)


def erasure_of(project: Project, erasure_id: str | UUID) -> Erasure:
    """Return the project's erasure with that id. Raises `NotFound`."""
    missing = NotFound(
        f"There is no erasure {str(erasure_id)[:60]!r} in this project.", code="erasure_not_found"
    )
    return row_of(Erasure.objects.select_related("session").filter(project=project), erasure_id, missing)


def erased_fields_of(session: Session | UUID, sequences: Sequence[int]) -> dict[int, list[ErasedField]]:
    """Return the erased fields of recorded steps (0: of the session itself) by sequence. One query."""
    found: dict[int, list[ErasedField]] = {}
    of = session.id if isinstance(session, Session) else session
    for row in rows_of(ErasedField, _ERASED, {"session": of, "sequences": list(sequences)}):
        found.setdefault(row.sequence, []).append(row)
    return found


def as_given[A: ActionOut](session: Session, actions: Sequence[A]) -> list[A]:
    """Actions as the API returns them: with the significance in force, the fields that were erased, and by whom and why one was deleted.

    Two queries, three where something was erased.
    """
    erased = erased_fields_of(session, [each.sequence for each in actions])
    deleted = deletions_of(session, erased) if erased else {}
    return [
        _with_erasures(each, erased[each.sequence], deleted.get(each.sequence))
        if each.sequence in erased
        else each
        for each in with_significance(session, actions)
    ]


def _with_erasures[A: ActionOut](action: A, fields: Sequence[ErasedField], deleted: Deleted | None) -> A:
    shown = action.model_copy(update={"erased": [FieldErased.from_attributes(row) for row in fields]})
    return (
        shown
        if deleted is None
        else shown.model_copy(update={"deleted": TurnDeleted.from_attributes(deleted)})
    )


def has_marks(session: Session) -> bool:
    """Return whether anything of a session was erased, so that it may contain marks. One query."""
    return bool(prepared_statements.fetch_rows(_HAS_MARKS, {"session": session.id}))


def erased_passages(hits: Sequence[Hit]) -> set[int]:
    """Return which of a replayed step's frozen passages were partly or completely erased, by position from 1.

    Passages of several finds follow each other. Two queries, none without passages.
    """
    return erased_passages_of_each([hits])[0]


def erased_passages_of_each(passages: Sequence[Sequence[Hit]]) -> list[set[int]]:
    """Return for the frozen passages of each step what `erased_passages` returns. At most two queries for any number of them."""
    named = _actions_named({hit.action_id for hits in passages for hit in hits})
    rows = (
        ErasedField.objects.filter(
            session__in={session for session, _ in named.values()}, replay=None, field__startswith="hit."
        ).values_list("session", "sequence", "field")
        if named
        else ()
    )
    erased = {(session, sequence, rank_of(field)) for session, sequence, field in rows}
    found = []
    for hits in passages:
        place = Counter[int]()
        here = set()
        for number, hit in enumerate(hits, 1):
            place[hit.action_id] += 1
            if (*named[hit.action_id], place[hit.action_id]) in erased:
                here.add(number)
        found.append(here)
    return found


def _actions_named(ids: Collection[int]) -> dict[int, tuple[UUID, int]]:
    """Return the session and sequence of actions by id. One query, none without ids."""
    rows = Action.objects.filter(id__in=ids).values_list("id", "session", "sequence") if ids else ()
    return {id_: (session, sequence) for id_, session, sequence in rows}


def erased_parts(steps: Sequence[ReplayStep]) -> dict[int, ErasedParts]:
    """Return what was erased of replayed steps by id: of the recorded step, the finds inside it and its own
    results. Steps without erasures are left out. At most three queries.
    """
    if not steps:
        return {}
    inside = _finds_inside([step.action for step in steps])
    recorded = _erased_by_step(inside, {step.action.session_id for step in steps})
    replayed = _erased_in_replays(steps)
    found = {}
    for step in steps:
        here = recorded.get((step.action.session_id, step.sequence), set())
        own = replayed.get((step.replay_id, step.sequence), set())
        of_passages = {name for name in here if rank_of(name[1])}  # where it has none of its own
        passages = {name for name in of_passages if name[0] == step.sequence} or of_passages
        parts = ErasedParts(
            answer="output" in own or (step.sequence, "output") in here,
            passages=len({(sequence, rank_of(name)) for sequence, name in passages}),
            found=any(rank_of(name) for name in own),
        )
        if parts:
            found[step.pk] = parts
    return found


def erased_answers(steps: Sequence[int]) -> set[int]:
    """Return those of some replayed steps (ids) whose new answer was erased. One query."""
    erased = ErasedField.objects.filter(
        replay=OuterRef("replay"), sequence=OuterRef("sequence"), field="output"
    )
    return set(ReplayStep.objects.filter(Exists(erased), id__in=steps).values_list("id", flat=True))


def erased_recordings(asks: Collection[tuple[UUID, int]]) -> set[tuple[UUID, int]]:
    """Return those of some recorded asks, by session and sequence, whose answer was erased. One query."""
    rows = ErasedField.objects.filter(
        session__in={session for session, _ in asks},
        sequence__in={sequence for _, sequence in asks},
        replay=None,
        field="output",
    )
    return set(rows.values_list("session", "sequence")) & set(asks)


def rank_of(field: str) -> int:
    """Return the rank of the passage that a field belongs to; 0 for any other field."""
    kind, _, rest = field.partition(".")
    return int(rest.partition(".")[0]) if kind == "hit" else 0


Steps = Mapping[tuple[UUID, int], tuple[UUID, int]]
"""Steps (session and sequence) by the step that shows their content: themselves, or the ask they are inside of."""


def _finds_inside(actions: Sequence[Action]) -> Steps:
    """Return the actions and the finds inside the asks among them, each with the action that it belongs to."""
    found = {(each.session_id, each.sequence): (each.session_id, each.sequence) for each in actions}
    asks = [each for each in actions if each.kind == "ask"]
    if not asks:
        return found
    by_id = {(each.session_id, each.client_id): each.sequence for each in asks if each.client_id}
    children = Action.objects.filter(session__in={each.session_id for each in asks}, kind="find").filter(
        Q(parent_sequence__in={each.sequence for each in asks})
        | Q(parent_id_given__in={client_id for _, client_id in by_id})
    )
    rows = children.values_list("session", "sequence", "parent_sequence", "parent_id_given")
    for session, sequence, parent, parent_id in rows:
        above = by_id.get((session, parent_id or "")) if parent is None else parent
        if above is not None and (session, above) in found:
            found[session, sequence] = (session, above)
    return found


def _erased_by_step(
    inside: Steps, sessions: Collection[UUID]
) -> dict[tuple[UUID, int], set[tuple[int, str]]]:
    """Return the erased fields, each with its step, by the step that shows them."""
    rows = ErasedField.objects.filter(
        Q(field="output") | Q(field__startswith="hit."),
        session__in=sessions,
        replay=None,
        sequence__in={sequence for _, sequence in inside},
    )
    found: dict[tuple[UUID, int], set[tuple[int, str]]] = {}
    for session, sequence, field in rows.values_list("session", "sequence", "field"):
        if (whose := inside.get((session, sequence))) is not None:
            found.setdefault(whose, set()).add((sequence, field))
    return found


def _erased_in_replays(steps: Sequence[ReplayStep]) -> dict[tuple[UUID, int], set[str]]:
    rows = ErasedField.objects.filter(
        replay__in={step.replay_id for step in steps}, sequence__in={step.sequence for step in steps}
    )
    found: dict[tuple[UUID, int], set[str]] = {}
    for replay, sequence, field in rows.values_list("replay", "sequence", "field"):
        found.setdefault((replay, sequence), set()).add(field)
    return found
