"""One step: what was recorded, what was frozen with it, and its neighbours, parent and children."""

import codecs
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Q

from timemachine.core import prepared_statements
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.stored import shown_of
from timemachine.recording.annotations.significance.queries import COMPRESSED_NOW, IMPORTANCE, SIGNIFICANCE
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import PARTIAL_TEXT
from timemachine.recording.sessions.queries import step_not_found
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter
from timemachine.recording.timeline.pure.nesting import Row
from timemachine.recording.timeline.rows import rows_of

FIRST_BYTES: Final = 32 * 1024
MORE_BYTES: Final = 512 * 1024
MOST_RELATIVES: Final = 100
# In the order of the fields of `Neighbours` after `kind`. Compiling eight querysets takes ten times as long as running this.
_NEIGHBOURS: Final = """
WITH steps AS NOT MATERIALIZED (SELECT * FROM tm_action WHERE session_id = %(session)s),
before AS NOT MATERIALIZED (SELECT * FROM steps WHERE sequence < %(sequence)s),
after AS NOT MATERIALIZED (SELECT * FROM steps WHERE sequence > %(sequence)s)
SELECT (SELECT min(sequence) FROM before), (SELECT max(sequence) FROM before),
(SELECT min(sequence) FROM after), (SELECT max(sequence) FROM after),
(SELECT max(sequence) FROM before WHERE kind = %(kind)s), (SELECT min(sequence) FROM after WHERE kind = %(kind)s),
(SELECT max(sequence) FROM before WHERE copied_from IS NULL AND (error_type IS NOT NULL OR error_message IS NOT NULL)),
(SELECT min(sequence) FROM after WHERE copied_from IS NULL AND (error_type IS NOT NULL OR error_message IS NOT NULL)),
(SELECT max(sequence) FROM before WHERE kind = 'checkpoint'), (SELECT min(sequence) FROM after WHERE kind = 'checkpoint')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a payload: its text up to a number of bytes, and hash and size of the payload. `withheld`:
    redacted earlier, without hash."""

    sha256: str
    media_type: str
    size: int
    text: str
    cut: bool
    withheld: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A frozen hit with the beginning of its text; None if no text was recorded."""

    hit: Hit
    text: Head | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The sequences next to a step of this `kind`: in the filter, of its kind, of failed steps and of checkpoints; None at the first or
    last of them. `first` and `last` are the ends of the filter."""

    kind: str
    first: int | None
    previous: int | None
    next: int | None
    last: int | None
    previous_same_kind: int | None
    next_same_kind: int | None
    previous_error: int | None
    next_error: int | None
    previous_checkpoint: int | None
    next_checkpoint: int | None

    @property
    def has_checkpoints(self) -> bool:
        """Whether the session has a checkpoint, which may be the step itself."""
        return (
            self.kind == "checkpoint"
            or self.previous_checkpoint is not None
            or self.next_checkpoint is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step with the beginnings of its payloads, its frozen passages, its parent and its children."""

    action: Action
    input: Head | None
    output: Head | None
    source: Head | None
    passages: Sequence[Passage]
    parent: Row | None
    children: Sequence[Row]

    @property
    def failed(self) -> bool:
        return self.action.error_type is not None or self.action.error_message is not None

    @property
    def partial_text(self) -> str | None:
        """What a model had written when its ask failed, as far as it is shown, or None."""
        if not self.failed or self.action.kind != "ask" or self.output is None:
            return None
        try:
            found = json.loads(self.output.text + ('"}' if self.output.cut else ""))
        except ValueError:  # cut inside an escape
            return self.output.text
        text = found.get(PARTIAL_TEXT) if isinstance(found, dict) else None
        return text if isinstance(text, str) else self.output.text


def nearest(session: Session, number: int) -> int | None:
    """Return the recorded step nearest to that number; None for a session without steps. Steps have no gaps."""
    return max(1, min(number, session.last_sequence)) if session.last_sequence else None


def step(session: Session, sequence: int, first_bytes: int = FIRST_BYTES) -> Step:
    """Return one step in detail, each payload up to that many bytes. Four queries. Raises `NotFound`."""
    action = (
        Action.objects.filter(session=session, sequence=sequence)
        .annotate(now_significance=SIGNIFICANCE, now_importance=IMPORTANCE, is_compressed=COMPRESSED_NOW)
        .select_related("weight")
        .first()
    )
    if action is None:
        raise step_not_found(session, sequence)
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


def steps_in_full(session: Session, sequences: Sequence[int], first_bytes: int) -> list[Step]:
    """Return some steps in order, each payload up to that many bytes and without the steps inside them. Four queries."""
    actions = list(Action.objects.filter(session=session, sequence__in=sequences).order_by("sequence"))
    hits: dict[int, list[Hit]] = {action.id: [] for action in actions}
    for hit in Hit.objects.filter(action__in=actions).order_by("rank"):
        hits[hit.action_id].append(hit)
    own = [payload for each in actions for payload in (each.input_id, each.output_id, each.source_id)]
    found = heads([*own, *(hit.payload_id for many in hits.values() for hit in many)], first_bytes)
    above = _parents_of(session, actions)
    return [
        Step(
            action=action,
            input=found.get(action.input_id),
            output=found.get(action.output_id),
            source=found.get(action.source_id),
            passages=[Passage(hit=hit, text=found.get(hit.payload_id)) for hit in hits[action.id]],
            parent=next((row for row in above if _is_above(row, action)), None),
            children=[],
        )
        for action in actions
    ]


def _parents_of(session: Session, actions: Sequence[Action]) -> list[Row]:
    """Return the parents of some steps. One query."""
    given = {each.parent_id_given for each in actions if each.parent_id_given is not None}
    numbers = {each.parent_sequence for each in actions if each.parent_sequence is not None}
    return rows_of(session, Q(client_id__in=given) | Q(sequence__in=numbers), len(actions))


def heads(payload_ids: Iterable[int | None], first_bytes: int = FIRST_BYTES) -> dict[int | None, Head]:
    """Return the beginnings of payloads by id. One query, which reads only what is shown."""
    ids = {payload for payload in payload_ids if payload is not None}
    rows = (
        Payload.objects.filter(id__in=ids)
        .annotate(head=shown_of(first_bytes))
        .values_list("id", "sha256", "media_type", "size", "head")
    )
    return {
        row: Head(sha256=sha256, media_type=media_type, size=size, text=_text(head), cut=size > first_bytes)
        for row, sha256, media_type, size, head in rows
    }


def neighbours(session: Session, action: Action, shown: Filter = EVERYTHING) -> Neighbours:
    """Return the neighbours of a step. One query, five with a filter."""
    facts = {"session": session.id, "sequence": action.sequence, "kind": action.kind}
    found = Neighbours(action.kind, *prepared_statements.fetch_rows(_NEIGHBOURS, facts)[0])
    if not shown:
        return found
    steps = Action.objects.filter(matching(shown), session=session).values_list("sequence", flat=True)
    before = steps.filter(sequence__lt=action.sequence)
    after = steps.filter(sequence__gt=action.sequence)
    return replace(
        found,
        first=before.order_by("sequence").first(),
        previous=before.order_by("-sequence").first(),
        next=after.order_by("sequence").first(),
        last=after.order_by("-sequence").first(),
    )


def relatives(session: Session, action: Action) -> tuple[Row | None, list[Row]]:
    """Return the parent of a step and at most `MOST_RELATIVES` children, wherever they are. One query."""
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
    """Return the text of the bytes, without a character that was cut."""
    decoder = codecs.getincrementaldecoder("utf-8")
    try:
        return decoder("surrogatepass").decode(head)
    except UnicodeDecodeError:  # altered bytes
        return decoder("replace").decode(head)
