"""The form that launches a replay."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, cast

from django import forms
from django.core.exceptions import ValidationError

from timemachine.core.pure.content import canonical_json
from timemachine.core.pure.numbers import spaced, whole_number
from timemachine.knowledge.find import LONGEST_QUERY
from timemachine.knowledge.vectors import models_with_vectors
from timemachine.llm.pure.listing import Choice
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs import frozen
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.trials import passage_names
from timemachine.replay.sweeps.pure.grid import Grid
from timemachine.web.form_parts import (
    MODES,
    ModelFields,
    Number,
    RecordForm,
    SentOnce,
    WholeNumber,
    area_field,
)
from timemachine.web.option_fields import ASK, SEARCH, VERIFY, CallFields, RetrievalFields, SessionFields
from timemachine.web.template_library import register

PLACES: Final = {
    "unknown_model": "model",
    "model_not_usable": "model",
    "model_needed": "model",
    "reason_needed": "reason",
    "nothing_to_replay": "through_sequence",
    "nothing_fits": "only",
    "unknown_filter": "only",
}

_OF_KINDS: Final = {"audit": VERIFY, "debug": SEARCH, ASK: ASK, SEARCH: SEARCH}
_SHOWN_ELSEWHERE: Final = {"audit", "reason", "use_model", "step", "continue_from"}
_IN_WORDS: Final[dict[tuple[str, object], tuple[str, str]]] = {
    ("skip_asks", True): ("Asks", "left out"),
    ("skip_finds", True): ("Finds", "left out"),
    ("skip_calls", True): ("Model calls", "left out"),
    ("adaptive", True): ("Cut-off", "adaptive"),
    ("adaptive", False): ("Cut-off", "exactly top-k"),
    ("as_of", "now"): ("Collection", "as it is now"),
    ("as_of", "recorded"): ("Collection", "as it was at each step"),
}
_NAMES: Final = {
    "spend_limit_usd": "Spend limit (USD)",
    "max_calls": "Maximum model calls",
    "only": "Only matching steps",
    "sample": "Sample of at most",
    "through_sequence": "Through step",
    "relative": "Cut off below this share of the best score",
    "cliff": "Cut off below this share of the previous score",
    "min_score": "Minimum score",
}
MOMENTS: Final = [("recorded", "As it was at this step"), ("now", "As it is now")]
CUTS = [("no", "Exactly top-k"), ("yes", "Adaptive")]
SWEEP_MOMENTS = [("recorded", "As it was at each step"), ("now", "As it is now")]
_NUMBER = re.compile("[0-9]{1,6}")


def chosen_options(kept: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the stored options of a replay in words, without those that its page shows elsewhere."""
    return [_in_words(name, value) for name, value in kept.items() if name not in _SHOWN_ELSEWHERE]


@register.filter
def changes(kept: Mapping[str, Any]) -> str:
    """Return the changes of a trial in one line; using the collection as it was is not a change."""
    changed = {name: value for name, value in kept.items() if (name, value) != ("as_of", "recorded")}
    model = [kept["use_model"]] if "use_model" in kept else []
    return ", ".join([*model, *(f"{name}: {value}" for name, value in chosen_options(changed))]) or "nothing"


def _in_words(name: str, value: Any) -> tuple[str, str]:
    if name == "messages":
        return "Messages", canonical_json(value).decode()
    if name == "after_sequence":  # the first step, as in the form
        return "From step", f"{value + 1:,}"
    if isinstance(value, list | tuple):
        return spaced(name).capitalize(), written_frames(value) or "none"
    return _IN_WORDS.get((name, value), (_NAMES.get(name, spaced(name).capitalize()), str(value)))


def written_frames(names: Sequence[int | str]) -> str:
    """Return the names of passages as a form accepts them: `#3, #12, rank 2`."""
    return ", ".join(f"#{name}" if isinstance(name, int) else name for name in names)


