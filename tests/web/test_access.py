"""The user and the project of a request."""

from typing import Any, cast

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from tests.core.accounts.people import member
from timemachine.core.accounts.browser_sessions import SessionStore
from timemachine.core.accounts.models import Project, User
from timemachine.core.pure.errors import NotAllowed, NotFound, NotSignedIn
from timemachine.web import access, errors


def request_of(user: User | AnonymousUser, **meta: Any) -> HttpRequest:
    request = RequestFactory().get("/", **meta)
    request.user = user
    request.session = SessionStore()
    return request


def test_the_first_project_is_the_current_one_until_another_is_chosen(
    project: Project, other_project: Project
) -> None:
    user = member(project, "admin").user
    other_project.memberships.create(user=user, role="viewer")
    request = request_of(user)
    assert (access.of(request).project, access.of(request).role) == (project, "admin")
    later = request_of(user)
    access.switch_project(later, str(other_project.pk))
    assert (access.of(later).project, access.of(later).role) == (other_project, "viewer")


def test_another_persons_project_cannot_be_chosen(project: Project, other_project: Project) -> None:
    request = request_of(member(project, "admin").user)
    for project_id in (str(other_project.pk), "", "\x00"):
        with pytest.raises(NotFound):
            access.switch_project(request, project_id)
    request.session["project"] = str(other_project.pk)
    assert access.of(request).project == project


@pytest.mark.parametrize(
    ("role", "required", "words"),
    [
        ("viewer", "operator", "Only an operator can do this, and you are a viewer in Prüfung."),
        ("operator", "admin", "Only an administrator can do this, and you are an operator in Prüfung."),
    ],
)
def test_an_insufficient_role_is_refused_with_an_explanation(
    project: Project, role: str, required: str, words: str
) -> None:
    found = access.of(request_of(member(project, role).user))
    found.require(role)
    with pytest.raises(NotAllowed) as refusal:
        found.require(required)
    assert refusal.value.message == f"{words} Ask an administrator of the project."


def test_an_anonymous_user_has_no_access() -> None:
    with pytest.raises(NotSignedIn):
        access.of(request_of(AnonymousUser()))
    context = access.project_context(request_of(AnonymousUser()))
    assert not context["access"]
    assert not context["project"]


def test_the_project_is_queried_once_and_only_if_it_is_shown(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    request = request_of(member(project, "viewer").user)
    with django_assert_num_queries(0):
        context = access.project_context(request)
    with django_assert_num_queries(1):
        assert cast("Project", context["project"]).name == access.of(request).project.name == "Prüfung"


@pytest.mark.parametrize(
    ("behind_proxy", "meta", "address"),
    [
        (False, {"REMOTE_ADDR": "192.0.2.1", "HTTP_X_FORWARDED_FOR": "192.0.2.9"}, "192.0.2.1"),
        (True, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "6.6.6.6, 192.0.2.9"}, "192.0.2.9"),
        (True, {"REMOTE_ADDR": "192.0.2.1"}, "192.0.2.1"),
        (False, {"REMOTE_ADDR": ""}, None),
    ],
)
def test_a_forwarded_address_is_trusted_only_behind_the_servers_own_proxy(
    settings: Settings, behind_proxy: bool, meta: dict[str, str], address: str | None
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if behind_proxy else None
    assert access.address_of(request_of(AnonymousUser(), **meta)) == address


def test_errors_from_django_are_shown_on_pages_of_the_product(project: Project) -> None:
    request = request_of(member(project, "viewer").user)
    for page, status in ((errors.not_understood, 400), (errors.forbidden, 403), (errors.not_found, 404)):
        answer = page(request, Exception())
        assert answer.status_code == status
        assert "<h1>" in answer.text
    for page_without_reason, status in ((errors.refused, 403), (errors.broken, 500)):
        assert page_without_reason(request).status_code == status


def test_users_can_switch_to_another_of_their_projects(
    client: Client, project: Project, other_project: Project
) -> None:
    user = member(project, "admin").user
    client.force_login(user)
    assert client.post("/project/", {"project": str(other_project.pk)}).status_code == 404
    other_project.memberships.create(user=user, role="viewer")
    assert client.post("/project/", {"project": str(other_project.pk)})["Location"] == "/"
    assert "you are a viewer" in client.get("/settings/").text
