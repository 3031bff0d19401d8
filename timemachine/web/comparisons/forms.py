"""Forms of comparisons: launch one, rate an answer, ask a judge model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, cast

from django import forms

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import TimeMachineError
from timemachine.llm.pure.catalogue import LOCAL
from timemachine.llm.pure.listing import Choice
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import sessions_named
from timemachine.replay.comparison.commands import LONGEST_NOTE, Plan
from timemachine.replay.comparison.models import WITHDRAWN, CellMark
from timemachine.replay.comparison.pure.variants import (
    FEWEST_ARMS,
    MOST_ARMS,
    MOST_REPEATS,
    NEEDS_REASON,
    Variant,
)
from timemachine.web.errors import page_message
from timemachine.web.form_parts import ModelFields, Number, RecordForm, SentOnce, WholeNumber, area_field
from timemachine.web.option_fields import CallFields

SHOWN_ARMS: Final = 3
MARK_WORDS: Final = [
    ("equivalent", "Equivalent to the recorded answer"),
    ("contradicts", "Contradicts the recorded answer"),
    ("better", "Better than the recorded answer"),
    ("worse", "Worse than the recorded answer"),
]
TAKE_BACK: Final = (WITHDRAWN, "Remove my rating")
ABOUT_CELLS: Final = ("nothing_to_judge", "too_many_cells")
LONGEST_MODEL: Final = 200
_ABOVE_THE_VARIANTS: Final = ("sessions", "others")


class VariantForm(RecordForm, ModelFields, CallFields):
    """One variant of a comparison; ignored if it has no model."""

    def __init__(
        self, of: "ComparisonForm", choices: tuple[Choice, ...], number: int, data: Any = None
    ) -> None:
        super().__init__(data, prefix=f"arm{number}")
        self._of = of
        self.number = number
        self.offer_models(choices, listed=number == 1)

    @property
    def first_error(self) -> str | None:
        """Return the name of the field that gets the focus."""
        return super().first_error if self._of.wrong_variant is self else None

    def variant(self) -> Variant | None:
        """Return the chosen variant; None if it has no model."""
        return Variant(model=self.chosen_model, **self.call_options()) if self.chosen_model else None

    @property
    def has_more(self) -> bool:
        """Return whether any field other than the model is set or has an error."""
        return any(self[name].value() or self[name].errors for name in CallFields.base_fields)


class ComparisonForm(SentOnce):
    """Launch a comparison: sessions, repetitions, reason and spend limit; the variants are separate forms in `arms`."""

    places: ClassVar[Mapping[str, str]] = {
        "reason_needed": "reason",
        "sessions_needed": "sessions",
        "nothing_to_compare": "sessions",
        "session_not_found": "others",
        "session_deleted": "others",
    }
    sessions = forms.MultipleChoiceField(
        label="Sessions", required=False, widget=forms.CheckboxSelectMultiple
    )
    others = forms.CharField(
        label="Other sessions", required=False, help_text="IDs or keys, separated by spaces."
    )
    reason = area_field("Reason", "Stored with the comparison.")
    repeats = WholeNumber(
        label="Repetitions per variant",
        min_value=1,
        max_value=MOST_REPEATS,
        initial=1,
        help_text="Each step counts once, with the mean over its repetitions.",
    )
    noise_floor = forms.BooleanField(
        label="Noise floor",
        required=False,
        help_text="Run each variant once more and compare it with itself. Those differences are due to chance.",
    )
    spend_limit_usd = Number(
        label="Spend limit in US dollars",
        required=False,
        min_value=0,
        help_text="For the whole comparison. A call starts only if its expected cost fits. Needs models with known prices.",
    )

    def __init__(
        self,
        choices: tuple[Choice, ...],
        offered: Sequence[Session],
        data: Any = None,
        *,
        estimating: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(data, **more)
        self._estimating = estimating
        field = cast("forms.MultipleChoiceField", self.fields["sessions"])
        field.choices = [(str(each.id), each) for each in offered]
        self.offered = offered
        self.arms = [VariantForm(self, choices, number, data) for number in range(1, MOST_ARMS + 1)]

    def is_valid(self) -> bool:
        """Return whether the form and each of its variants are valid."""
        return super().is_valid() and not any(form.errors for form in self.arms)

    def full_clean(self) -> None:
        """Validate the form; errors of variants are also listed above the form."""
        super().full_clean()
        if self.is_bound and not self._estimating:
            self._demand_variants()
        for form in self.arms:
            for name, errors in form.errors.items():
                label = form.fields[name].label
                self.add_error(None, [f"Variant {form.number}, {label}: {each}" for each in errors])

    def clean(self) -> dict[str, Any]:
        """Demand a session and a reason, except for an estimate."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self._estimating and not (data.get("sessions") or data.get("others")):
            self.add_error("sessions", "Choose at least one session to compare.")
        if not self._estimating and not data.get("reason", "").strip():
            self.add_error("reason", NEEDS_REASON)
        return data

    def _demand_variants(self) -> None:
        empty = [form for form in self.arms if not form.errors and not form.chosen_model]
        if len(self.arms) - len(empty) < FEWEST_ARMS:
            empty[0].add_error(
                "model", f"A comparison needs {FEWEST_ARMS} to {MOST_ARMS} variants. Choose a model."
            )

    @property
    def wrong_variant(self) -> VariantForm | None:
        """Return the variant that gets the focus: the first with an error, unless a field above has one."""
        if super().first_error in _ABOVE_THE_VARIANTS:
            return None
        return next((form for form in self.arms if form.errors), None)

    @property
    def first_error(self) -> str | None:
        """Return the name of the field that gets the focus; `arms` if it is one of a variant."""
        return "arms" if self.wrong_variant else super().first_error

    @property
    def chosen_sessions(self) -> Iterable[str]:
        return self["sessions"].value() or ()

    def plan(self, project: Project) -> Plan:
        """Return the chosen comparison. Raises `NotFound` for a missing session."""
        data = self.cleaned_data
        named = [*data["sessions"], *data["others"].split()]
        arms = [form.variant() for form in self.arms]
        return Plan(
            sessions=sessions_named(project, named),
            arms=[arm for arm in arms if arm is not None],
            repeats=data["repeats"],
            noise_floor=data["noise_floor"],
            reason=data["reason"].strip() or None,
            spend_limit_usd=data["spend_limit_usd"],
        )


