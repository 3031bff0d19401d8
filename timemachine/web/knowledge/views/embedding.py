"""The embedding of a collection: its progress, and the form to change the model."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import TimeMachineError
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.reembedding import embedding_progress, reembed
from timemachine.knowledge.tasks import embed_backlog
from timemachine.web.access import of
from timemachine.web.http import page, requested_part
from timemachine.web.knowledge.forms.collections import EmbeddingForm
from timemachine.web.knowledge.views.collections import collection_page
from timemachine.web.redirects import see_other


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def embedding(request: HttpRequest, name: str) -> HttpResponse:
    """`/collections/{name}/embedding/`: the progress as a part of the collection's page; POST changes the model."""
    access = of(request)
    found = collection_of(access.project, name)
    if request.method != "POST":
        if requested_part(request, ("embedded",)) is None:
            return see_other("collection", name)
        context = {"collection": found, "embedding": embedding_progress(found)}
        return page(request, "collections/embedding.html", context, parts=("embedded",))
    access.require(ADMIN)
    form = EmbeddingForm(request.POST)
    if not form.is_valid():
        return collection_page(request, access, found, status=422, embedding_form=form)
    try:
        asked = reembed(found, form.chosen_model, by=access.user.email)
    except TimeMachineError as why:
        return collection_page(request, access, found, status=form.refuse(why), embedding_form=form)
    enqueue(embed_backlog, found.id)
    target = asked.target.model if asked.target else asked.model
    messages.success(request, f"Embedding with {target} started. The collection stays searchable.")
    return see_other("collection", found.name)
