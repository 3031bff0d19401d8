"""The demo, extended by one item of every kind, and the addresses of the pages that show it."""

from typing import Any

import httpx

from tests.e2e.story import CODING, DESK, record_story, share_story
from tests.waiting import wait_until

CHATS = '{"messages": [{"role": "user", "content": "Who is responsible for case 7?"}, {"role": "assistant", "content": "Zoë Lindqvist."}]}\n{half\n'


def demo_of(api: httpx.Client) -> dict[str, Any]:
    """Create the demo and the further items, and wait for their jobs."""
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
    record_story(api)
    share_story(api, session)
    held_and_deleted(api)
    held = (
        api.post("/sessions", json={"name": "Held for review: fraud alert on a company card", "key": "held"})
        .raise_for_status()
        .json()
    )
    made["hold"] = (
        api.post("/holds", json={"sessions": [held["id"]], "reason": "Weber v. Bank, filed in May"})
        .raise_for_status()
        .json()["id"]
    )
    made["forgetting"] = (
        api.post("/forgettings", json={"filter": {"named": "held"}}).raise_for_status().json()["id"]
    )
    api.post(
        "/retention", json={"days": 90, "agent": "load-test", "reason": "no personal data"}
    ).raise_for_status()
    made["erasure"] = api.post(
        f"/sessions/{session}/erasures", json={"fields": ["output"], "steps": [2]}
    ).json()["id"]
    import_id = api.post("/import?later=true&filename=chats.jsonl", content=CHATS.encode()).json()[
        "import_id"
    ]
    wait_until(lambda: api.get(f"/imports/{import_id}").json()["status"] == "done")
    made["import"] = import_id
    made["pattern"] = pattern_of_two_sessions(api)
    return made | {"comparison": compared(api, session), "suite": suite_of_two_runs(api, session)}


def held_and_deleted(api: httpx.Client) -> None:
    """Record a session under legal hold, one with a deleted turn, and one that is deleted completely."""
    turn = {"kind": "message", "role": "user", "output": "I never stayed at that hotel."}
    for key, who in (("kept", "Ms Weber"), ("turn-gone", "Mr Haddad"), ("all-gone", "Ms Ferreira")):
        name = f"Dispute about a hotel deposit, {who}"
        api.post("/sessions", json={"name": name, "key": key, "agent": DESK}).raise_for_status()
        api.post(f"/sessions/{key}/actions", json=turn).raise_for_status()
    reason = {"reason": "asked for"}
    api.post("/holds", json={"sessions": ["kept"], **reason}).raise_for_status()
    api.request("DELETE", "/sessions/turn-gone/actions/1", json=reason).raise_for_status()
    api.request("DELETE", "/sessions/all-gone", json=reason).raise_for_status()


def pattern_of_two_sessions(api: httpx.Client) -> str:
    """Record an error in two sessions, which a rule finds; return the address of the pattern."""
    api.post("/patterns/rules", json={"sessions": 2, "window": "week"})
    wrong = {
        "kind": "tool_result",
        "tool": "pay",
        "output": "Error: the payment service did not answer in time",
    }
    solved = {
        "kind": "message",
        "output": "Send it again with the idempotency key of the first attempt.",
        "significance": "solution",
    }
    for number in range(2):
        body = {"name": f"Chargeback for order 48{number}21", "key": f"chargeback-{number}", "agent": DESK}
        session = api.post("/sessions", json=body).json()["id"]
        api.post(f"/sessions/{session}/actions", json={"actions": [wrong, solved][: 2 - number]})
    wait_until(lambda: api.get("/patterns/alerts").json()["items"])
    return str(api.get("/patterns", params={"q": "payment service"}).json()["items"][0]["address"])


def suite_of_two_runs(api: httpx.Client, session: str) -> str:
    """Run a suite twice, the second time with another model; return its address."""
    body = {
        "name": "Card desk answers, every night",
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
    """Compare two models on the session, mark a cell, and return the finished comparison."""
    variants = [{"model": f"local:extractive-{sentences}"} for sentences in (1, 3, 5)]
    body = {
        "sessions": [session],
        "arms": variants,
        "reason": "Which model answers the card desk completely?",
        "noise_floor": True,
    }
    address = f"/comparisons/{api.post('/comparisons', json=body).json()['comparison_id']}"
    wait_until(lambda: api.get(address).json()["status"] == "done")
    cell = api.get(f"{address}/cells").json()["items"][0]
    mark = {
        "session": session,
        "sequence": cell["sequence"],
        "arm": 3,
        "verdict": "worse",
        "note": "Adds passages nobody asked for.",
    }
    assert api.post(f"{address}/marks", json=mark).status_code == 201
    found: dict[str, Any] = api.get(address).json()
    return found


def pages(demo: dict[str, Any]) -> dict[str, str]:
    """Return the addresses of the pages that show the demo, by name."""
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
        "timeline-agents": f"/sessions/{CODING}/?step=12",
        "timeline-terminal": f"/sessions/{CODING}/?step=35",
        "timeline-edit": f"/sessions/{CODING}/?step=29",
        "totals": f"/sessions/{CODING}/totals/?by=tool",
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
        "met-step": "/sessions/chargeback-1/?step=1",
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
        "delete-turn-gone": "/sessions/turn-gone/steps/1/delete/",
        "timeline-turn-gone": "/sessions/turn-gone/?step=1&tab=state",
        "session-gone": "/sessions/all-gone/",
        "delete-session-held": "/sessions/kept/delete/",
        "session-hold": f"{session}/hold/",
        "retention": "/settings/retention/",
        "audit-log": "/settings/audit-log/",
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
        "second-factor": "/settings/second-factor/",
        "second-factor-app": "/settings/second-factor/app/",
        "evidence-key": "/settings/evidence-key/",
        "models": "/settings/models/",
        "redaction": "/settings/redaction/",
        "new-redaction": "/settings/redaction/new/",
    }
