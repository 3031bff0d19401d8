"""The program that checks a bundle in the reader's browser finds what the verifier finds."""

import base64
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Route, sync_playwright

from tests.chromium import required
from tests.e2e.conftest import FLAGS
from tests.verifier.bundles import Files, document, packed, unpacked
from tests.verifier.conftest import Made
from tests.verifier.forging import Forger
from tests.verifier.test_key_holder import (
    in_first_tree,
    in_part,
    links_of,
    of_session,
    reseal,
    without_facts,
)
from timemachine.verifier.tm_verify import CONSISTENT, HEADINGS

PROGRAM: Final = Path(__file__).parents[2] / "static" / "js" / "check-here.js"
ADDRESS: Final = "http://localhost"  # no server listens there: requests are answered by the route handler
CHECK: Final = """async (key) => {
  const { checkHere } = await import("/check-here.js");
  const place = document.querySelector("main");
  await checkHere("/evidence.zip", place, { key });
  for (const details of place.querySelectorAll("details")) details.open = true;
  return place.innerText;
}"""
pytestmark = pytest.mark.django_db  # for the fixture only
Checks = Callable[..., str]


class BrowserPage:
    """A browser page, in a thread of its own, with the program and any bundle to be checked."""

    def __init__(self, bundle: Path) -> None:
        self.bundle = bundle
        self.running = sync_playwright().start()
        self.browser = self.running.chromium.launch(executable_path=str(required()), args=FLAGS)
        self.page = self.browser.new_page()
        self.page.route("**/*", self._answer)
        self.page.goto(ADDRESS)

    def _answer(self, route: Route) -> None:
        if route.request.url.endswith(".js"):
            route.fulfill(body=PROGRAM.read_bytes(), content_type="text/javascript")
        elif route.request.url.endswith(".zip"):
            route.fulfill(body=self.bundle.read_bytes(), content_type="application/zip")
        else:
            route.fulfill(body="<!doctype html><main></main>", content_type="text/html")

    def check(self, files: Files, key: str | None = None) -> str:
        """Return the report of a page that names this key, or none."""
        packed(files, self.bundle)
        return str(self.page.evaluate(CHECK, key))

    def end(self) -> None:
        self.browser.close()
        self.running.stop()


@pytest.fixture(scope="module")
def browser_report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    """Return a function that gives the program's report on a bundle."""
    required()
    with ThreadPoolExecutor(1) as thread:
        page_thread = thread.submit(BrowserPage, tmp_path_factory.mktemp("here") / "evidence.zip").result()
        yield lambda files, key=None: thread.submit(page_thread.check, files, key).result()
        thread.submit(page_thread.end).result()


@pytest.mark.parametrize("of", ["session", "replay", "comparison"])
def test_an_untouched_bundle_is_consistent_and_its_key_is_shown_to_be_compared(
    made: Made, browser_report: Checks, of: str
) -> None:
    found = browser_report(unpacked(getattr(made, of)), made.key)
    heading, *rest = [line for line in found.splitlines() if line]
    assert (
        heading.upper() == HEADINGS[CONSISTENT]
    )  # the key of the page is no other source: tm_verify.py says the same
    assert "this page names the same key" in rest[0]
    assert rest[1] == f"Signed by {made.key}"
    (subject,) = json.loads(
        base64.b64decode(json.loads(unpacked(getattr(made, of))["statement.json"])["payload"])
    )["subject"]
    assert rest[2] == f"Root {subject['digest']['sha256']}"
    assert "compare this fingerprint with one that you got another way" in rest[3]
    assert "fault" not in found


def test_a_bundle_signed_again_with_another_key_is_consistent_but_never_verified(
    made: Made, browser_report: Checks
) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.seal(files)
    found = browser_report(files)
    assert found.startswith("Consistent, signer not checked")
    assert "This page names no key to compare it with" in found
    assert "anyone can sign a bundle with a key of their own" in found
    assert f"It is signed by the key {forger.key}, but this page names {made.key}" in browser_report(
        files, made.key
    )


def test_a_statement_signed_by_a_key_that_replaced_none_of_the_others_is_a_fault(
    made: Made, browser_report: Checks
) -> None:
    files, forger = unpacked(made.session), Forger()
    forger.seal(files, states=False)
    found = browser_report(files)
    assert found.startswith("Not verified")
    assert f"It is signed by {made.key}, and statement.json by {forger.key}: no entry of the log" in found


