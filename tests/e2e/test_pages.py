"""Every page, full and empty, in both themes and three widths: nothing overflows, axe finds nothing, nothing foreign loads."""

import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.looking import PICTURES, look, look_at_it
from tests.e2e.product import Product
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

KEPT = PICTURES.parent.parent / "docs" / "pictures"
GALLERY = {
    "sessions": "Sessions",
    "timeline": "Timeline",
    "timeline-state": "Timeline: state at a step",
    "timeline-diff": "Timeline: what a step changed",
    "timeline-context": "Timeline: frozen context",
    "timeline-raw": "Timeline: the raw step",
    "timeline-table": "Timeline: table view",
    "timeline-compact": "Timeline: compact view",
    "timeline-documents": "Timeline: JSON view",
    "totals": "Totals",
    "notes": "Notes",
    "transcript": "Transcript",
    "significance": "Significance",
    "work": "Record manually",
    "launch": "Launch a replay",
    "audit-replay": "Audit replay",
    "audit-step": "Audit replay: one step",
    "debug-replay": "Debug replay",
    "debug-step": "Debug replay: one step",
    "where": "Rank of a frame",
    "trial": "Try one change",
    "tried": "Result of a trial",
    "new-sweep": "New sweep",
    "sweep": "Sweep of retrieval settings",
    "compare": "Two sessions aligned",
    "compare-steps": "Two steps side by side",
    "comparisons": "Comparisons",
    "new-comparison": "New comparison",
    "comparison": "Comparison of models",
    "suites": "Suites",
    "new-suite": "New suite",
    "suite": "Suite and its runs",
    "suite-run": "What changed in a run",
    "search": "Search",
    "recall-around": "Recall with surrounding turns",
    "patterns": "Patterns",
    "pattern": "Pattern and its sessions",
    "costs": "Costs",
    "collections": "Collections",
    "collection": "Collection",
    "collection-found": "Search results in a collection",
    "frame": "Frame and its versions",
    "new-session": "New session",
    "import": "Import",
    "evidence": "Evidence",
    "share": "New share link",
    "shares": "Share links",
    "share-policy": "Sharing policy",
    "settings": "Settings",
    "models": "Models",
    "redaction": "Redaction",
    "training": "Training pairs",
    "retention": "Retention",
    "hold": "Legal hold",
}
CHATS = '{"messages": [{"role": "user", "content": "Who is 7?"}, {"role": "assistant", "content": "Zoë."}]}\n{half\n'
PHONE = 360
NARROWEST = 320
SCROLLING = (
    "(where) => [...document.querySelectorAll(where)].filter(e => e.scrollWidth > e.clientWidth).length"
)
OF_TABLES = (
    "debug-replay",
    "audit-replay",
    "where",
    "notes",
    "tried",
    "sweep",
    "launch",
    "compare",
    "collection",
    "comparisons",
    "patterns",
    "pattern",
    "suites",
    "suite",
    "costs",
    "evidence",
    "settings",
    "models",
    "redaction",
)
BESIDE = "(width) => [...document.querySelectorAll('main :is(td, th, button)')].filter(e => e.checkVisibility() && !e.closest('thead') && e.getBoundingClientRect().right > width).map(e => e.textContent.trim().slice(0, 40))"


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def demo(api: httpx.Client) -> dict[str, Any]:
    """The demo, replayed to its end."""
    made: dict[str, Any] = api.post("/demo").json()
    grid = {"top_k": [4, 16]}
    made["sweep"] = api.post(f"/sessions/{made['session']['id']}/sweeps", json=grid).json()["sweep_id"]
    trial = {"frames": [12, 3]}
    made["trial"] = api.post(f"/sessions/{made['session']['id']}/actions/2/trials", json=trial).json()[
        "replay_id"
    ]
    for sequence, text in ((2, "The fee is in no passage: it is at rank 12."), (5, "Ask the desk.")):
        note = {"sequence": sequence, "text": text}
        assert api.post(f"/sessions/{made['session']['id']}/notes", json=note).status_code == 201
    jobs = [f"/replays/{each}" for each in (*(one["id"] for one in made["replays"]), made["trial"])]
    jobs.append(f"/sweeps/{made['sweep']}")
    wait_until(lambda: all(api.get(each).json()["status"] == "done" for each in jobs))
    session = made["session"]["id"]
    kept_and_deleted(api)
    held = api.post("/sessions", json={"name": "Held", "key": "held"}).raise_for_status().json()
    made["hold"] = (
        api.post("/holds", json={"sessions": [held["id"]], "reason": "the lawsuit of May"})
        .raise_for_status()
        .json()["id"]
    )
    made["forgetting"] = (
        api.post("/forgettings", json={"filter": {"named": "held"}}).raise_for_status().json()["id"]
    )
    api.post(
        "/retention", json={"days": 90, "agent": "nobody", "reason": "a bot for tests"}
    ).raise_for_status()
    made["erasure"] = api.post(
        f"/sessions/{session}/erasures", json={"fields": ["output"], "steps": [2]}
    ).json()["id"]
    kept = api.post("/import?later=true&filename=chats.jsonl", content=CHATS.encode()).json()["import_id"]
    wait_until(lambda: api.get(f"/imports/{kept}").json()["status"] == "done")
    made["import"] = kept
    made["pattern"] = pattern_of_two_sessions(api)
    return made | {"comparison": compared(api, session), "suite": suite_of_two_runs(api, session)}


