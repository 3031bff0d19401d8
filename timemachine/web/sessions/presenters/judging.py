"""The judgements of a step side by side, and the form that asks another judge model."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, cast
from uuid import UUID

from django import forms
from django.http import HttpRequest

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
from timemachine.web.form_parts import ModelFields
from timemachine.web.sessions.presenters.sentences import sentences as marked

LONGEST_RAW: Final = 4_000
_NOTES: Final = "notes"
_MOST_NOTES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingNote:
    """A message that the page of one step shows once; pages opened in the meantime do not. `bad` marks an error."""

    text: str
    bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One sentence with its recorded grounding and the verdict of each judge model; None if the model did not have that sentence."""

    text: str
    grounded: bool | None
    partly: bool
    opinions: Sequence[tuple[str, JudgedSentenceOut | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All judgements of a step: completed ones with their counts by verdict, and others with the beginning of the judge model's output."""

    columns: Sequence[tuple[Judgement, JudgementVerdicts]]
    lines: Sequence[Line]
    unfinished: Sequence[tuple[Judgement, str]]


class JudgeForm(ModelFields):
    """The judge model; the labels show the estimated cost."""

    models_id = "judges"
    judgement = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, models: Sequence[Choice]) -> None:
        super().__init__(data, auto_id="judge_%s", label_suffix="", initial={"judgement": uuid7()})
        self.fields["model"].label = "Judge"
        self.offer_models(models)

    @property
    def judgement_id(self) -> UUID | None:
        """Return the id that the form gave its judgement, so that it can be cancelled."""
        return cast("UUID | None", self.cleaned_data.get("judgement"))


def leave_note(request: HttpRequest, action: Action, note: JudgingNote) -> None:
    """Leave a message for the page of a step; only the latest twenty unread ones are kept."""
    page = _page_of(action)
    notes = {name: left for name, left in request.session.get(_NOTES, {}).items() if name != page}
    request.session[_NOTES] = dict([*notes.items(), (page, asdict(note))][-_MOST_NOTES:])


def taken_note(request: HttpRequest, action: Action) -> JudgingNote | None:
    """Return the message for the page of a step and remove it; None without a message."""
    notes = dict(request.session.get(_NOTES, {}))
    if (note := notes.pop(_page_of(action), None)) is None:
        return None
    request.session[_NOTES] = notes
    return JudgingNote(**note)


def _page_of(action: Action) -> str:
    return f"judging {action.session_id} {action.sequence}"


def judging_of(found: Step) -> dict[str, object]:
    """Return the judgements for the Action tab of an ask; None for other kinds of steps and for failed ones."""
    action = found.action
    failed = action.error_type is not None or action.error_message is not None
    if action.kind != "ask" or found.output is None or failed:
        return {}
    return {"judged": _judged(found), "judge_form": JudgeForm(models=_choices(found))}


def _judged(found: Step) -> Judged:
    every = list(judgements_of(found.action))
    done = [(each, sentences_of(each, found.action)) for each in every if each.state == DONE]
    partly = {each.text.strip() for each in marked(None, found.action.grounding) if each.partly}
    return Judged(
        columns=[(each, JudgementVerdicts.of(sentences)) for each, sentences in done],
        lines=_lines(done, partly),
        unfinished=[(each, (value(each.raw) or "")[:LONGEST_RAW]) for each in every if each.state != DONE],
    )


def _lines(judged: Sequence[tuple[Judgement, Sequence[JudgedSentenceOut]]], partly: set[str]) -> list[Line]:
    """Return the sentences as the latest judge model got them; those of earlier ones are matched by their text."""
    if not judged:
        return []
    known = [(each.model, {one.text: one for one in sentences}) for each, sentences in judged]
    return [
        Line(
            text=one.text,
            grounded=one.grounded,
            partly=one.text.strip() in partly,
            opinions=[(model, sentences.get(one.text)) for model, sentences in known],
        )
        for one in judged[-1][1]
    ]


def _choices(found: Step) -> list[Choice]:
    able = [each for each in model_choices(found.action.project_id) if each.name.provider != LOCAL]
    return [replace(each, label=_about(found, each)) for each in able]


def _about(found: Step, choice: Choice) -> str:
    """Return the estimated cost, from the recorded sizes; unknown if the step has no passages of its own."""
    if choice.why_not or found.output is None or not found.passages:
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
