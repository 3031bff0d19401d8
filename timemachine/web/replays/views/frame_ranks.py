"""The page that shows the rank of a frame at every find and ask of a session."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from timemachine.core.pure.errors import TimeMachineError
from timemachine.knowledge.find import LONGEST_QUERY
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs.frame_ranks import rank_page
from timemachine.web.access import of
from timemachine.web.number_fields import WholeNumber


class WhereForm(forms.Form):
    """Choose a frame by number, or by a sentence in it."""

    frame = WholeNumber(label="Frame", required=False, min_value=0, max_value=2**62)
    text = forms.CharField(
        label="or a sentence in it",
        required=False,
        max_length=LONGEST_QUERY,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    after = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0, max_value=2**62)


@require_safe
def where_is_it(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/where/?frame=|text=&after=`."""
    session = session_of(of(request).project, id)
    asked = bool(request.GET.get("frame") or request.GET.get("text"))
    form = WhereForm(request.GET if asked else None, label_suffix="")
    here = {name: request.GET.get(name, "") for name in form.fields}
    context: dict[str, Any] = {"session": session, "form": form, "here": here}
    status = 200
    if asked:
        status = _look(form, context)
    return render(request, "replays/frame_ranks.html", context, status=status)


def _look(form: WhereForm, context: dict[str, Any]) -> int:
    """Add the ranks to the context or an error to the form; return the HTTP status."""
    if not form.is_valid():
        return 422
    said = form.cleaned_data
    try:
        context["found"] = rank_page(
            context["session"], frame=said["frame"], text=said["text"], after=said["after"] or 0
        )
    except TimeMachineError as why:
        form.add_error(None, why.message)
        return why.status
    return 200
