"""The form that creates a share link."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.formatting import counted
from timemachine.core.pure.ids import uuid7
from timemachine.governance.sharing.pure.policy import LONGEST_DAYS, OPEN, Policy
from timemachine.governance.sharing.pure.terms import (
    LONGEST_LABEL,
    LONGEST_PASSPHRASE,
    MOST_OPENS,
    SHORTEST_PASSPHRASE,
    Terms,
    check_end,
)
from timemachine.governance.sharing.queries import Shareable
from timemachine.recording.sessions.models import Session
from timemachine.text.redaction.pure.profile import BUILT_IN, Profile
from timemachine.web.settings.forms.redaction import ABOUT_BUILT_IN

LIFETIMES = [("7", "in 7 days"), ("14", "in 14 days"), ("30", "in 30 days"), ("90", "in 90 days")]
_OF_PASSPHRASE = (
    f"A passphrase has {SHORTEST_PASSPHRASE} to {LONGEST_PASSPHRASE:,} characters; leave it empty for none."
)
_FIELDS = {"expires_at": "until"}
LONGEST_STEP = 19


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
    profile_required = forms.BooleanField(
        label="Require a redaction profile",
        required=False,
        help_text="Of links made from now on: each withholds by one that its maker chooses.",
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
        error_messages={"max_length": f"A label has at most {LONGEST_LABEL} characters; shorten it."},
        help_text="For whom it is. Only your project sees it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    passphrase = forms.CharField(
        label="Passphrase",
        required=False,
        strip=False,
        min_length=SHORTEST_PASSPHRASE,
        max_length=LONGEST_PASSPHRASE,
        error_messages=dict.fromkeys(("min_length", "max_length"), _OF_PASSPHRASE),
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
        help_text=f"What is withheld stands as a mark in its place. Preview shows what that would be, and with Nothing what would be read that the "
        f"built-in profile finds. {ABOUT_BUILT_IN}",
    )

    def __init__(
        self,
        target: Shareable,
        policy: Policy = OPEN,
        data: Any = None,
        *,
        profiles: Sequence[Profile] = (BUILT_IN,),
        through: str | None = None,
    ) -> None:
        """`through` is the step that somebody came from."""
        step = (
            through
            if through and through.isascii() and through.isdigit() and len(through) < LONGEST_STEP
            else None
        )
        super().__init__(data, label_suffix="", initial={"form_id": uuid7(), "through_sequence": step})
        self._follow(policy)
        self._profiles = {each.handle: each for each in profiles}
        named = [(each.handle, f"{each.name}, version {each.version}") for each in profiles]
        self.fields["redaction"].choices = named if policy.profile_required else [("", "Nothing"), *named]  # type: ignore[attr-defined]  # a ChoiceField has them
        if isinstance(target, Session):
            last = self._last_step = target.last_sequence
            self.fields["through_sequence"].widget.attrs |= {"placeholder": str(last), "max": str(last)}
            self.fields[
                "through_sequence"
            ].help_text = "What comes later is not shown. Empty it to share all: the last step there is now."
        else:
            del self.fields["through_sequence"]

    def _follow(self, policy: Policy) -> None:
        """Offer what the project allows, and say what it asks for."""
        self._longest, days = policy.longest, policy.longest.days
        offered = [each for each in LIFETIMES if int(each[0]) <= days] or [
            (str(days), f"in {counted(days, 'day')}")
        ]
        lifetime = forms.TypedChoiceField(label="It expires", choices=offered, coerce=int)
        lifetime.initial = "14" if "14" in dict(offered) else offered[-1][0]
        self.fields["lifetime"] = lifetime
        self.fields[
            "until"
        ].help_text = f"In UTC, at most {counted(days, 'day')} from now. A day goes before the choice above."
        if policy.profile_required:
            self.fields["redaction"].required = True
        if policy.passphrase_required:
            self.fields["passphrase"].required = True
            self.fields[
                "passphrase"
            ].help_text = "Every link of this project needs one. Say it to them another way than you send the link. Only a hash is kept."

    def clean_through_sequence(self) -> int | None:
        """A step that the session has."""
        wanted: int | None = self.cleaned_data["through_sequence"]
        if wanted is not None and wanted > self._last_step:
            raise forms.ValidationError(
                f"The session has no step {wanted:,}; its last step is {self._last_step:,}."
            )
        return wanted

    def clean_until(self) -> date | None:
        """A day that is not past, and not longer from now than a link may live."""
        day: date | None = self.cleaned_data["until"]
        try:
            check_end(_end_of(day) if day else None, now(), self._longest)
        except InvalidInput as why:
            raise forms.ValidationError(why.message) from why
        return day

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
