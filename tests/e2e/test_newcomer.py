"""A newcomer's path through the product as `make up` starts it, in a real browser."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.product import Product
from tests.verifier.bundles import document, packed, unpacked

pytestmark = pytest.mark.browser

DOCUMENTS: Sequence[tuple[str, str]] = (
    ("Aufbewahrung", "Rechnungen werden zehn Jahre aufbewahrt. Danach vernichtet sie das Archiv."),
    (
        "Reisen",
        "Train tickets are booked in second class. Journeys over four hours may be booked in first class.",
    ),
    ("Gateway", "When the gateway times out, restart it. Then page Zoë. Do not touch the database."),
)


def test_a_newcomer_records_replays_and_shares(
    page: Page, product: Product, browser: Browser, tmp_path: Path
) -> None:
    # the one-time link, and a new password
    ada = page
    ada.goto(product.sign_in_link)
    ada.get_by_role("button").first.click()
    ada.wait_for_url("**/welcome/**")
    for field in ada.locator("input[type=password]").all():
        field.fill("a long enough passphrase")
    ada.locator("main button[type=submit]").click()

    # the empty state says what to do
    ada.wait_for_url(f"{product.url}/")
    expect(ada.get_by_role("heading", name="No sessions yet")).to_be_visible()

    # three documents
    ada.get_by_role("link", name="Knowledge").click()
    ada.get_by_label("Name").fill("Handbuch ä")
    ada.get_by_role("button", name="Create collection").click()
    for title, text in DOCUMENTS:
        ada.get_by_label("Title").first.fill(title)
        ada.get_by_label("Text").first.fill(text)
        ada.get_by_role("button", name="Add passage").click()
        expect(ada.get_by_role("link", name=title)).to_be_visible()

    # a session: a find, two asks, the end
    ada.goto(f"{product.url}/sessions/new/")
    ada.get_by_label("Name", exact=True).fill("Erster Lauf 🕰")
    ada.get_by_label("Collection").first.select_option("Handbuch ä")
    ada.locator("main form button[type=submit]").first.click()
    session = re.sub(r"/(work/)?(\?.*)?$", "", ada.url)
    ada.goto(f"{session}/work/")
    do(ada, "Find", "gateway times out")
    do(ada, "Ask", "In which class are train tickets booked?")
    do(ada, "Ask", "Was passiert mit Rechnungen nach zehn Jahren?")
    ada.get_by_role("button", name="End session").click()

    # the timeline, step by step with the keyboard
    ada.goto(f"{session}/?step=1")
    expect(ada.locator("[aria-current=step]")).to_contain_text("gateway times out")
    ada.keyboard.press("j")
    ada.wait_for_url("**step=2**")
    expect(ada.locator("#step")).to_contain_text("second class")
    ada.keyboard.press("k")
    ada.wait_for_url("**step=1**")

    # an audit replay with another model, watched until it has finished
    ada.get_by_role("link", name="Replay", exact=True).click()
    # the estimate beside the form follows every choice
    estimate = ada.locator("#estimate")
    expect(estimate).to_contain_text(re.compile(r"Steps\s+2 asks, 1 find\s+Model calls\s+none"))
    ada.get_by_label("Ask another model").check()
    expect(estimate).to_contain_text("unknown: choose a model")
    ada.get_by_label("Model", exact=True).fill("local:extractive-3")
    expect(estimate).to_contain_text(re.compile(r"Model calls\s+2"))
    expect(estimate).to_contain_text("With local:extractive-3")
    ada.get_by_label("Through step").fill("2")
    expect(estimate).to_contain_text(re.compile(r"Steps\s+1 ask, 1 find\s+Model calls\s+1"))
    ada.get_by_label("Through step").fill("")
    ada.get_by_label("Reason").fill("Prüfung der Antworten")
    with ada.expect_navigation(url="**/replays/**"):
        ada.get_by_role("button", name="Launch replay").click()
    expect(ada.locator(".outcome .finding")).to_contain_text("2 asks replayed with local:extractive-3")
    expect(ada.locator(".outcome .sentence")).to_contain_text("Context verified 3 of 3")

    # the diff
    ada.locator(".replay-steps a").nth(1).click()
    expect(ada.get_by_role("heading", name=re.compile("^Recorded")).first).to_be_visible()
    expect(ada.locator(".verdict").first).to_be_visible()
    ada.go_back()

    # one change, asked again: the answer appears without a reload
    replayed = ada.url
    ada.goto(f"{session}/steps/2/trial/")
    ada.get_by_label("Question").fill("In which class are long journeys booked?")
    ada.get_by_role("button", name="Ask again").click()
    expect(ada.locator("#step .verdict").first).to_be_visible()
    expect(ada.locator("#step")).not_to_contain_text("when this step has finished")
    ada.goto(replayed)

    # a link for someone without an account
    ada.get_by_role("link", name="Share", exact=True).click()
    ada.get_by_role("button", name="Create link").click()
    url = ada.locator("#shown_once, .once input, code").first.input_value()
    auditor = browser.new_context()
    visitor = auditor.new_page()
    visitor.goto(url)
    expect(visitor.locator("body")).not_to_contain_text("Erster Lauf")
    visitor.get_by_role("button").first.click()
    expect(visitor.locator("body")).to_contain_text("Erster Lauf")
    opened = visitor.url

    # the shared evidence is checked in the visitor's browser, and a tampered download is detected
    visitor.locator("[data-check-here] button").click()
    status = visitor.locator("[data-check-here] [role=status]")
    expect(status).to_contain_text("Consistent, signer not checked")
    expect(status).to_contain_text("3 fields withheld, 3 links between records")
    visitor.route("**/evidence.zip", lambda route: tampered(route, tmp_path))
    visitor.locator("[data-check-here] button").click()
    expect(status).to_contain_text("Not verified: 2 faults")
    expect(status).to_contain_text("replay record 2 output: It differs from the seal")
    expect(status).to_contain_text("replay/disclosed.jsonl: The file differs from the signed one")
    expect(status).to_contain_text("3 fields withheld, 1 field that does not match")
    visitor.unroute("**/evidence.zip")
    visitor.route("**/evidence.zip", longer)
    visitor.locator("[data-check-here] button").click()
    expect(status).to_contain_text("After its end there is 1 byte not covered by any file or signature")
    visitor.unroute("**/evidence.zip")
    place = visitor.locator("[data-check-here]")
    place.evaluate("place => { place.dataset.subject = 'session/01a'; place.dataset.key = 'ed25519:0'; }")
    visitor.locator("[data-check-here] button").click()
    expect(status).to_contain_text("This is evidence of something else, the replay")
    expect(status).to_contain_text("but this page names ed25519:0")

    # revoked: not found on the next request
    ada.goto(f"{product.url}/shares/")
    ada.get_by_role("button", name="Revoke").first.click()
    answer = visitor.goto(opened)
    assert answer is not None
    assert answer.status == 404

    # a share of the first step alone has no signed state until its evidence is requested; then the page header says when
    ada.goto(f"{session}/share/?step=1")
    ada.get_by_role("button", name="Create link").click()
    visitor.goto(ada.locator("#shown_once").input_value())
    visitor.get_by_role("button").first.click()
    expect(visitor.locator("#sealed-at")).to_contain_text(
        "downloading the evidence signs the state shown here"
    )
    visitor.locator("[data-check-here] button").click()
    expect(visitor.locator("#sealed-at")).not_to_contain_text("including records that are not shown")
    auditor.close()


def longer(route: Route) -> None:
    """The evidence with a byte appended."""
    route.fulfill(body=route.fetch().body() + b"x", content_type="application/zip")


def tampered(route: Route, folder: Path) -> None:
    """The evidence with a changed answer."""
    files = unpacked(route.fetch().body())
    document("replay/disclosed.jsonl", lambda line: line["fields"]["output"].__setitem__(1, "No."), 2)(files)
    route.fulfill(path=packed(files, folder / "evidence.zip"), content_type="application/zip")


def do(page: Page, what: str, text: str) -> None:
    """Find or ask on the page of an open session."""
    form = page.locator("form").filter(has=page.get_by_label(what, exact=True))
    form.get_by_label(what, exact=True).check()
    form.locator("textarea").first.fill(text)
    form.locator("button[type=submit]").first.click()
    expect(page.locator("main")).to_contain_text(text)
