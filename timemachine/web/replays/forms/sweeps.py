"""The form for the grid of a sweep."""

import re
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError

from timemachine.core.pure.errors import TimeMachineError
from timemachine.knowledge.vectors import models_with_vectors
from timemachine.recording.sessions.models import Session
from timemachine.replay.sweeps.pure.grid import Grid
from timemachine.web.form_parts import MODES
from timemachine.web.single_submission import SentOnce

CUTS = [("no", "Exactly top-k"), ("yes", "Adaptive")]
MOMENTS = [("recorded", "As it was at each step"), ("now", "As it is now")]
_NUMBER = re.compile("[0-9]{1,6}")


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
    as_of = forms.ChoiceField(label="Collection", choices=MOMENTS, initial="recorded")

    def __init__(self, session: Session, data: Any = None) -> None:
        there = models_with_vectors(session.collection) if session.collection is not None else []
        super().__init__(data, label_suffix="", initial={"embedding_models": there[:1]})
        models = cast("forms.MultipleChoiceField", self.fields["embedding_models"])
        models.choices = [(name, name) for name in there]

    def clean_top_k(self) -> list[int]:
        """Return the numbers."""
        written = [each.strip() for each in self.cleaned_data["top_k"].split(",") if each.strip()]
        if not written or not all(_NUMBER.fullmatch(each) for each in written):
            raise ValidationError("Enter whole numbers separated by commas, for example 4, 8, 16.")
        return [int(each) for each in written]

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field and return the HTTP status. A form that was used gets a new id."""
        if why.code == "form_used":
            self.renew()
        field = why.facts.get("field")
        self.add_error(field if field in self.fields else None, why.message)
        return why.status

    def grid(self) -> Grid:
        """Return the chosen grid."""
        said = self.cleaned_data
        return Grid(
            modes=said["modes"],
            top_k=said["top_k"],
            adaptive=[each == "yes" for each in said["adaptive"]],
            embedding_models=said["embedding_models"],
            as_of=said["as_of"],
        )
