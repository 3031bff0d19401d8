"""What people and recordings bring that nobody expects: every page answers it with a page."""

import pytest

from tests.web.people import browser_of
from timemachine.accounts.models import Project
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft


@pytest.mark.parametrize("price", [True, None, {"usd": 3}, "3 EUR", 10**40, -0.5])
def test_a_price_of_any_form_is_shown(project: Project, price: object) -> None:
    session = start_session(project, name="Odd", by="test", key="s")
    prices = {"per_million_tokens": {"input": price}}
    append(session.id, [ActionDraft(kind="llm_call", model="a:b", prices=prices)])
    answer = browser_of(project).get("/sessions/s/")
    assert answer.status_code == 200
    assert "per million tokens" in answer.content.decode()
