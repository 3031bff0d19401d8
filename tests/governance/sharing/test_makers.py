"""Names of agents in links: API keys and people that recorded a step are not disclosed."""

from pathlib import Path
from typing import Any

import pytest

from tests.builders import compared, recorded_session
from tests.builders import replayed as audited
from tests.governance.sharing.test_shared_evidence import bundle, disclosed
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.pure.link_rules import is_maker
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions

STEP_ALONE = {"HX-Request": "true", "HX-Target": "article#step"}


@pytest.mark.parametrize(
    ("kind", "agent", "maker"),
    [
        ("ask", "key curl", True),
        ("put", "key of\nmine", True),
        ("find", "admin@localhost", True),
        ("checkpoint", "zoë.b@example.org", True),
        ("ask", "ann@example.xn--p1ai", True),
        ("ask", "ann@[127.0.0.1]", True),
        ("message", "key curl", False),
        ("ask", "keyboard", False),
        ("ask", "coder@2.1", False),
        ("ask", "write to a@example.org", False),
        ("ask", "coder", False),
        ("ask", None, False),
    ],
)
def test_keys_and_addresses_are_distinguished_from_agents(kind: str, agent: str | None, maker: bool) -> None:
    assert is_maker(kind, agent) is maker


@pytest.fixture
def session(project: Project) -> Session:
    """Return a session as an earlier version recorded it: a key asked at step 1, a person at step 2, an agent at step 3."""
    session = start_session(project, name="Invoices", by="test", agent="desk")
    agents = ("key curl", "admin@localhost", "clerk")
    append(session.id, [ActionDraft(kind="ask", agent=each, input="How long?") for each in agents])
    session.refresh_from_db()
    return session


def test_no_page_of_a_link_names_a_key_or_a_person_as_the_agent(project: Project, session: Session) -> None:
    visitor, address = opened(shared(project, session)[1])
    for step, name in ((1, "key curl"), (2, "admin@localhost"), (3, None)):
        for tab in ("action", "raw"):
            whole = visitor.get(address, {"step": step, "tab": tab}).text
            assert not [each for each in ("key curl", "admin@localhost") if each in whole]
            page = visitor.get(address, {"step": step, "tab": tab}, headers=STEP_ALONE).text
            assert ("clerk" in page) is (name is None)
            assert name is None or "withheld: field" in page


def test_the_evidence_of_a_link_names_neither_and_stays_proven(
    project: Project, session: Session, tmp_path: Path
) -> None:
    report, files = bundle(tmp_path / "x.zip", project, session)
    assert report.problems == []
    contents = b"".join(files.values())
    assert b"key curl" not in contents
    assert b"admin@localhost" not in contents
    assert ["words" in disclosed(files)[step] for step in (1, 2, 3)] == [False, False, True]
    assert {"facts", "input"} <= disclosed(files)[1]


@pytest.mark.parametrize("evidence_only", [False, True])
@pytest.mark.parametrize("of", ["replay", "comparison"])
def test_no_page_of_a_link_names_who_started_what_it_shows(
    project: Project, of: str, evidence_only: bool
) -> None:
    recorded = recorded_session(project)
    if of == "replay":
        target: Any = audited(recorded, ReplayOptions(audit=True, reason="Yearly"))
    else:
        target = compared(project, [recorded], "local:extractive-1", "local:extractive-3")
    type(target).objects.filter(id=target.id).update(requested_by="key launcher")
    target.refresh_from_db()
    visitor, address = opened(shared(project, target, Terms(evidence_only=evidence_only))[1])
    page = visitor.get(address).text
    assert "Launched" in page
    assert "launcher" not in page
