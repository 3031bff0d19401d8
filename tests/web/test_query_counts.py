"""The number of queries of a page does not grow with its rows."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.builders import FACTS, QUESTIONS, compared, recorded_session, replayed
from tests.governance.sharing.recorded import ask
from tests.memory.patterns.recorded import failed
from tests.memory.patterns.recorded import patterns as patterns_in
from tests.memory.patterns.recorded import read as read_patterns
from tests.memory.patterns.recorded import session_of as session_with
from tests.replay.suites.conftest import work_off
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

MODELS = ["local:extractive-1", "local:extractive-3"]
FEW, MORE = 2, 3


def more_of_everything(api: Program, project: Project, since: int, until: int) -> dict[str, str]:
    """Add rows to every list; return the ids of those whose own pages have lists."""
    made: dict[str, str] = {}
    session = recorded_session(
        project, key=f"s{until}", questions=QUESTIONS[:until], facts=FACTS[: until + 1]
    )
    made["session"] = str(session.id)
    for number in range(since, until):
        created(api, "/collections", {"name": f"Collection {number}"})
        frames = [{"text": f"Passage {number} of the handbook.", "title": f"Title {number}"}]
        created(api, "/collections/handbook/put", {"frames": frames})
        created(api, "/keys", {"name": f"Key {number}", "scopes": ["read"]})
        suite = {
            "name": f"Suite {number}",
            "sessions": [session.key],
            "options": {"audit": True, "reason": "x"},
        }
        created(api, "/suites", suite | {"use_models": MODELS[:1]})
        for _ in range(2):
            session_with(project, failed(f"the {['gate', 'door', 'lamp'][number]} did not open in time"))
        read_patterns(project)
        made["pattern"] = str(patterns_in(project)[0].id)
    for number in range(until):  # the session is a new one
        created(api, f"/sessions/{session.key}/notes", {"sequence": 1, "text": f"Note {number}"})
        created(
            api,
            "/shares",
            {"target_type": "session", "target_id": str(session.id), "label": f"Auditor {number}"},
        )
        made["replay"] = created(api, f"/sessions/{session.key}/replays", {"top_k": 3})["replay_id"]
        comparison = {"sessions": [session.key], "arms": [{"model": each} for each in MODELS], "reason": "x"}
        made["comparison"] = created(api, "/comparisons", comparison)["comparison_id"]
        created(api, f"/suites/Suite {since}/runs", {})
        work_off()
    made["suite"] = f"Suite {since}"
    return made


def created(api: Program, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(path, body)
    assert answer.status_code < 300, (path, answer.content)
    made: dict[str, Any] = answer.json()
    return made


def pages(made: dict[str, str]) -> dict[str, str]:
    session = f"/sessions/{made['session']}"
    return {
        "sessions": "/",
        "timeline": f"{session}/?step=2",
        "state": f"{session}/?step=2&tab=state",
        "context": f"{session}/?step=2&tab=context",
        "diff": f"{session}/?step=2&tab=diff",
        "notes": f"{session}/notes/",
        "launch": f"{session}/replay/",
        "trial": f"{session}/steps/2/trial/",
        "evidence": f"{session}/evidence/",
        "replay evidence": f"/replays/{made['replay']}/evidence/",
        "comparison evidence": f"/comparisons/{made['comparison']}/evidence/",
        "share": f"{session}/share/",
        "replay": f"/replays/{made['replay']}/",
        "replays": "/replays/",
        "sweeps": "/sweeps/",
        "compare": f"/compare/?a={made['session']}&b={made['replay']}",
        "comparisons": "/comparisons/",
        "comparison": f"/comparisons/{made['comparison']}/",
        "new comparison": f"/comparisons/new/?session={made['session']}",
        "suites": "/suites/",
        "suite": f"/suites/{made['suite']}/",
        "suite run": f"/suites/{made['suite']}/runs/1/",
        "collections": "/collections/",
        "collection": "/collections/handbook/",
        "found": "/collections/handbook/?q=handbook",
        "frame": "/collections/handbook/frames/0/",
        "shares": "/shares/",
        "search": "/search/?q=kept&mode=text",
        "recall": "/recall/?q=kept&mode=text",
        "patterns": "/patterns/",
        "pattern": f"/patterns/{made['pattern']}/",
        "costs": "/costs/",
        "settings": "/settings/",
        "models": "/settings/models/",
        "redaction": "/settings/redaction/",
    }


def count_queries(browser: Client, address: str) -> int:
    """Return the number of queries of a page, to its end."""
    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(address)
        assert answer.status_code == 200, address
        assert b"".join(answer).endswith(b"</html>\n"), address  # streamed to its end
    return len(queries)


@pytest.mark.django_db
def test_the_number_of_queries_of_a_page_does_not_grow_with_its_rows(project: Project) -> None:
    api, browser = program(project), browser_of(project, ADMIN)
    recorded_session(project, key="before", questions=QUESTIONS[:1])
    few = pages(more_of_everything(api, project, 0, FEW))
    for address in few.values():
        browser.get(address)  # fills the caches
    counts = {name: count_queries(browser, address) for name, address in few.items()}
    many = pages(more_of_everything(api, project, FEW, MORE))
    more = {
        name: number
        for name, address in many.items()
        if (number := count_queries(browser, address)) > counts[name]
    }
    recounted = {name: count_queries(browser, many[name]) for name in more}
    assert {name: number for name, number in recounted.items() if number > counts[name]} == {}


@pytest.mark.django_db
def test_the_number_of_queries_of_a_redacted_page_does_not_grow_with_its_rows(project: Project) -> None:
    rules = read_rules({"patterns": [{"name": "year", "pattern": "18[0-9]{2}"}]})
    profile = as_profile(make_profile(project, "years", rules, by="anna@example.org"))
    counts = []
    for asks in (FEW, MORE, 3 * MORE):
        session = start_session(project, name="Asked again and again", by="Test")
        again = {"cached": True, "cached_from": {"session": str(session.id), "sequence": 1}}
        append(session.id, [ask(f"{number}?", "1894", **(again if number else {})) for number in range(asks)])
        session.refresh_from_db()
        _, path = shared(project, session, Terms(redaction=profile))
        visitor, page = opened(path)
        paths = (page, f"{page}?step={asks}&tab=state", f"{page}?step={asks}&tab=context", f"{page}print/")
        counts.append([count_queries(visitor, each) for each in paths])
    assert counts[1:] == counts[:1] * 2


@pytest.mark.django_db
def test_the_number_of_queries_of_a_printed_replay_or_comparison_does_not_grow_with_its_answers(
    project: Project,
) -> None:
    counts: dict[str, list[int]] = {"replay": [], "comparison": []}
    for asks in (FEW, 3 * MORE):
        questions = [f"How long is question {number} kept?" for number in range(asks)]
        session = recorded_session(project, key=f"printed-{asks}", questions=questions)
        made: dict[str, Replay | Comparison] = {
            "replay": replayed(session, ReplayOptions(top_k=3)),
            "comparison": compared(project, [session], *MODELS),
        }
        for name, of in made.items():
            _, path = shared(project, of)
            visitor, page = opened(path)
            assert visitor.get(f"{page}print/").getvalue().count(b'class="printed-step"') >= asks
            counts[name].append(count_queries(visitor, f"{page}print/"))
    for few, many in counts.values():
        assert few == many
