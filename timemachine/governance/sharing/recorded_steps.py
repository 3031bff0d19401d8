"""The recorded steps of one session, as far as a link shows them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Q, QuerySet

from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.deletion.erasure.queries import erased_fields_of
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.read_models import shown_of
from timemachine.governance.sharing.read_models.rows import (
    SharedRow,
    SharedRows,
    nameless_row,
    shared_place,
    shared_row,
)
from timemachine.governance.sharing.read_models.seals import SharedDeletion, SharedErasure
from timemachine.governance.sharing.read_models.states import SharedState, shared_use
from timemachine.governance.sharing.read_models.steps import (
    SharedOrigin,
    SharedStep,
    cached_from,
    recorded_document,
    shared_action,
    shared_head,
    shared_passages,
    unredacted_passages,
)
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.model_calls.queries import Visible, visible_request
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.payload_sizes import size_of_passages
from timemachine.recording.timeline.pieces import StepRange
from timemachine.recording.timeline.provenance import origin_in
from timemachine.recording.timeline.pure.nesting import REACH, Row, nest
from timemachine.recording.timeline.rows import rows_of
from timemachine.recording.timeline.schemas.actions import with_everything
from timemachine.recording.timeline.state import (
    MESSAGE_BYTES,
    StateMessage,
    messages_in,
    messages_of,
    uncounted_messages,
)
from timemachine.recording.timeline.step import FIRST_BYTES, Step, step, steps_in_full
from timemachine.recording.usage.queries import frames_first_used, frames_used_through, totals_through

PAGE: Final = 200
MOST_MESSAGES: Final = 20
MOST_FRAMES: Final = 20
MOST_AT_ONCE: Final = 50
BYTES_AT_ONCE: Final = 4 * 1024 * 1024
PAYLOADS: Final = ("input", "output", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSteps:
    """Some actions of a session. Any other raises the same `NotFound`. `last` is the last one if these are all up to it."""

    session: Session
    actions: QuerySet[Action]
    redactor: Redactor
    last: int = 0

    def rows(self, around: int, last: int) -> SharedRows:
        """Return the page of `PAGE` steps that contains a step, of those up to `last`. Nothing is collapsed."""
        first = (min(max(around, 1), last) - 1) // PAGE * PAGE + 1
        end = min(first + PAGE - 1, last)
        reached = Q(sequence__gte=first - REACH, sequence__lte=end)
        found = rows_of(self.session, reached, PAGE + REACH, recorded=True)
        places = nest(found, unfolded={row.sequence for row in found})
        shown = [place for place in places if place.step.sequence >= first]
        rows = self._rows([place.step for place in shown])
        return SharedRows(
            rows=[shared_place(place, row) for place, row in zip(shown, rows, strict=True)],
            earlier=first - 1 if first > 1 else None,
            later=end + 1 if end < last else None,
        )

    def step(self, sequence: int, first_bytes: int = FIRST_BYTES) -> SharedStep:
        """Return one step with its payloads and passages, and the shown steps above and inside it."""
        if not self.actions.filter(sequence=sequence).exists():
            raise link_not_valid()
        found = step(self.session, sequence, first_bytes)
        relatives = [row for row in (found.parent, *found.children) if row is not None]
        shown = self.actions.filter(sequence__in=[row.sequence for row in relatives])
        seen = set(shown.values_list("sequence", flat=True))
        parent, children = found.parent, [row for row in found.children if row.sequence in seen]
        if parent is not None and parent.sequence not in seen:
            parent = None
        rows = self._rows([*([parent] if parent else []), *children])
        above, inside = (rows[0], rows[1:]) if parent else (None, rows)
        return self._shared(found, self._complete([sequence]), above, inside, first_bytes)

    def in_full(self, span: StepRange, first_bytes: int) -> Iterator[list[SharedStep]]:
        """Yield the steps of a range in order, a few at a time, each payload and passage up to that many bytes and without the steps inside."""
        steps = self.actions.filter(sequence__range=(span.first, span.last)).order_by("sequence")
        columns = ("sequence", "input__size", "output__size", "source__size", size_of_passages(Hit, "action"))
        rows = steps.values_list(*columns).iterator(chunk_size=1_000)
        most = None if self.redactor.rules else first_bytes  # for redaction, they are read whole
        for sequences in batches_by_size(rows, most):
            yield self._in_full(sequences, first_bytes)

    def _in_full(self, sequences: Sequence[int], first_bytes: int) -> list[SharedStep]:
        found = steps_in_full(self.session, sequences, first_bytes)
        rows = {each.parent.sequence: each.parent for each in found if each.parent is not None}
        shown = self.actions.filter(sequence__in=rows).values_list("sequence", flat=True)
        above = {each: nameless_row(rows[each]) for each in shown}
        complete = self._complete(sequences)
        return [
            self._shared(
                each, complete, above.get(each.parent.sequence) if each.parent else None, [], first_bytes
            )
            for each in found
        ]

    def context_steps(self, sequences: Collection[int]) -> dict[int, list[SharedStep]]:
        """Return for each find or ask the steps with its passages, without the steps around them: itself, or else the finds inside it.

        At most nine queries for any number of them.
        """
        asked = dict(self.actions.filter(sequence__in=sequences).values_list("sequence", "client_id"))
        if len(asked) < len(set(sequences)):
            raise link_not_valid()
        by_id = {client_id: sequence for sequence, client_id in asked.items() if client_id is not None}
        finds = self.actions.filter(Q(parent_sequence__in=asked) | Q(parent_id_given__in=by_id), kind="find")
        columns = ("sequence", "parent_sequence", "parent_id_given")
        inside: dict[int, list[int]] = {}
        for sequence, parent, parent_id in finds.order_by("sequence").values_list(*columns):
            inside.setdefault(parent if parent in asked else by_id[parent_id], []).append(sequence)
        every = sorted({*asked, *(each for within in inside.values() for each in within)})
        found = {each.action.sequence: each for each in self._in_full(every, FIRST_BYTES)}
        return {
            each: [found[each]]
            if found[each].passages or each not in inside
            else [found[within] for within in inside[each]]
            for each in asked
        }

    def request(self, sequence: int, messages: int) -> FrozenRequest:
        """Return the request of a model call with this many of its latest messages, of what the link shows.

        Raises:
            InvalidInput: The step is not a model call, or its conversation is too long.
        """
        visible = Visible(through=self.last, redacted=self.redactor.document)
        return visible_request(self._whole(sequence), messages, visible)

    def state(self, sequence: int) -> SharedState:
        """Return the state after a step. `actions` are all up to the `last`."""
        until = self.actions.filter(sequence__lte=sequence)
        totals = totals_through(self.session, sequence)
        messages = messages_of(until, MOST_MESSAGES)
        used = frames_used_through(self.session, sequence, MOST_FRAMES)
        complete = self._complete({each.sequence for each in messages} | {each.sequence for each in used})
        documents = {number: self._documents(action) for number, action in complete.items()}
        if self.redactor.rules is not None:
            messages = [self._message(each, *documents[each.sequence]) for each in messages]
        return SharedState(
            sequence=sequence,
            totals=totals,
            messages=messages,
            message_count=messages_in(totals) + uncounted_messages(until),
            frames_used=[shared_use(each, documents.get(each.sequence)) for each in used],
            frames_used_count=frames_first_used(self.session, 0, sequence).count(),
        )

    def document(self, sequence: int) -> JsonObject:
        """Return one complete step in the form of the API."""
        return self.redactor.document(recorded_document(self._whole(sequence), self.session.id))

    def _shared(
        self,
        found: Step,
        complete: Mapping[int, Action],
        parent: SharedRow | None,
        children: Sequence[SharedRow],
        first_bytes: int,
    ) -> SharedStep:
        if self.redactor.rules is None:
            after, named = None, cached_from(found.action, self.session.id)
            heads = {name: getattr(found, name) for name in PAYLOADS}
            passages = unredacted_passages(found)
        else:
            before, after = self._documents(complete[found.action.sequence])
            named = before["cached_from"] if before["cached_from"] == after["cached_from"] else {}
            heads = {
                name: shared_head(getattr(found, name), before.get(name), after.get(name), first_bytes)
                for name in PAYLOADS
            }
            passages = shared_passages(found, before, after, first_bytes)
        return SharedStep(
            session=self.session.id,
            action=shared_action(found.action, after, has_parent=parent is not None),
            **heads,
            passages=passages,
            parent=parent,
            children=children,
            origin=self._origin(named),
        )

    def _documents(self, action: Action) -> tuple[JsonObject, JsonObject]:
        """Return a step in the form of the API before and after redaction."""
        before = recorded_document(action, self.session.id)
        return before, self.redactor.document(before)

    def _message(self, message: StateMessage, before: JsonObject, after: JsonObject) -> StateMessage:
        head = shared_head(message.text, before[message.field], after[message.field], MESSAGE_BYTES)
        return message if head is None else replace(message, text=head)

    def _origin(self, named: JsonObject | None) -> SharedOrigin | None:
        """Return the origin of a cached answer, which names no other session. An empty `named` is an origin that is withheld."""
        if named is None:
            return None
        found = origin_in(self.session if named.get("session") else None, named)
        return shown_of(SharedOrigin, found, session=found.session.id if found.session else None)

    def _rows(self, rows: Sequence[Row]) -> list[SharedRow]:
        """Return lines of the timeline, named by what is left of their payloads. At most one query."""
        if self.redactor.rules is None or not rows:
            return [shared_row(row, None, self.redactor) for row in rows]
        actions = Action.objects.filter(session=self.session, sequence__in=[row.sequence for row in rows])
        found = {each.sequence: each for each in actions.select_related("input", "output")}
        return [shared_row(row, found[row.sequence], self.redactor) for row in rows]

    def _complete(self, sequences: Collection[int]) -> dict[int, Action]:
        """Return steps with everything that redaction reads, by number; none if nothing is withheld. Two queries."""
        if self.redactor.rules is None:
            return {}
        found = {each.sequence: each for each in with_everything(self.actions.filter(sequence__in=sequences))}
        if len(found) < len(sequences):
            raise link_not_valid()
        return found

    def _whole(self, sequence: int) -> Action:
        found = with_everything(self.actions).filter(sequence=sequence).first()
        if found is None:
            raise link_not_valid()
        return found


def batches_by_size(rows: Iterable[Sequence[int | None]], most: int | None = None) -> Iterator[list[int]]:
    """Yield the first column of the rows, as many at a time as are read together: by number, and by the sizes in the other
    columns, of which each counts `most` bytes at most."""
    batch, total = list[int](), 0
    for first, *sizes in rows:
        if batch and (len(batch) == MOST_AT_ONCE or total > BYTES_AT_ONCE):
            yield batch
            batch, total = [], 0
        batch.append(first or 0)
        total += sum((size or 0) if most is None else min(size or 0, most) for size in sizes)
    if batch:
        yield batch


def erasures_in(steps: Sequence[SharedStep]) -> dict[int, list[SharedErasure]]:
    """Return what was erased of steps, all of one session, by sequence. One query."""
    if not steps:
        return {}
    found = erased_fields_of(steps[0].session, [each.action.sequence for each in steps])
    return {sequence: [shown_of(SharedErasure, each) for each in rows] for sequence, rows in found.items()}


def deletion_of(found: SharedStep) -> SharedDeletion | None:
    """Return the deletion of a step that was deleted completely; None otherwise. One query.

    The label does not tell reliably: a step may have been recorded with such a name.
    """
    return deletions_in([found]).get(found.action.sequence)


def deletions_in(steps: Sequence[SharedStep]) -> dict[int, SharedDeletion]:
    """Return the deletions of steps, all of one session, that were deleted completely, by sequence. One query."""
    if not steps:
        return {}
    found = deletions_of(steps[0].session, [each.action.sequence for each in steps])
    return {sequence: SharedDeletion(erased_at=deleted.at) for sequence, deleted in found.items()}
