"""Redaction rules of a link: naming the agent of steps or of the session withholds both."""

from io import BytesIO

import pytest

from tests.builders import recorded_session
from tests.verifier.bundles import unpacked
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.preview import preview_of
from timemachine.governance.sharing.pure.link_rules import for_visitors
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile


@pytest.mark.parametrize(
    ("fields", "withheld"),
    [
        (["agent"], {"agent", "session.agent"}),
        (["session.agent"], {"agent", "session.agent"}),
        (["agent", "session.agent"], {"agent", "session.agent"}),
        (["session.user"], {"session.user"}),
    ],
)
def test_the_agent_of_steps_and_of_the_session_are_treated_as_one(
    fields: list[str], withheld: set[str]
) -> None:
    found = for_visitors(read_rules({"fields": fields}))
    assert {f"{'session.' if path.of_session else ''}{path.field}" for path in found.paths} == withheld


@pytest.mark.parametrize("field", ["agent", "session.agent"])
@pytest.mark.parametrize("evidence_only", [False, True])
def test_a_withheld_agent_does_not_appear_anywhere_in_a_link(
    project: Project, field: str, evidence_only: bool
) -> None:
    session = start_session(project, name="of somebody", by="test", agent="Zwitscher")
    append(session.id, [ActionDraft(kind="message", output=f"{n}", agent="Zwitscher") for n in range(3)])
    profile = as_profile(make_profile(project, "Quiet", read_rules({"fields": [field]}), by="test"))
    terms = Terms(redaction=profile, evidence_only=evidence_only)
    link, path = shared(project, session, terms)
    visitor, link_url = opened(path)
    pages = [link_url] if evidence_only else [link_url, f"{link_url}?step=2", f"{link_url}?step=2&tab=raw"]
    for page in pages:
        body = visitor.get(page).text
        assert "Zwitscher" not in body
        assert "withheld: field" in body
    target = BytesIO()
    Scope(link=link).write_evidence(target)
    assert b"Zwitscher" not in b"".join(unpacked(target.getvalue()).values())
    preview = preview_of(link)
    of_steps = set() if evidence_only else {(1, "agent")}
    assert {(line.sequence, line.field) for line in preview.lines} >= {(None, "agent")} | of_steps


def test_an_agent_that_no_rule_names_appears_in_the_head(project: Project) -> None:
    profile = as_profile(make_profile(project, "Quiet", read_rules({"fields": ["session.user"]}), by="test"))
    session = recorded_session(project)
    type(session).objects.filter(pk=session.pk).update(agent="Zwitscher")
    session.refresh_from_db()
    visitor, link_url = opened(shared(project, session, Terms(redaction=profile))[1])
    assert "Zwitscher" in visitor.get(link_url).text
