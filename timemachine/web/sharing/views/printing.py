"""What visitors print: every step in full with seal and page numbers, in parts if there are many, and the certificate, one page with a QR code.

The QR code contains the verification address, which names the link but has no secret: a reader who has only the paper
can open nothing with it.
"""

from collections.abc import Iterator
from typing import Final

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import whole_number
from timemachine.governance.sharing.commands.visits import PART, PRINT, printing
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.scope import Scope
from timemachine.web.http import page, see_other
from timemachine.web.sharing.presenters.printed_steps import Part, part_of, printed
from timemachine.web.sharing.presenters.shared_pages import about, outcome
from timemachine.web.sharing.visitors import for_visitors, is_open, scope_of

STEPS_HERE: Final = "<!-- the steps -->"


@for_visitors
@require_safe
def shared_print(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """`/share/{public id}/print/`: steps in full, streamed; `part` of many; one print of a link at a time."""
    scope = scope_of(request, public_id, weight=PRINT)
    if scope.link.evidence_only:
        raise link_not_valid()
    part = _part(request, scope)
    if request.method == "HEAD":
        return StreamingHttpResponse(())
    sent = _print(request, scope, part)
    next(sent)  # a refusal becomes an answer of its own, and closing the response ends the print
    return StreamingHttpResponse(sent)


@for_visitors
@require_safe
def shared_print_style(request: HttpRequest, public_id: str) -> HttpResponse:
    """`/share/{public id}/print.css`: the seal at the head and the `part` at the foot of every printed page."""
    scope = scope_of(request, public_id, weight=PART)
    part = _part(request, scope) if "part" in request.GET else None
    facts = {"seal": scope.seal(), "public_id": scope.link.public_id, "part": part}
    text = render_to_string("shares/print.css", facts)
    return HttpResponse(text, content_type="text/css; charset=utf-8")


@for_visitors
@require_safe
def shared_certificate(request: HttpRequest, public_id: str) -> HttpResponse:
    """`/share/{public id}/certificate/`: one page with the seal and the verification address as a QR code."""
    scope = scope_of(request, public_id)
    address = f"{settings.PUBLIC_URL}{reverse('shared_verify', args=[public_id])}"
    in_full = None if scope.link.evidence_only else part_of(scope, 1)
    facts = {"address": address, "qr_code": qr_code(address), "printed_at": now(), "print": in_full}
    return page(request, "shares/certificate.html", about(scope) | outcome(scope) | facts)


@for_visitors
@require_safe
def shared_verify(request: HttpRequest, public_id: str) -> HttpResponse:
    """`/share/{public id}/verify/`: go to the verification if this browser opened the link; else a page that is the same for every id."""
    if is_open(request, public_id):
        return see_other("shared", public_id, part="verify")
    return page(request, "shares/verification.html")


def qr_code(address: str) -> SafeString:
    """Return the address as an SVG that scales with its box."""
    made = segno.make(address, error="m", micro=False)
    return SafeString(made.svg_inline(border=4, omitsize=True, svgclass="qr-code"))


def _part(request: HttpRequest, scope: Scope) -> Part:
    return part_of(scope, whole_number(request.GET.get("part", "1")) or 0)


def _print(request: HttpRequest, scope: Scope, part: Part) -> Iterator[str]:
    """Yield the parts of the page, the first one empty as soon as it may begin; stop if the link no longer opens."""
    with printing(scope.link):
        yield ""
        facts = about(scope) | outcome(scope) | {"in_full": True, "printed_at": now(), "part": part}
        text = render_to_string("shares/print.html", facts, request)
        begin, end = text.split(STEPS_HERE)
        yield begin
        for steps in printed(scope, part, facts):
            if not is_open(request, scope.link.public_id):
                yield render_to_string("shares/print_ended.html")
                return
            yield steps
        yield end
