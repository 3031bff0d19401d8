"""A comparison as a visitor sees it: how it was made, its answers, and remarks by people and judge models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from timemachine.governance.sharing.read_models import shown_of
from timemachine.governance.sharing.read_models.links import session_name
from timemachine.governance.sharing.read_models.replays import SharedReplayStep
from timemachine.governance.sharing.redactor import Redactor, naming_fields
from timemachine.recording.sessions.models import Action
from timemachine.replay.comparison.groups import CallGroup
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.partings import Parting
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.comparison.recorded import RecordedAnswers
from timemachine.replay.runs import frozen
from timemachine.replay.runs.answer_lines import AnswerLines
from timemachine.text.redaction.pure.marks import FIELD, mark


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedComparison:
    """How a comparison was launched, not by whom."""

    id: UUID
    reason: str
    arms: Sequence[Variant]
    repeats: int
    noise_floor: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedResults:
    """The statistics of the answers in the link; None if they are not computed yet (`state`).

    `later` answers came after the link was created and are excluded. If they leave too many answers to count
    again, no two columns are compared (`paired` is False). `due` is whether a worker still has to compute
    them. `groups` are the model calls of the link by agent and by tool, and
    `partings` say where each run first does something else than the recording, and `recorded` what is known of it.
    """

    findings: Findings | None
    state: str
    later: int = 0
    paired: bool = True
    due: bool = False
    groups: Sequence[CallGroup] = ()
    partings: Sequence[Parting] = ()
    recorded: RecordedAnswers = field(default_factory=RecordedAnswers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMark:
    """A person's verdict on an answer."""

    verdict: str
    note: str
    marked_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedJudgement:
    """A judge model's verdict when it saw the two answers in one order."""

    order: str
    relation: str | None
    preference: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOpinion:
    """A judge model's opinion of an answer, without who requested it."""

    model: str
    state: str
    relation: str | None
    preference: str | None
    asked: Sequence[SharedJudgement]
    cost_usd: Decimal | None
    calls_made: int
    unknown_cost_calls: int
    error_message: str | None
    created_at: datetime
    asked_again_at: datetime | None
    waits_because: str | None
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRemarks:
    """Asks and model calls with their labels, and their answers and the remarks about them by step."""

    asks: Sequence[Ask]
    marks: Mapping[int, Sequence[SharedMark]]
    opinions: Mapping[int, Sequence[SharedOpinion]]
    lines: Mapping[int, AnswerLines]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCell:
    """One answer of a comparison with the recorded one. `arm` counts its models from 1."""

    step: SharedReplayStep
    arm: int
    marks: Sequence[SharedMark]
    opinions: Sequence[SharedOpinion]


def shared_comparison(comparison: Comparison, redactor: Redactor) -> SharedComparison:
    """Return the comparison with its reason and models redacted."""
    return shown_of(
        SharedComparison,
        comparison,
        reason=redactor.text(comparison.reason),
        arms=[_variant(each) for each in redactor.value(comparison.arms)],
    )


def shared_mark(mark: CellMark, redactor: Redactor) -> SharedMark:
    """Return a person's mark with its note redacted."""
    return shown_of(SharedMark, mark, note=redactor.text(mark.note), marked_by=redactor.text(mark.marked_by))


def shared_group(group: CallGroup, redactor: Redactor) -> CallGroup:
    """Return the model calls of an agent, or of a tool, with the name redacted."""
    return group.model_copy(update={"name": _name_of(group, redactor)})


def _name_of(group: CallGroup, redactor: Redactor) -> str | None:
    if redactor.rules is None or group.name is None:
        return group.name
    if group.by == "agent":
        agent: str = redactor.document({"agent": group.name})["agent"]
        return agent
    if any(path.field == "output" for path in redactor.rules.paths):  # the recorded answer names the tool
        return mark(FIELD)
    return redactor.text(group.name)


def shared_opinion(opinion: CellOpinion, redactor: Redactor) -> SharedOpinion:
    """Return a judge model's opinion with its reasons redacted."""
    return shown_of(
        SharedOpinion,
        opinion,
        model=redactor.text(opinion.model),
        asked=[_judgement(each) for each in redactor.value(opinion.asked) or []],
        error_message=redactor.text(opinion.error_message),
        waits_because=redactor.text(opinion.waits_because),
    )


def shared_ask(ask: Ask, action: Action | None, redactor: Redactor) -> Ask:
    """Return an ask or model call with its label and errors redacted. `action` is its step; None if nothing is withheld."""
    return Ask(
        session=ask.session,
        session_name=session_name(ask.session_name, redactor),
        sequence=ask.sequence,
        action=ask.action,
        label=ask.label if action is None else _question(action, redactor),
        recorded=_answer(ask.recorded, redactor),
        runs={at: _answer(cell, redactor) for at, cell in ask.runs.items()},
    )


def _answer(cell: Cell, redactor: Redactor) -> Cell:
    return Cell(
        arm=cell.arm,
        repeat=cell.repeat,
        step=cell.step,
        status=cell.status,
        verdict=cell.verdict,
        in_words=cell.in_words,
        numbers=cell.numbers,
        missing=cell.missing,
        refused=cell.refused,
        grounding=cell.grounding,
        label=cell.label,
        cost_usd=cell.cost_usd,
        latency_ms=cell.latency_ms,
        tokens=cell.tokens,
        cached=cell.cached,
        cut_off=cell.cut_off,
        called=cell.called,
        spent_usd=cell.spent_usd,
        unknown_calls=cell.unknown_calls,
        error=redactor.text(cell.error),
    )


def _question(action: Action, redactor: Redactor) -> str:
    """Return the question of a step, or its label if that was not recorded."""
    document = redactor.document(naming_fields(action))
    return frozen.question_in(document["input"]) or redactor.label(action, document)


def _variant(options: Mapping[str, Any]) -> Variant:
    return Variant(
        model=options["model"],
        system_prompt=options.get("system_prompt"),
        prompt_template=options.get("prompt_template"),
        temperature=options.get("temperature"),
        seed=options.get("seed"),
        max_tokens=options.get("max_tokens"),
    )


def _judgement(verdict: Mapping[str, Any]) -> SharedJudgement:
    return SharedJudgement(
        order=verdict.get("order", ""),
        relation=verdict.get("relation"),
        preference=verdict.get("preference"),
        reason=verdict.get("reason"),
    )
