"""Forms of the second factor: setting it up, and using it."""

from collections.abc import Mapping
from typing import ClassVar

from django import forms

from timemachine.web.form_parts import ANY, RecordForm

_LONGEST_ANSWER = 20_000


def _code(label: str, help_text: str) -> forms.CharField:
    attributes = {
        "autocomplete": "one-time-code",
        "autocapitalize": "none",
        "spellcheck": "false",
        "class": "mono",
    }
    widget = forms.TextInput(attrs=attributes)
    return forms.CharField(label=label, max_length=50, widget=widget, help_text=help_text)


def _name(example: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "placeholder": f"for example {example}"})
    return forms.CharField(label="Name", max_length=200, widget=widget)


class CodeForm(RecordForm):
    """Enter a code at the second step of signing in."""

    ids = "second_step"
    places: ClassVar[Mapping[str, str]] = {ANY: "code"}
    code = _code("Code", "The six digits that your authenticator app shows, or one of your recovery codes.")


class PasskeyAnswerForm(RecordForm):
    """What a passkey answered; a script fills it in."""

    ids = "passkey"
    response = forms.CharField(max_length=_LONGEST_ANSWER, widget=forms.HiddenInput)


class AppForm(RecordForm):
    """Add an authenticator app; the code shows that it has the secret."""

    ids = "app"
    places: ClassVar[Mapping[str, str]] = {"wrong_code": "code", ANY: "name"}
    name = _name("phone")
    code = _code("Code", "The six digits that the app shows for Time Machine now.")


class PasskeyForm(PasskeyAnswerForm):
    """Add a passkey."""

    ids = "passkey"
    places: ClassVar[Mapping[str, str]] = {ANY: "name"}
    name = _name("laptop or security key")