def kept_and_deleted(api: httpx.Client) -> None:
    """A session under legal hold, one with a turn that was deleted, and one that was deleted whole."""
    turn = {"kind": "message", "role": "user", "output": "The gate stayed shut."}
    for key in ("kept", "gate-gone", "all-gone"):
        api.post("/sessions", json={"name": f"Talk, {key}", "key": key}).raise_for_status()
        api.post(f"/sessions/{key}/actions", json=turn).raise_for_status()
    reason = {"reason": "asked for"}
    api.post("/holds", json={"sessions": ["kept"], **reason}).raise_for_status()
    api.request("DELETE", "/sessions/gate-gone/actions/1", json=reason).raise_for_status()
    api.request("DELETE", "/sessions/all-gone", json=reason).raise_for_status()


def pattern_of_two_sessions(api: httpx.Client) -> str:
    """An error that came in two sessions, which a rule found; its address."""
    api.post("/patterns/rules", json={"sessions": 2, "window": "week"})
    wrong = {"kind": "tool_result", "tool": "pay", "output": "Error: the gate did not open in time"}
    solved = {"kind": "message", "output": "Restart its controller.", "significance": "solution"}
    for number in range(2):
        session = api.post("/sessions", json={"name": f"Gate {number}", "key": f"gate-{number}"}).json()["id"]
        api.post(f"/sessions/{session}/actions", json={"actions": [wrong, solved][: 2 - number]})
    wait_until(lambda: len(api.get("/patterns/alerts").json()["items"]) == 1)
    return str(api.get("/patterns", params={"q": "gate"}).json()["items"][0]["address"])


def suite_of_two_runs(api: httpx.Client, session: str) -> str:
    """A suite that ran twice, the second time with another model; its address."""
    body = {
        "name": "Nightly",
        "sessions": [session],
        "options": {"audit": True, "reason": "Regression"},
        "use_models": ["local:extractive-1"],
        "fail_on": ["worse"],
        "schedule": "daily 02:30 Europe/Berlin",
    }
    address = f"/suites/{api.post('/suites', json=body).json()['id']}"
    for model in ("local:extractive-1", "local:extractive-5"):
        api.patch(address, json={"use_models": [model]})
        api.post(f"{address}/runs", json={})
        wait_until(lambda: api.get(f"{address}/runs/latest").json()["status"] == "done")
    return address


def compared(api: httpx.Client, session: str) -> dict[str, Any]:
    """A comparison of two models over the session, to its end, with a mark, and one of its cells."""
    arms = [{"model": "local:extractive-1"}, {"model": "local:extractive-5"}]
    body = {"sessions": [session], "arms": arms, "reason": "Which says enough?", "noise_floor": True}
    address = f"/comparisons/{api.post('/comparisons', json=body).json()['comparison_id']}"
    wait_until(lambda: api.get(address).json()["status"] == "done")
    asked = api.get(f"{address}/cells").json()["items"][0]
    mark = {
        "session": session,
        "sequence": asked["sequence"],
        "arm": 2,
        "verdict": "worse",
        "note": "Wanders.",
    }
    assert api.post(f"{address}/marks", json=mark).status_code == 201
    found: dict[str, Any] = api.get(address).json()
    return found


