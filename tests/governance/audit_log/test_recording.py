"""What the audit log records, whoever does it and however."""

from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from tests.builders import recorded_session
from tests.database_roles import as_owner
from tests.web.people import browser_of
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.commands.links import make_sign_in_link, use_sign_in_link
from timemachine.core.accounts.models import ADMIN, Project, SignInLink, User
from timemachine.core.accounts.second_factor.commands import check_code
from timemachine.core.audit.caller import request_by
from timemachine.core.audit.commands import record
from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.errors import NotSignedIn

ADDRESS = "198.51.100.7"


def recorded(project: Project) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(project=project).order_by("id"))


@pytest.fixture
def administrator(project: Project) -> Client:
    return browser_of(project, ADMIN)


def test_a_change_on_a_page_names_the_person_and_the_address(administrator: Client, project: Project) -> None:
    person = User.objects.get(memberships__project=project)
    administrator.post(
        "/settings/members/", {"email": "new@example.org", "role": "viewer"}, REMOTE_ADDR=ADDRESS
    )
    (event,) = [each for each in recorded(project) if each.action == "member.invited"]
    assert (event.actor, event.address) == (person.email, ADDRESS)
    assert (event.target_type, event.target_id, event.facts) == (
        "person",
        "new@example.org",
        {"role": "viewer"},
    )


def test_a_change_by_a_program_names_the_key(project: Project) -> None:
    session = recorded_session(project)
    _, text = make_api_key(project, name="nightly", scopes=["run", "share", "read"])
    sent = {"target_type": "session", "target_id": str(session.id)}
    answer = Client().post(
        "/api/shares",
        sent,
        content_type="application/json",
        headers={"Authorization": f"Bearer {text}"},
        REMOTE_ADDR=ADDRESS,
    )
    assert answer.status_code == 201
    (event,) = [each for each in recorded(project) if each.action == "share.created"]
    assert (event.actor, event.address) == ("key nightly", ADDRESS)


def test_a_visitor_is_recorded_with_a_network_and_no_address(administrator: Client, project: Project) -> None:
    session = recorded_session(project)
    _, text = make_api_key(project, name="k", scopes=["share"])
    made = Client().post(
        "/api/shares",
        {"target_type": "session", "target_id": str(session.id)},
        content_type="application/json",
        headers={"Authorization": f"Bearer {text}"},
    )
    path = "/share/" + made.json()["url"].rsplit("/", 1)[1]
    Client().post(path, REMOTE_ADDR=ADDRESS)
    Client().post(path[:-1] + ("a" if path[-1] != "a" else "b"), REMOTE_ADDR=ADDRESS)
    opened, refused = [each for each in recorded(project) if each.action in {"share.opened", "share.refused"}]
    assert (opened.action, opened.actor, opened.address) == ("share.opened", "visitor", "198.51.100.0/24")
    assert (refused.action, refused.facts) == ("share.refused", {"why": "wrong_secret"})


def test_a_wrong_password_is_recorded_without_naming_who_tried(project: Project) -> None:
    browser_of(project, ADMIN)
    known = User.objects.get(memberships__project=project)
    known.set_password("correct horse battery")
    known.save()
    browser = Client(REMOTE_ADDR=ADDRESS)
    browser.post("/sign-in/", {"email": known.email, "password": "wrong"})
    browser.post("/sign-in/", {"email": "nobody@example.org", "password": "wrong"})
    browser.post("/sign-in/", {"email": known.email, "password": "correct horse battery"})
    browser.post("/sign-out/")
    found = [
        (each.action, each.actor, each.target_id) for each in recorded(project) if each.address == ADDRESS
    ]
    assert found == [
        ("person.sign_in_failed", "", known.email),
        ("person.signed_in", known.email, known.email),
        ("person.signed_out", known.email, known.email),
    ]


def test_a_person_with_a_link_or_the_right_password_is_named(project: Project) -> None:
    browser_of(project, ADMIN)
    person = User.objects.get(memberships__project=project)
    link = make_sign_in_link(person, SignInLink.RESET)
    with request_by(ADDRESS):
        use_sign_in_link(link)
        with pytest.raises(NotSignedIn):
            check_code(person, "000000")
    found = [(each.action, each.actor) for each in recorded(project) if each.address == ADDRESS]
    assert found == [
        ("person.browser_signed_out", person.email),
        ("person.second_factor_failed", person.email),
    ]


def test_what_a_command_on_the_server_does_is_recorded_as_done_by_the_system(project: Project) -> None:
    make_api_key(project, name="by hand", scopes=["read"])
    (event,) = recorded(project)
    assert (event.action, event.actor, event.address) == ("key.created", "system", None)


def test_what_is_rolled_back_is_not_recorded(project: Project) -> None:
    with transaction.atomic():
        record(project, "key.revoked", "key", "k")
        transaction.set_rollback(True)
    assert recorded(project) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tm_audit_event SET actor = 'somebody else'",
        "UPDATE tm_audit_event SET at = now()",
        "DELETE FROM tm_audit_event",
        "UPDATE tm_audit_event SET sequence = 1, previous_sha256 = '', sha256 = '', action = 'x'",
    ],
)
def test_no_event_can_be_changed_or_deleted(project: Project, statement: str) -> None:
    record(project, "key.revoked", "key", uuid4())
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        as_owner() as cursor,
    ):
        cursor.execute(statement)
    assert len(recorded(project)) == 1
