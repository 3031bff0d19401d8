"""The form that repeats one step with changes."""

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.llm.pure.listing import Choice
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs import frozen
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.trial_passages import passage_names
from timemachine.web.model_select import ModelSelect
from timemachine.web.option_fields import CallFields, RetrievalFields
from timemachine.web.replays.forms.replays import written_frames
from timemachine.web.single_submission import SentOnce

MOMENTS: Final = [("recorded", "As it was at this step"), ("now", "As it is now")]
_FIELD_OF_CODE: Final = {
    "unknown_model": "model",
    "model_not_usable": "model",
    "model_needed": "model",
}
_FRAME: Final = re.compile("[0-9]{1,18}")
_FIELDS: Final = {"search_mode": "search_mode", "use_model": "model"}


class TrialForm(SentOnce, RetrievalFields, CallFields):
    """Choose the changes to a find or ask; everything else stays as recorded."""

    question = forms.CharField(label="Question", strip=False, widget=forms.Textarea(attrs={"rows": 3}))
    frames = forms.CharField(
        label="Passages",
        required=False,
        help_text="In the order in which the model gets them. Remove or move passages, or add a frame of the collection by its number.",
    )
    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = forms.CharField(
        label="Another model",
        required=False,
        help_text="Written as provider:model. Overrides the choice above.",
    )
    as_of = forms.ChoiceField(label="Collection", choices=MOMENTS, required=False, initial="recorded")

    def __init__(self, choices: tuple[Choice, ...], action: Action, data: Any = None) -> None:
        self.recorded_question = frozen.question_of(action) or ""
        self.recorded_frames = tuple(passage_names(frozen.hits_of(action)))
        initial = {"question": self.recorded_question, "frames": written_frames(self.recorded_frames)}
        super().__init__(data, label_suffix="", initial=initial)
        self.step = action.sequence
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(choices, f"As recorded: {action.model or 'not recorded'}")
        self.offer_embedding_models(action.session)
        if action.kind == "find":
            self.fields["question"].label = "Query"
            for name in ("frames", "model", "other_model", *CallFields.base_fields):
                del self.fields[name]

    def options(self) -> ReplayOptions:
        """Return the changes."""
        asked = self.cleaned_data
        question = asked["question"].replace("\r\n", "\n")
        recorded = self.recorded_question.replace("\r\n", "\n")
        of_an_ask: dict[str, Any] = {}
        if "frames" in self.fields:
            frames = read_frames(asked["frames"])
            of_an_ask = self.call_options() | {
                "use_model": asked["other_model"].strip() or asked["model"] or None,
                "frames": None if frames == self.recorded_frames else frames,
            }
        return ReplayOptions(
            step=self.step,
            question=None if question == recorded else question,
            as_of=asked["as_of"] or None,
            **of_an_ask,
            **self.retrieval_options(),
        )

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field and return the HTTP status. A form that was used gets a new id."""
        if why.code == "form_used":
            self.renew()
        field = str(why.facts.get("field") or _FIELD_OF_CODE.get(why.code))
        field = _FIELDS.get(field, field)
        self.add_error(field if field in self.fields else None, why.message)
        return why.status


def read_frames(written: str) -> tuple[int | str, ...]:
    """Return the names of passages in a text: numbers with or without `#`, other names unchanged."""
    names: Sequence[str] = [each.strip() for each in written.replace("\n", ",").split(",")]
    return tuple(_name(each) for each in names if each)


def _name(written: str) -> int | str:
    digits = written.removeprefix("#")
    return int(digits) if _FRAME.fullmatch(digits) else written
