"""The list of links: their status, their current readers, and their expiry."""

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.builders import QUESTIONS, recorded_session
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.core.pure.clock import now
from timemachine.governance.sharing.models import ShareGrant, ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.models import Session


@pytest.fixture
def session(project: Project) -> Session:
    return recorded_session(project, questions=QUESTIONS[:1])


def words(page: str) -> str:
    return " ".join(page.split())


def test_an_exhausted_link_shows_how_many_still_read_and_until_when(
    project: Project, session: Session, operator: Client
) -> None:
    link, path = shared(project, session, Terms(max_opens=2))
    visitor, page = opened(path)
    opened(path)
    until = ShareGrant.objects.latest("expires_at").expires_at
    for address in ("/shares/", f"/shares/{link.id}/"):
        seen = words(operator.get(address).text)
        assert "exhausted</span>" in seen
        assert "2 still reading until <time" in seen
        assert f"{until:%Y-%m-%d %H:%M} UTC" in seen
    settings = browser_of(project, ADMIN)
    assert "1 active link." in settings.get("/settings/sharing/").text
    assert visitor.get(page).status_code == 200
    ShareGrant.objects.update(expires_at=now() - timedelta(seconds=1))
    assert "still reading" not in operator.get("/shares/").text
    assert "No active links." in settings.get("/settings/sharing/").text
    assert visitor.get(page).status_code == 404


def test_the_list_shows_the_remaining_time_of_a_link(
    project: Project, session: Session, operator: Client
) -> None:
    link, _ = shared(project, session, Terms(expires_at=now() + timedelta(days=7)))
    assert ">in 7 d</time>" in operator.get("/shares/").text
    ShareLink.objects.filter(pk=link.pk).update(expires_at=now() + timedelta(seconds=8))
    assert ">in under a minute</time>" in operator.get("/shares/").text


@pytest.mark.parametrize("many", [1, 4])
def test_the_number_of_queries_does_not_grow_with_links(
    project: Project,
    session: Session,
    operator: Client,
    django_assert_num_queries: DjangoAssertNumQueries,
    many: int,
) -> None:
    for _ in range(many):
        opened(shared(project, session, Terms(max_opens=1))[1])
    with django_assert_num_queries(9):
        assert operator.get("/shares/").text.count("1 still reading") == many
