"""The support of both answers of a replayed step, sentence by sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from timemachine.web.replays.presenters.marked_rows import numbered_together
from timemachine.web.replays.presenters.passages import AnyStep
from timemachine.web.sessions.presenters.sentences import Sentence, sentences
from timemachine.web.sessions.presenters.supporting_passages import Evidence, evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The sentences of both answers with their support, each once, and the passages that they name.

    `left` and `right` are the sentences in the order of their answer, empty if the recorded ones do not make up the answer;
    `apart` are then the titles of those answers.
    """

    sentences: Sequence[Sentence]
    left: Sequence[Sentence]
    right: Sequence[Sentence]
    apart: Sequence[str]
    evidence: Sequence[Evidence]
    notes: Sequence[tuple[str, Mapping[str, Any]]]


def support_of(step: AnyStep, found: Any, *, same: bool) -> Support | None:
    """Return the support of both answers; None if nothing was checked."""
    question = found.asked or found.question
    before, after = (
        sentences(answer, grounding, question) if _is_checked(answer, grounding) else []
        for answer, grounding in (
            (found.recorded_answer, found.action.grounding),
            (found.new_answer, step.grounding),
        )
    )
    if not before and not after:
        return None
    left, right, everything = numbered_together(before, after)
    answers = (("recorded", left, found.recorded_answer), ("new", right, found.new_answer))
    apart = [title for title, each, answer in answers if each and not _makes_up(each, answer)]
    passages = [*found.recorded_frames, *(() if same else found.answer_frames)]
    groundings = (("recorded", found.action.grounding), ("new", step.grounding))
    return Support(
        sentences=everything,
        left=() if "recorded" in apart else left,
        right=() if "new" in apart else right,
        apart=apart,
        evidence=evidence(everything, passages),
        notes=[(title, each) for title, each in groundings if isinstance(each, Mapping)],
    )


def _is_checked(answer: str | None, grounding: Any) -> bool:
    return any(each.grounded is not None for each in sentences(answer, grounding))


def _makes_up(found: Sequence[Sentence], answer: str | None) -> bool:
    return answer is not None and "".join(each.text for each in found) == answer


def supported_alike(support: Support | None) -> bool:
    """Return whether equal answers have equal marks, or only one of them has any."""
    if support is None or not support.left or not support.right:
        return True
    return [each.number for each in support.left] == [each.number for each in support.right]
