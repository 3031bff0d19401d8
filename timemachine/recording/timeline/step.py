"""One step: what was recorded, what was frozen with it, and the steps beside, above and inside it."""

import codecs
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import BinaryField, Q
from django.db.models.functions import Substr

from timemachine.core.payloads.models import Payload
from timemachine.core.pure.errors import NotFound
from timemachine.knowledge import prepared_statements
from timemachine.recording.annotations.significance.effective import COMPRESSED_NOW, IMPORTANCE, SIGNIFICANCE
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import PARTIAL_TEXT
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter
from timemachine.recording.timeline.rows import Row, rows_of

FIRST_BYTES: Final = 32 * 1024
MORE_BYTES: Final = 512 * 1024
MOST_RELATIVES: Final = 100
_NEAREST: Final = """
SELECT (SELECT max(sequence) FROM tm_action WHERE session_id = %(session)s AND sequence <= %(target)s),
(SELECT min(sequence) FROM tm_action WHERE session_id = %(session)s AND sequence >= %(target)s)
"""
# In the order of the fields of `Neighbours`. Compiling this from eight query sets takes ten times as long as running it.
_NEIGHBOURS: Final = """
WITH steps AS NOT MATERIALIZED (SELECT * FROM tm_action WHERE session_id = %(session)s),
before AS NOT MATERIALIZED (SELECT * FROM steps WHERE sequence < %(sequence)s),
after AS NOT MATERIALIZED (SELECT * FROM steps WHERE sequence > %(sequence)s)
SELECT (SELECT max(sequence) FROM before), (SELECT min(sequence) FROM after),
(SELECT max(sequence) FROM before WHERE kind = %(kind)s), (SELECT min(sequence) FROM after WHERE kind = %(kind)s),
(SELECT max(sequence) FROM before WHERE error_type IS NOT NULL OR error_message IS NOT NULL),
(SELECT min(sequence) FROM after WHERE error_type IS NOT NULL OR error_message IS NOT NULL),
(SELECT max(sequence) FROM before WHERE kind = 'checkpoint'), (SELECT min(sequence) FROM after WHERE kind = 'checkpoint')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a payload: its text up to a number of bytes, and what the whole is. `withheld`: it was redacted before, and has no hash."""

    sha256: str
    media_type: str
    size: int
    text: str
    cut: bool
    withheld: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A frozen hit with the beginning of its text; None where no text was recorded."""

    hit: Hit
    text: Head | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The sequences beside a step: in the filter, of its kind, of a failed step and of a checkpoint; None where there is none."""

    previous: int | None
    next: int | None
    previous_same_kind: int | None
    next_same_kind: int | None
    previous_error: int | None
    next_error: int | None
    previous_checkpoint: int | None
    next_checkpoint: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step with the beginnings of its payloads, its frozen passages, and the steps above and inside it."""

    action: Action
    input: Head | None
    output: Head | None
    source: Head | None
    passages: Sequence[Passage]
    parent: Row | None
    children: Sequence[Row]

    @property
    def failed(self) -> bool:
        """Whether an error was recorded."""
        return self.action.error_type is not None or self.action.error_message is not None

    @property
    def partial_text(self) -> str | None:
        """What a model had written when its ask failed, as much of it as is shown; None where that was nothing."""
        if not self.failed or self.action.kind != "ask" or self.output is None:
            return None
        try:
            found = json.loads(self.output.text + ('"}' if self.output.cut else ""))
        except ValueError:  # cut inside an escape
            return self.output.text
        text = found.get(PARTIAL_TEXT) if isinstance(found, dict) else None
        return text if isinstance(text, str) else self.output.text


def nearest(session: Session, wanted: int) -> int | None:
    """The recorded step nearest to that number, the earlier of two; None for a session without steps. One query."""
    target = max(1, min(wanted, session.last_sequence))
    ((*found,),) = prepared_statements.rows(_NEAREST, {"session": session.id, "target": target})
    there = [sequence for sequence in found if sequence is not None]
    return min(there, key=lambda sequence: (abs(sequence - target), sequence), default=None)


def step(session: Session, sequence: int, first_bytes: int = FIRST_BYTES) -> Step:
    """One step in detail, each payload up to so many bytes. Four queries. Raises `NotFound`."""
    action = (
        Action.objects.filter(session=session, sequence=sequence)
        .annotate(now_significance=SIGNIFICANCE, now_importance=IMPORTANCE, pressed=COMPRESSED_NOW)
        .select_related("weight")
        .first()
    )
    if action is None:
        raise NotFound(
            f"The session {session.key} has no step {sequence}; it has steps 1 to {session.last_sequence}.",
            code="step_not_found",
        )
    hits = list(Hit.objects.filter(action=action).order_by("rank"))
    own = (action.input_id, action.output_id, action.source_id)
    found = heads([*own, *(hit.payload_id for hit in hits)], first_bytes)
    above, inside = relatives(session, action)
    return Step(
        action=action,
        input=found.get(action.input_id),
        output=found.get(action.output_id),
        source=found.get(action.source_id),
        passages=[Passage(hit=hit, text=found.get(hit.payload_id)) for hit in hits],
        parent=above,
        children=inside,
    )


def heads(payload_ids: Iterable[int | None], first_bytes: int = FIRST_BYTES) -> dict[int | None, Head]:
    """The beginnings of payloads by their id, None never among them. One query that reads no more than it shows."""
    wanted = {payload for payload in payload_ids if payload is not None}
    rows = (
        Payload.objects.filter(id__in=wanted)
        .annotate(head=Substr("data", 1, first_bytes, output_field=BinaryField()))
        .values_list("id", "sha256", "media_type", "size", "head")
    )
    return {
        row: Head(
            sha256=sha256, media_type=media_type, size=size, text=_text(bytes(head)), cut=size > first_bytes
        )
        for row, sha256, media_type, size, head in rows
    }


def neighbours(session: Session, action: Action, shown: Filter = EVERYTHING) -> Neighbours:
    """The steps beside a step. One query, three with a filter."""
    facts = {"session": session.id, "sequence": action.sequence, "kind": action.kind}
    found = Neighbours(*prepared_statements.rows(_NEIGHBOURS, facts)[0])
    if not shown:
        return found
    steps = Action.objects.filter(matching(shown), session=session).values_list("sequence", flat=True)
    return replace(
        found,
        previous=steps.filter(sequence__lt=action.sequence).order_by("-sequence").first(),
        next=steps.filter(sequence__gt=action.sequence).order_by("sequence").first(),
    )


def relatives(session: Session, action: Action) -> tuple[Row | None, list[Row]]:
    """The parent of a step and its children, at most `MOST_RELATIVES`, wherever they stand. One query."""
    children = Q(parent_sequence=action.sequence)
    if action.client_id is not None:
        children |= Q(parent_id_given=action.client_id)
    found = rows_of(
        session, (children | _parent_of(action)) & ~Q(sequence=action.sequence), MOST_RELATIVES + 1
    )
    above = next((row for row in found if _is_above(row, action)), None)
    return above, [row for row in found if row is not above][:MOST_RELATIVES]


def _parent_of(action: Action) -> Q:
    if action.parent_id_given is not None:
        return Q(client_id=action.parent_id_given)
    return Q(sequence=action.parent_sequence) if action.parent_sequence is not None else Q(pk__in=())


def _is_above(row: Row, action: Action) -> bool:
    if action.parent_id_given is not None:
        return row.client_id == action.parent_id_given
    return row.sequence == action.parent_sequence


def _text(head: bytes) -> str:
    """The text of the bytes, without a character that the cut took apart."""
    return codecs.getincrementaldecoder("utf-8")("surrogatepass").decode(head)
