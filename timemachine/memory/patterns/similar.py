"""Find patterns similar to a step or a text: its own, or one with the same words; and what solved them elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.db.models import F, Q

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import heads
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import whole_number
from timemachine.memory.patterns.models import Wording as StoredWording
from timemachine.memory.patterns.pure.grouping import joins
from timemachine.memory.patterns.pure.step_texts import KINDS, error_or_question_of, failure_lines
from timemachine.memory.patterns.pure.wording import Wording, wording_of
from timemachine.memory.patterns.queries import Resolution, resolutions_of, steps_of
from timemachine.memory.patterns.reader import LONGEST, payloads_of, step_of
from timemachine.memory.patterns.significance import with_significance
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.recording.sessions.queries import action_of, session_of

MOST: Final = 10
_NEAR: Final = 200
"""How many wordings that contain all words, or are contained, are compared."""
_MET: Final = f"""
SELECT {columns(StoredWording, "pattern")} FROM tm_pattern_step step
JOIN tm_wording wording ON wording.id = step.wording_id JOIN tm_wording pattern ON pattern.id = wording.pattern_id
WHERE step.action_id = %(action)s AND pattern.sessions >= 2
"""  # noqa: S608  # names of columns

type Like = Literal["same", "alike"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A similar pattern: the `same` wording, or `alike` by its words. `others` counts its sessions without the one
    of the step.
    """

    pattern: StoredWording
    like: Like
    others: int
    resolution: Resolution | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPattern:
    """A step has a pattern that other sessions have, too."""

    pattern: StoredWording
    others: int
    resolution: Resolution | None


def similar_to_step(project: Project, place: str, *, kind: str = "") -> list[Similar]:
    """Return the patterns of other sessions that are similar to a step; `place` is `SESSION:STEP`. Empty if the
    step has no error or question, or was copied: its original is no other occurrence.

    Raises `InvalidInput` for an invalid place, `NotFound` for an unknown session or step.
    """
    name, _, written = place.rpartition(":")
    sequence = whole_number(written)
    if not name or sequence is None:
        raise InvalidInput(
            "`similar_to` must be SESSION:STEP, for example checkout-7:12.",
            code="invalid_field",
            field="similar_to",
        )
    session = session_of(project, name)
    action = action_of(session, sequence)
    statement = None if action.is_copied else _error_or_question(action)
    chosen = [] if statement is None or kind not in {"", statement[0]} else [statement]
    return _similar(project, chosen, apart_from=session.id)


def similar_to_text(project: Project, text: str, *, kind: str = "") -> list[Similar]:
    """Return the patterns that are similar to a text, read as an error or as a question."""
    found = {
        each.digest: each
        for candidate in (failure_lines(text), text.strip())
        if (each := wording_of(candidate))
    }
    chosen = [(one, each) for one in KINDS for each in found.values() if kind in {"", one}]
    return _similar(project, chosen, apart_from=None)


def known_pattern_at(action: Action) -> KnownPattern | None:
    """Return the pattern of a step if other sessions have it, too. One query, two more if there is one."""
    pattern = next(rows_of(StoredWording, _MET, {"action": action.pk}), None)
    if pattern is None:
        return None
    solved = resolutions_of([pattern.id], apart_from=action.session_id) if pattern.solved else {}
    return KnownPattern(pattern=pattern, others=pattern.sessions - 1, resolution=solved.get(pattern.id))


def _error_or_question(action: Action) -> tuple[str, Wording] | None:
    """Return the step's error or question as it is compared, also if the step has not been read yet."""
    action = with_significance(Action.objects.filter(pk=action.pk)).get()
    found = error_or_question_of(step_of(action, heads(payloads_of(action), LONGEST)))
    wording = wording_of(found[1], action.tool or action.name) if found else None
    return (found[0], wording) if found and wording else None


def _similar(
    project: Project, chosen: Sequence[tuple[str, Wording]], *, apart_from: UUID | None
) -> list[Similar]:
    likes: dict[UUID, Like] = {}
    for kind, wording in chosen:
        for pattern, like in _patterns_like(project, kind, wording):
            if likes.get(pattern) != "same":
                likes[pattern] = like
    others = _others(set(likes), apart_from)
    rows = StoredWording.objects.in_bulk([each for each in likes if others.get(each)])
    solved = resolutions_of(list(rows), apart_from=apart_from)
    found = [
        Similar(pattern=rows[row], like=likes[row], others=others[row], resolution=solved.get(row))
        for row in rows
    ]
    ordered = sorted(found, key=lambda each: (each.like != "same", -each.others, each.pattern.id.int))
    return ordered[:MOST]


def _patterns_like(project: Project, kind: str, wording: Wording) -> Iterator[tuple[UUID, Like]]:
    """Return the patterns of the wording itself, and of those that would join it or that it would join."""
    rows = StoredWording.objects.filter(project=project, kind=kind, pattern__isnull=False)
    fields = ("digest", "text", "words", "pattern_id")
    for _, _, _, pattern in rows.filter(digest=wording.digest).values_list(*fields):
        yield pattern, "same"
    words = list(wording.words)
    near = rows.filter(Q(words__contained_by=words) | Q(words__contains=words)).exclude(digest=wording.digest)
    near = near.filter(pattern=F("id")).order_by("id")
    for _, text, own, pattern in near.values_list(*fields)[:_NEAR]:
        other = Wording(text=text, words=tuple(own))
        if joins(other, wording) or joins(wording, other):
            yield pattern, "alike"


def _others(patterns: set[UUID], apart_from: UUID | None) -> dict[UUID, int]:
    """Return how many sessions have each pattern, without one session. One query."""
    rows = steps_of(patterns).exclude(session=apart_from).order_by()
    found: dict[UUID, set[UUID]] = {}
    for pattern, session in rows.values_list("wording__pattern", "session").distinct():
        if pattern is not None:
            found.setdefault(pattern, set()).add(session)
    return {pattern: len(sessions) for pattern, sessions in found.items()}
