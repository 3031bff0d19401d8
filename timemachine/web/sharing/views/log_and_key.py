"""The project's evidence key and log: the page of both, replacing the key, the log's anchors, its download."""

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse

from timemachine.core.accounts.models import ADMIN
from timemachine.core.pure.errors import InvalidInput
from timemachine.evidence.bundles.downloads import zip_response
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.log.anchors import KINDS, anchors_of, key_for_witness, set_anchor
from timemachine.evidence.pure.key_store_names import place_of
from timemachine.governance.sharing import log
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.errors import page_message
from timemachine.web.http import page, see_other
from timemachine.web.settings.forms.accounts import AnchorsForm


@get_view(fresh=True)
def evidence_key(request: HttpRequest, access: Access) -> HttpResponse:
    """`/evidence/`: the key that seals, earlier keys, and the log with its witness and timestamps."""
    return _page(request, access)


def _page(
    request: HttpRequest, access: Access, *, refused: AnchorsForm | None = None, status: int = 200
) -> HttpResponse:
    anchors = anchors_of(access.project)
    key = keys.key_in_use(access.project)
    moved = key.store != settings.SIGNING_KEY_STORE
    facts = {
        "evidence_key": key,
        "key_place": place_of(key.store),
        "key_problem": keys.why_unusable(key),
        "new_key_place": place_of(settings.SIGNING_KEY_STORE) if moved else None,
        "earlier_keys": keys.earlier_keys(access.project),
        "anchors": anchors,
    }
    if access.administers:
        urls = {kind: anchor.url for kind, anchor in anchors.items()}
        facts["anchors_form"] = refused or AnchorsForm(initial=urls)
        facts["witness_key"] = key_for_witness(access.project)
    return page(request, "evidence/key_and_log.html", facts, status=status)


@post_view(ADMIN)
def set_anchors(request: HttpRequest, access: Access) -> HttpResponse:
    """Save the URLs of the log's witness and timestamp authority; an invalid one is reported, and the other is saved."""
    form = AnchorsForm(request.POST)
    for kind in KINDS if form.is_valid() else ():
        try:
            set_anchor(access.project, kind, form.cleaned_data[kind], by=access.user.email)
        except InvalidInput as why:
            form.add_error(kind, page_message(why))
    if form.errors:
        return _page(request, access, refused=form, status=form.http_status)
    messages.success(request, "Witness and timestamp authority saved.")
    return see_other("evidence_key")


@form_view(ADMIN, fresh=True)
def replace_key(request: HttpRequest, access: Access) -> HttpResponse:
    """Explain replacing the signing key; POST replaces it."""
    if request.method != "POST":
        return page(request, "evidence/replace_key.html", key=keys.existing_key(access.project))
    made = project_log.replace_key(access.project, by=access.user.email)
    messages.success(request, f"New seals are signed by {made.fingerprint}.")
    return see_other("evidence_key")


@get_view(ADMIN, fresh=True)
def bundle_of_log(request: HttpRequest, access: Access) -> FileResponse:
    """Download the evidence of the project's log as a ZIP file; with `audit_log=1`, also who did what in the project."""
    with_audit_log = request.GET.get("audit_log") == "1"
    return zip_response(
        "evidence-log.zip",
        lambda target: log.write_log(target, access.project, with_audit_log=with_audit_log),
    )
