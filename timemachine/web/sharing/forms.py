"""Forms of share links: create one, and set the project's policy."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar

from django import forms

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.numbers import counted
from timemachine.governance.sharing.pure import terms
from timemachine.governance.sharing.pure.terms import LONGEST_DAYS, OPEN, Policy
from timemachine.governance.sharing.queries import Shareable
from timemachine.recording.sessions.models import Session
from timemachine.text.redaction.pure.profile import BUILT_IN, Profile
from timemachine.web.errors import page_message
from timemachine.web.form_parts import RecordForm
from timemachine.web.settings.forms.redaction import ABOUT_BUILT_IN

LIFETIMES = [("7", "in 7 days"), ("14", "in 14 days"), ("30", "in 30 days"), ("90", "in 90 days")]
_OF_PASSPHRASE = f"The passphrase must have {terms.SHORTEST_PASSPHRASE} to {terms.LONGEST_PASSPHRASE:,} characters. Leave it empty for none."


def _whole(says: str) -> dict[str, str]:
    """Return the error messages of a whole-number field."""
    return dict.fromkeys(("invalid", "min_value", "max_value"), says)


class PolicyForm(RecordForm):
    """Set the project's policy for share links."""

    forbidden = forms.BooleanField(
        label="Turn off share links",
        required=False,
        help_text="No new links can be created, and existing ones stop working immediately, even for visitors who have one open. They work again when you turn links back on.",
    )
    passphrase_required = forms.BooleanField(
        label="Require a passphrase",
        required=False,
        help_text="For new links. Revoke existing links without one if needed.",
    )
    profile_required = forms.BooleanField(
        label="Require a redaction profile",
        required=False,
        help_text="For new links. The creator chooses the profile.",
    )
    longest_days = forms.IntegerField(
        label="Maximum lifetime in days",
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text=f"For new links. Leave empty for {LONGEST_DAYS} days.",
        error_messages=_whole(
            f"The lifetime must be 1 to {LONGEST_DAYS} days. Leave it empty for the maximum."
        ),
    )