class JudgeForm(ModelFields):
    """Choose a judge model; there is no default, and the local model cannot judge. `named` is the model in the URL."""

    models_id = "judge-models"

    def __init__(self, choices: tuple[Choice, ...], named: str | None = None) -> None:
        judges = tuple(each for each in choices if each.name.provider != LOCAL)
        super().__init__(None if named is None else {"model": named}, label_suffix="", auto_id="judge_%s")
        self.fields["model"].label = "Judge"
        self.offer_models(judges)

    def refuse(self, why: TimeMachineError) -> None:
        """Show at the model field why it cannot judge; above the form if the error concerns the answers."""
        self.add_error(None if why.code in ABOUT_CELLS else "model", page_message(why))


class MarkForm(RecordForm):
    """Rate an answer. `mine` is the person's current rating, which they can remove."""

    verdict = forms.ChoiceField(
        label="Your rating",
        error_messages={
            "required": "Choose a rating.",
            "invalid_choice": "Choose one of these.",
        },
    )
    note = area_field("Note", max_length=LONGEST_NOTE)

    def __init__(self, data: Any = None, *, mine: CellMark | None = None) -> None:
        begins = {} if mine is None else {"verdict": mine.verdict, "note": mine.note}
        super().__init__(data, initial=begins)
        field = cast("forms.ChoiceField", self.fields["verdict"])
        field.choices = [("", "Choose a rating"), *MARK_WORDS, *([TAKE_BACK] if mine else [])]

    def clean_note(self) -> str:
        """Return the note; removing the rating also removes an unchanged note."""
        note: str = self.cleaned_data["note"]
        taken_back = self.cleaned_data.get("verdict") == WITHDRAWN
        return "" if taken_back and note == self.initial["note"] else note
