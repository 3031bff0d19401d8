"""The redaction page: profiles, and the form that tries one."""

import html
import re

import pytest
from django.test import Client

from tests.web.people import browser_of
from tests.web.timelines import recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction.commands import make_profile, retire_profile
from timemachine.text.redaction.models import RedactionProfile
from timemachine.text.redaction.pure.rules import read_rules

pytestmark = pytest.mark.django_db
FORM = {
    "name": "Auditors",
    "detect": ["email"],
    "phone_regions": "DE,  US",
    "patterns": "customer number: (?i)acme-[0-9]+\n\n",
    "fields_by_path": "agent\r\nsession.user",
}
RULES = {
    "detect": ["email"],
    "phone_regions": ["DE", "US"],
    "patterns": [{"name": "customer number", "pattern": "(?i)acme-[0-9]+", "ignore_case": False}],
    "fields": ["agent", "session.user"],
}


def test_a_profile_is_created_edited_and_retired_by_forms(administrator: Client, project: Project) -> None:
    page = administrator.get("/settings/redaction/new/").text
    form_id = re.search(r'name="form_id" value="([^"]+)"', page)
    assert form_id
    for _ in range(2):  # the same form sent twice is one profile
        answer = administrator.post("/settings/redaction/new/", FORM | {"form_id": form_id[1]})
        assert (answer.status_code, answer["Location"]) == (303, "/settings/redaction/")
    made = RedactionProfile.objects.get()
    assert (made.rules, made.version) == (RULES, 1)
    listed = words(administrator.get("/settings/redaction/").text)
    assert (
        "Auditors e-mail addresses customer number (?i)acme-[0-9]+ field agent field session.user 1" in listed
    )

    address = f"/settings/redaction/{made.id}/"
    assert "acme-[0-9]+" in administrator.get(address).text
    answer = administrator.post(address, FORM | {"detect": ["phone"]})
    second = RedactionProfile.objects.get(version=2)
    assert answer["Location"] == f"/settings/redaction/{second.id}/"
    assert "This is an earlier version" in words(administrator.get(address).text)
    assert "also without country code in DE, US" in words(administrator.get("/settings/redaction/").text)

    assert administrator.post(f"/settings/redaction/{second.id}/retire/").status_code == 303
    assert "Auditors" not in administrator.get("/settings/redaction/").text.split("<main")[1].split(
        "Try one"
    )[0].replace("Profile Auditors retired", "")
    assert "Retired just now" in words(administrator.get(address).text)
    assert administrator.post(address, FORM).status_code == 409


@pytest.mark.parametrize(
    ("sent", "field", "why"),
    [
        ({"patterns": "a: x\nb: (y"}, "patterns", "Line 2: This pattern cannot be used: missing )"),
        ({"patterns": "no colon"}, "patterns", "has no name"),
        (
            {"fields_by_path": "agent\nkind"},
            "fields_by_path",
            "Line 2: &#x27;kind&#x27; does not name a field",
        ),
        ({"phone_regions": "Germany"}, "phone_regions", "write two letters"),
        ({"name": "a/b"}, "name", "no slash"),
        ({"name": "Secrets and personal data"}, "name", "There is already a redaction profile"),
        ({"name": ""}, "name", "This field is required"),
        ({"detect": [], "patterns": "", "fields_by_path": ""}, "", "withhold nothing"),
    ],
)
def test_an_invalid_value_is_reported_at_its_field(
    administrator: Client, sent: dict[str, str], field: str, why: str
) -> None:
    answer = administrator.post("/settings/redaction/new/", FORM | sent)
    assert answer.status_code in (409, 422)
    assert why in answer.text
    if field:
        assert why in answer.text.split(f'id="profile_{field}_error"')[1].split("</div>")[0]
    assert RedactionProfile.objects.count() == 0


def test_all_invalid_values_are_reported_together_each_at_its_field(administrator: Client) -> None:
    form = {
        "name": "a/b",
        "phone_regions": "DE, XX, YY",
        "patterns": "fine: [0-9]{9}\nno colon\nbroken: [",
        "fields_by_path": "agent\nnowhere\nsession.nothing",
    }
    page = administrator.post("/settings/redaction/new/", form)
    assert page.status_code == 422
    errors = html.unescape(page.text)
    for field, sentences in {
        "name": ["no slash"],
        "phone_regions": ["phone region 'XX'", "phone region 'YY'"],
        "patterns": ["Line 2: 'no colon' has no name", "Line 3: This pattern cannot be used"],
        "fields_by_path": [
            "Line 2: 'nowhere' does not name a field",
            "Line 3: 'session.nothing' does not name a field",
        ],
    }.items():
        field_errors = errors.split(f'id="profile_{field}_error"')[1].split("</div>")[0]
        assert field_errors.count("<p>") == len(sentences)
        for sentence in sentences:
            assert sentence in field_errors
    form |= {"name": "Birds", "phone_regions": "", "patterns": "a: x+\na: y+", "fields_by_path": ""}
    assert "Two patterns have the name" in html.unescape(
        administrator.post("/settings/redaction/new/", form).text
    )


