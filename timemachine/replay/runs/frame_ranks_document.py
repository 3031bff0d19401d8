"""Where frames stand, as the JSON document of the contract."""

from typing import Any

from timemachine.knowledge.frame_ranks import Place, Standing
from timemachine.knowledge.sentence_frames import Holder
from timemachine.replay.runs.frame_ranks import StepWhere, Where, Whereabouts


def holder_json(holder: Holder) -> dict[str, Any]:
    """A frame that is looked for; `by` says how it was come by: `named`, `holds` the sentence, or `nearest` to it.

    `versions` are those that hold the sentence, the latest first; null where no sentence was found. `says` has it in words.
    """
    versions = None if holder.versions is None else list(holder.versions)
    return {
        "frame": holder.frame,
        "title": holder.title,
        "by": holder.by,
        "versions": versions,
        "says": holder.says,
    }


def where_json(found: Where) -> dict[str, Any]:
    """The frames, and a page of steps with where each stands; `next` is the step to go on after, null at the end."""
    return {
        "frames": [holder_json(each) for each in found.frames],
        "items": [_step(each) for each in found.steps],
        "next": found.next,
    }


def _step(step: StepWhere) -> dict[str, Any]:
    return {
        "sequence": step.sequence,
        "kind": step.kind,
        "query": step.query,
        "mode": step.mode,
        "top_k": step.top_k,
        "adaptive": step.adaptive,
        "frames": [_whereabouts(each) for each in step.frames],
        "error": step.error,
    }


def _whereabouts(found: Whereabouts) -> dict[str, Any]:
    return {
        "frame": found.frame,
        "recorded_rank": found.recorded_rank,
        "as_recorded": _standing(found.then),
        "as_now": _standing(found.now),
        "says": found.says,
    }


def _standing(standing: Standing | None) -> dict[str, Any] | None:
    """Null where the frame did not exist."""
    if standing is None:
        return None
    return {"version": standing.version} | {mode: _place(place) for mode, place in standing.places.items()}


def _place(place: Place) -> dict[str, Any]:
    return {
        "rank": place.rank,
        "of": place.of,
        "score": place.score,
        "by_top_k": place.by_top_k,
        "by_adaptive": place.by_adaptive,
    }
