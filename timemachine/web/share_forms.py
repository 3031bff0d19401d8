"""The form that creates a share link."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms

from timemachine.base.clock import now
from timemachine.base.errors import TimeMachineError
from timemachine.base.ids import uuid7
from timemachine.base.wording import counted
from timemachine.recording.models import Session
from timemachine.redaction.profile import BUILT_IN, Profile
from timemachine.sharing.policy import LONGEST_DAYS, OPEN, Policy
from timemachine.sharing.queries import Shareable
from timemachine.sharing.terms import LONGEST_LABEL, LONGEST_PASSPHRASE, MOST_OPENS, Terms
from timemachine.web.redaction_forms import ABOUT_BUILT_IN

LIFETIMES = [("7", "in 7 days"), ("14", "in 14 days"), ("30", "in 30 days"), ("90", "in 90 days")]
_FIELDS = {"expires_at": "until"}


def _whole(says: str) -> dict[str, str]:
    """What a field for a whole number says of all that it is not."""
    return dict.fromkeys(("invalid", "min_value", "max_value"), says)


class PolicyForm(forms.Form):
    """What a project allows of its links."""

    forbidden = forms.BooleanField(
        label="Forbid share links",
        required=False,
        help_text="Nobody makes one, and those there are stop opening at once, also for who has one open. Allowed again, they open again.",
    )
    passphrase_required = forms.BooleanField(
        label="Require a passphrase",
        required=False,
        help_text="Of links made from now on. Revoke those without one that should not go on.",
    )
    longest_days = forms.IntegerField(
        label="Days that a link lives at most",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text=f"Of links made from now on. Empty: {LONGEST_DAYS} days.",
        error_messages=_whole(
            f"A link lives between 1 and {LONGEST_DAYS} days; leave it empty for as long as any may."
        ),
    )

    def __init__(self, data: Any = None, *, initial: Any = None) -> None:
        super().__init__(data, label_suffix="", initial=initial)


class ShareForm(forms.Form):
    """Until when, for whom and how often a link opens. `form_id` makes the same form sent twice one link."""

    form_id = forms.UUIDField(widget=forms.HiddenInput)
    lifetime = forms.TypedChoiceField(label="It expires", choices=LIFETIMES, initial="14", coerce=int)
    until = forms.DateField(
        label="Or at the end of a day",
        required=False,
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
        error_messages=_whole(
            f"A link opens between 1 and {MOST_OPENS:,} times; leave it empty for no limit."
        ),
    )
    through_sequence = forms.IntegerField(
        label="Through step",
        required=False,
        min_value=1,
        error_messages=_whole("Write the number of a step, from 1; leave it empty for the last one."),
    )
    evidence_only = forms.BooleanField(
        label="Evidence only",
        required=False,
        help_text="They see what it is and download its evidence, which tells no text either. No text that was recorded stands on their page.",
    )

    redaction = forms.ChoiceField(
        label="Withhold",
        required=False,
        help_text=f"What is withheld stands as a mark in its place. Preview shows what that would be. {ABOUT_BUILT_IN}",
    )

    def __init__(
        self,
        target: Shareable,
        policy: Policy = OPEN,
        data: Any = None,
        *,
        profiles: Sequence[Profile] = (BUILT_IN,),
    ) -> None:
        super().__init__(data, label_suffix="", initial={"form_id": uuid7()})
        self._follow(policy)
        self._profiles = {each.handle: each for each in profiles}
        named = [(each.handle, f"{each.name}, version {each.version}") for each in profiles]
        self.fields["redaction"].choices = [("", "Nothing"), *named]  # type: ignore[attr-defined]  # a ChoiceField has them
        if isinstance(target, Session):
            last = target.last_sequence
            self.fields["through_sequence"].widget.attrs |= {"placeholder": str(last), "max": str(last)}
            self.fields[
                "through_sequence"
            ].help_text = "What comes later is not shown. Empty: the last step there is now."
        else:
            del self.fields["through_sequence"]

    def _follow(self, policy: Policy) -> None:
        """Offer what the project allows, and say what it asks for."""
        days = policy.longest.days
        offered = [each for each in LIFETIMES if int(each[0]) <= days] or [
            (str(days), f"in {counted(days, 'day')}")
        ]
        lifetime = forms.TypedChoiceField(label="It expires", choices=offered, coerce=int)
        lifetime.initial = "14" if "14" in dict(offered) else offered[-1][0]
        self.fields["lifetime"] = lifetime
        self.fields[
            "until"
        ].help_text = f"In UTC, at most {counted(days, 'day')} from now. A day goes before the choice above."
        if policy.passphrase_required:
            self.fields["passphrase"].required = True
            self.fields[
                "passphrase"
            ].help_text = "Every link of this project needs one. Say it to them another way than you send the link. Only a hash is kept."

    def terms(self) -> Terms:
        """What was chosen."""
        said = self.cleaned_data
        return Terms(
            expires_at=_end_of(said["until"]) if said["until"] else now() + timedelta(days=said["lifetime"]),
            through_sequence=said.get("through_sequence"),
            passphrase=said["passphrase"] or None,
            max_opens=said["max_opens"],
            evidence_only=said["evidence_only"],
            redaction=self._profiles.get(said["redaction"]),
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
