"""Compare a numbered file with the session that an earlier version of it was imported as."""

from collections.abc import Iterator
from dataclasses import replace

from timemachine.core.pure.errors import Conflict
from timemachine.recording.importing.exporting import AT_ONCE, exact
from timemachine.recording.importing.pure.formats.timemachine import draft_of
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.actions import with_everything


def already_recorded(session: Session, draft: SessionDraft) -> int:
    """Return how many of the draft's actions the session already has, counted from the first. Locks it against
    appending.

    Raises `Conflict` (`key_taken`) if one of its actions differs.
    """
    held = Session.objects.select_for_update().get(id=session.id)
    known = min(held.last_sequence, len(draft.actions))
    erased = set(held.erased_turns.values_list("sequence", flat=True))
    if erased:  # other steps may have repeated what was deleted
        erased |= set(held.erased_fields.filter(replay=None).values_list("sequence", flat=True))
    for sequence, recorded in enumerate(_recorded(held, known), start=1):
        if sequence in erased:
            continue
        if _alike(recorded) != _alike(draft.actions[sequence - 1]):
            raise Conflict(
                f"A session with the key {draft.key!r} was imported before, and its step {sequence:,} differs from this file.",
                code="key_taken",
            )
    return known


def _recorded(session: Session, through: int) -> Iterator[ActionDraft]:
    every = Action.objects.filter(session=session).order_by("sequence")
    for after in range(0, through, AT_ONCE):
        last = min(after + AT_ONCE, through)
        for action in with_everything(every.filter(sequence__gt=after, sequence__lte=last)):
            yield draft_of(exact(action))


def _alike(action: ActionDraft) -> ActionDraft:
    """Return the action without the hashes of texts that are present: an erasure removes a hash and leaves a text."""
    found = action.retrieval
    if found is None:
        return action
    hits = tuple(hit if hit.text is None else replace(hit, sha256=None, unhashed=False) for hit in found.hits)
    return replace(action, retrieval=replace(found, hits=hits))
