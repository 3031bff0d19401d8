"""Error pages: not found, not signed in, not allowed, and wrong method."""

from html import unescape

import pytest
from django.test import Client

from tests.database_roles import as_owner
from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, Project


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nope", "/nope/", "/sessions/x/y/z/", "/replay/"])
def test_an_unknown_page_is_not_found(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 404
    assert "This page does not exist" in answer.content.decode()


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_with_a_message() -> None:
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"email": "a@b.c", "password": "x"})
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()


@pytest.mark.django_db
def test_every_page_has_the_security_headers() -> None:
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
def test_the_target_address_of_a_form_redirects_to_the_form(address: str, form: str) -> None:
    answer = Client().get(address)
    assert (answer.status_code, answer["Location"]) == (302, form)


@pytest.mark.django_db
def test_an_address_that_only_accepts_forms_says_so_with_a_link_back() -> None:
    answer = Client().get("/sign-out/")
    assert answer.status_code == 405
    assert answer["Allow"] == "POST"
    assert "accepts only form submissions" in answer.text
    assert "Back to sessions" in answer.text


@pytest.mark.django_db
def test_a_read_only_address_says_that_it_accepts_no_forms() -> None:
    answer = Client().post("/search/")
    assert answer.status_code == 405
    assert "This URL accepts no form submissions" in answer.text


def test_pages_write_quotation_marks_where_the_api_has_backticks(project: Project) -> None:
    browser = browser_of(project)
    for address, message in (
        ("/?status=foo", "“status” cannot be"),
        ("/?agent=a&agent=b", "“agent” appears twice"),
    ):
        page = unescape(browser.get(address).text)
        assert message in page
        assert "`" not in page
    used = Client().post("/sign-in/a-used-link/").text
    assert "or run “timemachine manage sign_in_link” on the server" in used


def test_a_page_says_that_the_disk_of_the_database_is_full(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    browser = browser_of(project, ADMIN)
    with as_owner() as cursor:
        cursor.execute(
            "CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER disk_full BEFORE INSERT ON tm_api_key FOR EACH ROW EXECUTE FUNCTION disk_full()"
        )
    answer = browser.post("/settings/keys/", {"name": "agent", "scopes": ["record"], "expires": "90"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "The disk of the database is full, so nothing can be saved." in answer.text
    assert "Nothing was partially saved." in answer.text
    assert "POST /settings/keys/ failed (database_disk_full): could not extend file" in caplog.text
