"""The evidence page: seal status, check on demand and download; and the key in the settings."""

import html
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.builders import compared, replayed, tamper
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import sha256_hex
from timemachine.evidence import commands
from timemachine.evidence.log.anchors import key_for_witness
from timemachine.evidence.log.keys import key_in_use
from timemachine.evidence.log.project_log import replace_key
from timemachine.evidence.models import Anchor, SealCheck
from timemachine.evidence.sealing import seals
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def compared_once(recorded_once: Session) -> Comparison:
    return compared(recorded_once.project, [recorded_once], "local:extractive-1", "local:extractive-3")


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def comparison(compared_once: Comparison, db: None) -> Comparison:
    return Comparison.objects.get(pk=compared_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


def test_a_running_check_shows_how_far_it_is_with_its_rate_and_the_time_left(
    session: Session, comparison: Comparison
) -> None:
    seal = seals.seal_session(session.id)
    check = commands.request_check(seal, by="Ada")
    SealCheck.objects.update(started_at=now() - timedelta(seconds=10), done=1_000, total=5_000)
    text = browser_of(session.project).get(f"/sessions/{session.id}/evidence/").text
    assert "1,000 of 5,000 records checked against the seal" in text
    assert re.search(r"per (?:second|minute), about \d+ (?:s|min) left", text)
    whole = seals.seal_comparison(comparison.id)
    for each in (check, commands.request_check(whole, by="Ada")):
        done = commands.run_check(each.id)
        assert done is not None
        assert done.done == done.total  # with the records of the session that the comparison repeats
        assert done.done >= done.records + done.recorded


def downloaded(browser: Client, address: str, target: Path) -> Path:
    answer = browser.get(address)
    assert answer["Content-Type"] == "application/zip"
    target.write_bytes(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    return target


def test_the_timeline_shows_the_seal_status(operator: Client, session: Session) -> None:
    address = f"/sessions/{session.id}/"
    assert 'class="seal-icon not-yet"' in operator.get(address).text
    seals.seal_session(session.id)
    assert 'class="seal-icon sealed"' in operator.get(address).text
    append(session.id, [ActionDraft(kind="message", output="late")], imported=True)
    assert 'class="seal-icon so-far"' in operator.get(address).text


def test_a_check_finds_a_session_intact_and_then_altered(operator: Client, session: Session) -> None:
    address = f"/sessions/{session.key}/evidence/"
    page = operator.get(address).text
    assert "Nothing to check: not sealed yet." in page
    assert f'data-check-here="/sessions/{session.id}/evidence.zip"' in page
    assert operator.post(f"{address}check/").status_code == 409
    seals.seal_session(session.id)
    assert operator.post(f"{address}check/")["Location"] == f"/sessions/{session.id}/evidence/"
    assert "intact" in operator.get(address).text
    tamper(
        "UPDATE tm_action SET agent = '<b>x</b>' WHERE session_id = %s AND sequence = 2", [str(session.id)]
    )
    operator.post(f"{address}check/")
    shown = operator.get(address).text
    assert "altered" in shown
    assert "Record 2." in shown


def test_a_long_check_runs_in_the_background_and_the_page_follows_it(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_IN_A_REQUEST", 3)
    seals.seal_session(session.id)
    operator.post(f"/sessions/{session.id}/evidence/check/")
    assert (
        'hx-trigger="every 1s, checked from:body"' in operator.get(f"/sessions/{session.id}/evidence/").text
    )
    commands.run_check(SealCheck.objects.get().id)
    part = operator.get(
        f"/sessions/{session.id}/evidence/", headers={"HX-Request": "true", "HX-Target": "div#seal"}
    ).text
    assert "intact" in part
    assert "<h1" not in part
    assert "every 1s" not in part


def test_the_downloads_of_a_session_and_its_replay_can_be_verified(
    operator: Client, session: Session, project: Project, tmp_path: Path
) -> None:
    key = key_in_use(project).fingerprint
    bundle = downloaded(operator, f"/sessions/{session.id}/evidence.zip", tmp_path / "session.zip")
    assert tm_verify.verify(str(bundle), key).problems == []
    replay = replayed(session, ReplayOptions(audit=True, reason="a test"))
    assert "Not sealed yet." in operator.get(f"/replays/{replay.id}/evidence/").text
    of_replay = downloaded(operator, f"/replays/{replay.id}/evidence.zip", tmp_path / "replay.zip")
    assert tm_verify.verify(str(of_replay), key).problems == []
    operator.post(f"/replays/{replay.id}/evidence/check/")
    assert "intact" in operator.get(f"/replays/{replay.id}/evidence/").text


def test_a_comparison_shows_its_seal_status_and_a_check_names_the_altered_record(
    operator: Client, comparison: Comparison, project: Project, tmp_path: Path
) -> None:
    page, address = f"/comparisons/{comparison.id}/", f"/comparisons/{comparison.id}/evidence/"
    assert 'class="seal-icon not-yet"' in operator.get(page).text
    assert "A comparison is sealed when it finishes." in operator.get(address).text
    bundle = downloaded(operator, f"/comparisons/{comparison.id}/evidence.zip", tmp_path / "comparison.zip")
    assert tm_verify.verify(str(bundle), key_in_use(project).fingerprint).problems == []
    assert 'class="seal-icon sealed"' in operator.get(page).text
    assert operator.post(f"{address}check/")["Location"] == address
    assert "intact" in operator.get(address).text
    tamper("UPDATE tm_replay_step SET verdict = 'reworded' WHERE sequence = %s", [2])
    operator.post(f"{address}check/")
    shown = operator.get(address).text
    assert "altered" in shown
    assert "Record 1." in shown


def test_an_empty_session_has_no_evidence(operator: Client, project: Project) -> None:
    empty = start_session(project, name="empty", by="test")
    assert operator.get(f"/sessions/{empty.id}/evidence.zip").status_code == 409
    assert ">Evidence</a>" not in operator.get(f"/sessions/{empty.id}/").text


def test_the_evidence_page_lists_the_share_links_of_what_it_shows(operator: Client, session: Session) -> None:
    assert "to someone without an account" in operator.get(f"/sessions/{session.id}/evidence/").text
    link, _ = create_link(session.project, session, Terms(label="For <b>Ada</b>"), by="ada")
    shown = operator.get(f"/sessions/{session.id}/evidence/").text
    assert f'href="/shares/{link.id}/"' in shown
    assert "For &lt;b&gt;Ada&lt;/b&gt;" in shown


def test_evidence_has_one_name_everywhere_and_explains_record_0(
    operator: Client, session: Session, comparison: Comparison
) -> None:
    replay = replayed(session, ReplayOptions(audit=True, reason="a test"))
    seals.seal_replay(replay.id)
    seals.seal_comparison(comparison.id)
    for kind, thing in (("session", session), ("replay", replay), ("comparison", comparison)):
        address = f"/{kind}s/{thing.id}/"
        tabs = operator.get(address).text
        tabs = tabs[tabs.index('<nav class="tabs"') : tabs.index("</nav>", tabs.index('<nav class="tabs"'))]
        assert f'href="{address}evidence/"' in tabs
        assert "Evidence &amp; links" in tabs
        assert f"Record 0 is the {kind} itself" in operator.get(f"{address}evidence/").text


def test_a_viewer_can_download_evidence(viewer: Client, session: Session, tmp_path: Path) -> None:
    seals.seal_session(session.id)
    assert "Check now" not in viewer.get(f"/sessions/{session.id}/evidence/").text
    assert (
        downloaded(viewer, f"/sessions/{session.id}/evidence.zip", tmp_path / "evidence.zip").stat().st_size
    )


def test_the_verifier_is_downloaded_unchanged_without_signing_in(viewer: Client, session: Session) -> None:
    answer = Client().get("/tm_verify.py")
    assert answer.content == Path(tm_verify.__file__).read_bytes()
    assert sha256_hex(answer.content) in viewer.get(f"/sessions/{session.id}/evidence/").text


def test_an_administrator_sets_the_external_witness_of_the_log(
    project: Project, operator: Client, settings: Settings
) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    administrator, address = browser_of(project, ADMIN), "/settings/evidence-anchors/"
    anchors = {"witness": "http://127.0.0.1:1/add", "timestamp": ""}
    assert operator.post(address, anchors).status_code == 403
    assert "nobody outside this server knows" in operator.get("/evidence/").text
    refused = administrator.post(address, {"witness": "<b>", "timestamp": ""})
    assert (refused.status_code, "is not a valid address for a witness" in refused.text) == (422, True)
    assert administrator.post(address, {"witness": "x" * 600}).status_code == 422
    assert administrator.post(address, anchors)["Location"] == "/evidence/"
    assert "accepted nothing yet" in operator.get("/evidence/").text
    assert key_for_witness(project) in html.unescape(administrator.get("/evidence/").text)
    Anchor.objects.update(size=1_234, taken_at=now(), error="It answered <b>with</b> 500.", failed_at=now())
    shown = operator.get("/evidence/").text
    assert "the log's first 1,234 entries" in html.unescape(shown)
    assert "answered &lt;b&gt;with" in shown
    administrator.post(address, {"witness": "", "timestamp": ""})
    assert not Anchor.objects.exists()


def test_an_administrator_replaces_the_key(project: Project, operator: Client) -> None:
    administrator, before = browser_of(project, ADMIN), key_in_use(project).fingerprint
    assert before in operator.get("/evidence/").text
    assert administrator.get("/settings/evidence-log.zip").status_code == 409
    assert before in administrator.get("/settings/evidence-key/").text
    assert key_in_use(project).fingerprint == before
    assert administrator.post("/settings/evidence-key/")["Location"] == "/evidence/"
    assert key_in_use(project).fingerprint != before
    shown = operator.get("/evidence/").text
    assert key_in_use(project).fingerprint in shown
    assert before in shown[shown.index("Earlier keys") :]


def test_after_a_key_replacement_the_page_names_the_current_and_the_earlier_key(
    project: Project, operator: Client, session: Session, tmp_path: Path
) -> None:
    seals.seal_session(session.id)
    before = key_in_use(project).fingerprint
    page = f"/sessions/{session.id}/evidence/"
    assert "which was replaced then" not in operator.get(page).text
    replace_key(project, by="Test")
    shown, current = operator.get(page).text, key_in_use(project).fingerprint
    assert f"--key {current}</pre>" in shown
    assert f'data-key="{current}"' in shown
    assert f'data-subject="session/{session.id}"' in shown
    assert re.search(
        f'are signed by the key <span class="mono hash">{before}</span>, which was replaced', shown
    )
    bundle = downloaded(operator, f"{page[:-1]}.zip", tmp_path / "x.zip")
    assert tm_verify.verify(str(bundle), current).problems == []


def test_a_visitors_page_names_the_key_that_signs_the_download(
    project: Project, session: Session, tmp_path: Path
) -> None:
    seals.seal_session(session.id)
    before = key_in_use(project).fingerprint
    visitor, page = opened(shared(project, session)[1])
    assert f"--key {before}" in visitor.get(page).text
    replace_key(project, by="Test")
    shown, current = visitor.get(page).text, key_in_use(project).fingerprint
    assert f"--key {current}" in shown
    assert f"--key {before}" not in shown
    assert f'signed by an earlier key, <span class="mono hash">{before}</span>' in " ".join(shown.split())
    bundle = downloaded(visitor, f"{page}evidence.zip", tmp_path / "x.zip")
    assert tm_verify.verify(str(bundle), current).problems == []
