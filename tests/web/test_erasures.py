"""Erasing fields by hand: chosen, seen, confirmed, and hatched from then on."""

import pytest
from django.test import Client

from tests.builders import recorded_session
from tests.web.people import browser_of
from timemachine.accounts.models import ADMIN, Project
from timemachine.erasure import commands
from timemachine.erasure.models import Erasure
from timemachine.evidence import sealing
from timemachine.recording.models import Session


@pytest.fixture
def session(project: Project) -> Session:
    found = recorded_session(project)
    sealing.seal_session(found.id)
    return found


@pytest.fixture
def administrator(project: Project) -> Client:
    return browser_of(project, ADMIN)


def test_fields_of_a_step_are_seen_and_then_erased_for_a_reason(
    administrator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/erase-fields/"
    step = administrator.get(f"/sessions/{session.id}/?step=2").text
    assert f"{address}?step=2" in step
    assert 'value="2"' in administrator.get(f"{address}?step=2").text
    found = administrator.post(address, {"of_step": ["output"], "steps": "2"})["Location"]
    seen = administrator.get(found).text
    assert "What would go" in seen
    assert "Answers of the cache" in seen
    assert administrator.post(f"{found}confirm/", {"reason": ""}).status_code == 422
    assert administrator.post(f"{found}confirm/", {"reason": "asked for"})["Location"] == found
    assert "erased on" in administrator.get(found).text
    shown = administrator.get(f"/sessions/{session.id}/?step=2").text
    assert '<span class="redacted"><span>erased on' in shown
    assert "<b>output</b>" in shown
    assert '<span class="redacted"><span>erased: field</span></span>' in shown
    assert "commitment" in shown
    administrator.post(f"/sessions/{session.id}/evidence/check/")
    assert (
        "erased; a tombstone in the log names each"
        in administrator.get(f"/sessions/{session.id}/evidence/").text
    )
    assert found in administrator.get(address).text


def test_what_a_profile_finds_is_nothing_where_there_is_nothing(
    administrator: Client, session: Session
) -> None:
    found = administrator.post(f"/sessions/{session.id}/erase-fields/", {"redaction": "built-in"})["Location"]
    assert "there is nothing to erase" in administrator.get(found).text


@pytest.mark.parametrize(
    "chosen",
    [
        {"steps": "2"},
        {"of_step": ["output"], "steps": "x"},
        {"of_step": ["output"], "steps": "99"},
        {"paths": "kind"},
    ],
)
def test_what_cannot_be_chosen_is_said_beside_the_form(
    administrator: Client, session: Session, chosen: dict[str, str]
) -> None:
    answer = administrator.post(f"/sessions/{session.id}/erase-fields/", chosen)
    assert answer.status_code == 422
    assert 'class="error"' in answer.text or "note" in answer.text
    assert not Erasure.objects.exists()


def test_a_long_session_is_followed_while_a_worker_looks(
    administrator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "AT_ONCE", 0)
    found = administrator.post(f"/sessions/{session.id}/erase-fields/", {"of_step": ["output"]})["Location"]
    assert 'hx-trigger="every 1s"' in administrator.get(found).text
    assert administrator.post(f"{found}confirm/", {"reason": "x"}).status_code == 409
    commands.work(Erasure.objects.get().id)
    part = administrator.get(found, headers={"HX-Request": "true", "HX-Target": "div#erasure"}).text
    assert "What would go" in part
    assert "<h1" not in part


def test_only_an_administrator_sees_and_erases(
    administrator: Client, operator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/erase-fields/"
    found = administrator.post(address, {"of_step": ["output"]})["Location"]
    assert operator.get(address).status_code == 403
    assert operator.get(found).status_code == 403
    assert operator.post(f"{found}confirm/", {"reason": "x"}).status_code == 403
    assert "Erase fields" not in operator.get(f"/sessions/{session.id}/?step=2").text
