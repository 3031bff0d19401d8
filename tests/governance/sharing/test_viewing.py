"""The limit of pages per visitor and minute."""

from datetime import timedelta

import pytest

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, TooManyRequests
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.commands.opening import open_link
from timemachine.governance.sharing.commands.visits import PART, view
from timemachine.governance.sharing.models import ShareGrant
from timemachine.recording.sessions.models import Session


def test_each_visitor_can_view_sixty_pages_a_minute(project: Project, session: Session) -> None:
    link, token = create_link(project, session, by="Test")
    first, second = open_link(token), open_link(token)
    for _ in range(60):
        view(link.public_id, first.secret)
    with pytest.raises(TooManyRequests) as refused:
        view(link.public_id, first.secret)
    assert 0 < refused.value.facts["retry_after_seconds"] <= 60
    assert view(link.public_id, second.secret).link == link
    ShareGrant.objects.update(views_since=now() - timedelta(minutes=1))
    assert view(link.public_id, first.secret).link == link


def test_a_page_fragment_counts_as_a_tenth(project: Project, session: Session) -> None:
    link, token = create_link(project, session, by="Test")
    secret = open_link(token).secret
    for _ in range(9):
        view(link.public_id, secret, PART)
    assert ShareGrant.objects.get().views == 9


def test_without_a_grant_nothing_is_counted(project: Project, session: Session) -> None:
    link, token = create_link(project, session, by="Test")
    open_link(token)
    with pytest.raises(NotFound):
        view(link.public_id, "x")
    assert ShareGrant.objects.get().views == 0