class ShareForm(RecordForm):
    """Create a share link. `form_id` ensures that a form submitted twice creates only one link."""

    places: ClassVar[Mapping[str, str]] = {"expires_at": "until"}
    form_id = forms.UUIDField(widget=forms.HiddenInput)
    lifetime = forms.TypedChoiceField(label="Expires", choices=LIFETIMES, initial="14", coerce=int)
    until = forms.DateField(
        label="Or at the end of this day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    label = forms.CharField(
        label="Audience",
        required=False,
        max_length=terms.LONGEST_LABEL,
        error_messages={"max_length": f"The label can have at most {terms.LONGEST_LABEL} characters."},
        help_text="Who the link is for, for example “External audit 2026”. Visible only in this project.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    passphrase = forms.CharField(
        label="Passphrase",
        required=False,
        strip=False,
        min_length=terms.SHORTEST_PASSPHRASE,
        max_length=terms.LONGEST_PASSPHRASE,
        error_messages=dict.fromkeys(("min_length", "max_length"), _OF_PASSPHRASE),
        help_text="Send it through a different channel than the link. Only a hash is stored.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )
    max_opens = forms.IntegerField(
        label="Maximum views",
        required=False,
        min_value=1,
        max_value=terms.MOST_OPENS,
        help_text="Leave empty for no limit.",
        error_messages=_whole(
            f"Maximum views must be 1 to {terms.MOST_OPENS:,}. Leave it empty for no limit."
        ),
    )
    through_sequence = forms.IntegerField(
        label="Through step",
        required=False,
        min_value=1,
        error_messages=_whole("Enter a step number from 1. Leave it empty for the last step."),
    )
    evidence_only = forms.BooleanField(
        label="Evidence only",
        required=False,
        help_text="Visitors see the facts and can download the evidence, but neither the page nor the evidence contains recorded text.",
    )

    redaction = forms.ChoiceField(
        label="Withhold",
        required=False,
        help_text=f"Withheld text is marked. {ABOUT_BUILT_IN}",
    )

    def __init__(
        self,
        target: Shareable,
        policy: Policy = OPEN,
        data: Any = None,
        *,
        profiles: Sequence[Profile] = (BUILT_IN,),
        through: int | None = None,
    ) -> None:
        """Initialise the form; `through` is the step from which the person came."""
        super().__init__(data, initial={"form_id": uuid7(), "through_sequence": through})
        self._follow(policy)
        self._placeholder = "x" * terms.SHORTEST_PASSPHRASE if policy.passphrase_required else None
        self._profiles = {each.handle: each for each in profiles}
        named = [(each.handle, f"{each.name}, version {each.version}") for each in profiles]
        nothing = [] if policy.profile_required else [("", "Nothing: show all text as recorded")]
        self.fields["redaction"].choices = nothing + named  # type: ignore[attr-defined]  # a ChoiceField has them
        if isinstance(target, Session):
            last = self._last_step = target.last_sequence
            field = self.fields["through_sequence"]
            field.widget.attrs |= {"placeholder": str(last), "max": str(last)}
            field.help_text = "Later steps are not shown. Leave empty for the current last step."
        else:
            del self.fields["through_sequence"]

    def _follow(self, policy: Policy) -> None:
        """Adjust the fields to the project's policy."""
        self._longest, days = policy.longest, policy.longest.days
        offered = [each for each in LIFETIMES if int(each[0]) <= days] or [
            (str(days), f"in {counted(days, 'day')}")
        ]
        lifetime = forms.TypedChoiceField(label="Expires", choices=offered, coerce=int)
        lifetime.initial = "14" if "14" in dict(offered) else offered[-1][0]
        self.fields["lifetime"] = lifetime
        until, passphrase = self.fields["until"], self.fields["passphrase"]
        until.help_text = f"In UTC, at most {counted(days, 'day')} from now. Overrides the number of days."
        self.fields["redaction"].required = policy.profile_required
        if policy.passphrase_required:
            passphrase.required = True
            passphrase.help_text = "Required in this project. Send it through a different channel than the link. Only a hash is stored."

    def clean_through_sequence(self) -> int | None:
        """Return a step that exists in the session."""
        sequence: int | None = self.cleaned_data["through_sequence"]
        if sequence is not None and sequence > self._last_step:
            raise forms.ValidationError(
                f"The session has no step {sequence:,}. Its last step is {self._last_step:,}."
            )
        return sequence

    def clean_until(self) -> date | None:
        """Return a day that is not in the past and within the maximum lifetime."""
        day: date | None = self.cleaned_data["until"]
        try:
            terms.check_end(_end_of(day) if day else None, now(), self._longest)
        except InvalidInput as why:
            raise forms.ValidationError(page_message(why)) from why
        return day

    @property
    def more_is_open(self) -> bool:
        """Return whether a field under “More” is set or has an error."""
        names = ("through_sequence", "max_opens", "evidence_only")
        return any(self[name].value() or self[name].errors for name in names if name in self.fields)

    def visible_terms(self) -> terms.Terms:
        """Return terms of a link that shows and withholds the same. Invalid fields have no effect."""
        self.full_clean()
        until, days = self.cleaned_data.get("until"), self.cleaned_data.get("lifetime") or 1
        return terms.Terms(
            expires_at=_end_of(until) if until else now() + timedelta(days=days),
            through_sequence=self.cleaned_data.get("through_sequence"),
            passphrase=self._placeholder,
            evidence_only=self.cleaned_data.get("evidence_only", False),
            redaction=self._profiles.get(self.cleaned_data.get("redaction") or ""),
        )

    def terms(self) -> terms.Terms:
        data = self.cleaned_data
        return terms.Terms(
            expires_at=_end_of(data["until"]) if data["until"] else now() + timedelta(days=data["lifetime"]),
            through_sequence=data.get("through_sequence"),
            passphrase=data["passphrase"] or None,
            max_opens=data["max_opens"],
            evidence_only=data["evidence_only"],
            redaction=self._profiles.get(data["redaction"]),
            label=data["label"],
        )


def _end_of(day: date) -> datetime:
    return datetime.combine(day, time.max, tzinfo=UTC)
