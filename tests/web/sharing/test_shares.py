"""Sharing over HTTP: a link is created by a member, viewed without an account, and revoked."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client

from tests.builders import QUESTIONS, compared, recorded_session, tamper
from tests.governance.sharing.conftest import replay, session
from tests.governance.sharing.recorded import FROZEN
from tests.web.sharing.share_forms import created_at, form_at
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import text_sha256
from timemachine.evidence import commands as evidence
from timemachine.evidence.models import Seal, SigningKey
from timemachine.evidence.sealing.seals import seal_session
from timemachine.governance.sharing.commands.links import revoke
from timemachine.governance.sharing.models import ShareLink
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Session
from timemachine.replay.alignment import long_diffs
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.models import Comparison, ComparisonFindings
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.web.replays.presenters import side_by_side

__all__ = ["replay", "session"]


def test_a_link_is_created_opened_without_an_account_revoked_and_then_not_found(
    project: Project, session: Session, operator: Client
) -> None:
    path = created_at(operator, f"/sessions/{session.key}/share/", label="für Müller ☃")
    visitor, page = opened(path)
    seen = visitor.get(page)
    assert seen.status_code == 200
    assert "Prüfung der Brücke ☃" in seen.text
    listed = operator.get("/shares/").text
    assert "für Müller ☃" in listed
    assert "203.0.113.0/24" in listed
    assert "Firefox" in listed
    assert path not in listed
    link = ShareLink.objects.get()
    assert operator.post(f"/shares/{link.id}/revoke/")["Location"] == "/shares/"
    shown = operator.get("/shares/").text.split('<main id="main"')[1]
    assert 'class="messages" role="status"' in shown
    assert (
        "Prüfung der Brücke ☃</bdi>, “<bdi>für Müller ☃</bdi>”, is revoked. It stopped working immediately"
        in shown
    )
    assert visitor.get(page).status_code == 404
    assert visitor.post(path).status_code == 404
    assert "revoked" in operator.get(f"/shares/{link.id}/").text
    assert "refused: revoked" in operator.get(f"/shares/{link.id}/").text


def test_a_shared_session_shows_its_steps_with_frozen_passages_and_json(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    first = visitor.get(page).text
    assert first.count('class="row ') == 6
    assert "anna@example.org" in first
    assert "1894" in visitor.get(page, {"step": "2"}).text
    assert FROZEN in visitor.get(page, {"step": "2", "tab": "context"}).text
    assert "Quelle der dritten" in html.unescape(visitor.get(page, {"step": "3", "tab": "raw"}).text)


def test_shared_pages_link_only_to_pages_of_their_link(
    project: Project, session: Session, replay: Replay
) -> None:
    for target in (session, replay):
        visitor, page = opened(shared(project, target)[1])
        for address in (page, f"{page}?step=3&tab=raw", f"{page}steps/2/"):
            links = re.findall(r'(?:href|action|src|hx-get)="([^"]*)"', visitor.get(address).text)
            outside = [
                link for link in links if not link.startswith(("?", "#", "/static/", "/tm_verify.py", page))
            ]
            assert not outside, address


def test_a_visitor_downloads_payloads_that_no_browser_interprets(project: Project, session: Session) -> None:
    visitor, page = opened(shared(project, session)[1])
    file = visitor.get(f"{page}payloads/{text_sha256(FROZEN)}/")
    assert file.content.decode() == FROZEN
    assert file["Content-Disposition"].startswith("attachment")
    assert file["Content-Type"] == "text/plain; charset=utf-8"
    assert file["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in file["Content-Security-Policy"]


def test_a_visitor_sees_only_the_beginnings_of_long_answers_compared(
    project: Project, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_diffs, "LONG", 5)
    monkeypatch.setattr(side_by_side, "BEGINNING", 5)
    visitor, page = opened(shared(project, replay)[1])
    step = replay.steps.exclude(verdict="identical").get(kind="ask")
    shown = visitor.get(f"{page}steps/{step.sequence}/").text
    assert "Only the first 5" in shown
    assert "Compare them in the background" not in shown
    assert 'class="diff of-replay"' in shown


def test_a_shared_replay_shows_its_result_and_each_step_side_by_side(
    project: Project, replay: Replay
) -> None:
    visitor, page = opened(shared(project, replay)[1])
    first = visitor.get(page).text
    assert "1 ask replayed with local:extractive-1" in first
    assert "Jährliche Prüfung" in first
    assert f"{page}steps/2/" in first
    step = visitor.get(f"{page}steps/2/").text
    assert "1894" in step
    assert "1901" in step


def test_htmx_gets_a_part_of_a_shared_page_and_a_refresh_after_a_revocation(
    project: Project, session: Session
) -> None:
    link, path = shared(project, session)
    visitor, page = opened(path)
    htmx = {"HX-Request": "true", "HX-Target": "article#step"}
    part = visitor.get(page, {"step": "2"}, headers=htmx)
    assert part.text.lstrip().startswith("<article")
    assert "1894" in part.text
    assert 'class="row' not in part.text
    assert "HX-Refresh" not in part
    revoke(link, by="Test")
    ended = visitor.get(page, {"step": "2"}, headers=htmx)
    assert ended.status_code == 404
    assert ended["HX-Refresh"] == "true"


def test_a_visitor_sees_the_key_of_the_seal_and_the_result_of_the_last_check(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    assert "not yet" in visitor.get(page).text
    seal_session(session.id)
    key = SigningKey.objects.get(project=project).fingerprint
    assert f"--key {key}" in visitor.get(page).text
    evidence.run_check(evidence.request_check(Seal.objects.get(session=session), by="Test").id)
    assert "intact" in visitor.get(page).text
    tamper("UPDATE tm_action SET name = 'x' WHERE sequence = %s", [1])
    evidence.run_check(evidence.request_check(Seal.objects.get(session=session), by="Test").id)
    assert "differs from the seal" in visitor.get(page).text


@pytest.fixture
def comparison(project: Project) -> Comparison:
    return compared(
        project,
        [recorded_session(project, questions=QUESTIONS[:1])],
        "local:extractive-1",
        "local:extractive-3",
    )


def test_a_comparison_is_shared_from_its_page_and_read_cell_by_cell(
    comparison: Comparison, operator: Client
) -> None:
    address = f"/comparisons/{comparison.id}/"
    assert f'href="{address}share/"' in operator.get(address).text
    visitor, page = opened(created_at(operator, f"{address}share/"))
    first = html.unescape(visitor.get(page).text)
    assert "Welches Modell?" in first
    assert "Results" in first
    assert "How long are invoices kept?" in first
    cells = re.findall(r'href="([^"]+/cells/[^"]+)"', first)
    assert len(cells) == 2
    cell = html.unescape(visitor.get(cells[0]).text)
    assert "Invoices are kept for ten years" in cell
    assert "Not rated yet when this link was created" in cell
    for shown in (first, cell):
        links = re.findall(r'(?:href|action|src|hx-get)="([^"]*)"', shown)
        assert not [
            link for link in links if not link.startswith(("?", "#", "/static/", "/tm_verify.py", page))
        ]
    assert "<form" not in cell


def test_a_running_comparison_cannot_be_shared(project: Project, operator: Client) -> None:
    variants = [Variant(model="local:extractive-1"), Variant(model="local:extractive-3")]
    plan = Plan(
        sessions=[recorded_session(project, questions=QUESTIONS[:1])], arms=variants, reason="Welches?"
    )
    address = f"/comparisons/{create(project, plan, by='Test').id}/share/"
    refused = operator.post(address, form_at(operator, address))
    assert refused.status_code == 409
    assert "still running" in refused.text


def test_a_shared_page_mentions_later_answers_and_pending_results(
    comparison: Comparison, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, page = opened(created_at(operator, f"/comparisons/{comparison.id}/share/"))
    step = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    ReplayStep.objects.filter(id=step.id).update(finished_at=now() + timedelta(seconds=9))
    assert "1 answer arrived after this link was created" in visitor.get(page).text
    monkeypatch.setattr("timemachine.replay.comparison.results.FEW", 0)
    ComparisonFindings.objects.all().delete()
    assert "are being computed" in visitor.get(page).text
    ComparisonFindings.objects.all().delete()
    ComparisonFindings.objects.create(comparison=comparison, attempts=9)
    assert "could not be computed" in visitor.get(page).text


def test_an_evidence_only_link_shows_no_recorded_text(
    session: Session, replay: Replay, comparison: Comparison, operator: Client
) -> None:
    for address in (
        f"/sessions/{session.id}/share/",
        f"/replays/{replay.id}/share/",
        f"/comparisons/{comparison.id}/share/",
    ):
        visitor, page = opened(created_at(operator, address, evidence_only="on"))
        shown = html.unescape(visitor.get(page).text)
        assert "every recorded text" in shown
        for recorded_text in ("1894", "1901", FROZEN, "Wann wurde", "ten years", "How long"):
            assert recorded_text not in shown, address
    assert "evidence only" in operator.get("/shares/").text


def test_an_evidence_only_link_and_its_preview_never_show_the_time_of_an_import(
    project: Project, operator: Client
) -> None:
    chat = b'{"messages": [{"role": "user", "content": "Hi"}]}'
    imported = import_file(project, chat, by="test").sessions[0].session
    address = f"/sessions/{imported.id}/share/"
    form = form_at(operator, address, evidence_only="on", preview="1")
    visitor, page = opened(created_at(operator, address, evidence_only="on"))
    for shown in (operator.post(address, form).text.split('id="preview"')[1], visitor.get(page).text):
        assert "start not recorded" in shown
        assert "started <time" not in shown
