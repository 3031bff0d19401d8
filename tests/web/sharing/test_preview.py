"""The form of a link offers redaction profiles and previews what one would withhold."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests import builders
from tests.builders import QUESTIONS, compared, recorded_session, stored_as, tamper
from tests.governance.sharing.recorded import replayed
from tests.web.sharing.share_forms import created_at, form_at
from tests.web.sharing.test_redaction import RULES, TRACES, Received, session, traces
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing import preview
from timemachine.governance.sharing.commands.links import set_policy, unsaved_link
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.preview import preview_of
from timemachine.governance.sharing.pure.terms import Policy, Terms
from timemachine.governance.sharing.queries import target_of
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.tasks import compute_results
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.profile import BUILT_IN
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

__all__ = ["session"]
AUDIT = ReplayOptions(audit=True, use_model="local:extractive-3", reason="Test")
BIRD = {"name": "bird", "pattern": "Kanari-[0-9]+"}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches read all steps, however slow the machine is."""
    monkeypatch.setattr(preview, "MOST_SECONDS", 600.0)
    monkeypatch.setattr(preview, "MOST_SECONDS_WHEN_CREATED", 600.0)


def test_the_form_offers_profiles_and_previews_what_would_be_withheld(
    project: Project, session: Session, operator: Client
) -> None:
    profile = make_profile(project, "No birds", read_rules(RULES), by="test")
    address = f"/sessions/{session.id}/share/"
    assert "No birds, version 1" in operator.get(address).text
    form = form_at(operator, address, redaction=str(profile.id), preview="1")
    page = operator.post(address, form)
    beside, shown = map(words, page.text.split('id="preview"'))
    assert page.status_code == 200
    assert re.search("Withholds [0-9]+ matches ?; 7 recorded steps searched", beside)
    assert (beside + shown).count("AWS access key id by rule secret") == 1
    assert "First matches, as a visitor would see them The link is not created yet." in shown
    assert "Session, name Flight of withheld: number" in shown
    assert not TRACES.search(shown.encode())
    assert ShareLink.objects.count() == 0
    beside, none = map(words, operator.post(address, form | {"redaction": ""}).text.split('id="preview"'))
    assert "Nothing withheld Visitors see all text as it was recorded." in none
    assert re.search("Visitors can read [0-9]+ matches of “Secrets and personal data” , in 7 rec", beside)
    path = created_at(operator, address, redaction=str(profile.id))
    visitor, visitor_page = opened(path)
    assert traces({"": Received.at(visitor, visitor_page)}) == {}


def test_the_form_shows_the_page_of_a_link_before_it_exists(
    project: Project, session: Session, operator: Client
) -> None:
    profile = make_profile(project, "No birds", read_rules(RULES), by="test")
    address = f"/sessions/{session.id}/share/"
    chosen = form_at(
        operator, address, redaction=str(profile.id), through_sequence="2", passphrase="three words"
    )
    live = {"HX-Request": "true", "HX-Target": "readable"}
    counted = words(operator.post(address, chosen, headers=live).text)
    assert re.search("Withholds [0-9]+ matches ?; 2 recorded steps searched", counted)
    sent = operator.post(address, chosen | {"look": "1"})
    assert (sent.status_code, "words" in sent["Location"]) == (303, False)
    look = operator.get(sent["Location"]).text
    assert "Preview of a link that does not exist yet" in look
    assert "steps 1 to 2" in words(look)
    assert not TRACES.search(look.encode())
    second = operator.get(f"{sent['Location']}&step=2").text
    assert f"step=1&amp;through_sequence=2&amp;redaction={profile.id}" in second
    steps = re.findall(r'href="([?][^"]*step=[^"]*)"', look)
    assert all(f"redaction={profile.id}" in each for each in steps)
    assert operator.get(f"{sent['Location']}&step=3").status_code == 404
    assert ShareLink.objects.count() == 0
    created = operator.post(address, chosen).text
    assert 'id="passphrase_once"' in created


def _compared(project: Project, session: Session) -> Comparison:
    made = compared(project, [session], "local:extractive-1", "local:extractive-3")
    compute_results(str(made.id))
    return made