def test_an_invalid_next_version_is_refused_too(administrator: Client, project: Project) -> None:
    made = make_profile(project, "Auditors", read_rules(RULES), by="x")
    address = f"/settings/redaction/{made.id}/"
    assert administrator.post(address, FORM | {"detect": ["nothing"]}).status_code == 422
    assert administrator.post(address, FORM | {"patterns": "a: ("}).status_code == 422
    assert RedactionProfile.objects.count() == 1


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_members_can_read_and_try_profiles(project: Project, role: str) -> None:
    made = make_profile(project, "Auditors", read_rules(RULES), by="x")
    browser = browser_of(project, role)
    page = browser.get("/settings/redaction/").text
    assert "New profile" not in page
    assert "Save as version" not in browser.get(f"/settings/redaction/{made.id}/").text
    assert "built in" in words(browser.get("/settings/redaction/built-in/").text)
    tried = browser.post("/settings/redaction/", {"profile": str(made.id), "text": "ACME-1"})
    assert tried.status_code == 200


def test_another_projects_profile_is_not_found(project: Project, other_project: Project) -> None:
    made = make_profile(other_project, "Auditors", read_rules(RULES), by="x")
    browser = browser_of(project, "admin")
    assert "Auditors" not in browser.get("/settings/redaction/").text
    for answer in (
        browser.get(f"/settings/redaction/{made.id}/"),
        browser.get("/settings/redaction/Auditors/"),
        browser.post(f"/settings/redaction/{made.id}/", FORM),
        browser.post(f"/settings/redaction/{made.id}/retire/"),
    ):
        assert answer.status_code == 404
    assert browser.post("/settings/redaction/", {"profile": str(made.id), "text": "x"}).status_code == 422


def test_a_text_is_tried_and_shown_with_hatched_marks(viewer: Client) -> None:
    sent = {"profile": "built-in", "text": "<b>To a@b.org & c@d.org\u202e</b> with AKIAIOSFODNN7EXAMPLE"}
    page = viewer.post("/settings/redaction/", sent).text
    outcome = page.split('id="outcome"')[1]
    assert "a@b.org" not in outcome
    assert "AKIA" not in outcome
    assert '&lt;b&gt;To <span class="redacted"><span>withheld: e-mail</span></span> &amp; ' in outcome
    assert "⟨U+202E⟩" in outcome
    assert "3 matches withheld" in words(outcome)
    assert "AWS access key id by rule secret 1" in words(outcome)
    assert "no-store" in viewer.post("/settings/redaction/", sent)["Cache-Control"]


def test_a_recorded_step_is_tried(viewer: Client, project: Project) -> None:
    recorded(
        project,
        [ActionDraft(kind="message", agent="a@b.org", input="x" * 50_000 + " c@d.org", output="kept")],
    )
    sent = {"profile": "built-in", "session": "s", "sequence": "1"}
    page = viewer.post("/settings/redaction/", sent).text.split('id="outcome"')[1]
    assert "2 matches withheld in step 1" in words(page)
    assert "Affected fields: agent, input" in words(page)
    assert "Everything was searched" in page
    assert "@" not in page


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        ({"text": ""}, 422, "Enter a text, or a session"),
        ({"session": "s"}, 422, "Enter a step of the session"),
        ({"text": "x", "session": "nope", "sequence": "99"}, 422, "not both"),
        ({"text": "x", "sequence": "1"}, 422, "not both"),
        ({"session": "s", "sequence": "x"}, 422, "“Step” must be a whole number of at least 1."),
        ({"session": "s", "sequence": "99"}, 404, "99"),
        ({"session": "nope", "sequence": "1"}, 404, "nope"),
        ({"text": "x", "profile": "nope"}, 422, "Select a valid choice"),
    ],
)
def test_an_invalid_trial_is_reported_at_the_form(
    viewer: Client, project: Project, sent: dict[str, str], status: int, why: str
) -> None:
    recorded(project, [ActionDraft(kind="message", input="x")])
    answer = viewer.post("/settings/redaction/", {"profile": "built-in"} | sent)
    assert answer.status_code == status
    assert why in answer.text
    assert 'id="outcome"' not in answer.text


def test_a_retired_profile_cannot_be_chosen(viewer: Client, project: Project) -> None:
    made = make_profile(project, "Auditors", read_rules(RULES), by="x")
    retire_profile(made, by="x")
    assert viewer.post("/settings/redaction/", {"profile": str(made.id), "text": "x"}).status_code == 422
