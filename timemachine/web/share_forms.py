"""The form that creates a share link."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms

from timemachine.base.clock import now
from timemachine.base.errors import TimeMachineError
from timemachine.base.ids import uuid7
from timemachine.recording.models import Session
from timemachine.sharing.queries import Shareable
from timemachine.sharing.terms import LONGEST_LABEL, LONGEST_PASSPHRASE, MOST_OPENS, Terms

LIFETIMES = [("7", "in 7 days"), ("14", "in 14 days"), ("30", "in 30 days"), ("90", "in 90 days")]
_FIELDS = {"expires_at": "until"}


class ShareForm(forms.Form):
    """Until when, for whom and how often a link opens. `form_id` makes the same form sent twice one link."""

    form_id = forms.UUIDField(widget=forms.HiddenInput)
    lifetime = forms.TypedChoiceField(label="It expires", choices=LIFETIMES, initial="14", coerce=int)
    until = forms.DateField(
        label="Or at the end of a day",
        required=False,
        help_text="In UTC, at most 366 days from now. A day goes before the choice above.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    label = forms.CharField(
        label="Label",
        required=False,
        max_length=LONGEST_LABEL,
        help_text="For whom it is. Only your project sees it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    passphrase = forms.CharField(
        label="Passphrase",
        required=False,
        strip=False,
        max_length=LONGEST_PASSPHRASE,
        help_text="Say it to them another way than you send the link. Only a hash is kept.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )
    max_opens = forms.IntegerField(
        label="Opens at most",
        required=False,
        min_value=1,
        max_value=MOST_OPENS,
        help_text="Times. Empty: no limit.",
    )
    through_sequence = forms.IntegerField(label="Through step", required=False, min_value=1)
    evidence_only = forms.BooleanField(
        label="Evidence only",
        required=False,
        help_text="They see what it is and download its evidence. No text that was recorded stands on their page.",
    )

    def __init__(self, target: Shareable, data: Any = None) -> None:
        super().__init__(data, label_suffix="", initial={"form_id": uuid7()})
        if isinstance(target, Session):
            last = target.last_sequence
            self.fields["through_sequence"].widget.attrs |= {"placeholder": str(last), "max": str(last)}
            self.fields[
                "through_sequence"
            ].help_text = "What comes later is not shown. Empty: the last step there is now."
        else:
            del self.fields["through_sequence"]

    def terms(self) -> Terms:
        """What was chosen."""
        said = self.cleaned_data
        return Terms(
            expires_at=_end_of(said["until"]) if said["until"] else now() + timedelta(days=said["lifetime"]),
            through_sequence=said.get("through_sequence"),
            passphrase=said["passphrase"] or None,
            max_opens=said["max_opens"],
            evidence_only=said["evidence_only"],
            label=said["label"],
        )

    def refuse(self, why: TimeMachineError) -> int:
        """Say at the field that it is about what does not work; the status to answer with."""
        field = why.facts.get("field")
        field = _FIELDS.get(str(field), field)
        self.add_error(field if field in self.fields else None, why.message)
        return why.status


def _end_of(day: date) -> datetime:
    return datetime.combine(day, time.max, tzinfo=UTC)
