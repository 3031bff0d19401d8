"""Forms that make one thing, however often they are sent: what a form makes has the form's id."""

from typing import TYPE_CHECKING, cast

from django import forms

from timemachine.core.pure.ids import uuid7

if TYPE_CHECKING:
    from django.http import QueryDict


class SentOnce(forms.Form):
    """A form with an id of its own; it has another one when it is shown the next time."""

    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)

    def renew(self) -> None:
        """Give the form that is shown again another id: the one it was sent with is used."""
        self.data = cast("QueryDict", self.data).copy()
        self.data["form_id"] = str(uuid7())
