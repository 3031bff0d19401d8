"""Significance on the pages of a session: set at a step, suggested, and lowered by compression."""

import pytest
from django.test import Client

from tests.web.people import browser_of
from tests.web.timelines import HOSTILE, example_actions, get, recorded, words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.recording.annotations.significance.models import (
    Compression,
    CompressionRule,
    SignificanceOverride,
)
from timemachine.recording.sessions.commands import end_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
PAGE = "/sessions/s/significance/"


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project, example_actions())


ADDRESS = "/sessions/s/?step=1&filter=kind:message"


def set_significance(browser: Client, **values: str) -> str:
    every = {"do": "weigh", "significance": "", "importance": "", **values}
    answer = browser.post(ADDRESS, every)
    assert answer.status_code == 303, answer.content
    return str(answer["Location"])


def test_a_changed_significance_is_shown_with_the_recorded_one(operator: Client, session: Session) -> None:
    assert session
    assert "Significance not set Change" in words(get(operator, "/sessions/s/?step=1"))
    to = set_significance(operator, significance="decision")
    assert to == "/sessions/s/?step=1&filter=kind:message"
    page = words(get(operator, to))
    assert "decision importance 0.92 recorded: none; changed by operator" in page
    assert "Significance of step 1 changed" in page
    assert '<span class="significance">decision</span>' in get(operator, "/sessions/s/")
    set_significance(operator, significance="", importance="0.4")
    assert "importance 0.4 recorded: none" in words(get(operator, to))
    set_significance(operator)
    assert not SignificanceOverride.objects.exists()
    history = words(get(operator, PAGE))
    assert "step 1 as recorded operator" in history
    assert "step 1 decision operator" in history


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"importance": "much"}, "is not an importance. Enter a number from 0 to 1"),
        ({"importance": "7"}, "must be between 0 and 1"),
        ({"importance": "nan"}, "must be between 0 and 1"),
        ({"significance": HOSTILE.replace("\ud800", "")}, "Use one of: normal, hypothesis"),
    ],
)
def test_an_invalid_significance_is_refused_and_changes_nothing(
    operator: Client, session: Session, values: dict[str, str], sentence: str
) -> None:
    assert session
    answer = operator.post(ADDRESS, {"do": "weigh", "significance": "decision"} | values)
    assert answer.status_code == 422
    assert sentence in words(answer.text)
    assert not SignificanceOverride.objects.exists()


def test_a_refused_form_is_shown_again_with_its_input(operator: Client, session: Session) -> None:
    assert session
    page = operator.post(
        ADDRESS, {"do": "weigh", "significance": "decision", "importance": "very <much>"}
    ).text
    form = page[page.index('<details class="weigh" open>') :].partition("</details>")[0]
    assert '<option value="decision" selected>' in form
    assert 'value="very &lt;much&gt;"' in form
    assert 'aria-describedby="weigh-error" autofocus' in form
    assert 'data-sequence="1"' in page


@pytest.mark.parametrize("step", ["", "?step=99", "?step=x"])
def test_the_significance_of_an_unknown_step_cannot_be_set(
    operator: Client, session: Session, step: str
) -> None:
    assert session
    answer = operator.post(f"/sessions/s/{step}", {"do": "weigh", "significance": "decision"})
    assert answer.status_code == 404


def test_changing_one_value_keeps_a_concurrent_change_of_the_other(
    operator: Client, session: Session
) -> None:
    set_significance(operator, significance="decision")
    set_significance(operator, significance="", significance_was="", importance="0.4", importance_was="")
    override = SignificanceOverride.objects.get()
    assert (override.action.session, override.significance, override.importance) == (session, "decision", 0.4)
    operator.post(ADDRESS, {"do": "weigh"})
    assert SignificanceOverride.objects.exists()


