"""What the steps of a replay did, recorded and new, each on one line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import value
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.sessions.pure.label import one_line
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, MODEL_CALLS
from timemachine.replay.runs.frozen import answer_in, question_in
from timemachine.replay.runs.model_calls import text_in
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.fact_changes import brief
from timemachine.replay.runs.pure.finding import OF_FACTS
from timemachine.replay.runs.pure.written_calls import answer_line

_LARGEST: Final = 64 * 1024
"""The most bytes of an output that is read for a line. A list shows no line of a longer one; the page of its step shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLines:
    """The recorded answer of a step and the new one, each on one line; None for an answer that cannot be shown.

    `facts` says which numbers or names the new one adds and leaves out; empty for any verdict but that these differ.
    """

    recorded: str | None = None
    new: str | None = None
    facts: str = ""


NO_LINES: Final = AnswerLines()


def answer_lines(
    steps: Sequence[ReplayStep],
    shown: Callable[[Any], Any] = lambda output: output,
    *,
    withholds: bool = False,
) -> dict[int, AnswerLines]:
    """Return the answers of these asks and model calls that a model answered again, by the id of the step. One query.

    `shown` returns of an output what may be shown of it. If something `withholds`, facts are left out, because they quote answers.
    """
    asked = [step for step in steps if step.kind in MODEL_CALLS and step.output_id is not None]
    ids = {each for step in asked for each in _payloads(step) if each is not None}
    outputs = {each.id: each for each in Payload.objects.filter(id__in=ids, size__lte=_LARGEST)}
    return {
        step.id: AnswerLines(
            recorded=None if _has_failed(step) else _line(step.kind, step.action.output_id, outputs, shown),
            new=_line(step.kind, step.output_id, outputs, shown),
            facts="" if withholds else _facts(step, outputs),
        )
        for step in asked
    }


def _facts(step: ReplayStep, outputs: Mapping[int, Payload]) -> str:
    if step.verdict not in OF_FACTS:
        return ""
    both = (outputs.get(each or 0) for each in (step.action.output_id, step.output_id))
    recorded, new = (None if each is None else _text(step.kind, value(each)) for each in both)
    asked = outputs.get(step.action.input_id or 0)
    return brief(step.evidence or {}, recorded, new, None if asked is None else question_in(value(asked)))


def _payloads(step: ReplayStep) -> tuple[int | None, ...]:
    answers = (step.action.output_id, step.output_id)
    return (
        (*answers, step.action.input_id) if step.verdict in OF_FACTS and step.kind != MODEL_CALL else answers
    )


def _text(kind: str, output: Any) -> str | None:
    return text_in(output) if kind == MODEL_CALL else answer_in(output)


def _has_failed(step: ReplayStep) -> bool:
    return step.action.error_type is not None or step.action.error_message is not None


def _line(
    kind: str, output_id: int | None, outputs: Mapping[int, Payload], shown: Callable[[Any], Any]
) -> str | None:
    payload = None if output_id is None else outputs.get(output_id)
    if payload is None:
        return None
    output = shown(value(payload))
    if kind == MODEL_CALL:
        answer = read_answer(output)
        return None if answer is None else answer_line(answer)
    return one_line(answer_in(output) or "") or None
