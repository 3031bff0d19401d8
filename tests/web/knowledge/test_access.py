"""Access to collections by viewers, other projects and anonymous visitors; and names that could harm a page."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.core.accounts.people import member
from tests.web.handbook import FACTS, HERE, texts
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.knowledge.models import Collection


@pytest.mark.parametrize(
    "address",
    ["/collections/", f"{HERE}put/", f"{HERE}upload/", f"{HERE}frames/0/update/", f"{HERE}frames/0/delete/"],
)
def test_a_viewer_cannot_change_a_collection(viewer: Client, handbook: Collection, address: str) -> None:
    assert viewer.post(address, {"name": "mine", "title": "t", "text": "changed"}).status_code == 403
    assert texts(handbook) == [fact.text for fact in FACTS]
    assert Collection.objects.count() == 1


def test_a_viewer_sees_no_forms_that_write(viewer: Client, handbook: Collection) -> None:
    for address in ("/collections/", HERE, f"{HERE}frames/0/"):
        page = viewer.get(address).text
        assert 'method="post" action="/collections/' not in page


@pytest.mark.parametrize("address", [HERE, f"{HERE}frames/0/", f"{HERE}frames/0/versions/1.txt"])
def test_another_projects_collection_is_not_found(
    other_project: Project, handbook: Collection, address: str
) -> None:
    stranger = browser_of(other_project, "admin")
    assert stranger.get(address).status_code == 404
    assert "Retention" not in stranger.get("/collections/").text


def test_collections_require_signing_in(handbook: Collection) -> None:
    for address in ("/collections/", HERE, f"{HERE}frames/0/"):
        assert Client().get(address)["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("action", ["put", "upload", "frames/0/update", "frames/0/delete"])
def test_a_form_without_its_token_is_refused(project: Project, handbook: Collection, action: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(project, "operator").user)
    file = SimpleUploadedFile("a.txt", b"a text")
    page = client.post(f"{HERE}{action}/", {"title": "t", "text": "changed", "file": file})
    assert page.status_code == 403
    assert texts(handbook) == [fact.text for fact in FACTS]


def test_the_address_of_a_form_redirects_to_its_page(operator: Client, handbook: Collection) -> None:
    for action in ("put", "upload"):
        assert operator.get(f"{HERE}{action}/")["Location"] == HERE
    assert operator.get(f"{HERE}frames/0/update/")["Location"] == f"{HERE}frames/0/"


def test_titles_that_would_reorder_the_page_are_made_harmless(viewer: Client, handbook: Collection) -> None:
    put_frames(
        handbook,
        [NewFrame(title="<b>\u202egpj.exe", uri="javascript:alert(1)", text="<script>\u202e</script>\ud800")],
        by="x",
    )
    for address in (HERE, f"{HERE}frames/3/", f"{HERE}?q=script"):
        page = viewer.get(address)
        assert page.status_code == 200
        assert "\u202e" not in page.text
        assert "<script>\u27e8" not in page.text
        assert 'href="javascript:' not in page.text


def test_matched_identifiers_and_words_are_listed_separately_with_equal_decimals(
    viewer: Client, operator: Client, handbook: Collection
) -> None:
    operator.post(f"/collections/{handbook.name}/put/", {"text": "The call in parser.js:42 is not awaited."})
    found = " ".join(viewer.get(f"/collections/{handbook.name}/", {"q": "parser.js:42 awaited"}).text.split())
    matched = found[found.index('<p class="pairs matched">') :]
    identifiers, _, words = matched[: matched.index("</p>")].partition('<span class="quiet">words</span>')
    assert '<span class="quiet">identifiers</span>' in identifiers
    assert "parser.js:42" in identifiers
    assert ">awaited</bdi>" in words
    assert set(re.findall(r"mono\">[0-9]+\.([0-9]+)<", matched)) == set(
        re.findall(r"mono\">[0-9]+\.([0-9]{3})<", matched)
    )
