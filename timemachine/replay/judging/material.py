"""What a judge gets: the recorded question, answer and passages of one ask, each passage hashed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs import frozen
from timemachine.replay.runs.pure.context import VERIFIED, context_verdict
from timemachine.text.pure.language.sentences import sentences

MOST_SENTENCES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The recorded ask, its answer in sentences, and its passages with the names that the session has for them."""

    action: Action
    question: str
    answer: str
    sentences: tuple[str, ...]
    passages: tuple[Passage, ...]
    frames: tuple[int | str | None, ...]


def material_of(action: Action) -> Material:
    """What a judge gets of this step.

    Raises `InvalidInput` for a step that is no ask or has no answer in words, `Conflict` where its passages were not
    recorded or no longer hash to what was recorded: a judgement over other bytes would prove nothing.
    """
    question, answer = frozen.question_of(action), frozen.answer_of(action)
    if action.kind != "ask" or question is None or answer is None or not answer.strip():
        raise InvalidInput(
            "Only an ask with its question and answer in words can be judged; choose such a step.",
            code="nothing_to_judge",
        )
    hits = frozen.hits_of(action)
    verdict = context_verdict(frozen.frames_of(hits))
    if verdict != VERIFIED:
        raise Conflict(
            f"The passages of this step are {verdict.replace('_', ' ')}, so its answer cannot be judged by them.",
            code="context_not_verified",
            context=verdict,
        )
    said = tuple(each.text.strip() for each in sentences(answer) if each.text.strip())
    if len(said) > MOST_SENTENCES:
        raise InvalidInput(
            f"This answer has {len(said):,} sentences; a judge gets at most {MOST_SENTENCES}.",
            code="too_many_sentences",
        )
    passages = frozen.passages_of(hits)
    return Material(
        action=action,
        question=question,
        answer=answer,
        sentences=said,
        passages=tuple(Passage(title=each.title, text=each.text) for each in passages),
        frames=tuple(each.frame for each in passages),
    )


def grounded_of(grounding: Any, said: Sequence[str]) -> list[bool | None]:
    """What the recorded grounding says of each sentence, None where it says nothing; another program's may have any form."""
    kept = grounding.get("sentences") if isinstance(grounding, dict) else None
    known: dict[str, bool] = {}
    for each in kept if isinstance(kept, list) else []:
        if (
            isinstance(each, dict)
            and isinstance(each.get("text"), str)
            and isinstance(each.get("grounded"), bool)
        ):
            known[each["text"].strip()] = each["grounded"]
    return [known.get(sentence) for sentence in said]