@pytest.mark.parametrize("of", ["replays", "comparisons"])
def test_the_preview_of_a_replay_and_of_a_comparison_leads_to_every_answer_with_the_same_redaction(
    project: Project, session: Session, operator: Client, of: str
) -> None:
    profile = make_profile(project, "No birds", read_rules(RULES), by="test")
    shared = replayed(session) if of == "replays" else _compared(project, session)
    page = f"/{of}/{shared.id}/share/look/"
    look = operator.get(page, {"redaction": str(profile.id)}).text
    steps = re.findall(r'href="(\?[^"]*step=[0-9]+[^"]*)"', look)
    assert steps
    assert all(f"redaction={profile.id}" in each for each in steps)
    for each in {step.replace("&amp;", "&") for step in steps}:
        answer = operator.get(page + each)
        assert answer.status_code == 200
        assert "Preview of a link that does not exist yet" in answer.text
        assert not TRACES.search(answer.content)
        assert "/share/01" not in answer.text
        assert f'href="?redaction={profile.id}"' in answer.text
    assert operator.get(page, {"step": "999999"}).status_code == 404
    assert ShareLink.objects.count() == 0


def test_creating_a_link_without_redaction_warns_of_what_the_built_in_profile_finds(
    session: Session, operator: Client
) -> None:
    address = f"/sessions/{session.id}/share/"
    page = operator.post(address, form_at(operator, address))
    shown = words(page.text.split('role="alert"')[1])
    assert re.search(
        "Visitors can read [0-9]+ matches of “Secrets and personal data” , in 7 recorded steps: .*AWS access key id",
        shown,
    )
    made = ShareLink.objects.get()
    assert "revoke the link and create one with a redaction profile" in shown
    assert f'action="/shares/{made.id}/revoke/"' in page.text
    withholds = form_at(operator, address, redaction="built-in")
    assert 'role="alert"' not in operator.post(address, withholds).text


def readable(browser: Client, address: str, **fields: str) -> str:
    """What the form says about a link before it is created."""
    sent = form_at(browser, address, **fields)
    answer = browser.post(address, sent, headers={"HX-Request": "true", "HX-Target": "div#readable"})
    assert (answer.status_code, "<form" in answer.text) == (200, False)
    return words(answer.text)


def test_the_form_says_what_visitors_could_read_before_the_link_is_created(
    session: Session, operator: Client
) -> None:
    address = f"/sessions/{session.id}/share/"
    assert 'hx-target="#readable"' in operator.get(address).text
    found = readable(operator, address, label="x" * 1_000)
    assert re.search(
        "Nothing is withheld. Visitors can read [0-9]+ matches of “Secrets and personal data”"
        " , in 7 recorded steps: .*AWS access key id.* Withhold these Or choose another profile",
        found,
    )
    assert "in names" in readable(operator, address, evidence_only="on")
    withheld = words(readable(operator, address, redaction="built-in"))
    assert re.search("Withholds [0-9]+ matches ?; 7 recorded steps searched", withheld)
    assert not ShareLink.objects.exists()


def test_the_form_says_that_the_built_in_profile_has_no_matches(project: Project, operator: Client) -> None:
    harmless = start_session(project, name="Harmless", by="test")
    append(harmless.id, [ActionDraft(kind="message", output="Good morning.")])
    says = "“Secrets and personal data” has no matches in 1 recorded step."
    assert says in readable(operator, f"/sessions/{harmless.id}/share/")


def test_a_preview_without_matches_says_once_that_nothing_is_withheld(
    project: Project, operator: Client
) -> None:
    harmless = start_session(project, name="Harmless", by="test")
    append(harmless.id, [ActionDraft(kind="message", output="Good morning.")])
    address = f"/sessions/{harmless.id}/share/"
    page = operator.post(address, form_at(operator, address, redaction="built-in", preview="1"))
    beside, shown = map(words, page.text.split('id="preview"'))
    assert "Nothing to withhold ; 1 recorded step searched." in beside
    assert "No matches Visitors see all text as it was recorded. The link is not created yet." in shown
    assert "Withheld by" not in shown