def test_the_status_and_times_in_the_statement_are_the_sealed_ones(
    made: Made, browser_report: Checks
) -> None:
    for about, says in (
        ({"status": "recording"}, "the session's status is recording. It must be ended"),
        ({"ended_at": "2020-02-20T20:20:20Z"}, "the session ended at 2020-02-20T20:20:20Z. It must be 2"),
        ({"ended_at": None}, "the session ended at unknown. It must be 2"),
    ):
        files, forger = unpacked(made.session), Forger()
        forger.seal(files, of_session(about))
        found = browser_report(files, forger.key)
        assert found.startswith("Not verified: 1 fault")
        assert says in found


@pytest.mark.parametrize("of", ["replay", "comparison"])
def test_a_step_repeats_exactly_the_record_that_it_names(made: Made, browser_report: Checks, of: str) -> None:
    files, forger = unpacked(getattr(made, of)), Forger()
    links = links_of(files, of)
    other = min(links)
    one = next(index for index in links if links[index] != links[other])
    reseal(files, of, forger, {one: links[other], other: links[one]})
    found = browser_report(files)
    assert found.startswith("Not verified: 2 faults")
    for index in (one, other):
        assert f"{of} record {index}: It claims to repeat something different" in found


def test_without_disclosed_facts_the_order_of_a_replay_is_compared(
    made: Made, browser_report: Checks
) -> None:
    files, forger = unpacked(made.replay), Forger()
    without_facts(files, "replay")
    links = links_of(files, "replay")
    kinds = [line.split(b'"kind":"')[1].split(b'"')[0] for line in files["replay/records.jsonl"].splitlines()]
    reseal(files, "replay", forger, {1: links[2], 2: links[1]}, {1: kinds[2], 2: kinds[1]})
    found = browser_report(files)
    assert "replay record 2: It repeats record" in found
    assert "which steps 4 records of the replay repeat" in found


def test_a_step_that_names_no_record_is_a_fault(made: Made, browser_report: Checks) -> None:
    files = unpacked(made.replay)
    reseal(files, "replay", Forger(), {1: b""})
    assert "does not name the record it repeats" in browser_report(files)


def test_more_than_is_signed_and_another_key_s_name_are_faults(made: Made, browser_report: Checks) -> None:
    files = unpacked(made.session)
    document("statement.json", lambda signed: signed.update(note="Checked"))(files)
    assert "statement.json: It contains more than is signed" in browser_report(files)
    files, forger = unpacked(made.session), Forger()
    document("keys.json", lambda keys: keys[0].update(fingerprint=forger.key))(files)
    forger.seal(files)
    assert f"The details of the key {made.key} belong to a different key" in browser_report(files)


def test_it_reports_how_many_records_are_shown_and_which_are_missing(
    made: Made, browser_report: Checks
) -> None:
    found = browser_report(unpacked(made.replay))
    assert ": 5 of 5 records shown (the first is the replay itself), sealed at 2" in found
    assert ": 5 of 8 records shown, sealed at 2" in found
    for indexes, named in (
        ((), "It shows nothing of the session"),
        ((0, 1, 2, 3, 5, 6, 7, 8), "leaves out 1 of 9 records"),
    ):
        files = unpacked(made.session)
        in_part(files, "session", indexes)
        Forger().seal(files, in_first_tree(complete=False))
        assert named in browser_report(files)
    files = unpacked(made.comparison)
    in_part(files, "comparison", (0, 1, 4))
    Forger().seal(files, in_first_tree(complete=False, withholds=True))
    assert "records of the comparison that are not shown" in browser_report(files)


def test_an_undisclosed_field_without_withholding_is_a_fault(made: Made, browser_report: Checks) -> None:
    files, forger = unpacked(made.session), Forger()
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("input"), 3)(files)
    forger.seal(files)
    found = browser_report(files)
    assert "session record 3 input: It is missing, and there is no tombstone of an erasure" in found
    assert "1 field that does not match" in found
    forger.seal(files, in_first_tree(withholds=True))
    found = browser_report(files, forger.key)
    assert found.startswith("Consistent")
    assert "1 field withheld" in found


def test_an_erasure_reported_only_by_the_server_is_not_fully_verified(
    made: Made, browser_report: Checks
) -> None:
    files = unpacked(made.session)
    document("session/disclosed.jsonl", lambda line: line["fields"].pop("input"), 3)(files)
    erasure = {"fields": 1, "last": "2026-11-23T08:00:00Z"}
    Forger().seal(files, in_first_tree(withholds=True, erased=erasure))
    found = browser_report(files)
    assert found.startswith("Partly checked")
    assert "1 field erased permanently" in found
    assert "reported by the server, without a tombstone" in found
