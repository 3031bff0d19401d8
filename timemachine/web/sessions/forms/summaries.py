"""The form that creates a summary of a session."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms

from timemachine.llm.pure.listing import Choice
from timemachine.memory.transcripts.summarising import EXTRACTIVE
from timemachine.recording.sessions.models import Session
from timemachine.web.form_parts import RecordForm, line_field
from timemachine.web.model_select import ModelSelect


class SummaryForm(RecordForm):
    """The model that writes the summary, and the collection that stores it."""

    ids = "summary"
    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = line_field(
        "Or another model", "Written as provider:model. Overrides the choice above.", code=True
    )
    collection = line_field("Collection", "Stores the summary. Created if it does not exist.")

    def __init__(self, data: Any = None, *, session: Session, models: Sequence[Choice]) -> None:
        own = session.collection.name if session.collection else ""
        super().__init__(data, initial={"collection": own})
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(models, f"{EXTRACTIVE}: quotes the most important steps")

    @property
    def use_model(self) -> str:
        """Return the chosen model, or the extractive summariser."""
        said = self.cleaned_data
        return str(said["other_model"].strip() or said["model"] or EXTRACTIVE)
