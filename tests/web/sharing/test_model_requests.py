"""The request of a model call on a shared page: what the link shows and nothing else."""

import json
import re
from typing import Any

import pytest

from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import SETTINGS
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

pytestmark = pytest.mark.django_db
WITHHELD = "Kanari-4711"
TRACES = re.compile("kanari|4711", re.IGNORECASE)
RULES: dict[str, Any] = {"patterns": [{"name": "bird", "pattern": "kanari-[0-9]+", "ignore_case": True}]}


def tool(name: str) -> dict[str, Any]:
    about = {"name": name, "description": f"Feeds {WITHHELD}", "parameters": {"type": "object"}}
    return {"type": "function", "function": about}


def asks(call_id: str) -> dict[str, Any]:
    function = {"name": f"feed_{WITHHELD}", "arguments": json.dumps({"bird": WITHHELD})}
    return {"role": "assistant", "content": WITHHELD, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}  # fmt: skip


def recorded(project: Project, steps: list[ActionDraft], **session: Any) -> Session:
    made = start_session(project, name="Birds", by="Test", **session)
    append(made.id, steps)
    made.refresh_from_db()
    return made


def steps() -> list[ActionDraft]:
    """Three calls: one that was not recorded completely, one that was, and one inside an agent that states its tools."""
    stated = {"system_prompt": f"Mind {WITHHELD}.", "tools": [tool(f"feed_{WITHHELD}")]}
    answer = asks(f"k-{WITHHELD}")
    return [
        ActionDraft(kind="event", tags=(SETTINGS,), output=stated),
        ActionDraft(kind="message", role="user", output=f"Feed {WITHHELD} and Berta."),
        ActionDraft(kind="llm_call", id="c", output=answer),
        ActionDraft(kind="tool_result", call_id=f"k-{WITHHELD}", tool=f"feed_{WITHHELD}", output=f"{WITHHELD} ate."),
        ActionDraft(kind="llm_call", output="Done."),
        ActionDraft(
            kind="llm_call",
            input=[{"role": "user", "content": f"Feed {WITHHELD}, please."}, answer],
            parameters={"tools": [tool(WITHHELD)], "stop": [WITHHELD]},
            output=answer,
        ),
        ActionDraft(kind="llm_call", parent="agent", input=[{"role": "user", "content": "Now?"}], output="Later."),
        ActionDraft(kind="event", id="agent", parameters={"tools": [tool("late")], "system_instructions": "A late word."}),
    ]  # fmt: skip


def test_a_request_is_put_together_from_what_the_link_shows(project: Project) -> None:
    profile = as_profile(make_profile(project, "No birds", read_rules(RULES), by="test"))
    visitor, path = opened(shared(project, recorded(project, steps()), Terms(redaction=profile))[1])
    pages = {step: visitor.get(f"{path}?step={step}&tab=context").text for step in (3, 5, 6, 7)}
    assert {step: TRACES.search(page) for step, page in pages.items()} == dict.fromkeys(pages)
    rebuilt, whole = words(pages[5]), words(pages[6])
    for phrase in ("reconstructed", "System prompt", "Mind", "Tools 1", "and Berta.", "3 · tool", "ate."):
        assert phrase in rebuilt
    for phrase in ("verified", "please.", "stop", "Feeds"):
        assert phrase in whole
    assert '<span class="redacted"><span>withheld: bird</span></span>' in pages[5]
    assert "A late word." in words(pages[7])


def test_a_request_has_nothing_of_steps_after_the_link(project: Project) -> None:
    visitor, path = opened(shared(project, recorded(project, steps()), Terms(through_sequence=7))[1])
    shown = words(visitor.get(f"{path}?step=7&tab=context").text)
    assert "Now?" in shown
    assert "A late word." not in shown
    assert "Tools 1" not in shown


def test_a_request_has_nothing_of_the_session_that_this_one_continues(project: Project) -> None:
    parent = recorded(project, [ActionDraft(kind="message", role="user", output="A secret before.")])
    branch = recorded(
        project,
        [
            ActionDraft(kind="message", role="user", output="Go on."),
            ActionDraft(kind="llm_call", output="Done."),
        ],
        parent=(parent, 1),
    )
    visitor, path = opened(shared(project, branch)[1])
    shown = words(visitor.get(f"{path}?step=2&tab=context").text)
    assert "Go on." in shown
    assert "A secret before." not in shown
    assert "session that this one continues" in shown


def test_in_a_long_session_the_latest_messages_are_shown(project: Project) -> None:
    many = [ActionDraft(kind="message", role="user", output=f"Word {each}") for each in range(900)]
    session = recorded(project, [*many, ActionDraft(kind="llm_call", output="Done.")])
    visitor, path = opened(shared(project, session)[1])
    shown = words(visitor.get(f"{path}?step=901&tab=context").text)
    assert "Only the latest messages were put together" in shown
    assert "The API returns" not in shown
    assert "Word 899" in shown
    assert "Word 300" not in shown
