"""Manual erasure of fields: selected, previewed, confirmed, and marked from then on."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.builders import replayed
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import text_sha256
from timemachine.evidence.queries import sealed_session
from timemachine.evidence.schemas import SealOut
from timemachine.evidence.sealing import seals
from timemachine.governance.deletion.erasure import commands
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions

AUDIT = ReplayOptions(audit=True, reason="a test", use_model="local:extractive-1")


@pytest.fixture(scope="module")
def sealed_once(recorded_once: Session) -> Session:
    seals.seal_session(recorded_once.id)
    return recorded_once


@pytest.fixture(scope="module")
def replay_once(sealed_once: Session) -> Replay:
    made = replayed(sealed_once, AUDIT)
    seals.seal_replay(made.id)
    return made


@pytest.fixture
def session(sealed_once: Session, db: None) -> Session:
    return Session.objects.get(pk=sealed_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def replay(replay_once: Replay, db: None) -> Replay:
    return Replay.objects.get(pk=replay_once.pk)


@pytest.fixture
def administrator(project: Project) -> Client:
    return browser_of(project, ADMIN)


def test_fields_of_a_step_are_previewed_and_then_erased_for_a_reason(
    administrator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/erase-fields/"
    step = administrator.get(f"/sessions/{session.id}/?step=2").text
    assert f"{address}?step=2" in step
    assert 'value="2"' in administrator.get(f"{address}?step=2").text
    found = administrator.post(address, {"of_step": ["output"], "steps": "2"})["Location"]
    seen = administrator.get(found).text
    assert "Content to erase" in seen
    assert "Answers of the cache" in seen
    assert administrator.post(f"{found}confirm/", {"reason": ""}).status_code == 422
    assert administrator.post(f"{found}confirm/", {"reason": "asked for"})["Location"] == found
    assert "erased on" in administrator.get(found).text
    shown = administrator.get(f"/sessions/{session.id}/?step=2").text
    assert '<span class="redacted"><span>erased on' in shown
    assert "<b>output</b>" in shown
    assert '<span class="redacted"><span>erased: field</span></span>' in shown
    assert "Commitment" in shown
    administrator.post(f"/sessions/{session.id}/evidence/check/")
    assert (
        "erased; a tombstone in the log names each"
        in administrator.get(f"/sessions/{session.id}/evidence/").text
    )
    assert found in administrator.get(address).text


def test_the_first_matches_are_previewed_as_erased_and_not_stored(
    administrator: Client, project: Project
) -> None:
    session = start_session(project, name="long", by="test", agent="Jo <b>x</b> jo@example.org")
    texts = [f"{'before ' * 30}{n} jo@example.org <i>{'behind ' * 60}" for n in range(30)]
    append(session.id, [ActionDraft(kind="message", output={"deep": [text]}) for text in texts])
    address = f"/sessions/{session.id}/erase-fields/"
    found = administrator.post(address, {"redaction": "built-in"})["Location"]
    shown = administrator.get(found).text
    sample = shown[shown.index("First matches, after erasing") :]
    assert sample.count("erased: e-mail</span>") == 20
    assert "Session, <bdi>agent</bdi>" in " ".join(sample.split())
    assert "Jo &lt;b&gt;x&lt;/b&gt; " in sample
    assert f'<a href="/sessions/{session.id}/?step=3">Step 3</a>, <bdi>output.deep[0]</bdi>' in " ".join(
        sample.split()
    )
    assert "jo@example.org" not in shown
    assert "…" in sample
    assert not Erasure.objects.filter(preview__icontains="behind").exists()
    administrator.post(f"{found}confirm/", {"reason": "asked for"})
    assert "First matches, after erasing" not in administrator.get(found).text


def test_the_matches_of_a_selected_field_include_its_repetitions(
    administrator: Client, session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    found = administrator.post(
        f"/sessions/{session.id}/erase-fields/", {"of_step": ["output"], "steps": "2"}
    )["Location"]
    with django_assert_max_num_queries(25):
        shown = " ".join(administrator.get(found).text.split())
    assert "Step 2</a>, <bdi>output</bdi>" in shown
    assert "Step 2</a>, <bdi>grounding" in shown


def test_a_profile_without_matches_says_so(administrator: Client, session: Session) -> None:
    found = administrator.post(f"/sessions/{session.id}/erase-fields/", {"redaction": "built-in"})["Location"]
    assert "No matches in this session." in administrator.get(found).text


def test_an_invalid_selection_is_refused_with_a_message(administrator: Client, session: Session) -> None:
    for chosen in (
        {"steps": "2"},
        {"of_step": ["output"], "steps": "x"},
        {"of_step": ["output"], "steps": "99"},
        {"paths": "kind"},
    ):
        answer = administrator.post(f"/sessions/{session.id}/erase-fields/", chosen)
        assert answer.status_code == 422, chosen
        assert 'class="error"' in answer.text or "note" in answer.text
    assert not Erasure.objects.exists()


def test_the_page_polls_while_a_worker_examines_a_long_session(
    administrator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_IN_A_REQUEST", 0)
    found = administrator.post(f"/sessions/{session.id}/erase-fields/", {"of_step": ["output"]})["Location"]
    assert 'hx-trigger="every 1s"' in administrator.get(found).text
    assert administrator.post(f"{found}confirm/", {"reason": "x"}).status_code == 409
    Erasure.objects.update(began_at=now() - timedelta(seconds=10), done=1_000, total=5_000)
    text = administrator.get(found).text
    assert "20% searched" in text
    assert re.search(r"per (?:second|minute), about \d+ (?:s|min) left", text)
    done = commands.work(Erasure.objects.get().id)
    assert done is not None
    # for the texts of the chosen fields, and for their copies elsewhere
    assert done.done == done.total == 2 * session.last_sequence
    part = administrator.get(found, headers={"HX-Request": "true", "HX-Target": "div#erasure"}).text
    assert "Content to erase" in part
    assert "<h1" not in part


def test_only_administrators_see_the_way_to_erase(
    administrator: Client, operator: Client, session: Session
) -> None:
    assert "Erase fields" not in operator.get(f"/sessions/{session.id}/?step=2").text
    tools = administrator.get(f"/sessions/{session.id}/?step=2").text.partition('class="step-tools"')[2]
    beside, _, more = tools.partition('<div class="menu-items">')
    assert "Replay from here" in beside
    assert "Erase fields" not in beside
    assert more.index("Erase fields") < more.index("Delete step") < more.index("</details>")


def erase(administrator: Client, session: Session, **chosen: object) -> str:
    """Erase fields over HTTP; return the address of the erasure."""
    found = administrator.post(f"/sessions/{session.id}/erase-fields/", chosen)["Location"]
    assert administrator.post(f"{found}confirm/", {"reason": "asked for by Clara"}).status_code == 303
    return found


def test_after_an_erasure_nothing_is_called_intact_until_it_is_checked_again(
    administrator: Client, session: Session, replay: Replay
) -> None:
    pages = [f"/sessions/{session.id}/evidence/", f"/replays/{replay.id}/evidence/"]
    for each in pages:
        administrator.post(f"{each}check/")
        assert ">intact<" in administrator.get(each).text
    assert "intact just now" in administrator.get("/").text
    erase(administrator, session, of_step=["output"], steps="2")
    for each in pages:
        text = administrator.get(each).text
        assert ">intact<" not in text
        assert "erased, most recently on" in text
        assert "Not checked since" in text
    assert "erased, not checked since</a>" in administrator.get(f"/sessions/{session.id}/").text
    assert "erased, not checked since</a>" in administrator.get(f"/replays/{replay.id}/").text
    listed = administrator.get("/").text
    assert "intact" not in listed
    assert "erased, not checked since" in listed
    for each in pages:
        administrator.post(f"{each}check/")
        assert ">intact<" in administrator.get(each).text
    assert "intact but for" in administrator.get("/").text


def test_a_seal_says_that_fields_were_erased_since_its_last_check(
    administrator: Client, session: Session
) -> None:
    administrator.post(f"/sessions/{session.id}/evidence/check/")
    assert SealOut.of(sealed_session(session)).erased.model_dump() == {
        "fields": 0,
        "at": None,
        "since_check": False,
    }
    erase(administrator, session, of_step=["output"], steps="2")
    status = SealOut.of(sealed_session(session)).erased
    assert (status.fields > 0, status.since_check) == (True, True)


def test_a_visitor_sees_that_fields_were_erased_but_not_by_whom_or_why(
    project: Project, administrator: Client, session: Session, replay: Replay
) -> None:
    administrator.post(f"/sessions/{session.id}/evidence/check/")
    administrator.post(f"/replays/{replay.id}/evidence/check/")
    links = [shared(project, each)[1] for each in (session, replay)]
    visitors = [opened(path) for path in links]
    for visitor, address in visitors:
        assert "<dt>Erased</dt>" not in visitor.get(address).text
    erase(administrator, session, of_step=["output"], steps="2")
    for visitor, address in visitors:
        head = visitor.get(address).text
        assert "<dt>Erased</dt>" in head
        assert "not checked since the erasure" in head
        assert "nothing else; the evidence leaves out" in head
        assert "as withheld" not in head
        assert "Clara" not in head
    step = visitors[0][0].get(f"{visitors[0][1]}?step=2").text
    assert '<span class="redacted"><span>erased: field</span></span>' in step
    assert "[erased: field]" not in step
    administrator.post(f"/sessions/{session.id}/evidence/check/")
    assert "intact, except for erased fields" in visitors[0][0].get(visitors[0][1]).text


def test_a_visitor_sees_nothing_of_an_erasure_after_the_last_shared_step(
    project: Project, administrator: Client, session: Session
) -> None:
    visitor, address = opened(shared(project, session, Terms(through_sequence=1))[1])
    erase(administrator, session, paths="parameters", steps="2")
    assert "<dt>Erased</dt>" not in visitor.get(address).text


def test_an_erased_field_shows_no_hash_as_if_it_had_been_recorded(
    project: Project, administrator: Client, session: Session
) -> None:
    visitor, address = opened(shared(project, session)[1])
    erase(administrator, session, of_step=["output", "retrieval"])
    mark = text_sha256("[erased: field]")
    step = next(
        each.sequence
        for each in Action.objects.filter(session=session).order_by("sequence")
        if each.hits.exists()
    )
    for reader, page in ((administrator, f"/sessions/{session.id}/"), (visitor, address)):
        shown = reader.get(f"{page}?step=2").text
        assert '<dd class="mono hash"><span class="absent">erased</span></dd>' in shown
        assert f'<dd class="mono hash">{mark}' not in shown
        context = reader.get(f"{page}?step={step}&tab=context").text
        assert "No words in common" not in context
        assert "the matched words are not shown" in context
        assert '<span class="mono hash"><span class="absent">erased</span></span>' in context
    shown = visitor.get(f"{address}?step={step}").text
    assert "Erased: <b>" in shown
    assert "Clara" not in shown


def test_a_replayed_step_claims_nothing_about_an_erased_passage(
    administrator: Client, session: Session, replay: Replay
) -> None:
    ask = replay.steps.filter(kind="ask").order_by("sequence").first()
    assert ask is not None
    page = f"/replays/{replay.id}/steps/{ask.sequence}/"
    assert '<td><span class="verdict verified">verified</span></td>' in administrator.get(page).text
    erase(administrator, session, of_step=["output", "retrieval"])
    shown = administrator.get(page).text
    assert "Answer unchanged" not in shown
    replay_page = administrator.get(f"/replays/{replay.id}/").text
    assert '<span class="verdict erased">erased</span>' in replay_page
    assert "affected steps are marked" in replay_page
    assert '<span class="verdict identical">' not in replay_page
    assert '<td><span class="verdict verified">verified</span></td>' not in shown
    assert '<span class="verdict erased">erased</span>' in shown
    assert "Parts of this recording were erased" in shown
    assert "<dt>Withheld</dt>" not in shown
    assert '<span class="redacted"><span>erased: ' in shown


def test_the_confirmation_names_what_stays_and_the_evidence_page_the_erasure(
    administrator: Client, operator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/erase-fields/"
    seen = administrator.get(administrator.post(address, {"of_step": ["retrieval"]})["Location"]).text
    assert "every table of this server" not in seen
    assert "It stays in 1 collection." in " ".join(seen.split())
    evidence = f"/sessions/{session.id}/evidence/"
    assert "asked for by Clara" not in administrator.get(evidence).text
    found = erase(administrator, session, of_step=["retrieval"])
    shown = administrator.get(evidence).text
    assert "asked for by Clara" in shown
    assert found in shown
    assert "asked for by Clara" in operator.get(evidence).text
    assert found not in operator.get(evidence).text
