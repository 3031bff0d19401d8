"""Forms that create one thing, however often they are submitted: the thing gets the form's id."""

from typing import TYPE_CHECKING, cast

from django import forms

from timemachine.core.pure.ids import uuid7

if TYPE_CHECKING:
    from django.http import QueryDict


class SentOnce(forms.Form):
    """A form with a unique id, which changes each time it is shown."""

    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)

    def renew(self) -> None:
        """Give a form that is shown again a new id, because the old one is used."""
        self.data = cast("QueryDict", self.data).copy()
        self.data["form_id"] = str(uuid7())
