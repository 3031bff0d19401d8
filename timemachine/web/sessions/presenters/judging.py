"""The judgements of a step side by side, and the form that asks another judge model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from uuid import UUID

from django import forms

from timemachine.core.payloads.queries import value
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.numbers import money_or_unknown
from timemachine.llm.pure.catalogue import LOCAL
from timemachine.llm.pure.listing import Choice
from timemachine.llm.queries import model_choices
from timemachine.recording.sessions.models import Action
from timemachine.recording.timeline.step import Step
from timemachine.replay.judging.models import DONE, Judgement
from timemachine.replay.judging.queries import estimate, judgements_of
from timemachine.replay.judging.schemas import JudgedSentenceOut, JudgementVerdicts, sentences_of
from timemachine.text.pure.language.sentences import sentences
from timemachine.web.model_select import ModelSelect
from timemachine.web.sessions.presenters.sentences import sentences as marked

LONGEST_RAW: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One completed judgement: its counts by verdict, and how many sentences disagree with the recorded grounding."""

    judgement: Judgement
    counts: JudgementVerdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The verdict of one judge model on one sentence; None if it did not have that sentence."""

    model: str
    said: JudgedSentenceOut | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One sentence with its recorded grounding and the verdict of each judge model."""

    text: str
    grounded: bool | None
    partly: bool
    opinions: Sequence[Opinion]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A judgement without verdicts: running, lost or failed, with the beginning of the judge model's output."""

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
    """The judge model; the labels show the estimated cost."""

    model = forms.CharField(label="Judge", required=False, widget=ModelSelect)
    other_model = forms.CharField(
        label="Or another model",
        required=False,
        help_text="Written as provider:model. Overrides the choice above.",
    )

    judgement = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, models: Sequence[Choice]) -> None:
        super().__init__(data, auto_id="judge_%s", label_suffix="", initial={"judgement": uuid7()})
        cast("ModelSelect", self.fields["model"].widget).offer(models, "Choose a model")

    @property
    def chosen(self) -> str:
        """Return the chosen model; empty if there is none."""
        said = self.cleaned_data
        return str(said["other_model"].strip() or said["model"])

    @property
    def judgement_id(self) -> UUID | None:
        """Return the id that the form gave its judgement, so that it can be cancelled."""
        return cast("UUID | None", self.cleaned_data.get("judgement"))


def _answered(found: Step) -> bool:
    failed = found.action.error_type is not None or found.action.error_message is not None
    return found.action.kind == "ask" and found.output is not None and not failed


def judging_page(action: Action) -> str:
    """Return the name under which messages are left for the page of a step."""
    return f"judging {action.session_id} {action.sequence}"


def judging_of(found: Step) -> dict[str, Any]:
    """Return the judgements for the Action tab of an ask; None for other kinds of steps and for failed ones."""
    if not _answered(found):
        return {}
    return {"judged": _judged(found), "judge_form": JudgeForm(models=_choices(found))}


def _judged(found: Step) -> Judged:
    every = list(judgements_of(found.action))
    done = [(each, sentences_of(each, found.action)) for each in every if each.state == DONE]
    return Judged(
        columns=[Column(judgement=each, counts=JudgementVerdicts.of(said)) for each, said in done],
        lines=_lines(done, _partly(found.action.grounding)),
        unfinished=[_unfinished(each) for each in every if each.state != DONE],
    )


def _partly(grounding: Any) -> set[str]:
    """Return the sentences that the recorded grounding marks as partly supported."""
    return {each.text.strip() for each in marked(None, grounding) if each.partly}


def _lines(judged: Sequence[tuple[Judgement, Sequence[JudgedSentenceOut]]], partly: set[str]) -> list[Line]:
    """Return the sentences as the latest judge model got them; those of earlier ones are matched by their text."""
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
    return Unfinished(judgement=judgement, state=judgement.state_now, raw=raw[:LONGEST_RAW])


def _choices(found: Step) -> list[Choice]:
    able = [each for each in model_choices(found.action.project_id) if each.name.provider != LOCAL]
    return [replace(each, label=_about(found, each)) for each in able]


def _about(found: Step, choice: Choice) -> str:
    """Return the estimated cost, from the recorded sizes; unknown if the step has no passages of its own."""
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
    return f"about {money_or_unknown(about.cost_usd)}" if about.cost_usd is not None else "unknown cost"
