"""The input of a judge: the recorded question, answer and passages of one ask, each passage hashed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.numbers import spaced
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs import frozen
from timemachine.replay.runs.pure.context import VERIFIED, context_verdict
from timemachine.text.pure.language.sentences import sentences

MOST_SENTENCES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The recorded ask, its answer in sentences, and its passages with their names in the session."""

    action: Action
    question: str
    answer: str
    sentences: tuple[str, ...]
    passages: tuple[Passage, ...]
    frames: tuple[int | str | None, ...]


def material_of(action: Action) -> Material:
    """Return the input of a judge for this step.

    Raises: `InvalidInput` for a step that is not an ask or has no answer in words; `Conflict` if its passages
    were not recorded or no longer have the recorded hashes, because judging other bytes would prove nothing.
    """
    question, answer = frozen.question_of(action), frozen.answer_of(action)
    if action.kind != "ask" or question is None or answer is None or not answer.strip():
        raise InvalidInput(
            "Only an ask with a question and an answer in words can be judged. Choose such a step.",
            code="nothing_to_judge",
        )
    hits = frozen.hits_of(action)
    verdict = context_verdict([frozen.frame_of(hit) for hit in hits])
    if verdict != VERIFIED:
        raise Conflict(
            f"The passages of this step are {spaced(verdict)}, so its answer cannot be judged by them.",
            code="context_not_verified",
            context=verdict,
        )
    answer_sentences = tuple(each.text.strip() for each in sentences(answer) if each.text.strip())
    if len(answer_sentences) > MOST_SENTENCES:
        raise InvalidInput(
            f"This answer has {len(answer_sentences):,} sentences; a judge can read at most {MOST_SENTENCES}.",
            code="too_many_sentences",
        )
    passages = frozen.passages_of(hits)
    return Material(
        action=action,
        question=question,
        answer=answer,
        sentences=answer_sentences,
        passages=tuple(Passage(title=each.title, text=each.text) for each in passages),
        frames=tuple(each.frame for each in passages),
    )


def grounded_of(grounding: Any, answer_sentences: Sequence[str]) -> list[bool | None]:
    """Return the recorded grounding's verdict on each sentence, None without one. Another program's grounding may have any form."""
    recorded = grounding.get("sentences") if isinstance(grounding, dict) else None
    known: dict[str, bool] = {}
    for each in recorded if isinstance(recorded, list) else []:
        if (
            isinstance(each, dict)
            and isinstance(each.get("text"), str)
            and isinstance(each.get("grounded"), bool)
        ):
            known[each["text"].strip()] = each["grounded"]
    return [known.get(sentence) for sentence in answer_sentences]
