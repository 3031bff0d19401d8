"""Sweeps: the form that chooses a grid, progress, the figures as a table and a plot."""

import re
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.base.errors import TimeMachineError
from timemachine.base.ids import uuid7
from timemachine.jobs import ring_sweep
from timemachine.recording.models import Session
from timemachine.recording.queries import session_of
from timemachine.retrieval.meaning import models_with_vectors
from timemachine.sweeping import commands
from timemachine.sweeping.grid import Grid
from timemachine.sweeping.queries import rows_of, sweep_json, sweep_of, sweeps_of
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.sweep_plot import sweep_plot

SHOWN_SWEEPS = 20
MODES = [("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
CUTS = [("no", "Exactly top-k"), ("yes", "Adaptive")]
MOMENTS = [("recorded", "As it was at each step"), ("now", "As it is now")]
_NUMBER = re.compile("[0-9]{1,6}")


class SweepForm(forms.Form):
    """What to combine with what."""

    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)
    modes = forms.MultipleChoiceField(
        label="Modes", choices=MODES, widget=forms.CheckboxSelectMultiple, initial=[name for name, _ in MODES]
    )
    top_k = forms.CharField(
        label="Top-k", initial="4, 8, 16", help_text="Several numbers, with commas between them."
    )
    adaptive = forms.MultipleChoiceField(
        label="Cut-off", choices=CUTS, widget=forms.CheckboxSelectMultiple, initial=["no", "yes"]
    )
    embedding_models = forms.MultipleChoiceField(
        label="Embedding models", required=False, widget=forms.CheckboxSelectMultiple
    )
    as_of = forms.ChoiceField(label="Collection", choices=MOMENTS, initial="recorded")

    def __init__(self, session: Session, data: Any = None) -> None:
        there = models_with_vectors(session.collection) if session.collection is not None else []
        super().__init__(data, label_suffix="", initial={"embedding_models": there[:1]})
        models = cast("forms.MultipleChoiceField", self.fields["embedding_models"])
        models.choices = [(name, name) for name in there]

    def clean_top_k(self) -> list[int]:
        """The numbers that were written."""
        written = [each.strip() for each in self.cleaned_data["top_k"].split(",") if each.strip()]
        if not written or not all(_NUMBER.fullmatch(each) for each in written):
            raise ValidationError("Write whole numbers with commas between them, like 4, 8, 16.")
        return [int(each) for each in written]

    def grid(self) -> Grid:
        """The grid that was chosen."""
        said = self.cleaned_data
        return Grid(
            modes=said["modes"],
            top_k=said["top_k"],
            adaptive=[each == "yes" for each in said["adaptive"]],
            embedding_models=said["embedding_models"],
            as_of=said["as_of"],
        )


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/sweep/`: the form; POST launches."""
    access = of(request)
    access.require("operator")
    session = session_of(access.project, id)
    data = request.POST if request.method == "POST" else None
    form = SweepForm(session, data)
    status = 200 if data is None else 422
    if data is not None and form.is_valid():
        try:
            sweep = commands.launch(
                session, form.grid(), by=access.user.email, sweep_id=form.cleaned_data["form_id"]
            )
        except TimeMachineError as why:
            field = why.facts.get("field")
            form.add_error(field if field in form.fields else None, why.message)
            status = why.status
        else:
            ring_sweep(sweep.id)
            return redirect("sweep", sweep.id)
    context = {"session": session, "form": form, "sweeps": sweeps_of(session)[:SHOWN_SWEEPS]}
    return render(request, "sweeps/launch.html", context, status=status)


@require_safe
def sweep(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sweeps/{id}/`: progress while it runs, the figures as they come. A page that polls gets 204 for no news."""
    access = of(request)
    found = sweep_of(access.project, id)
    if request.GET.get("rev") == str(found.revision) and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    document = sweep_json(found, rows_of(found))
    context = {
        "sweep": found,
        "session": found.session,
        "document": document,
        "plot": sweep_plot(document["rows"]),
        "several_models": len({row["embedding_model"] for row in document["rows"]} - {None}) > 1,
        "may_run": access.may("operator"),
    }
    return page(request, "sweeps/sweep.html", context, parts=("progress",))


@require_POST
def cancel(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Stop a sweep."""
    access = of(request)
    access.require("operator")
    commands.cancel(sweep_of(access.project, id))
    return redirect("sweep", id)
