"""Number fields of forms: an invalid number is refused with the name and the limits of the field."""

import pytest
from django import forms

from timemachine.web.form_parts import Number, WholeNumber


class _Form(forms.Form):
    days = WholeNumber(label="Days", min_value=1, max_value=36_500)
    step = WholeNumber(label="Step", min_value=1, max_value=2**62, required=False)
    share = Number(label="Share", min_value=0, max_value=1, required=False)
    score = Number(label="Score", required=False)


@pytest.mark.parametrize(
    ("field", "written", "message"),
    [
        ("days", "", "“Days” must be a whole number from 1 to 36,500."),
        ("days", "0", "“Days” must be a whole number from 1 to 36,500."),
        ("days", "soon", "“Days” must be a whole number from 1 to 36,500."),
        ("step", "0", "“Step” must be a whole number of at least 1."),
        ("share", "2", "“Share” must be a number from 0 to 1."),
        ("score", "inf", "“Score” must be a number."),
    ],
)
def test_an_invalid_number_is_refused_with_the_name_and_limits_of_its_field(
    field: str, written: str, message: str
) -> None:
    assert _Form({"days": "3", field: written}).errors == {field: [message]}


def test_valid_numbers_are_accepted() -> None:
    form = _Form({"days": "3", "share": "0.5"})
    assert form.is_valid()
    assert form.cleaned_data == {"days": 3, "step": None, "share": 0.5, "score": None}
