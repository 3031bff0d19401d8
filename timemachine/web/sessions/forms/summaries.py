"""The form that has a session summarised."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms

from timemachine.llm.pure.listing import Choice
from timemachine.memory.transcripts.summarising import EXTRACTIVE
from timemachine.recording.sessions.models import Session
from timemachine.web.form_parts import RecordForm, line_field
from timemachine.web.model_select import ModelSelect


class SummaryForm(RecordForm):
    """Who summarises, and into which collection."""

    ids = "summary"
    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = line_field(
        "Or another model", "As provider:model; it counts instead of the one above.", code=True
    )
    collection = line_field(
        "Collection", "Where the summary is put; it is made where there is none of that name."
    )

    def __init__(self, data: Any = None, *, session: Session, models: Sequence[Choice]) -> None:
        own = session.collection.name if session.collection else ""
        super().__init__(data, initial={"collection": own})
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(models, f"{EXTRACTIVE}: quotes the turns that matter most")

    @property
    def use_model(self) -> str:
        """The model that was chosen, or who summarises without one."""
        said = self.cleaned_data
        return str(said["other_model"].strip() or said["model"] or EXTRACTIVE)
