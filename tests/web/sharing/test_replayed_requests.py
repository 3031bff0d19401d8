"""The request of a replayed model call on a shared page: shown once above both answers, redacted, with its verdict."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.builders import compared, replayed, stored_as, tamper
from tests.replay.continuation.conftest import stubbed
from tests.replay.runs.test_model_calls import AUDIT, READ, SYSTEM, asked
from tests.stub_model_server import Script, StubModelServer
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.evidence.log.keys import key_in_use
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
SECRET = "Kanari-4711"
RULES: dict[str, Any] = {"patterns": [{"name": "bird", "pattern": "kanari-[0-9]+", "ignore_case": True}]}
VERIFY = ReplayOptions(audit=True, reason="Is it what was recorded?")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


def recorded(project: Project, *steps: ActionDraft) -> Session:
    made = start_session(project, name="Reading", by="test")
    append(made.id, steps)
    return end_session(made.id)


@pytest.fixture
def session(project: Project) -> Session:
    """A message, a model call that recorded its request, and one that did not."""
    asks = {"role": "user", "content": f"What does notes.txt say about {SECRET}?"}
    return recorded(
        project,
        ActionDraft(kind="message", role="user", output="Only the session has this."),
        asked([SYSTEM, asks], READ),
        ActionDraft(kind="llm_call", output="Nothing at all.", model="openai:gpt-4o-mini"),
    )


def page_of(project: Project, replay: Replay, step: int, terms: Terms = Terms(), query: str = "") -> str:  # noqa: B008
    visitor, path = opened(shared(project, replay, terms)[1])
    answer = visitor.get(f"{path}steps/{step}/{query}")
    assert answer.status_code == 200
    return answer.text


def test_a_replayed_call_shows_its_request_and_then_both_answers(
    project: Project, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(tools=(("delete_file", {"path": "notes.txt"}),)))
    page = page_of(project, replayed(session, AUDIT), 2)
    shown = words(page)
    places = [
        shown.index(each)
        for each in (
            " calls: ",
            "The request below is the recorded one",
            "Request verified",
            "System prompt, 2 tools, 1 message",
            "You are careful.",
            f"What does notes.txt say about {SECRET}?",
            "Tool calls",
        )
    ]
    assert places == sorted(places)
    assert page.count(f"about {SECRET}?") == 1
    assert f"/payloads/{session.actions.select_related('input').get(sequence=2).input.sha256}/" in page  # type: ignore[union-attr]


def test_a_profile_withholds_in_the_request_and_its_hash(project: Project, session: Session) -> None:
    profile = as_profile(make_profile(project, "No birds", read_rules(RULES), by="test"))
    replay = replayed(session, VERIFY)
    page = page_of(project, replay, 2, Terms(redaction=profile))
    sha256 = session.actions.select_related("input").get(sequence=2).input.sha256  # type: ignore[union-attr]
    assert SECRET not in page
    assert sha256 not in page
    assert "You are careful." in page
    assert '<span class="redacted"><span>withheld: bird</span></span>' in page


@pytest.mark.parametrize("path", ["input", "input.messages[*].content", "input.tools"])
def test_what_a_path_withholds_of_a_request_is_not_shown(
    project: Project, session: Session, path: str
) -> None:
    profile = as_profile(make_profile(project, "By path", read_rules({"fields": [path]}), by="test"))
    page = page_of(project, replayed(session, VERIFY), 2, Terms(redaction=profile))
    assert path == "input.tools" or SECRET not in page
    assert path not in {"input", "input.tools"} or "Calls read_file." not in page
    assert ("not shared: tool definitions" if path == "input.tools" else "withheld: field") in page


def test_a_request_that_was_put_together_shows_no_step_that_the_link_does_not(
    project: Project, session: Session
) -> None:
    shown = words(page_of(project, replayed(session, VERIFY), 3))
    assert "The request or its beginning was not recorded" in shown
    assert "A link to the session through step 3 shows it." in shown
    assert "Only the session has this." not in shown


@pytest.mark.parametrize(
    "data", ['{"messages":[{"role":"user","content":"Another question?"}]}', "no JSON", "\\xff"]
)
def test_an_altered_request_is_the_first_thing_that_the_page_says(
    project: Project, session: Session, data: str
) -> None:
    replay = replayed(session, VERIFY)
    alter(session, "'\\xff'::bytea" if data == "\\xff" else f"convert_to('{data}', 'UTF8')")
    shown = words(page_of(project, replay, 2))
    finding = shown.index(
        "The stored request is not the one that was recorded: its bytes have a different SHA-256."
    )
    assert finding < shown.index("No model was called")
    assert "Request altered" in shown
    assert "Download the request" not in shown


def test_an_answer_of_a_comparison_shows_its_request_as_well(
    project: Project, session: Session, stub: StubModelServer
) -> None:
    comparison = compared(project, [session], "openai:gpt-4o", "openai:gpt-4o-mini")
    cell = ReplayStep.objects.filter(replay__run__comparison=comparison, sequence=2).earliest("id")
    visitor, path = opened(shared(project, comparison)[1])
    shown = words(visitor.get(f"{path}cells/{cell.id}/").text)
    assert "Request verified" in shown
    assert f"What does notes.txt say about {SECRET}?" in shown


def test_a_long_request_shows_its_latest_messages_and_more_on_request(project: Project) -> None:
    many = [{"role": "user", "content": f"Word number {each}."} for each in range(60)]
    session = recorded(project, asked([SYSTEM, *many], "Done."))
    replay = replayed(session, VERIFY)
    latest, more = (words(page_of(project, replay, 1, query=query)) for query in ("", "?more=1"))
    assert "Word number 59." in latest
    assert "Word number 9." not in latest
    assert "Word number 9." in more


def test_the_evidence_of_the_link_names_the_altered_request(
    project: Project, session: Session, tmp_path: Path
) -> None:
    link = shared(project, replayed(session, VERIFY))[0]
    target = tmp_path / "evidence.zip"
    with target.open("wb") as file:
        Scope(link=link).write_evidence(file)
    key = key_in_use(project).fingerprint
    assert tm_verify.verify(str(target), key).problems == []
    alter(session, "convert_to('[]', 'UTF8')")
    with target.open("wb") as file:
        Scope(link=link).write_evidence(file)
    found = tm_verify.verify(str(target), key).problems
    assert ("field", "session record 2 input") in {(each["code"], each["where"]) for each in found}


def alter(session: Session, data: str) -> None:
    """Change the stored bytes of the request of step 2."""
    tamper(
        f"UPDATE tm_payload SET {stored_as(data)} WHERE id = "
        "(SELECT input_id FROM tm_action WHERE session_id = %s AND sequence = 2)",
        [str(session.id)],
    )
