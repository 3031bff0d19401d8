"""Forms of sign-in, members, keys and projects, and of the settings of a project."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, cast

from django import forms

from timemachine.core.accounts.commands.keys import MOST_DAYS as MOST_KEY_DAYS
from timemachine.core.accounts.commands.people import password_problems
from timemachine.core.accounts.models import ADMIN, OPERATOR, VIEWER, User
from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import counted
from timemachine.recording.annotations.significance.compression import MOST_DAYS
from timemachine.web.form_parts import ANY, RecordForm, WholeNumber, url_field

ROLE_NAMES = [(VIEWER, "Viewer"), (OPERATOR, "Operator"), (ADMIN, "Administrator")]
ROLE_CHOICES = [
    (VIEWER, "Viewer: read"),
    (OPERATOR, "Operator: record, replay, share"),
    (ADMIN, "Administrator: manage members and keys"),
]
SCOPE_CHOICES = [
    ("read", "read: sessions, replays, collections"),
    ("record", "record: sessions, actions, passages"),
    ("run", "run: replays, comparisons, questions to models"),
    ("share", "share: share links"),
    ("admin", "admin: keys, erasure, deletion"),
]
NEVER = "never"
END_DAYS = {7: "in 7 days", 30: "in 30 days", 90: "in 90 days", 365: "in a year"}
DEFAULT_DAYS = 90
THEME_CHOICES = [("auto", "System"), ("light", "Light"), ("dark", "Dark")]
LONGEST_PASSWORD = 1000


def _password(label: str, autocomplete: str, help_text: str = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(
        label=label, strip=False, max_length=LONGEST_PASSWORD, widget=widget, help_text=help_text
    )


def _email(**attributes: str | bool) -> forms.EmailField:
    return forms.EmailField(label="E-mail", max_length=254, widget=forms.EmailInput(attrs=attributes))


def _name(label: str, **attributes: str) -> forms.CharField:
    return forms.CharField(label=label, max_length=200, widget=forms.TextInput(attrs=attributes))


class SignInForm(RecordForm):
    """Sign in with e-mail and password."""

    email = _email(autocomplete="username", autofocus=True)
    password = _password("Password", "current-password")


class NewPasswordForm(RecordForm):
    """Set a new password, entered twice and validated for the person."""

    password = _password("New password", "new-password", "At least 10 characters, and not a common password.")
    again = _password("Repeat new password", "new-password")

    def __init__(self, user: User, data: Mapping[str, Any] | None = None) -> None:
        self.user = user
        super().__init__(data)

    def clean_password(self) -> str:
        """Return the password, checked by Django's validators."""
        password: str = self.cleaned_data["password"]
        problems = password_problems(password, self.user)
        if problems:
            raise forms.ValidationError(problems)
        return password

    def clean_again(self) -> str:
        """Return the repeated password, which must be the same."""
        again: str = self.cleaned_data["again"]
        if again != self.cleaned_data.get("password", again):
            raise forms.ValidationError("The passwords do not match.")
        return again


class WelcomeForm(NewPasswordForm):
    """The first sign-in; the e-mail field exists only if the address is still the generated one."""

    ids = "welcome"
    email = _email(autocomplete="username")
    name = _name("Your name", autocomplete="name")
    field_order = ("email", "name", "password", "again")

    def __init__(self, user: User, data: Mapping[str, Any] | None = None, *, asks_email: bool) -> None:
        super().__init__(user, data)
        self.fields["name"].initial = user.name
        if not asks_email:
            del self.fields["email"]


class ChangePasswordForm(NewPasswordForm):
    """Change the password; requires the current one, unless the person has just used a one-time link."""

    ids = "password"
    places: ClassVar[Mapping[str, str]] = {ANY: "current"}
    current = _password("Current password", "current-password")
    field_order = ("current", "password", "again")

    def __init__(self, user: User, data: Mapping[str, Any] | None = None, *, asks_current: bool) -> None:
        super().__init__(user, data)
        if not asks_current:
            del self.fields["current"]


class YouForm(RecordForm):
    """Change your name."""

    ids = "you"
    places: ClassVar[Mapping[str, str]] = {ANY: "name"}
    name = _name("Your name", autocomplete="name")


class ProjectForm(RecordForm):
    """Rename the project."""

    ids = "project"
    places: ClassVar[Mapping[str, str]] = {ANY: "name"}
    name = _name("Project name", autocomplete="off")


class NewProjectForm(RecordForm):
    """Create a project."""

    ids = "new_project"
    places: ClassVar[Mapping[str, str]] = {ANY: "name"}
    name = _name("New project name", autocomplete="off")


class InviteForm(RecordForm):
    """Invite a member with a role."""

    ids = "invite"
    places: ClassVar[Mapping[str, str]] = {ANY: "email"}
    email = _email(autocomplete="off")
    role = forms.ChoiceField(label="Role", choices=ROLE_CHOICES)


class KeyForm(RecordForm):
    """Create an API key with scopes and an expiry date."""

    ids = "key"
    places: ClassVar[Mapping[str, str]] = {ANY: "name"}
    name = _name("Name", autocomplete="off", placeholder="for example nightly import on host a")
    scopes = forms.MultipleChoiceField(
        label="Scopes",
        choices=SCOPE_CHOICES,
        initial=["read", "record"],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )
    expires = forms.ChoiceField(label="Expires")

    def __init__(self, data: Mapping[str, Any] | None = None, *, longest_days: int | None) -> None:
        super().__init__(data)
        field = cast("forms.ChoiceField", self.fields["expires"])
        field.choices = _ends_of_keys(longest_days)
        field.initial = str(min(DEFAULT_DAYS, longest_days or DEFAULT_DAYS))

    @property
    def never_expires(self) -> bool:
        return bool(self.cleaned_data["expires"] == NEVER)

    @property
    def expires_at(self) -> datetime | None:
        """Return when the key expires, or None for never."""
        return None if self.never_expires else now() + timedelta(days=int(self.cleaned_data["expires"]))


def _ends_of_keys(longest_days: int | None) -> list[tuple[str, str]]:
    if longest_days is None:
        return [*((str(days), words) for days, words in END_DAYS.items()), (NEVER, "never")]
    shorter = {days: words for days, words in END_DAYS.items() if days < longest_days}
    longest = {longest_days: END_DAYS.get(longest_days, f"in {counted(longest_days, 'day')}")}
    return [(str(days), words) for days, words in (shorter | longest).items()]


class KeyLifetimeForm(RecordForm):
    """Set the longest lifetime of new keys; empty for no limit."""

    ids = "key_lifetime"
    days = WholeNumber(
        label="Longest lifetime of new keys, in days",
        required=False,
        min_value=1,
        max_value=MOST_KEY_DAYS,
        help_text="Leave empty for no limit. Existing keys keep their expiry.",
    )


class AnchorsForm(RecordForm):
    """Set the two URLs; both are optional."""

    ids = "anchors"
    witness = url_field(
        "Witness",
        "URL that receives each new state of the log (C2SP tlog-witness). Leave empty for none.",
    )
    timestamp = url_field(
        "Timestamp authority", "URL that timestamps states of the log (RFC 3161). Leave empty for none."
    )


class CompressionForm(RecordForm):
    """Set the number of days after the end of a session; empty for never."""

    ids = "compression"
    days = WholeNumber(
        label="Days after the end of a session",
        required=False,
        min_value=1,
        max_value=MOST_DAYS,
        help_text="Leave empty to turn off automatic compression.",
    )
