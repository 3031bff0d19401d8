"""What people see when something is not there, not allowed, or broken."""

import pytest
from django.test import Client

from timemachine.core.accounts.models import Project


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nope", "/nope/", "/sessions/x/y/z/", "/replays/"])
def test_a_page_that_there_is_not_is_a_page_that_says_so(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 404
    assert "This page does not exist" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/", "/sessions/x/", "/collections/", "/shares/", "/settings/", "/replays/x/"]
)
def test_a_page_of_the_project_asks_people_to_sign_in(project: Project, path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=")


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_with_a_sentence() -> None:
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"email": "a@b.c", "password": "x"})
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()


@pytest.mark.django_db
def test_every_page_carries_the_headers_that_keep_foreign_things_out() -> None:
    answer = Client().get("/sign-in/")
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("/forgettings/new/", "/settings/retention/#together"),
        ("/forgettings/x/confirm/", "/forgettings/x/"),
        ("/patterns/rules/", "/patterns/#rules"),
        ("/settings/keys/", "/settings/#keys"),
        ("/settings/compression/", "/settings/#compression"),
        ("/sessions/x/significance/summarise/", "/sessions/x/significance/#summary"),
    ],
)
def test_opening_the_address_that_a_form_is_sent_to_leads_to_the_form(address: str, form: str) -> None:
    answer = Client().get(address)
    assert (answer.status_code, answer["Location"]) == (302, form)


@pytest.mark.django_db
def test_an_address_that_is_not_for_reading_says_so_with_a_way_on() -> None:
    answer = Client().get("/sign-out/")
    assert answer.status_code == 405
    assert answer["Allow"] == "POST"
    assert "only accepts form submissions" in answer.text
    assert "Back to sessions" in answer.text


@pytest.mark.django_db
def test_an_address_that_is_only_read_says_so_too() -> None:
    answer = Client().post("/search/")
    assert answer.status_code == 405
    assert "This URL accepts no form submissions" in answer.text
