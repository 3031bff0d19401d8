"""Files in a browser and on a worker: upload, progress, and passages shown in their text."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect
from psycopg.sql import SQL, Identifier

from tests.e2e.looking import faults_at
from tests.e2e.product import Product
from tests.e2e.replaying import client
from tests.embedded.machine import processes_of
from tests.text.documents.files import pdf
from tests.waiting import wait_until

GUIDE = "# Guide\n\nHow it all began.\n\n## Install\n\nRun the installer twice.\n\n```\nmake up\n```\n"
RULES = [["Retention", "Invoices are kept for ten years."], ["Travel", "Tickets are booked in second class."]]
LINES = 12_000


@pytest.mark.browser
def test_a_pdf_is_uploaded_and_its_passage_is_marked_in_the_text(ada: Page, product: Product) -> None:
    with client(product) as api:
        api.post("/collections", json={"name": "rules"})
    ada.goto(f"{product.url}/collections/rules/")
    ada.get_by_label("Files", exact=True).set_input_files(
        {"name": "rules.pdf", "mimeType": "application/pdf", "buffer": pdf(RULES, title="House rules")}
    )
    ada.get_by_role("button", name="Upload files").click()
    ada.wait_for_url("**/intakes/*/")
    ada.get_by_text("2 of 2 passages stored").wait_for()
    ada.get_by_role("link", name="Open the collection").click()
    ada.get_by_role("link", name="House rules").nth(1).click()
    ada.get_by_role("link", name="rules.pdf, characters").click()
    assert ada.locator("mark").inner_text() == "Travel\nTickets are booked in second class."
    with ada.expect_download() as download:
        ada.get_by_role("link", name="Download original").click()
    assert download.value.suggested_filename == "rules.pdf"
    assert Path(download.value.path()).read_bytes() == pdf(RULES, title="House rules")


@pytest.mark.browser
def test_a_refused_upload_shows_its_error_and_focuses_the_field_without_javascript(
    browser: Browser, product: Product, signed_in: list[dict[str, Any]]
) -> None:
    with client(product) as api:
        rules = [{"text": f"Rule {number}.", "title": f"Rule {number}"} for number in range(60)]
        api.post("/collections", json={"name": "long"})
        api.post("/collections/long/put", json={"frames": rules}).raise_for_status()
    context = browser.new_context(viewport={"width": 900, "height": 600}, java_script_enabled=False)
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{product.url}/collections/long/")
    page.get_by_role("button", name="Upload files").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Files: Choose at least one file.")
    expect(alert).to_be_in_viewport()
    expect(page.locator("input[type=file]")).to_be_focused()
    context.close()


@pytest.mark.browser
def test_the_pages_of_files_have_no_faults(
    screen: Page, product: Product, pages_of_files: dict[str, str]
) -> None:
    addresses = {f"files-{name}": product.url + path for name, path in pages_of_files.items()}
    assert [fault for name, address in addresses.items() for fault in faults_at(screen, name, address)] == []


@pytest.fixture(scope="module")
def pages_of_files(product: Product) -> dict[str, str]:
    """The addresses of the pages for a collection with files, a session that used one, and a failed intake."""
    with client(product) as api:
        api.post("/sessions", json={"name": "Reading", "key": "reading", "collection": "guides"})
        put = api.post(
            "/collections/guides/files",
            files={"file": ("guide.md", GUIDE.encode())},
            data={"session": "reading"},
        ).json()
        api.post("/sessions/reading/find", json={"query": "installer"})
        api.post("/collections/guides/files", files={"file": ("old.md", GUIDE.encode())})
        shorter = {"file": ("old.md", GUIDE.split("## Install", maxsplit=1)[0].encode())}
        api.post("/collections/guides/files", files=shorter, data={"replace": "true"})
        menu = {"file": ("page.html", b"<nav>Home</nav><main>Prices are net.</main>")}
        page = api.post("/collections/guides/files", files=menu).json()
        broken = api.post("/collections/guides/files", files={"file": ("broken.pdf", b"%PDF-1.4 broken")})
        intake = broken.json()["intake_id"]
        wait_until(lambda: api.get(f"/intakes/{intake}").json()["status"] == "failed")
    return {
        "collection": "/collections/guides/",
        "then": "/collections/guides/?as_of=reading:1",
        "frame": "/collections/guides/frames/1/",
        "source": f"/collections/guides/sources/{put['source']['id']}/?frame=1&version=1",
        "left-out": f"/collections/guides/sources/{page['source']['id']}/",
        "ended": "/collections/guides/frames/3/",
        "intake": f"/intakes/{intake}/",
    }


@pytest.mark.browser
def test_files_dropped_on_the_list_of_sessions_are_imported(ada: Page, product: Product) -> None:
    ada.goto(product.url)
    chat = '{"messages": [{"role": "user", "content": "%s"}]}\n'
    dropped = ada.evaluate_handle(
        """texts => {
            const held = new DataTransfer();
            texts.forEach((text, place) => held.items.add(new File([text], `dropped-${place}.jsonl`)));
            return held;
        }""",
        [chat % "first dropped", chat % "second dropped"],
    )
    ada.locator("h1").dispatch_event("dragover", {"dataTransfer": dropped})
    with ada.expect_navigation(url="**/import/done/"):
        ada.locator("h1").dispatch_event("drop", {"dataTransfer": dropped})
    for name in ("dropped-0.jsonl", "dropped-1.jsonl"):
        expect(ada.get_by_role("heading", name=name)).to_be_visible()


@pytest.mark.browser
def test_a_long_import_shows_a_progress_bar_and_then_its_result(ada: Page, product: Product) -> None:
    ada.goto(f"{product.url}/import/")
    ada.locator("input[type=file]").set_input_files(
        {"name": "long.jsonl", "mimeType": "application/x-ndjson", "buffer": transcript(LINES)}
    )
    ada.locator("main").get_by_role("button", name="Import").click()
    ada.wait_for_url("**/imports/*/")
    bar = ada.get_by_role("progressbar")
    with client(product) as api, paused_half_way(product, api, ada.url.split("/")[-2]) as (done, total):
        expect(bar).to_have_attribute("max", str(total))
        expect(bar).to_have_attribute("value", str(done))
        expect(ada.get_by_text(f"{done:,} of {total:,} steps imported")).to_be_visible()
    expect(ada.get_by_text(f"{LINES:,} of {LINES:,} steps imported")).to_be_visible(timeout=90_000)
    expect(bar).to_have_count(0)
    expect(ada.locator("main tbody").get_by_role("link")).to_have_count(1)


def transcript(lines: int) -> bytes:
    """A session in the format of Claude Code, too large to be imported within the request."""
    shared = {"type": "user", "sessionId": "long-import", "timestamp": "2026-11-20T10:00:00Z"}
    messages = ({"role": "user", "content": f"line {number} " + "x" * 300} for number in range(lines))
    each = (
        json.dumps({**shared, "uuid": f"u{number}", "message": one}) for number, one in enumerate(messages)
    )
    return "\n".join(each).encode()


@contextmanager
def paused_half_way(product: Product, api: httpx.Client, import_id: str) -> Iterator[tuple[int, int]]:
    """Pause the worker in the middle of the import; yield the number of imported actions and their total."""

    def signalled(number: signal.Signals) -> None:
        for pid, line in processes_of(product.home).items():
            if "celery" in line:
                os.kill(pid, number)

    wait_until(lambda: api.get(f"/imports/{import_id}").json()["done"])
    signalled(signal.SIGSTOP)
    try:
        progress = api.get(f"/imports/{import_id}").json()
        assert 0 < progress["done"] < progress["total"]
        yield progress["done"], progress["total"]
    finally:
        signalled(signal.SIGCONT)


@contextmanager
def no_reading(product: Product, table: str) -> Iterator[Callable[[], None]]:
    """Make every reader of the table wait until the block ends or the yielded function is called."""
    server = json.loads((product.home / "server.json").read_text())
    with psycopg.connect(server["database_owner_url"]) as connection:
        connection.execute(SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(Identifier(table)))
        yield connection.rollback


@pytest.mark.browser
def test_a_download_says_that_it_is_being_prepared_until_it_begins(ada: Page, product: Product) -> None:
    with client(product) as api:
        api.post("/sessions", json={"name": "Sealed", "key": "sealed"})
        api.post("/sessions/sealed/actions", json={"actions": [{"kind": "event", "output": "done"}]})
        api.post("/sessions/sealed/end", json={})
    ada.goto(f"{product.url}/sessions/sealed/evidence/")
    evidence = ada.get_by_role("link", name="Download evidence").last
    address = evidence.get_attribute("href")
    with ada.expect_download() as download, no_reading(product, "tm_sealed_record") as let_go:
        evidence.click()
        expect(ada.locator(".toasts")).to_contain_text("Preparing the download … 1 s")
        expect(ada.locator("#live")).to_have_text("Preparing the download")
        let_go()
    assert Path(download.value.path()).read_bytes().startswith(b"PK")
    expect(ada.locator(".toasts")).to_have_count(0)
    assert evidence.get_attribute("href") == address
    with no_reading(product, "tm_sealed_record"):
        evidence.click()
        ada.get_by_role("button", name="Close this message").click()
        expect(ada.locator(".toasts")).to_have_count(0)