class ReplayForm(SentOnce, ModelFields, SessionFields):
    """Launch a replay; the same rules as in the API."""

    places: ClassVar[Mapping[str, str]] = PLACES
    reason = area_field("Reason", "Stored with the replay. Required unless you search again.")
    from_sequence = WholeNumber(label="From step", required=False, min_value=1)
    through_sequence = WholeNumber(label="Through step", required=False, min_value=1)
    spend_limit_usd = Number(
        label="Spend limit in US dollars",
        required=False,
        min_value=0,
        help_text="A call starts only if its expected cost fits. Needs models with known prices.",
    )

    def __init__(
        self,
        choices: tuple[Choice, ...],
        session: Session,
        data: Any = None,
        *,
        estimating: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(data, **more)
        self.initial["kind"] = _OF_KINDS.get(str(self.initial.get("kind")), VERIFY)
        self.estimating = estimating
        self.offer_models(choices)
        self.fields["from_sequence"].widget.attrs |= {"placeholder": "1"}
        self.fields["through_sequence"].widget.attrs |= {"placeholder": str(session.last_sequence)}
        self.offer_embedding_models(session)

    @property
    def live_fields(self) -> list[forms.BoundField]:
        """Return the fields whose errors follow them with the estimate: the range of steps."""
        return [self["from_sequence"], self["through_sequence"]]

    def options(self) -> ReplayOptions:
        data = self.cleaned_data
        return ReplayOptions(
            **dict(self.session_options()),
            use_model=self.chosen_model or None,
            after_sequence=(data["from_sequence"] or 1) - 1 or None,
            through_sequence=data["through_sequence"],
        )


def as_launched(options: ReplayOptions) -> dict[str, Any]:
    """Return the initial values of the form for the options of an earlier replay."""
    return {
        **ReplayForm.initial_of(options, options.use_model or ""),
        "from_sequence": options.after_sequence and options.after_sequence + 1,
        "through_sequence": options.through_sequence,
    }


class TrialForm(SentOnce, ModelFields, RetrievalFields, CallFields):
    """Choose the changes to a find, an ask or a model call; everything else stays as recorded."""

    places: ClassVar[Mapping[str, str]] = PLACES | {"use_model": "model"}
    question = forms.CharField(label="Question", strip=False, widget=forms.Textarea(attrs={"rows": 3}))
    frames = forms.CharField(
        label="Passages",
        required=False,
        help_text="In the order in which the model gets them. Remove or move passages, or add a frame from the collection by number.",
    )
    as_of = forms.ChoiceField(label="Collection", choices=MOMENTS, required=False, initial="recorded")

    def __init__(
        self, choices: tuple[Choice, ...], action: Action, data: Any = None, *, estimating: bool = False
    ) -> None:
        self.recorded_question = frozen.question_of(action) or ""
        self.recorded_frames = tuple(passage_names(frozen.hits_of(action)))
        initial = {"question": self.recorded_question, "frames": written_frames(self.recorded_frames)}
        super().__init__(data, initial=initial)
        self.step = action.sequence
        self.is_model_call = action.kind == MODEL_CALL
        self.offer_other_models(choices, action.model, estimating=estimating)
        self.offer_embedding_models(action.session)
        if action.kind == "find":
            self.fields["question"].label = "Query"
            self._leave_out("frames", "model", *CallFields.base_fields)
        if self.is_model_call:
            self.fields["question"].label = "Last user message"
            self.fields["question"].required = False
            self.fields["question"].help_text = "Leave empty to send the recorded one."
            self._leave_out("frames", "as_of", "prompt_template", *RetrievalFields.base_fields)

    def _leave_out(self, *names: str) -> None:
        for name in names:
            self.fields.pop(name, None)

    def options(self) -> ReplayOptions:
        """Return the changes."""
        data = self.cleaned_data
        question = data["question"].replace("\r\n", "\n")
        recorded = self.recorded_question.replace("\r\n", "\n")
        changes: dict[str, Any] = {}
        if "model" in self.fields:
            changes |= self.call_options() | {"use_model": self.chosen_model or None}
        if "frames" in self.fields:
            frames = read_frames(data["frames"])
            changes["frames"] = None if frames == self.recorded_frames else frames
        if "as_of" in self.fields:
            changes |= {"as_of": data["as_of"] or None, **self.retrieval_options()}
        return ReplayOptions(
            step=self.step, question=None if question in ("", recorded) else question, **changes
        )


def read_frames(written: str) -> tuple[int | str, ...]:
    """Return the names of passages in a text: numbers with or without `#`, other names unchanged."""
    names = [each.strip() for each in written.replace("\n", ",").split(",")]
    return tuple(_name(each) for each in names if each)


def _name(written: str) -> int | str:
    number = whole_number(written.removeprefix("#"))
    return written if number is None else number


class SweepForm(SentOnce):
    """Choose the settings to combine."""

    modes = forms.MultipleChoiceField(
        label="Modes", choices=MODES, widget=forms.CheckboxSelectMultiple, initial=[name for name, _ in MODES]
    )
    top_k = forms.CharField(
        label="Top-k", initial="4, 8, 16", help_text="Several numbers, separated by commas."
    )
    adaptive = forms.MultipleChoiceField(
        label="Cut-off", choices=CUTS, widget=forms.CheckboxSelectMultiple, initial=["no", "yes"]
    )
    embedding_models = forms.MultipleChoiceField(
        label="Embedding models", required=False, widget=forms.CheckboxSelectMultiple
    )
    as_of = forms.ChoiceField(label="Collection", choices=SWEEP_MOMENTS, initial="recorded")

    def __init__(self, session: Session, data: Any = None) -> None:
        there = models_with_vectors(session.collection) if session.collection is not None else []
        super().__init__(data, initial={"embedding_models": there[:1]})
        models = cast("forms.MultipleChoiceField", self.fields["embedding_models"])
        models.choices = [(name, name) for name in there]

    def clean_top_k(self) -> list[int]:
        written = [each.strip() for each in self.cleaned_data["top_k"].split(",") if each.strip()]
        if not written or not all(_NUMBER.fullmatch(each) for each in written):
            raise ValidationError("Enter whole numbers separated by commas, for example 4, 8, 16.")
        return [int(each) for each in written]

    def grid(self) -> Grid:
        data = self.cleaned_data
        return Grid(
            modes=data["modes"],
            top_k=data["top_k"],
            adaptive=[each == "yes" for each in data["adaptive"]],
            embedding_models=data["embedding_models"],
            as_of=data["as_of"],
        )


class WhereForm(RecordForm):
    """Choose a frame by number, or by a sentence in it."""

    frame = WholeNumber(label="Frame", required=False, min_value=0, max_value=2**62)
    text = area_field("or a sentence in it", max_length=LONGEST_QUERY)
    after = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0, max_value=2**62)