def test_a_preview_of_the_first_steps_says_that_only_these_have_no_matches(
    project: Project, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MOST_STEPS", 1)
    harmless = start_session(project, name="Harmless", by="test")
    append(harmless.id, [ActionDraft(kind="message", output="Good morning.")] * 2)
    address = f"/sessions/{harmless.id}/share/"
    page = operator.post(address, form_at(operator, address, redaction="built-in", preview="1"))
    assert "No matches in the steps read The link is not created yet." in words(page.text)


def test_the_form_warns_under_a_policy_that_requires_a_passphrase(
    project: Project, session: Session, operator: Client
) -> None:
    set_policy(project, Policy(passphrase_required=True), by="test")
    assert "Nothing is withheld. Visitors can read" in readable(operator, f"/sessions/{session.id}/share/")


def cover(project: Project, session: Session, path: str | None = None) -> str:
    """The words of the auditor's cover of a link that withholds what the built-in profile matches."""
    visitor, address = opened(path or shared(project, session, Terms(redaction=BUILT_IN))[1])
    return words(visitor.get(address).text)


def test_an_auditor_sees_how_often_something_is_withheld(project: Project, operator: Client) -> None:
    session = start_session(project, by="test", name="Desk")
    texts = ["Write to mara@example.org", "or j.osei@example.com, or call +41 79 555 01 23."]
    append(session.id, [ActionDraft(kind="message", output=each) for each in texts])
    path = created_at(operator, f"/sessions/{session.id}/share/", redaction="built-in")
    append(session.id, [ActionDraft(kind="message", output="Or nobody@example.org")])
    counts = (
        "When the link was created, names and 2 recorded steps were searched: e-mail (2), phone number (1)"
    )
    assert counts in cover(project, session, path)


def test_an_auditor_sees_that_nothing_was_withheld_and_how_many_steps_were_searched(project: Project) -> None:
    session = start_session(project, by="test", name="Desk")
    append(session.id, [ActionDraft(kind="message", output="Good morning.")])
    assert "names and 1 recorded step were searched: no matches." in cover(project, session)
    append(session.id, [ActionDraft(kind="message", output="Good morning. " * 40_000)])
    assert "names and the first 1 of 2 recorded steps were searched: no matches." in cover(project, session)


def test_the_count_of_a_replay_covers_its_new_answers(project: Project) -> None:
    replay = builders.replayed(recorded_session(project, questions=QUESTIONS[:1]), AUDIT)
    visitor, address = opened(shared(project, replay, Terms(redaction=BUILT_IN))[1])
    counted = re.search(
        "When the link was created, names and (.*?) were searched: no matches",
        words(visitor.get(address).text),
    )
    assert counted is not None
    assert counted[1] == "3 recorded steps and 1 new answer"


def test_the_list_of_a_shared_replay_shows_no_grounding_that_the_profile_withholds(project: Project) -> None:
    replay = builders.replayed(recorded_session(project, questions=QUESTIONS[:1]), AUDIT)
    replay.steps.filter(kind="ask").update(grounding={"score": 0.2, "label": "LOW", "has_warning": True})
    for fields, shows in (([], True), (["grounding"], False)):
        rules = read_rules({"detect": ["email"], "fields": fields})
        profile = as_profile(make_profile(project, f"Own {shows}", rules, by="test"))
        visitor, address = opened(shared(project, replay, Terms(redaction=profile))[1])
        assert ("LOW" in visitor.get(address).text) == shows


def test_a_link_whose_content_cannot_be_searched_says_no_count(project: Project, session: Session) -> None:
    tamper("UPDATE tm_action SET retrieval = '5'", [])
    link, _ = shared(project, session, Terms(redaction=BUILT_IN))
    assert link.withheld is None


def test_a_long_text_is_not_searched_while_a_link_is_created(session: Session) -> None:
    append(session.id, [ActionDraft(kind="message", output="Good morning. " * 40_000)])
    link = unsaved_link(session.project, session, Terms(), by="test")
    found = preview.preview_of_created(link)
    assert found is not None
    assert found.read < found.steps


def test_a_link_is_created_even_if_its_content_cannot_be_searched(session: Session, operator: Client) -> None:
    address = f"/sessions/{session.id}/share/"
    form = form_at(operator, address)
    tamper("UPDATE tm_action SET retrieval = '5'", [])
    page = operator.post(address, form)
    assert (page.status_code, "/share/" in page.text) == (201, True)
    assert ShareLink.objects.count() == 1


def test_the_preview_of_an_evidence_only_link_shows_what_such_a_link_shows(
    project: Project, session: Session, operator: Client
) -> None:
    profile = make_profile(project, "No birds", read_rules(RULES), by="test")
    address = f"/sessions/{session.id}/share/"
    form = form_at(operator, address, redaction=str(profile.id), evidence_only="on", preview="1")
    shown = operator.post(address, form).text.split('id="preview"')[1]
    assert "No recorded text is shown" in shown
    assert "Visitors see the number and the totals of 7 recorded steps" in words(shown)
    assert "Flight of withheld: number withheld: e-mail withheld: secret" in words(shown)
    assert "Session, name" in words(shown)
    assert "Step 1" not in words(shown)
    assert "metadata" not in shown
    assert not TRACES.search(shown.encode())
    plain = words(operator.post(address, form | {"redaction": ""}).text)
    assert plain.count("Visitors can read 4 matches of “Secrets and personal data” in names") == 1
    assert not ShareLink.objects.exists()


def test_a_row_names_the_field_and_with_several_sessions_the_session(
    project: Project, session: Session, operator: Client
) -> None:
    other = start_session(project, name="The second one", by="test")
    append(other.id, [ActionDraft(kind="ask", input="Who?", output="Kanari-9")])
    rules = read_rules({"fields": ["retrieval.hits[*].metadata.author"]})
    profile = make_profile(project, "No authors", rules, by="test")
    address = f"/sessions/{session.id}/share/"
    form = form_at(operator, address, redaction=str(profile.id), preview="1")
    shown = words(operator.post(address, form).text.split('id="preview"')[1])
    assert "retrieval.hits[0].metadata.author withheld: field" in shown
    comparison = compared(project, [session, other], "local:extractive-1", "local:extractive-3")
    birds = make_profile(project, "No birds", read_rules({"patterns": [BIRD]}), by="test")
    address = f"/comparisons/{comparison.id}/share/"
    form = form_at(operator, address, redaction=str(birds.id), preview="1")
    text = operator.post(address, form).text.split('id="preview"')[1]
    assert f'<a href="/sessions/{session.id}/?step=' in text
    assert "of Flight of withheld: bird" in words(text)
    assert "Session Flight of withheld: bird" in words(text)


def test_the_limit_on_reading_also_applies_to_the_answers_of_replays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "MOST_BYTES", len("a@example.com"))
    found = []
    for many in (2, 3):
        session = recorded_session(project, key=f"s{many}", questions=QUESTIONS[:1])
        comparison = compared(project, [session], *(f"local:extractive-{each}" for each in (1, 3, 5)[:many]))
        tamper(
            f"UPDATE tm_payload SET {stored_as('%s::bytea')} WHERE id IN (SELECT output_id FROM tm_replay_step)",
            ["a@example.com"] * 2,
        )
        target = target_of(project, "comparison", comparison.id)
        found.append(preview_of(unsaved_link(project, target, Terms(), by="test")).readable_matches)
    assert found[0] == found[1] > 0


@pytest.mark.parametrize("many", [1, 3])
def test_the_number_of_queries_does_not_grow_with_sessions(
    project: Project, many: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sessions = [recorded_session(project, key=f"s{n}", questions=QUESTIONS[:1]) for n in range(many)]
    comparison = compared(project, sessions, "local:extractive-1", "local:extractive-3")
    terms = Terms(redaction=BUILT_IN)
    link = unsaved_link(project, target_of(project, "comparison", comparison.id), terms, by="test")
    with django_assert_num_queries(7):
        assert len(preview_of(link).sessions) == many
