"""Sharing through the front door: created by a member, seen by somebody without an account, ended by a click."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from tests.builders import compared, recorded_session, tamper
from tests.sharing.recorded import FROZEN, recorded, replayed
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.accounts.models import Project
from timemachine.alignment import long_diffs
from timemachine.base.clock import now
from timemachine.base.content import text_sha256
from timemachine.comparison.arms import Arm
from timemachine.comparison.commands import Plan, create
from timemachine.comparison.models import Comparison, ComparisonFindings
from timemachine.evidence import commands as evidence
from timemachine.evidence.models import Seal, SigningKey
from timemachine.evidence.sealing import seal_session
from timemachine.recording.models import Session
from timemachine.replay.models import Replay, ReplayStep
from timemachine.sharing.commands import revoke
from timemachine.sharing.models import ShareLink
from timemachine.sharing.terms import Terms
from timemachine.web import side_by_side


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project)


@pytest.fixture
def replay(session: Session) -> Replay:
    return replayed(session)


def form_at(client: Client, address: str, **said: str) -> dict[str, str]:
    """What the form at that address sends, with some of it filled in."""
    page = client.get(address)
    assert page.status_code == 200, page.text
    found = re.search(r'name="form_id" value="([^"]+)"', page.text)
    assert found
    return {"form_id": found[1], "lifetime": "14", **said}


def created_at(client: Client, address: str, **said: str) -> str:
    """The path of a link that was created by the form at that address."""
    page = client.post(address, form_at(client, address, **said))
    assert page.status_code == 201, page.text
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'id="shown_once"[^>]*value="http://127.0.0.1:8000(/share/[^"]+)"', page.text)
    assert found
    return html.unescape(found[1])


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
    told = operator.get("/shares/").text.split('<main id="main"')[1]
    assert 'class="messages" role="status"' in told
    assert "Prüfung der Brücke ☃</bdi>, “<bdi>für Müller ☃</bdi>”, is revoked, effective at once" in told
    assert visitor.get(page).status_code == 404
    assert visitor.post(path).status_code == 404
    assert "revoked" in operator.get(f"/shares/{link.id}/").text
    assert "refused: revoked" in operator.get(f"/shares/{link.id}/").text


def test_a_shared_session_shows_its_steps_with_what_was_frozen_and_the_json(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    first = visitor.get(page).text
    assert first.count('class="row ') == 6
    assert "anna@example.org" in first
    assert "1894" in visitor.get(page, {"step": "2"}).text
    assert FROZEN in visitor.get(page, {"step": "2", "tab": "context"}).text
    assert "Quelle der dritten" in html.unescape(visitor.get(page, {"step": "3", "tab": "raw"}).text)


def test_a_page_of_a_visitor_leads_nowhere_else(project: Project, session: Session, replay: Replay) -> None:
    for target in (session, replay):
        visitor, page = opened(shared(project, target)[1])
        for address in (page, f"{page}?step=3&tab=raw", f"{page}steps/2/"):
            links = re.findall(r'(?:href|action|src|hx-get)="([^"]*)"', visitor.get(address).text)
            outside = [
                link for link in links if not link.startswith(("?", "#", "/static/", "/tm_verify.py", page))
            ]
            assert not outside, address


def test_a_visitor_downloads_what_the_link_shows_and_no_browser_runs_it(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    file = visitor.get(f"{page}payloads/{text_sha256(FROZEN)}/")
    assert file.content.decode() == FROZEN
    assert file["Content-Disposition"].startswith("attachment")
    assert file["Content-Type"] == "text/plain; charset=utf-8"
    assert file["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in file["Content-Security-Policy"]


def test_of_two_long_answers_a_visitor_sees_the_beginnings_compared_and_is_told_so(
    project: Project, replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_diffs, "LONG", 5)
    monkeypatch.setattr(side_by_side, "BEGINNING", 5)
    visitor, page = opened(shared(project, replay)[1])
    step = replay.steps.exclude(verdict="identical").get(kind="ask")
    said = visitor.get(f"{page}steps/{step.sequence}/").text
    assert "their first 5 characters are compared here" in said
    assert "a worker does it" not in said
    assert 'class="diff"' in said


def test_a_shared_replay_shows_what_came_of_it_and_each_step_side_by_side(
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


def test_a_part_of_a_shared_page_is_that_part_and_of_a_link_that_ended_nothing(
    project: Project, session: Session
) -> None:
    link, path = shared(project, session)
    visitor, page = opened(path)
    of_htmx = {"HX-Request": "true", "HX-Target": "article#step"}
    part = visitor.get(page, {"step": "2"}, headers=of_htmx)
    assert part.text.lstrip().startswith("<article")
    assert "1894" in part.text
    assert 'class="row' not in part.text
    assert "HX-Refresh" not in part
    revoke(link, by="Test")
    gone = visitor.get(page, {"step": "2"}, headers=of_htmx)
    assert gone.status_code == 404
    assert gone["HX-Refresh"] == "true"


def test_a_visitor_is_told_when_and_by_which_key_it_was_sealed_and_what_the_last_check_found(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    assert "not yet" in visitor.get(page).text
    seal_session(session.id)
    key = SigningKey.objects.get(project=project).fingerprint
    assert f"--key {key}" in visitor.get(page).text
    evidence.check(evidence.ask_for_check(Seal.objects.get(session=session), by="Test").id)
    assert "as it was sealed" in visitor.get(page).text
    tamper("UPDATE tm_action SET name = 'x' WHERE sequence = %s", [1])
    evidence.check(evidence.ask_for_check(Seal.objects.get(session=session), by="Test").id)
    assert "not as it was sealed" in visitor.get(page).text


@pytest.fixture
def comparison(project: Project) -> Comparison:
    return compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")


def test_a_comparison_is_shared_from_its_page_and_read_cell_by_cell(
    comparison: Comparison, operator: Client
) -> None:
    address = f"/comparisons/{comparison.id}/"
    assert f'href="{address}share/"' in operator.get(address).text
    visitor, page = opened(created_at(operator, f"{address}share/"))
    first = html.unescape(visitor.get(page).text)
    assert "Welches Modell?" in first
    assert "What it came to" in first
    assert "How long are invoices kept?" in first
    cells = re.findall(r'href="([^"]+/cells/[^"]+)"', first)
    assert len(cells) == 6
    cell = html.unescape(visitor.get(cells[0]).text)
    assert "Invoices are kept for ten years" in cell
    assert "nobody had marked this answer" in cell
    for shown in (first, cell):
        links = re.findall(r'(?:href|action|src|hx-get)="([^"]*)"', shown)
        assert not [
            link for link in links if not link.startswith(("?", "#", "/static/", "/tm_verify.py", page))
        ]
    assert "<form" not in cell


def test_a_comparison_under_way_is_not_shared_and_the_form_says_why(
    project: Project, operator: Client
) -> None:
    arms = [Arm(model="local:extractive-1"), Arm(model="local:extractive-3")]
    plan = Plan(sessions=[recorded_session(project)], arms=arms, reason="Welches?")
    address = f"/comparisons/{create(project, plan, by='Test').id}/share/"
    refused = operator.post(address, form_at(operator, address))
    assert refused.status_code == 409
    assert "still runs" in refused.text


def test_what_came_after_the_link_is_said_and_so_is_what_is_not_computed_yet(
    comparison: Comparison, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, page = opened(created_at(operator, f"/comparisons/{comparison.id}/share/"))
    step = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    ReplayStep.objects.filter(id=step.id).update(finished_at=now() + timedelta(seconds=9))
    assert "1 answer came after this link was made" in visitor.get(page).text
    monkeypatch.setattr("timemachine.comparison.results.FEW", 0)
    ComparisonFindings.objects.all().delete()
    assert "are being computed" in visitor.get(page).text
    ComparisonFindings.objects.all().delete()
    ComparisonFindings.objects.create(comparison=comparison, attempts=9)
    assert "could not be computed" in visitor.get(page).text


def test_a_link_to_the_evidence_alone_shows_what_it_is_and_no_recorded_text(
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


# --- what the owners may


def test_a_viewer_sees_the_links_and_can_neither_create_nor_revoke(
    project: Project, session: Session, replay: Replay
) -> None:
    link, _ = shared(project, session)
    viewer = browser_of(project, "viewer")
    assert "Prüfung der Brücke ☃" in viewer.get("/shares/").text
    assert "Revoke" not in viewer.get("/shares/").text + viewer.get(f"/shares/{link.id}/").text
    for address in (f"/sessions/{session.id}/share/", f"/replays/{replay.id}/share/"):
        assert viewer.get(address).status_code == 403
        assert viewer.post(address, {"lifetime": "14"}).status_code == 403
    assert viewer.post(f"/shares/{link.id}/revoke/").status_code == 403
    link.refresh_from_db()
    assert link.revoked_at is None
    assert ShareLink.objects.count() == 1


def test_share_is_offered_to_those_alone_who_may_share(
    project: Project, session: Session, replay: Replay, operator: Client
) -> None:
    viewer = browser_of(project, "viewer")
    for address in (f"/sessions/{session.id}/", f"/replays/{replay.id}/"):
        offered = f'href="{address}share/"'
        assert offered in operator.get(address).text
        assert offered not in viewer.get(address).text
        assert viewer.get(f"{address}share/").status_code == 403


def test_what_belongs_to_another_project_is_not_there(
    project: Project, other_project: Project, session: Session, replay: Replay
) -> None:
    link, _ = shared(project, session)
    stranger = browser_of(other_project, "admin")
    for address in (f"/sessions/{session.id}/share/", f"/replays/{replay.id}/share/", f"/shares/{link.id}/"):
        assert stranger.get(address).status_code == 404
    assert stranger.post(f"/sessions/{session.id}/share/", {"lifetime": "14"}).status_code == 404
    assert stranger.post(f"/shares/{link.id}/revoke/").status_code == 404
    assert session.name not in stranger.get("/shares/").text


def test_nobody_sees_the_links_without_signing_in(session: Session) -> None:
    for address in ("/shares/", f"/sessions/{session.id}/share/"):
        assert Client().get(address)["Location"].startswith("/sign-in/")


def test_the_same_form_sent_again_creates_nothing_and_says_so(session: Session, operator: Client) -> None:
    address = f"/sessions/{session.id}/share/"
    sent = form_at(operator, address)
    assert operator.post(address, sent).status_code == 201
    again = operator.post(address, sent)
    assert again.status_code == 409
    assert "sent before" in again.text
    assert ShareLink.objects.count() == 1


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"until": "2020-01-01"}, "expired already"),
        ({"until": "2999-01-01"}, "at most 366 days"),
        ({"max_opens": "0"}, "A link opens between 1 and 1,000,000 times"),
        ({"through_sequence": "7"}, "no step 7"),
        ({"lifetime": "never"}, "not one of the available choices"),
        ({"label": "x" * 201}, "at most 200"),
        ({"form_id": "x"}, ""),
    ],
)
def test_a_form_that_cannot_be_says_why_and_keeps_what_was_said(
    session: Session, operator: Client, said: dict[str, str], sentence: str
) -> None:
    address = f"/sessions/{session.id}/share/"
    page = operator.post(address, form_at(operator, address, **{"label": "für Zoë", **said}))
    assert page.status_code == 422
    assert sentence in html.unescape(page.text)
    assert said.get("label", "für Zoë") in page.text
    assert not ShareLink.objects.exists()


def test_all_that_cannot_be_is_said_at_once_in_our_words(session: Session, operator: Client) -> None:
    address = f"/sessions/{session.id}/share/"
    wrong = {
        "label": "x" * 201,
        "max_opens": "0",
        "through_sequence": "99",
        "passphrase": "ab",
        "until": "2020-01-01",
    }
    page = html.unescape(operator.post(address, form_at(operator, address, **wrong)).text)
    for sentence in (
        "A label has at most 200 characters",
        "A link opens between 1 and",
        "The session has no step 99; its last step is 6.",
        "A passphrase has 4 to 1,000 characters",
        "expired already",
    ):
        assert sentence in page
    assert "novalidate" in page


def test_share_brings_the_step_along_that_was_looked_at(session: Session, operator: Client) -> None:
    address, four = f"/sessions/{session.id}/share/", re.compile(r'name="through_sequence"\s+value="4"')
    came = {"referer": f"http://testserver/sessions/{session.id}/?step=4"}
    assert four.search(operator.get(address, headers=came).text)
    elsewhere = {"referer": f"https://elsewhere.example/sessions/{session.id}/?step=4"}
    assert not four.search(operator.get(address, headers=elsewhere).text)
    address += "?step=4"
    assert four.search(operator.get(address).text)
    created_at(operator, address, through_sequence="4")
    assert ShareLink.objects.get().through_sequence == 4
    assert operator.get(f"/sessions/{session.id}/share/?step=x").status_code == 200


def test_a_day_as_the_end_is_that_whole_day(session: Session, operator: Client) -> None:
    day = (now() + timedelta(days=3)).date()
    created_at(operator, f"/sessions/{session.id}/share/", until=day.isoformat())
    end = ShareLink.objects.get().expires_at
    assert (end.date(), end.hour, end.minute) == (day, 23, 59)


def test_a_replay_is_shared_from_its_own_form(replay: Replay, operator: Client) -> None:
    path = created_at(operator, f"/replays/{replay.id}/share/", max_opens="1", passphrase="Käse")
    assert opened(path, passphrase="Käse")
    link = ShareLink.objects.get()
    assert (link.target_type, link.opens, link.max_opens) == ("replay", 1, 1)


def test_the_list_of_links_goes_on_where_a_page_ended(
    monkeypatch: pytest.MonkeyPatch, project: Project, session: Session, operator: Client
) -> None:
    monkeypatch.setattr("timemachine.web.views.shares.SHOWN_LINKS", 2)
    for number in range(3):
        shared(project, session, Terms(label=f"label {number}"))
    first = operator.get("/shares/").text
    assert "label 2" in first
    assert "label 0" not in first
    following = re.search(r'href="(\?after=[^"]+)"', first)
    assert following
    rest = operator.get(f"/shares/{following[1]}").text
    assert "label 0" in rest
    assert "label 1" not in rest


def test_without_a_link_the_list_says_what_to_do(operator: Client) -> None:
    assert "Nothing is shared" in operator.get("/shares/").text


# --- what the project allows


def test_an_administrator_forbids_links_is_told_what_that_ends_and_all_of_it_is_logged(
    project: Project, session: Session, operator: Client
) -> None:
    spoiled: tuple[dict[str, Any], ...] = (
        {"max_opens": 1, "opens": 1},
        {"revoked_at": now()},
        {"expires_at": now()},
    )
    for each in spoiled:
        ShareLink.objects.filter(pk=shared(project, session)[0].pk).update(**each)
    link, path = shared(project, session)
    visitor, page = opened(path)
    admin = browser_of(project, "admin")
    assert (
        "1 link can be open at this moment; forbidding links ends it at once"
        in admin.get("/settings/sharing/").text
    )
    assert admin.post("/settings/sharing/", {"forbidden": "on"})["Location"] == "/settings/sharing/"
    assert visitor.get(page).status_code == 404
    assert visitor.post(path).status_code == 404
    told = admin.get("/settings/sharing/").text
    assert "1 link would open, and does not." in told
    assert "Whole: 1 line" in told
    for address in (f"/sessions/{session.id}/share/", "/shares/"):
        assert "forbidden share links" in operator.get(address).text
    assert operator.post(f"/sessions/{session.id}/share/", {"lifetime": "14"}).status_code == 403
    assert "refused: forbidden" in operator.get(f"/shares/{link.id}/").text
    assert admin.post("/settings/sharing/", {}).status_code == 303
    assert visitor.get(page).status_code == 200


def test_the_form_of_a_link_says_what_the_project_asks_for(
    project: Project, session: Session, operator: Client
) -> None:
    browser_of(project, "admin").post(
        "/settings/sharing/", {"passphrase_required": "on", "longest_days": "10"}
    )
    address = f"/sessions/{session.id}/share/"
    form = operator.get(address).text
    assert "at most 10 days from now" in form
    assert "Every link of this project needs one" in form
    assert "in 14 days" not in form
    sent = form_at(operator, address, lifetime="7")
    assert "This field is required" in operator.post(address, sent).text
    late = sent | {"passphrase": "Käse", "until": (now() + timedelta(days=11)).date().isoformat()}
    assert "at most 10 days here" in operator.post(address, late).text
    assert operator.post(address, sent | {"passphrase": "Käse"}).status_code == 201


def test_a_project_of_short_links_offers_as_long_as_they_may_live(
    project: Project, session: Session, operator: Client
) -> None:
    browser_of(project, "admin").post("/settings/sharing/", {"longest_days": "2"})
    assert "in 2 days" in operator.get(f"/sessions/{session.id}/share/").text


def test_what_a_project_allows_is_read_by_all_and_changed_by_administrators_alone(
    project: Project, other_project: Project, operator: Client
) -> None:
    assert "Administrators change this" in operator.get("/settings/sharing/").text
    assert operator.post("/settings/sharing/", {"forbidden": "on"}).status_code == 403
    admin = browser_of(project, "admin")
    assert admin.post("/settings/sharing/", {"longest_days": "400"}).status_code == 422
    admin.post("/settings/sharing/", {"forbidden": "on"})
    assert "Nobody has changed this" in browser_of(other_project, "viewer").get("/settings/sharing/").text


def test_all_links_are_revoked_after_a_page_that_says_how_many(
    project: Project, other_project: Project, session: Session, operator: Client
) -> None:
    visitors = [opened(shared(project, session)[1]) for _ in range(2)]
    theirs, their_page = opened(shared(other_project, recorded(other_project))[1])
    assert 'href="/shares/revoke/"' in operator.get("/shares/").text
    assert "2 links" in operator.get("/shares/revoke/").text
    assert browser_of(project, "viewer").post("/shares/revoke/").status_code == 403
    assert operator.post("/shares/revoke/")["Location"] == "/shares/"
    assert [visitor.get(page).status_code for visitor, page in visitors] == [404, 404]
    assert theirs.get(their_page).status_code == 200
    assert "no link left to revoke" in operator.get("/shares/revoke/").text


def test_a_log_that_was_changed_is_said_on_the_page_of_its_link(
    project: Project, session: Session, operator: Client
) -> None:
    link, path = shared(project, session)
    assert "Nobody has tried to open it" in operator.get(f"/shares/{link.id}/").text
    opened(path)
    assert "Whole: 2 lines" in operator.get(f"/shares/{link.id}/").text
    tamper("UPDATE tm_share_opening SET browser = 'Opera' WHERE sequence = %s", [2])
    said = operator.get(f"/shares/{link.id}/").text
    assert "This log is not whole" in said
    assert "Line 2: it was changed" in said
