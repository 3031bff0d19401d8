"""The Diff tab: the changes of state between a step and its base (the previous or a pinned one), and how the two steps differ."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.pure.numbers import counted, money, total_cost
from timemachine.recording.annotations.notes.models import Note
from timemachine.recording.annotations.notes.queries import notes_of
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.timeline.state import Between, between
from timemachine.recording.timeline.step import FIRST_BYTES, Head, Step, heads
from timemachine.recording.usage.pure.totals import Totals
from timemachine.replay.alignment.details import frame_at
from timemachine.replay.alignment.long_diffs import LONG
from timemachine.web import formatting
from timemachine.web.differences import Differing, differing
from timemachine.web.ranked_lists import RankedLists, ranked_lists
from timemachine.web.sessions.presenters.step_fields import Field, fields, grouped, signed, structures
from timemachine.web.sessions.presenters.steps import payload_words

FIRST_CHARACTERS: Final = 12_000
"""Characters of each value that are compared before more is requested."""
MOST_CHARACTERS: Final = LONG // 2
SHOWN_NOTED: Final = 20
LAST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The step that others are compared with, None if none is pinned; `notice` explains why it is not the requested one."""

    step: int | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The input or output of the two steps, and how they differ; None if they are too long to compare here.

    `left` and `right` are the hashes of the whole values.
    `compared` is the maximum number of characters compared, None for all; `more` means that more can be requested.
    """

    title: str
    found: Differing | None
    left: str | None
    right: str | None
    compared: int | None
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDiff:
    """Everything that the tab shows. `base` is None for the first step of a session."""

    base: Action | None
    pinned: bool
    changed: Between
    totals: Sequence[Field]
    fields: Sequence[Field]
    structures: Differing | None
    values: Sequence[Value]
    ranked: RankedLists | None
    noted: Sequence[Note]
    more_noted: bool

    @property
    def is_itself(self) -> bool:
        """Return whether the step is the pinned one."""
        return self.base is not None and self.base.sequence == self.changed.last == self.changed.first

    @property
    def backwards(self) -> bool:
        """Return whether the base comes after the step."""
        return self.base is not None and self.base.sequence == self.changed.last and not self.is_itself


def pin_of(session: Session, written: str) -> Pin:
    """Return the pinned step that the URL names, or the nearest if it does not exist; none if the URL names none."""
    if not written:
        return Pin()
    if not (written.isascii() and written.isdigit()):
        return Pin(
            notice=f"“{written[:40]}” is not a step number, so no step is pinned. Use a number, like ?pin=12."
        )
    sequence = min(int(written[:19]), LAST)
    step = max(1, min(sequence, session.last_sequence))
    if step == sequence:
        return Pin(step=step)
    last = counted(session.last_sequence, "step")
    return Pin(
        step=step,
        notice=f"There is no step {sequence:,} to pin: this session has {last}. The nearest step is pinned: {step:,}.",
    )


def step_diff(session: Session, found: Step, pin: Pin, *, first_bytes: int, line: int) -> StepDiff:
    """Compare a step with its base. At most twenty queries, however far apart the two are."""
    base = _base(session, found.action, pin)
    first, last = (
        (found.action, base)
        if base is not None and base.sequence > found.action.sequence
        else (base, found.action)
    )
    changed = between(session, first, last)
    noted = list(notes_of(session)[: SHOWN_NOTED + 1])
    return StepDiff(
        base=base,
        pinned=pin.step is not None,
        changed=changed,
        totals=_totals(changed.before, changed.after),
        fields=fields(base, found.action) if base is not None else (),
        structures=structures(base, found.action) if base is not None else None,
        values=list(_values(base, found, first_bytes, line)) if base is not None else (),
        ranked=_ranked(base, found) if base is not None else None,
        noted=noted[:SHOWN_NOTED],
        more_noted=len(noted) > SHOWN_NOTED,
    )


def _base(session: Session, action: Action, pin: Pin) -> Action | None:
    """Return the pinned step, else the previous one."""
    until = action.sequence - 1 if pin.step is None else pin.step
    if until == action.sequence:
        return action
    steps = Action.objects.filter(session=session, sequence__lte=until)
    return steps.order_by("-sequence").first()


def _totals(before: Totals, after: Totals) -> list[Field]:
    if not before.actions:
        before = replace(before, input_tokens=0, output_tokens=0, first=after.first, last=after.first)
    return [
        _total("Steps", before.actions, after.actions, grouped),
        _total("Errors", before.errors, after.errors, grouped),
        _total("Input tokens", before.input_tokens, after.input_tokens, grouped),
        _total("Output tokens", before.output_tokens, after.output_tokens, grouped),
        Field(
            name="Cost",
            left=total_cost(before.cost_usd, before.unknown_cost_calls),
            right=total_cost(after.cost_usd, after.unknown_cost_calls),
            difference=_more_cost(before, after),
        ),
        _total("Duration so far", before.elapsed_ms, after.elapsed_ms, formatting.duration),
    ]


def _total(name: str, before: Any, after: Any, words: Any) -> Field:
    """Return a total; a value that was not recorded before counts as added in full."""
    known = after is not None
    return Field(
        name=name,
        left=None if before is None else words(before),
        right=words(after) if known else None,
        difference=signed(after - (before or 0), words) if known else "",
    )


def _more_cost(before: Totals, after: Totals) -> str:
    unknown = after.unknown_cost_calls - before.unknown_cost_calls
    came = [f"{counted(abs(unknown), 'call')} with unknown cost{' less' * (unknown < 0)}"] if unknown else []
    if after.cost_usd is not None:
        came.insert(0, signed(after.cost_usd - (before.cost_usd or 0), money))
    return " and ".join(came)


def _ranked(base: Action, found: Step) -> RankedLists | None:
    """Return the passages of the two steps side by side; None if neither has any."""
    before = Hit.objects.filter(action=base).order_by("rank")
    return ranked_lists([frame_at(hit) for hit in before], [frame_at(each.hit) for each in found.passages])


def _values(base: Action, found: Step, first_bytes: int, line: int) -> Iterator[Value]:
    """Return the outputs and inputs of the two steps, without those that neither has."""
    if base.sequence == found.action.sequence:
        return
    before = heads([base.input_id, base.output_id], first_bytes)
    limit = MOST_CHARACTERS if first_bytes > FIRST_BYTES else FIRST_CHARACTERS
    words = payload_words(found.action.kind if found.action.kind == base.kind else "", found.failed)
    both = (
        (words["output"], before.get(base.output_id), found.output),
        (words["input"], before.get(base.input_id), found.input),
    )
    for title, left, right in both:
        if left is not None or right is not None:
            yield _value(title, left, right, limit, line)


def _value(title: str, left: Head | None, right: Head | None, limit: int, line: int) -> Value:
    """Return one value of both steps; equal hashes mean equal values, however long."""
    same = left is not None and right is not None and left.sha256 == right.sha256
    long = not same and any(each.cut or len(each.text) > limit for each in (left, right) if each)
    given = [None if each is None else _given(each, limit, whole=not long) for each in (left, right)]
    return Value(
        title=title,
        found=differing(*given, start=line),
        left=None if left is None else left.sha256,
        right=None if right is None else right.sha256,
        compared=limit if long else None,
        more=long and limit < MOST_CHARACTERS,
    )


def _given(head: Head, limit: int, *, whole: bool) -> Any:
    """Return the value to compare: JSON by its structure if both are complete, else the beginning of its text."""
    if whole and head.media_type == "application/json" and not head.cut:
        try:
            return json.loads(head.text)
        except ValueError:
            return head.text
    return head.text[:limit]
