"""The forms of signing in and of the settings."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms

from timemachine.core.accounts.commands import password_problems
from timemachine.core.accounts.models import ADMIN, OPERATOR, VIEWER, User
from timemachine.core.pure.clock import now

ROLE_NAMES = [(VIEWER, "Viewer"), (OPERATOR, "Operator"), (ADMIN, "Administrator")]
ROLE_CHOICES = [
    (VIEWER, "Viewer: reads"),
    (OPERATOR, "Operator: records, replays, shares"),
    (ADMIN, "Administrator: decides about members and keys"),
]
SCOPE_CHOICES = [
    ("read", "read: sessions, replays, collections"),
    ("record", "record: sessions, actions, passages"),
    ("run", "run: replays, comparisons, questions to models"),
    ("share", "share: links for people without an account"),
    ("admin", "admin: keys, erasing, deleting"),
]
END_CHOICES = [("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("", "never")]
THEME_CHOICES = [("auto", "As the system has it"), ("light", "Light"), ("dark", "Dark")]
LONGEST_PASSWORD = 1000


class AccountForm(forms.Form):
    """A form whose elements have ids of their own on a page with several forms."""

    ids: ClassVar[str] = "id"

    def __init__(self, data: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__(data, auto_id=f"{self.ids}_%s", label_suffix="", **options)


def _password(label: str, autocomplete: str, help_text: str = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(
        label=label, strip=False, max_length=LONGEST_PASSWORD, widget=widget, help_text=help_text
    )


def _email(**attributes: str | bool) -> forms.EmailField:
    return forms.EmailField(label="E-mail", max_length=254, widget=forms.EmailInput(attrs=attributes))


def _name(label: str, **attributes: str) -> forms.CharField:
    return forms.CharField(label=label, max_length=200, widget=forms.TextInput(attrs=attributes))


class SignInForm(AccountForm):
    """E-mail and password."""

    email = _email(autocomplete="username", autofocus=True)
    password = _password("Password", "current-password")


class NewPasswordForm(AccountForm):
    """A new password, twice; it is checked for the person it is for."""

    password = _password("New password", "new-password", "At least 10 characters, and not a common one.")
    again = _password("New password again", "new-password")

    def __init__(self, user: User, data: Mapping[str, Any] | None = None) -> None:
        self.user = user
        super().__init__(data)

    def clean_password(self) -> str:
        """Django's validators, with their sentences."""
        password: str = self.cleaned_data["password"]
        problems = password_problems(password, self.user)
        if problems:
            raise forms.ValidationError(problems)
        return password

    def clean_again(self) -> str:
        """The same once more."""
        again: str = self.cleaned_data["again"]
        if again != self.cleaned_data.get("password", again):
            raise forms.ValidationError("This is not the same as above.")
        return again


class WelcomeForm(NewPasswordForm):
    """What a person says at the first sign-in; the e-mail only where the address is still the one we made up."""

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
    """A new password; the current one too, unless a one-time link has just shown who this is."""

    ids = "password"
    current = _password("Current password", "current-password")
    field_order = ("current", "password", "again")

    def __init__(self, user: User, data: Mapping[str, Any] | None = None, *, asks_current: bool) -> None:
        super().__init__(user, data)
        if not asks_current:
            del self.fields["current"]


class YouForm(AccountForm):
    """Your name."""

    ids = "you"
    name = _name("Your name", autocomplete="name")


class ProjectForm(AccountForm):
    """What the project is called."""

    ids = "project"
    name = _name("Name of the project", autocomplete="off")


class NewProjectForm(AccountForm):
    """What a new project is called."""

    ids = "new_project"
    name = _name("Name of the new project", autocomplete="off")


class InviteForm(AccountForm):
    """Whom to invite, and as what."""

    ids = "invite"
    email = _email(autocomplete="off")
    role = forms.ChoiceField(label="Role", choices=ROLE_CHOICES)


class KeyForm(AccountForm):
    """What a program's key is called, what it may do, and until when."""

    ids = "key"
    name = _name("Name", autocomplete="off", placeholder="which program, on which machine")
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=SCOPE_CHOICES,
        initial=["read", "record"],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )
    expires = forms.TypedChoiceField(
        label="It expires", choices=END_CHOICES, initial="365", coerce=int, empty_value=None, required=False
    )

    def expires_at(self) -> datetime | None:
        """When the key ends, or None for never."""
        days = self.cleaned_data["expires"]
        return now() + timedelta(days=days) if days else None
