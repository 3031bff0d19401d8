"""How shared pages show a step: what the templates of the timeline and of a replay need, from read models."""

import json
from dataclasses import replace
from typing import Any

from timemachine.governance.sharing.read_models.replays import SharedReplayStep
from timemachine.governance.sharing.read_models.steps import SharedStep
from timemachine.llm.schemas import TOKENS
from timemachine.recording.timeline.step import Head
from timemachine.web.replays.presenters.side_by_side import Pair, Sides, side_by_side
from timemachine.web.sessions.presenters.sentences import sentences
from timemachine.web.sessions.presenters.step_tabs import PROSE
from timemachine.web.sessions.presenters.supporting_passages import Source, evidence


def shown_step(found: SharedStep) -> dict[str, Any]:
    """A recorded step by the names that the templates of the timeline know."""
    action, answer = found.action, _answer(found.output)
    read = sentences(answer, action.grounding)
    sources = [
        Source(
            frame=each.hit.frame,
            rank=each.hit.rank,
            title=each.hit.title,
            version=each.hit.version,
            text=each.text.text if each.text else None,
        )
        for each in found.passages
    ]
    return {
        "source": found.source,
        "found": replace(found, source=None),  # the templates link to it where only members may download it
        "origin": found.origin,
        "sentences": read,
        "evidence": evidence(read, sources),
        "sentences_in_answer": answer is not None and "".join(each.text for each in read) == answer,
        "usage": [(name, number) for name in TOKENS if (number := getattr(action, name)) is not None],
        "prose": action.kind in PROSE,
    }


def raw_json(document: dict[str, object], first: int) -> dict[str, Any]:
    """A document as indented JSON, as much of it as is shown."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return {"text": text[:first], "cut": len(text) > first, "size": len(text)}


def sides_of(step: SharedReplayStep, *, everything: bool, withholds: bool) -> Sides:
    """Both sides of a step.

    Where the link withholds something, only the verdict says that two answers are the same: they may differ in what is withheld.
    """
    pair = Pair(
        step=step,
        recorded=step.action,
        question=step.question,
        asked=step.asked,
        recorded_answer=step.recorded_answer,
        new_answer=step.new_answer,
        frozen=step.recorded_frames,
        found=step.found_frames,
        rests_on=step.answer_frames,
        erased=step.erased_ranks,
        attempts=step.attempts,
    )
    found = side_by_side(pair, everything=everything, beginnings=True)
    return replace(found, same=found.same and step.verdict == "identical") if withholds else found


def _answer(output: Head | None) -> str | None:
    """The recorded answer, where it is a text and shown whole."""
    return output.text if output and output.media_type == "text/plain" and not output.cut else None
