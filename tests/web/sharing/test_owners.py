"""Links from the side of their owners: permissions, the form, and the policy of the project."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from tests.builders import tamper
from tests.governance.sharing.conftest import replay, session
from tests.governance.sharing.recorded import recorded
from tests.web.people import browser_of
from tests.web.sharing.share_forms import created_at, form_at
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay

__all__ = ["replay", "session"]


def test_a_viewer_sees_the_links_without_forms(project: Project, session: Session) -> None:
    link, _ = shared(project, session)
    viewer = browser_of(project, "viewer")
    assert "Prüfung der Brücke ☃" in viewer.get("/shares/").text
    assert "Revoke" not in viewer.get("/shares/").text + viewer.get(f"/shares/{link.id}/").text


def test_sharing_is_offered_only_to_members_who_may_share(
    project: Project, session: Session, replay: Replay, operator: Client
) -> None:
    viewer = browser_of(project, "viewer")
    for address in (f"/sessions/{session.id}/", f"/replays/{replay.id}/"):
        offered = f'href="{address}share/"'
        assert offered in operator.get(address).text
        assert offered not in viewer.get(address).text
        assert viewer.get(f"{address}share/").status_code == 403


def test_links_require_signing_in(session: Session) -> None:
    for address in ("/shares/", f"/sessions/{session.id}/share/"):
        assert Client().get(address)["Location"].startswith("/sign-in/")


def test_the_same_form_sent_again_creates_nothing_and_says_so(session: Session, operator: Client) -> None:
    address = f"/sessions/{session.id}/share/"
    sent = form_at(operator, address)
    assert operator.post(address, sent).status_code == 201
    repeated = operator.post(address, sent)
    assert repeated.status_code == 409
    assert "already submitted" in repeated.text
    assert ShareLink.objects.count() == 1


def test_an_invalid_form_shows_the_reason_and_keeps_its_input(session: Session, operator: Client) -> None:
    address = f"/sessions/{session.id}/share/"
    form = form_at(operator, address, label="für Zoë")
    for change, sentence in (
        ({"until": "2020-01-01"}, "already have expired"),
        ({"until": "2999-01-01"}, "at most 366 days"),
        ({"max_opens": "0"}, "Maximum views must be 1 to 1,000,000"),
        ({"through_sequence": "7"}, "no step 7"),
        ({"lifetime": "never"}, "not one of the available choices"),
        ({"label": "x" * 201}, "at most 200"),
        ({"form_id": "x"}, ""),
    ):
        page = operator.post(address, form | change)
        assert page.status_code == 422, change
        assert sentence in html.unescape(page.text)
        assert change.get("label", "für Zoë") in page.text
    assert not ShareLink.objects.exists()


def test_all_invalid_values_are_reported_together(session: Session, operator: Client) -> None:
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
        "The label can have at most 200 characters",
        "Maximum views must be 1 to",
        "The session has no step 99. Its last step is 6.",
        "The passphrase must have 4 to 1,000 characters",
        "already have expired",
    ):
        assert sentence in page
    assert "novalidate" in page


def test_the_share_form_takes_over_the_step_that_was_viewed(session: Session, operator: Client) -> None:
    address, four = f"/sessions/{session.id}/share/", re.compile(r'name="through_sequence"\s+value="4"')
    same_site = {"referer": f"http://testserver/sessions/{session.id}/?step=4"}
    assert four.search(operator.get(address, headers=same_site).text)
    elsewhere = {"referer": f"https://elsewhere.example/sessions/{session.id}/?step=4"}
    assert not four.search(operator.get(address, headers=elsewhere).text)
    address += "?step=4"
    assert four.search(operator.get(address).text)
    created_at(operator, address, through_sequence="4")
    assert ShareLink.objects.get().through_sequence == 4
    assert operator.get(f"/sessions/{session.id}/share/?step=x").status_code == 200


def test_the_share_form_includes_the_find_that_is_folded_into_the_ask_that_was_viewed(
    session: Session, operator: Client
) -> None:
    for viewed, last in ((1, 1), (2, 3), (3, 3)):
        page = operator.get(f"/sessions/{session.id}/share/?step={viewed}").text
        assert re.search(rf'name="through_sequence"\s+value="{last}"', page)


def test_an_expiry_date_includes_that_day(session: Session, operator: Client) -> None:
    day = (now() + timedelta(days=3)).date()
    created_at(operator, f"/sessions/{session.id}/share/", until=day.isoformat())
    end = ShareLink.objects.get().expires_at
    assert (end.date(), end.hour, end.minute) == (day, 23, 59)


def test_a_replay_is_shared_from_its_own_form(replay: Replay, operator: Client) -> None:
    path = created_at(operator, f"/replays/{replay.id}/share/", max_opens="1", passphrase="Käse")
    assert opened(path, passphrase="Käse")
    link = ShareLink.objects.get()
    assert (link.target_type, link.opens, link.max_opens) == ("replay", 1, 1)


def test_the_list_of_links_is_paged(
    monkeypatch: pytest.MonkeyPatch, project: Project, session: Session, operator: Client
) -> None:
    monkeypatch.setattr("timemachine.web.sharing.views.shares.SHOWN_LINKS", 2)
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


def test_forbidding_links_counts_and_suspends_active_ones_and_is_logged(
    project: Project, session: Session, operator: Client
) -> None:
    inactive: tuple[dict[str, Any], ...] = (
        {"max_opens": 1, "opens": 1},
        {"revoked_at": now()},
        {"expires_at": now()},
    )
    for each in inactive:
        ShareLink.objects.filter(pk=shared(project, session)[0].pk).update(**each)
    link, path = shared(project, session)
    visitor, page = opened(path)
    admin = browser_of(project, "admin")
    assert (
        "1 active link. Turning off share links suspends it immediately."
        in admin.get("/settings/sharing/").text
    )
    assert admin.post("/settings/sharing/", {"forbidden": "on"})["Location"] == "/settings/sharing/"
    assert visitor.get(page).status_code == 404
    assert visitor.post(path).status_code == 404
    shown = admin.get("/settings/sharing/").text
    assert "1 active link is suspended." in shown
    assert "Intact: 1 line" in shown
    for address in (f"/sessions/{session.id}/share/", "/shares/"):
        assert "turned off share links" in operator.get(address).text
    assert operator.post(f"/sessions/{session.id}/share/", {"lifetime": "14"}).status_code == 403
    assert "refused: forbidden" in operator.get(f"/shares/{link.id}/").text
    assert admin.post("/settings/sharing/", {}).status_code == 303
    assert visitor.get(page).status_code == 200


def test_the_form_of_a_link_states_the_policy_of_the_project(
    project: Project, session: Session, operator: Client
) -> None:
    browser_of(project, "admin").post(
        "/settings/sharing/", {"passphrase_required": "on", "longest_days": "10"}
    )
    address = f"/sessions/{session.id}/share/"
    form = operator.get(address).text
    assert "at most 10 days from now" in form
    assert "Required in this project" in form
    assert "in 14 days" not in form
    sent = form_at(operator, address, lifetime="7")
    assert "This field is required" in operator.post(address, sent).text
    late = sent | {"passphrase": "Käse", "until": (now() + timedelta(days=11)).date().isoformat()}
    assert "at most 10 days here" in operator.post(address, late).text
    assert operator.post(address, sent | {"passphrase": "Käse"}).status_code == 201


def test_the_form_offers_the_longest_lifetime_that_the_project_allows(
    project: Project, session: Session, operator: Client
) -> None:
    browser_of(project, "admin").post("/settings/sharing/", {"longest_days": "2"})
    assert "in 2 days" in operator.get(f"/sessions/{session.id}/share/").text


def test_all_members_can_read_the_policy(project: Project, other_project: Project, operator: Client) -> None:
    assert "Only administrators can change this" in operator.get("/settings/sharing/").text
    admin = browser_of(project, "admin")
    assert admin.post("/settings/sharing/", {"longest_days": "400"}).status_code == 422
    admin.post("/settings/sharing/", {"forbidden": "on"})
    assert "No changes yet" in browser_of(other_project, "viewer").get("/settings/sharing/").text


def test_all_links_are_revoked_after_a_page_that_counts_them(
    project: Project, other_project: Project, session: Session, operator: Client
) -> None:
    visitors = [opened(shared(project, session)[1]) for _ in range(2)]
    theirs, their_page = opened(shared(other_project, recorded(other_project))[1])
    assert 'href="/shares/revoke/"' in operator.get("/shares/").text
    assert "2 links" in operator.get("/shares/revoke/").text
    assert operator.post("/shares/revoke/")["Location"] == "/shares/"
    assert [visitor.get(page).status_code for visitor, page in visitors] == [404, 404]
    assert theirs.get(their_page).status_code == 200
    assert "No active links" in operator.get("/shares/revoke/").text


def test_a_tampered_log_is_reported_on_the_page_of_its_link(
    project: Project, session: Session, operator: Client
) -> None:
    link, path = shared(project, session)
    assert "Not opened yet." in operator.get(f"/shares/{link.id}/").text
    opened(path)
    assert "Intact: 2 lines" in operator.get(f"/shares/{link.id}/").text
    tamper("UPDATE tm_share_opening SET browser = 'Opera' WHERE sequence = %s", [2])
    shown = operator.get(f"/shares/{link.id}/").text
    assert "This log is not intact" in shown
    assert "Line 2 does not match: it was changed" in shown


def test_the_list_shortens_a_long_name_and_shows_it_in_full_on_hover(
    project: Project, session: Session, operator: Client
) -> None:
    name = f"key {'ä' * 200}"
    link, _ = shared(project, session)
    ShareLink.objects.filter(pk=link.pk).update(revoked_at=now(), revoked_by=name)
    assert f'by <bdi><span title="{name}">{name[:60]}…</span></bdi>' in operator.get("/shares/").text