def test_the_empty_pages_are_sound(screen: Page, product: Product) -> None:
    faults: list[str] = []
    for name, path in {
        "sessions": "/?q=nothing-of-that-name",
        "collection": "/collections/nope/",
        "missing": "/nope/",
        "costs": "/costs/?since=2020-01-01&until=2020-01-02",
    }.items():
        faults += look(screen, f"empty-{name}", product.url + path)
    assert faults == []


def test_every_page_is_sound(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    faults: list[str] = []
    for name, path in pages(demo).items():
        faults += look(screen, name, product.url + path)
        if name in OF_TABLES:
            faults += [f"{name}: {cell} is beside the screen" for cell in screen.evaluate(BESIDE, PHONE)]
    assert faults == []


def pages(demo: dict[str, Any]) -> dict[str, str]:
    """The addresses of the pages, with the demo in them."""
    session = f"/sessions/{demo['session']['id']}"
    debug, audit = (f"/replays/{each['id']}" for each in demo["replays"])
    both = f"a={demo['session']['id']}&b={demo['replays'][0]['id']}"
    return {
        "sessions": "/",
        "timeline": f"{session}/?step=2",
        "timeline-state": f"{session}/?step=8&tab=state",
        "timeline-diff": f"{session}/?step=8&tab=diff",
        "timeline-context": f"{session}/?step=2&tab=context",
        "timeline-raw": f"{session}/?step=2&tab=raw",
        "timeline-replayed": f"{session}/?step=2&replay={demo['replays'][1]['id']}",
        "timeline-table": f"{session}/?step=2&view=table",
        "timeline-compact": f"{session}/?step=2&view=compact",
        "timeline-documents": f"{session}/?step=2&view=raw",
        "totals": f"{session}/totals/?by=tool",
        "notes": f"{session}/notes/",
        "work": f"{session}/work/",
        "launch": f"{session}/replay/?from=4",
        "where": f"{session}/where/?frame=12",
        "trial": f"{session}/steps/2/trial/",
        "tried": f"/replays/{demo['trial']}/steps/2/",
        "new-sweep": f"{session}/sweep/",
        "sweep": f"/sweeps/{demo['sweep']}/",
        "debug-replay": f"{debug}/",
        "debug-step": f"{debug}/steps/2/",
        "audit-replay": f"{audit}/",
        "audit-step": f"{audit}/steps/2/",
        "compare": f"/compare/?{both}",
        "compare-steps": f"/compare/steps/?{both}&left=2&right=2",
        "compare-choose": f"/compare/?a={demo['session']['id']}",
        "comparisons": "/comparisons/",
        "new-comparison": f"/comparisons/new/?session={demo['session']['id']}",
        "comparison": f"/comparisons/{demo['comparison']['id']}/?show=changed&against=1",
        "export": f"{session}/export/",
        "branches": f"{session}/branches/",
        "significance": f"{session}/significance/",
        "transcript": f"{session}/transcript/",
        "transcript-in-part": f"{session}/transcript/?significance=solution&min_importance=0.9",
        "transcript-wrong": f"{session}/transcript/?budget=much",
        "search": "/search/?q=fee",
        "search-empty": "/search/",
        "search-wrong": "/search/?q=-not",
        "recall": "/recall/?q=which+fee+was+it+today%3F",
        "recall-around": "/recall/?q=which+fee+was+it%3F&around=1&kind=ask",
        "recall-empty": "/recall/",
        "recall-wrong": "/recall/?q=fee&time_zone=Mars",
        "sessions-wrong": "/?min_cost=much",
        "patterns": "/patterns/",
        "pattern": demo["pattern"],
        "met-step": "/sessions/gate-1/?step=1",
        "suites": "/suites/",
        "new-suite": "/suites/new/",
        "suite": f"{demo['suite']}/",
        "suite-edit": f"{demo['suite']}/edit/",
        "suite-run": f"{demo['suite']}/runs/2/",
        "suite-delete": f"{demo['suite']}/delete/",
        "costs": "/costs/",
        "costs-wrong-day": "/costs/?since=yesterday",
        "collections": "/collections/",
        "collection": "/collections/demo: card desk handbook/",
        "collection-found": "/collections/demo: card desk handbook/?q=fee&adaptive=on&relative=0.2",
        "comparison-judge": f"/comparisons/{demo['comparison']['id']}/?judge=nobody:x",
        "frame": "/collections/demo: card desk handbook/frames/12/",
        "new-session": "/sessions/new/",
        "import": "/import/",
        "file-import": f"/imports/{demo['import']}/",
        "evidence": f"{session}/evidence/",
        "delete-session": f"{session}/delete/",
        "erase-fields": f"{session}/erase-fields/?step=2",
        "erasure": f"/erasures/{demo['erasure']}/",
        "delete-turn": f"{session}/steps/2/delete/",
        "delete-turn-gone": "/sessions/gate-gone/steps/1/delete/",
        "timeline-turn-gone": "/sessions/gate-gone/?step=1&tab=state",
        "session-gone": "/sessions/all-gone/",
        "delete-session-held": "/sessions/kept/delete/",
        "session-hold": f"{session}/hold/",
        "retention": "/settings/retention/",
        "training": "/training/?form=dpo&what=chain",
        "training-wrong": "/training/?shares=1",
        "place-hold": "/holds/new/?status=ended",
        "hold": f"/holds/{demo['hold']}/",
        "forgetting": f"/forgettings/{demo['forgetting']}/",
        "replay-evidence": f"/replays/{demo['trial']}/evidence/",
        "share": f"{session}/share/",
        "shares": "/shares/",
        "share-policy": "/settings/sharing/",
        "revoke-all": "/shares/revoke/",
        "settings": "/settings/",
        "evidence-key": "/settings/evidence-key/",
        "models": "/settings/models/",
        "redaction": "/settings/redaction/",
        "new-redaction": "/settings/redaction/new/",
    }


@pytest.fixture
def phone(browser: Browser, signed_in: list[dict[str, Any]]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": PHONE, "height": 900})
    context.add_cookies(signed_in)  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", ["timeline", "audit-replay", "comparison"])
def test_what_can_be_done_is_one_row_on_a_phone_with_the_rest_behind_more(
    phone: Page, product: Product, demo: dict[str, Any], name: str
) -> None:
    phone.goto(product.url + pages(demo)[name])
    row = phone.locator("main .actions").first
    assert row.evaluate("e => e.getBoundingClientRect().height") <= 40
    rest = row.locator(".rest a").first
    expect(rest).to_be_hidden()
    row.get_by_text("More", exact=True).click()
    expect(rest).to_be_visible()
    phone.set_viewport_size({"width": 1440, "height": 900})
    phone.reload()
    expect(rest).to_be_visible()
    expect(row.get_by_text("More", exact=True)).to_be_hidden()


def test_the_whole_menu_and_the_projects_name_are_told_on_a_phone(phone: Page, product: Product) -> None:
    phone.goto(f"{product.url}/")
    assert phone.evaluate(SCROLLING, ".mainnav, .project") == 0
    phone.set_viewport_size({"width": NARROWEST, "height": 900})
    assert phone.evaluate(SCROLLING, ".mainnav") == 0
    assert phone.evaluate("[...document.querySelectorAll('.mainnav a')].every(e => e.checkVisibility())")
    assert phone.locator(".project").get_attribute("title") == "Project My project"


def test_the_figures_of_a_comparison_fit_a_wide_screen_and_scroll_in_their_own_box_on_a_phone(
    phone: Page, product: Product, demo: dict[str, Any]
) -> None:
    phone.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/")
    phone.evaluate("document.querySelectorAll('main details').forEach(e => { e.open = true })")
    assert phone.evaluate(SCROLLING, ".pair-block .scroll") == len(demo["comparison"]["arms"])
    assert phone.evaluate(SCROLLING, "html, main, .section, .pair-block") == 0
    phone.set_viewport_size({"width": 1440, "height": 900})
    assert phone.evaluate(SCROLLING, ".scroll") == 0


def test_the_page_of_a_cell_is_sound(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    screen.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/")
    cell = screen.locator(".matrix a.verdict").last.get_attribute("href")
    assert look(screen, "comparison-cell", f"{product.url}{cell}") == []


def opened(
    page: Page, api: httpx.Client, target_type: str, target_id: str, *, evidence_only: bool = False
) -> str:
    """The address of what a new link shows, opened by that page."""
    asked = {"target_type": target_type, "target_id": target_id, "evidence_only": evidence_only}
    page.goto(api.post("/shares", json=asked).json()["url"])
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/share/*/")
    return page.url


def test_the_pages_of_a_visitor_are_sound(
    screen: Page, api: httpx.Client, demo: dict[str, Any], product: Product
) -> None:
    session, replay, comparison = demo["session"]["id"], demo["replays"][1]["id"], demo["comparison"]["id"]
    shown = {"shared-session": opened(screen, api, "session", session)}
    shown["shared-replay"] = opened(screen, api, "replay", replay)
    shown["shared-step"] = f"{shown['shared-replay']}steps/2/"
    shown["shared-comparison"] = opened(screen, api, "comparison", comparison)
    cell = screen.locator(".matrix a.verdict").last.get_attribute("href")
    shown["shared-cell"] = f"{product.url}{cell}"
    shown["shared-evidence"] = opened(screen, api, "session", session, evidence_only=True)
    assert [fault for name, address in shown.items() for fault in look(screen, name, address)] == []


def test_what_forms_about_links_and_erasing_answer_is_sound(
    screen: Page, api: httpx.Client, demo: dict[str, Any], product: Product
) -> None:
    session = demo["session"]["id"]
    screen.goto(f"{product.url}/comparisons/{demo['comparison']['id']}/share/")
    screen.get_by_label("Withhold").select_option("built-in")
    screen.get_by_role("button", name="Preview redaction").click()
    screen.locator("#preview").wait_for()
    faults = look_at_it(screen, "share-preview")
    screen.get_by_label("Evidence only").check()
    screen.get_by_role("button", name="Preview redaction").click()
    screen.get_by_role("heading", name="No recorded text is shown").wait_for()
    faults += look_at_it(screen, "share-preview-evidence")
    asked = {"target_type": "session", "target_id": session, "label": "For one click"}
    link = api.post("/shares", json=asked).json()["id"]
    screen.goto(f"{product.url}/shares/{link}/")
    screen.get_by_role("button", name="Revoke").click()
    screen.get_by_role("status").get_by_text("For one click").wait_for()
    faults += look_at_it(screen, "shares-revoked")
    screen.goto(f"{product.url}/sessions/{session}/delete/")
    screen.get_by_label("Session name").fill("a name")
    screen.get_by_label("Reason (optional)").fill("jo@example.org asked")
    screen.get_by_role("button", name="Delete session").click()
    screen.get_by_role("alert").wait_for()
    faults += look_at_it(screen, "delete-session-refused")
    assert faults == []


def test_every_page_has_its_picture_in_the_docs(screen: Page, product: Product, demo: dict[str, Any]) -> None:
    addresses = pages(demo)
    if os.environ.get("KEEP_PICTURES"):
        KEPT.mkdir(parents=True, exist_ok=True)
        for name in GALLERY:
            screen.goto(product.url + addresses[name])
            screen.screenshot(path=KEPT / f"{name}.jpg", type="jpeg", quality=70)
        (KEPT.parent / "pages.md").write_text(gallery())
    assert [name for name in GALLERY if not (KEPT / f"{name}.jpg").exists()] == []
    assert (KEPT.parent / "pages.md").read_text() == gallery()


def gallery() -> str:
    """The page of the docs that shows them all."""
    shown = "\n".join(f"## {words}\n\n![{words}](pictures/{name}.jpg)\n" for name, words in GALLERY.items())
    return (
        f"# Pages\n\nEvery page after `timemachine demo`. `make pictures` retakes the screenshots.\n\n{shown}"
    )
