"""Access to collections by viewers, other projects and anonymous visitors; and names that could harm a page."""

import re

from django.test import Client

from tests.web.handbook import HERE
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.knowledge.models import Collection


def test_a_viewer_sees_no_forms_that_write(viewer: Client, handbook: Collection) -> None:
    for address in ("/collections/", HERE, f"{HERE}frames/0/"):
        page = viewer.get(address).text
        assert 'method="post" action="/collections/' not in page


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
