"""Pages for visitors without an account: a neutral entry page, then one session, replay or comparison, read-only.

Pages read what the scope of the link returns, and nothing here reads the database. Templates get read models only.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import whole_number
from timemachine.core.row_security import rows_of_every_project
from timemachine.evidence.bundles import downloads
from timemachine.governance.sharing.commands.opening import PassphraseNeeded, WrongPassphrase, open_link
from timemachine.governance.sharing.commands.visits import download
from timemachine.governance.sharing.models import COMPARISON, REPLAY, SESSION
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.scope import Scope
from timemachine.jobs.queue import enqueue
from timemachine.recording.model_calls.queries import MODEL_CALL
from timemachine.replay.tasks import compute_results
from timemachine.web.access import address_of
from timemachine.web.comparisons.presenters.findings import figures, shown_groups
from timemachine.web.comparisons.presenters.matrix import ask_filter, column_names
from timemachine.web.errors import page_message
from timemachine.web.formatting import json_excerpt
from timemachine.web.http import NO_CONTEXT, page, requested_part, see_other
from timemachine.web.http import download as download_of
from timemachine.web.payloads.responses import image_in_payload
from timemachine.web.replays.forms.replays import chosen_options
from timemachine.web.sessions.presenters.model_request import (
    ShownRequest,
    shown,
)
from timemachine.web.sessions.presenters.step_tabs import kind_facts
from timemachine.web.sessions.presenters.steps import address_query
from timemachine.web.sessions.presenters.supporting_passages import source_of, supported_answer
from timemachine.web.sessions.presenters.url_state import axis_in
from timemachine.web.sharing.presenters.shared_pages import (
    TABS,
    UrlState,
    about,
    both_sides,
    drawing_of,
    outcome,
)
from timemachine.web.sharing.visitors import for_visitors, grant_held, let_in, scope_of

FILTERS: Final = ("show", "verdict", "lacking", "session", "against", "sort", "after")
PARTS: Final = ("steps", "step")
SHOWN_STEPS: Final = 200


@for_visitors
@sensitive_variables("token")
@sensitive_post_parameters("passphrase")
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest, token: str) -> HttpResponse:
    """`/share/{token}`: the same entry page for every token, which does not count as a view; its button opens the link."""
    if request.method != "POST":
        return _opening_page(request)
    passphrase = request.POST.get("passphrase")
    browser = request.headers.get("User-Agent")
    try:
        with rows_of_every_project():
            opened = open_link(
                token,
                passphrase,
                address=address_of(request),
                browser=browser,
                held=grant_held(request, token),
            )
    except (PassphraseNeeded, WrongPassphrase) as why:
        return _opening_page(request, asks=page_message(why), status=why.status)
    return let_in(see_other("shared", opened.link.public_id), opened, opened_at=request.path)


@for_visitors
@require_safe
def shared(request: HttpRequest, public_id: str) -> HttpResponse:
    """`/share/{public id}/`: the shared thing; `step`, `tab`, `axis` and `more` for a session, `after` for a replay, filters for a comparison."""
    scope = scope_of(request, public_id, PARTS)
    if scope.link.evidence_only:
        return page(request, "shares/evidence_only.html", about(scope) | outcome(scope))
    return _PAGES[scope.link.target_type](request, scope, NO_CONTEXT)


def look(request: HttpRequest, scope: Scope, chosen: Mapping[str, str]) -> HttpResponse:
    """Return what a link that is not created yet would show, for a member; `chosen` is its scope in the URL."""
    if scope.link.evidence_only:
        return page(request, "shares/evidence_only.html", about(scope) | outcome(scope), is_look=True)
    more: dict[str, Any] = {"is_look": True, "chosen": chosen}
    if "step" in request.GET and scope.link.target_type != SESSION:
        sequence = _number(request.GET["step"])
        more["all_address"] = address_query({**chosen, "step": sequence, "all": 1})
        return _STEP_PAGES[scope.link.target_type](request, scope, sequence, more)
    return _PAGES[scope.link.target_type](request, scope, more)


@for_visitors
@require_safe
def shared_step(request: HttpRequest, public_id: str, sequence: int) -> HttpResponse:
    """Show one step of a shared replay, recorded on the left, replayed on the right."""
    return _replay_step(request, scope_of(request, public_id), sequence, NO_CONTEXT)


def _replay_step(request: HttpRequest, scope: Scope, sequence: int, more: Mapping[str, Any]) -> HttpResponse:
    step = scope.replay_step(sequence)
    contexts = scope.context_steps([sequence])[sequence]
    return page(
        request,
        "shares/replay_step.html",
        about(scope)
        | both_sides(
            scope,
            step,
            contexts,
            scope.replayed_requests([step.id]).get(step.id),
            scope.erased_fields(contexts),
            _state(request, "context"),
            everything=_everything(request),
        ),
        neighbours=scope.neighbours(sequence),
        **more,
    )


@for_visitors
@require_safe
def shared_cell(request: HttpRequest, public_id: str, step: int) -> HttpResponse:
    """Show one answer of a shared comparison next to the recorded one, with ratings and judge verdicts."""
    return _cell(request, scope_of(request, public_id), step, NO_CONTEXT)


def _cell(request: HttpRequest, scope: Scope, step: int, more: Mapping[str, Any]) -> HttpResponse:
    comparison = scope.comparison()
    cell, made = comparison.cell(step), comparison.about()
    (contexts,) = comparison.contexts([cell]).values()
    return page(
        request,
        "shares/cell.html",
        about(scope, made)
        | both_sides(
            scope,
            cell.step,
            contexts,
            scope.replayed_requests([step]).get(step),
            scope.erased_fields(contexts),
            _state(request, "context"),
            everything=_everything(request),
        ),
        column=column_names(made.arms)[cell.arm],
        marks=cell.marks,
        opinions=cell.opinions,
        **more,
    )


@for_visitors
@require_safe
def shared_payload(request: HttpRequest, public_id: str, sha256: str) -> HttpResponse:
    """Download a payload within the scope, in a way that no browser interprets."""
    payload = scope_of(request, public_id).payload(sha256)
    ending = "json" if payload.media_type == "application/json" else "txt"
    return download_of(payload.data, f"{payload.sha256[:16]}.{ending}")


@for_visitors
@require_safe
def shared_image(request: HttpRequest, public_id: str, sha256: str, number: int) -> HttpResponse:
    """Return an image in a payload within the scope of which nothing is withheld."""
    payload = scope_of(request, public_id).payload(sha256)
    return image_in_payload(payload.media_type, payload.data, number)


@for_visitors
@require_safe
def shared_evidence(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """Download the evidence of exactly what the link shows, as a ZIP file. The access log records the download; HEAD does not."""
    scope, name = scope_of(request, public_id), f"evidence-{public_id}.zip"
    if not scope.has_evidence():
        raise link_not_valid()
    if request.method == "HEAD":
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse((), content_type="application/zip", headers=headers)  # of unknown length
    with download(scope.link, address=address_of(request), browser=request.headers.get("User-Agent")):
        return downloads.zip_response(name, scope.write_evidence)


@for_visitors
def not_found(_request: HttpRequest) -> HttpResponse:
    """Answer every other URL under /share/ with 404."""
    raise link_not_valid()


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    """Return robots.txt, which excludes shared pages without naming a link."""
    return HttpResponse("User-agent: *\nDisallow: /share/\n", content_type="text/plain; charset=utf-8")


def _opening_page(request: HttpRequest, asks: str = "", status: int = 200) -> HttpResponse:
    facts = {"asks": asks, "wrong": bool(request.POST.get("passphrase"))}
    return page(request, "shares/open.html", facts, status=status)


def _session(request: HttpRequest, scope: Scope, more: Mapping[str, Any]) -> HttpResponse:
    sequence = _number(request.GET.get("step")) if "step" in request.GET else scope.first_step()
    tab = request.GET.get("tab", "")
    state = _state(request, tab if tab in TABS else TABS[0])
    context: dict[str, object] = about(scope) | {
        "neighbours": scope.neighbours(sequence),
        "sequence": sequence,
        "tabs": TABS,
        "asked": state,
        "here": {"step": sequence, **state.preserved, **more.get("chosen", {})},
        **more,
    }
    found = scope.step(sequence, state.first_bytes)
    context |= {
        "source": found.source,
        "found": replace(found, source=None),  # the templates link to it where only members may download it
        "origin": found.origin,
        **supported_answer(
            found.output, found.action.grounding, [source_of(each) for each in found.passages]
        ),
        **kind_facts(found.action),
        "erased_fields": scope.erased_fields([found]),
        "deletion": scope.deletion(found),
    }
    if state.tab == "context" and found.action.kind == MODEL_CALL:
        context["model_request"] = _model_request(scope, sequence, state)
    if state.tab == "state":
        context["state"] = scope.state(sequence)
    if state.tab == "raw":
        context["raw"] = json_excerpt(scope.document(sequence), state.first_bytes)
    part = requested_part(request, PARTS)
    if part != "step":
        context["window"] = scope.rows(sequence)
    if part is None:
        context |= outcome(scope) | {
            "contents": scope.contents(),
            "minimap": drawing_of(scope, state.axis),
        }
    return page(request, "shares/session.html", context, parts=PARTS)


def _state(request: HttpRequest, tab: str) -> UrlState:
    return UrlState(
        tab=tab,
        more=request.GET.get("more") == "1",
        raw=request.GET.get("raw") == "1",
        axis=axis_in(request.GET),
    )


def _model_request(scope: Scope, sequence: int, state: UrlState) -> ShownRequest:
    most, characters = state.most_and_characters
    try:
        return shown(scope.request(sequence, most), state.first_bytes, most, characters)
    except InvalidInput as why:
        return ShownRequest(refused=page_message(why))


def _replay(request: HttpRequest, scope: Scope, more: Mapping[str, Any]) -> HttpResponse:
    after = _number(request.GET.get("after")) if "after" in request.GET else 0
    found, steps = scope.replay(), scope.replay_steps(after, SHOWN_STEPS + 1)
    return page(
        request,
        "shares/replay.html",
        {**about(scope), **outcome(scope), **more},
        options=chosen_options(found.options),
        steps=steps[:SHOWN_STEPS],
        erased_parts={each.id: each.erased for each in steps},
        replay_branch=found.branch,
        answer_lines={each.id: each.answer_lines for each in steps},
        next=steps[SHOWN_STEPS - 1].sequence if len(steps) > SHOWN_STEPS else None,
        here=more.get("chosen", {}),
        address={"id": scope.link.public_id, "kind": found.kind},
    )


def _comparison(request: HttpRequest, scope: Scope, more: Mapping[str, Any]) -> HttpResponse:
    comparison = scope.comparison()
    results, made = comparison.results(), comparison.about()
    if results.due:
        enqueue(compute_results, made.id)
    asks = ask_filter(request.GET, len(made.arms))
    context = {**about(scope, made), **outcome(scope), **more}
    if results.findings is not None:
        context["groups"] = shown_groups(results.groups, made.arms)
        context |= figures(
            results.findings, made.arms, asks, results.partings, results.recorded, comparison.remarks
        )
    return page(
        request,
        "shares/comparison.html",
        context,
        results=results,
        asked=asks,
        here={name: request.GET[name] for name in FILTERS if request.GET.get(name)} | more.get("chosen", {}),
        address={"id": scope.link.public_id},
    )


_PAGES: Final = {SESSION: _session, REPLAY: _replay, COMPARISON: _comparison}
_STEP_PAGES: Final = {REPLAY: _replay_step, COMPARISON: _cell}


def _everything(request: HttpRequest) -> bool:
    return request.GET.get("all") == "1"


def _number(text: str | None) -> int:
    """Return a number in the URL. Raises `NotFound` if it is not a number."""
    number = whole_number(text or "")
    if number is None:
        raise link_not_valid()
    return number
