"""What was recorded with a question: its text, its answer, its passages as they were frozen."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, Sum, prefetch_related_objects

from timemachine.answering.asking import ContextPassage
from timemachine.payloads.queries import hash_now, text, value
from timemachine.recording.models import Action, Hit
from timemachine.replay.context import FrozenFrame
from timemachine.retrieval.models import Frame
from timemachine.retrieval.queries import since

QUESTION_KEYS = ("question", "query", "text")
ANSWER_KEYS = ("answer", "text", "content")
SEEN = ("id", "collection", "number", "valid_until", "ended_by")
UNSEEN = tuple(f"stored_frame__{each.name}" for each in Frame._meta.concrete_fields if each.name not in SEEN)
"""Of the frame behind a passage only what became of it is read: its text stands frozen with the passage."""


def hits_of(action: Action) -> list[Hit]:
    """The passages frozen with a find or ask; an ask that has none of its own has those of every find inside it.

    Those of several finds follow each other in the order of the finds, ranked anew from 1.
    """
    own = _hits(action)
    if own or action.kind != "ask":
        return own
    inside = Action.objects.filter(session_id=action.session_id, kind="find")
    children = inside.filter(parent_sequence=action.sequence)
    if action.client_id is not None:
        children = children | inside.filter(parent_id_given=action.client_id)
    hits = [hit for child in children.order_by("sequence") for hit in _hits(child)]
    for rank, hit in enumerate(hits, 1):
        hit.rank = rank
    return hits


def size_of_hits(actions: Sequence[Action]) -> int:
    """How many bytes the passages of some actions have together."""
    frozen = Hit.objects.filter(action__in=actions).aggregate(size=Sum("payload__size"))
    return frozen["size"] or 0


def read_hits(actions: Sequence[Action]) -> None:
    """Read the passages of some actions together, where they are not read yet."""
    hits = Hit.objects.select_related("payload", "stored_frame").defer(*UNSEEN).order_by("rank")
    prefetch_related_objects(actions, Prefetch("hits", queryset=hits))


def frames_of(hits: Sequence[Hit]) -> list[FrozenFrame]:
    """Every passage with the hash that was recorded and the hash that its stored bytes have at this moment."""
    return [
        FrozenFrame(
            rank=hit.rank,
            frame=hit.frame,
            version=hit.version,
            recorded_sha256=hit.sha256,
            sha256_now=hash_now(hit.payload) if hit.payload is not None else None,
            since=since(hit.stored_frame) if hit.stored_frame is not None else None,
        )
        for hit in hits
    ]


def passages_of(hits: Sequence[Hit]) -> list[ContextPassage]:
    """The passages as they go into a prompt again, in their ranks' order."""
    return [
        ContextPassage(frame=hit.frame, title=hit.title or "", text=text(hit.payload))
        for hit in hits
        if hit.payload is not None
    ]


def question_of(action: Action) -> str | None:
    """What was asked or looked for; None where that was not recorded."""
    return _words(value(action.input), QUESTION_KEYS)


def answer_of(action: Action) -> str | None:
    """What was answered; None where that was not recorded, or the call failed: what was written until then is no answer."""
    if action.error_type is not None or action.error_message is not None:
        return None
    return _words(value(action.output), ANSWER_KEYS)


def _hits(action: Action) -> list[Hit]:
    read_hits([action])
    return list(action.hits.all())


def _words(recorded: Any, keys: Sequence[str]) -> str | None:
    if isinstance(recorded, str):
        return recorded
    if isinstance(recorded, dict):
        return next((recorded[key] for key in keys if isinstance(recorded.get(key), str)), None)
    return None
