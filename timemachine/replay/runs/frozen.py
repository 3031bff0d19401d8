"""What was recorded with a question: its text, its answer, and its frozen passages."""

from collections.abc import Sequence
from copy import copy
from typing import Any

from django.db.models import Prefetch, Q, Sum, prefetch_related_objects

from timemachine.core.payloads.queries import current_sha256, text, value
from timemachine.knowledge.models import Frame
from timemachine.knowledge.queries import later_state
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Action, Hit
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs.pure.context import FrozenFrameOut, frame_verdict
from timemachine.replay.runs.pure.written_calls import written_answer

QUESTION_KEYS = ("question", "query", "text")
ANSWER_KEYS = ("answer", "text", "content")
SEEN = ("id", "collection", "number", "valid_until", "ended_by")
UNSEEN = tuple(f"stored_frame__{each.name}" for each in Frame._meta.concrete_fields if each.name not in SEEN)
"""The columns of a passage's frame that are not read: only its state matters, because its text is frozen with the passage."""


def hits_of(action: Action) -> list[Hit]:
    """Return the passages frozen with a find or ask; an ask without passages of its own has those of the finds inside it.

    The passages of several finds follow each other in the order of the finds, ranked from 1.
    """
    return hits_of_each([action])[0]


def hits_of_each(actions: Sequence[Action]) -> list[list[Hit]]:
    """Return for each action what `hits_of` returns. At most three queries for any number of them."""
    read_hits(actions)
    own = [list(action.hits.all()) for action in actions]
    finds = _finds_inside(
        [each for each, hits in zip(actions, own, strict=True) if each.kind == "ask" and not hits]
    )
    return [hits or _ranked(finds.get(action.pk, ())) for action, hits in zip(actions, own, strict=True)]


def _finds_inside(asks: Sequence[Action]) -> dict[int, list[Action]]:
    """Return the finds inside each ask in their order, with their passages."""
    if not asks:
        return {}
    by_id = {(each.session_id, each.client_id): each.pk for each in asks if each.client_id is not None}
    by_number = {(each.session_id, each.sequence): each.pk for each in asks}
    inside = Q(parent_sequence__in=[each.sequence for each in asks])
    inside |= Q(parent_id_given__in=[client_id for _, client_id in by_id])
    sessions = {each.session_id for each in asks}
    finds = list(Action.objects.filter(inside, session__in=sessions, kind="find").order_by("sequence"))
    read_hits(finds)
    found: dict[int, list[Action]] = {}
    for find in finds:
        above = by_number.get((find.session_id, find.parent_sequence or 0)) or by_id.get(
            (find.session_id, find.parent_id_given or "")
        )
        if above is not None:
            found.setdefault(above, []).append(find)
    return found


def _ranked(finds: Sequence[Action]) -> list[Hit]:
    found = [copy(hit) for find in finds for hit in find.hits.all()]
    for rank, hit in enumerate(found, 1):
        hit.rank = rank
    return found


def size_of_hits(actions: Sequence[Action]) -> int:
    """Return the total size of the actions' passages in bytes."""
    frozen = Hit.objects.filter(action__in=actions).aggregate(size=Sum("payload__size"))
    return frozen["size"] or 0


def read_hits(actions: Sequence[Action]) -> None:
    """Read the passages of these actions together, unless they are already read."""
    hits = Hit.objects.select_related("payload", "stored_frame").defer(*UNSEEN).order_by("rank")
    prefetch_related_objects(actions, Prefetch("hits", queryset=hits))


def frame_of(hit: Hit) -> FrozenFrameOut:
    """Return the passage with its recorded hash and the hash of its stored bytes now."""
    now = current_sha256(hit.payload) if hit.payload is not None else None
    return FrozenFrameOut.model_construct(
        rank=hit.rank,
        frame=hit.frame,
        version=hit.version,
        verdict=frame_verdict(hit.sha256, now),
        since=later_state(hit.stored_frame) if hit.stored_frame is not None else None,
        sha256=hit.sha256,
        sha256_now=now,
    )


def passages_of(hits: Sequence[Hit]) -> list[Passage]:
    """Return the passages as they go into a prompt, in the order of their ranks."""
    return [
        Passage(frame=hit.frame, title=hit.title or "", text=text(hit.payload))
        for hit in hits
        if hit.payload is not None
    ]


def question_of(action: Action) -> str | None:
    """Return the question or query of the action; None if it was not recorded."""
    return question_in(value(action.input))


def answer_of(action: Action) -> str | None:
    """Return the answer; None if it was not recorded or the call failed, because a partial text is not an answer.

    That of a model call has the tools that it calls below its text.
    """
    if action.kind == MODEL_CALL:
        found = model_answer_of(action)
        return None if found is None else written_answer(found)
    return None if _has_failed(action) else answer_in(value(action.output))


def model_answer_of(action: Action) -> Answer | None:
    """Return what the model of a call did; None if that was not recorded or the call failed."""
    return None if action.output is None or _has_failed(action) else read_answer(value(action.output))


def call_ms_of(kind: str, parameters: Any, duration_ms: float | None) -> float | None:
    """Return how long the recorded call of a model took: as it was measured, else, of a step that is nothing but the call,
    how long the step took. None if that was not recorded."""
    measured = parameters.get("call_ms") if isinstance(parameters, dict) else None
    if isinstance(measured, int | float) and not isinstance(measured, bool):
        return float(measured)
    return duration_ms if kind == MODEL_CALL else None


def _has_failed(action: Action) -> bool:
    return action.error_type is not None or action.error_message is not None


def question_in(recorded: Any) -> str | None:
    """Return the question in a recorded input; None for an input without a question."""
    return _words(recorded, QUESTION_KEYS)


def answer_in(recorded: Any) -> str | None:
    """Return the answer in a recorded output; None for an output without an answer."""
    return _words(recorded, ANSWER_KEYS)


def _words(recorded: Any, keys: Sequence[str]) -> str | None:
    if isinstance(recorded, str):
        return recorded
    if isinstance(recorded, dict):
        return next((recorded[key] for key in keys if isinstance(recorded.get(key), str)), None)
    return None
