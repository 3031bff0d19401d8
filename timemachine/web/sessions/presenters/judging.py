"""The judgements of a step side by side, and the form that asks for another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from uuid import UUID

from django import forms

from timemachine.core.payloads.queries import value
from timemachine.core.pure.formatting import money_or_unknown
from timemachine.core.pure.ids import uuid7
from timemachine.llm.pure.catalogue import LOCAL
from timemachine.llm.pure.listing import Choice
from timemachine.llm.queries import model_choices
from timemachine.recording.sessions.models import Action
from timemachine.recording.timeline.step import Step
from timemachine.replay.judging.estimate import estimate
from timemachine.replay.judging.models import DONE, Judgement
from timemachine.replay.judging.queries import (
    JudgedSentence,
    counts_of,
    judgements_of,
    sentences_of,
    state_of,
)
from timemachine.text.pure.language.sentences import sentences
from timemachine.web.model_select import ModelSelect
from timemachine.web.sessions.presenters.sentences import sentences as marked

LONGEST_RAW: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One judgement that came to an end well: its counts by verdict, and how many sentences the grounding sees otherwise."""

    judgement: Judgement
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one judge says of one sentence; None where it had no such sentence."""

    model: str
    said: JudgedSentence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One sentence with what the recorded grounding and each judge say of it."""

    text: str
    grounded: bool | None
    partly: bool
    opinions: Sequence[Opinion]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A judgement without verdicts: under way, lost or failed, with the beginning of what the judge wrote."""

    judgement: Judgement
    state: str
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All judgements of a step."""

    columns: Sequence[Column]
    lines: Sequence[Line]
    unfinished: Sequence[Unfinished]


class JudgeForm(forms.Form):
    """Who is to judge; the labels say about what it costs."""

    model = forms.CharField(label="Judge", required=False, widget=ModelSelect)
    other_model = forms.CharField(
        label="Or another model",
        required=False,
        help_text="As provider:model; it counts instead of the one above.",
    )

    judgement = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, models: Sequence[Choice]) -> None:
        super().__init__(data, auto_id="judge_%s", label_suffix="", initial={"judgement": uuid7()})
        cast("ModelSelect", self.fields["model"].widget).offer(models, "Choose a model")

    @property
    def chosen(self) -> str:
        """The model that was chosen; empty where none was."""
        said = self.cleaned_data
        return str(said["other_model"].strip() or said["model"])

    @property
    def judgement_id(self) -> UUID | None:
        """The id that the form gave its judgement, so that it can be cancelled before its end."""
        return cast("UUID | None", self.cleaned_data.get("judgement"))


def _answered(found: Step) -> bool:
    failed = found.action.error_type is not None or found.action.error_message is not None
    return found.action.kind == "ask" and found.output is not None and not failed


def judging_page(action: Action) -> str:
    """The name under which notes are left for the page of a step."""
    return f"judging {action.session_id} {action.sequence}"


def judging_of(found: Step) -> dict[str, Any]:
    """What the Action tab of an ask shows of its judgements; nothing for another kind of step or a failed one."""
    if not _answered(found):
        return {}
    return {"judged": _judged(found), "judge_form": JudgeForm(models=_choices(found))}


def _judged(found: Step) -> Judged:
    every = list(judgements_of(found.action))
    done = [(each, sentences_of(each, found.action)) for each in every if each.state == DONE]
    return Judged(
        columns=[Column(judgement=each, counts=counts_of(said)) for each, said in done],
        lines=_lines(done, _partly(found.action.grounding)),
        unfinished=[_unfinished(each) for each in every if each.state != DONE],
    )


def _partly(grounding: Any) -> set[str]:
    """The sentences that the recorded grounding calls partly supported."""
    return {each.text.strip() for each in marked(None, grounding) if each.partly}


def _lines(judged: Sequence[tuple[Judgement, Sequence[JudgedSentence]]], partly: set[str]) -> list[Line]:
    """The sentences as the latest judge got them; an earlier one's are found by their words."""
    if not judged:
        return []
    known = [(each.model, {one.text: one for one in said}) for each, said in judged]
    return [
        Line(
            text=one.text,
            grounded=one.grounded,
            partly=one.text.strip() in partly,
            opinions=[Opinion(model=model, said=said.get(one.text)) for model, said in known],
        )
        for one in judged[-1][1]
    ]


def _unfinished(judgement: Judgement) -> Unfinished:
    raw = value(judgement.raw) or ""
    return Unfinished(judgement=judgement, state=state_of(judgement), raw=raw[:LONGEST_RAW])


def _choices(found: Step) -> list[Choice]:
    able = [each for each in model_choices(found.action.project_id) if each.name.provider != LOCAL]
    return [replace(each, label=_about(found, each)) for each in able]


def _about(found: Step, choice: Choice) -> str:
    """About what it costs, by the sizes of what was recorded; without passages of its own nobody knows."""
    if not choice.usability.usable or found.output is None or not found.passages:
        return choice.label
    sizes = [
        head.size for head in (found.input, found.output, *(each.text for each in found.passages)) if head
    ]
    about = estimate(
        choice.name,
        characters=sum(sizes),
        passages=len(found.passages),
        sentences=max(1, len(sentences(found.output.text))),
    )
    return f"about {money_or_unknown(about.cost_usd)}" if about.cost_usd is not None else "price unknown"