def test_suggestions_are_accepted_and_dismissed(operator: Client, project: Project) -> None:
    recorded(
        project,
        [
            ActionDraft(kind="message", role="agent", output="We decided to wait."),
            ActionDraft(kind="message", role="agent", output="The root cause is <b>the pool</b>."),
        ],
    )
    page = get(operator, PAGE)
    assert "step 2 breakthrough it says “The root cause is &lt;b&gt;the pool&lt;/b&gt;.” Accept" in words(
        page
    )
    for step, rule, answer in (("1", "decision", "no"), ("2", "root_cause", "yes")):
        sent = operator.post(f"{PAGE}answer/", {"step": step, "rule": rule, "answer": answer})
        assert sent.status_code == 303
    page = words(get(operator, PAGE))
    assert "No suggestions." in page
    assert "step 2 breakthrough as suggested" in page
    operator.post(f"{PAGE}answer/", {"step": "2", "rule": "root_cause", "answer": "yes"})
    assert "This suggestion for step 2 has already been accepted by" in words(get(operator, PAGE))
    operator.post(f"{PAGE}answer/", {"step": "1", "rule": "decision", "answer": "yes"})
    assert "step 1 has already been dismissed by " in words(get(operator, PAGE))
    operator.post(f"{PAGE}answer/", {"step": "2", "rule": "a\0b", "answer": "yes"})
    assert "There is no suggestion for step 2 by the rule" in words(get(operator, PAGE))


def test_a_session_is_compressed_and_the_compression_is_undone(operator: Client, session: Session) -> None:
    assert "can be compressed once it has ended" in words(get(operator, PAGE))
    operator.post(f"{PAGE}compress/", {"do": "compress"})
    assert "is still recording. End it" in words(get(operator, PAGE))
    end_session(session.id)
    assert "Would be lowered to 0.30" in words(get(operator, PAGE))
    operator.post(f"{PAGE}compress/", {"do": "compress"})
    page = words(get(operator, PAGE))
    assert "Session compressed." in page
    assert "compressed by operator" in page
    assert "importance 0.3 the session is compressed" in words(get(operator, "/sessions/s/?step=1"))
    operator.post(f"{PAGE}compress/", {"do": "undo"})
    assert "undone by operator" in words(get(operator, PAGE))
    assert not Compression.objects.exists()


def test_the_rule_of_the_project_is_set_on_the_settings_page(project: Project) -> None:
    administrator = browser_of(project, "admin")
    assert "No automatic compression." in words(get(administrator, "/settings/"))
    assert administrator.post("/settings/compression/", {"days": "30"}).status_code == 303
    assert "Sessions are compressed 30 days after their end" in words(get(administrator, "/settings/"))
    for days in ("soon", "-4", "0", "99999"):
        refused = administrator.post("/settings/compression/", {"days": days})
        assert refused.status_code == 422
        assert "“Days after the end of a session” must be a whole number from 1 to 3,650." in refused.text
        assert f'value="{days}"' in refused.text
    assert CompressionRule.objects.get(project=project).days == 30
    administrator.post("/settings/compression/", {"days": ""})
    assert not CompressionRule.objects.exists()


def test_a_summary_is_stored_in_a_collection_and_linked(operator: Client, session: Session) -> None:
    assert session
    assert "No summary yet." in words(get(operator, PAGE))
    operator.post(f"{PAGE}summarise/", {"collection": "lessons"})
    page = get(operator, PAGE)
    assert "Summary stored as frame 0 of lessons." in words(page)
    assert "lessons , frame 0 , version 1 by local:extractive-5" in words(page)
    assert 'href="/collections/lessons/frames/0/"' in page
    refused = operator.post(f"{PAGE}summarise/", {"collection": "", "model": "house:big"})
    assert refused.status_code == 422
    assert "Choose one for the summary" in words(refused.text)
    assert 'value="house:big"' in refused.text
    assert 'id="summary_collection_error"' in refused.text


def test_a_viewer_sees_significance_without_the_form(viewer: Client, session: Session) -> None:
    assert session
    assert "Change" not in words(get(viewer, "/sessions/s/?step=1")).split()
    assert viewer.get(PAGE).status_code == 200


def test_a_share_link_shows_only_the_recorded_significance(operator: Client, session: Session) -> None:
    set_significance(operator, significance="breakthrough")
    _, path = shared(session.project, session)
    visitor, to = opened(path)
    assert "breakthrough" not in visitor.get(f"{to}?step=1").text


@pytest.mark.parametrize("after", ["x", "0190b0a0-0000-7000-8000-000000000000"])
def test_an_invalid_page_position_is_refused(operator: Client, session: Session, after: str) -> None:
    assert session
    assert operator.get(f"{PAGE}?after={after}").status_code == 422
