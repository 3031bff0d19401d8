"""Model calls that had not ended when their file was imported: a later import adds what they used in the end."""

from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import answer, text, user
from tests.recording.importing.sample_files import codex_line, lines
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db
MODEL = "claude-sonnet-4-5"


def streamed(uuid: str, words: str, **usage: int) -> dict[str, Any]:
    message = {"model": MODEL, "usage": usage}
    return answer(text(words), uuid=uuid, message=message, timestamp="2026-03-01T10:00:00Z")


def grown(project: Project, *files: list[dict[str, Any]]) -> Session:
    for each in files:
        found = import_file(project, lines(*each), by="test").sessions[0].session
    return found


def sums(session: Session) -> tuple[Any, ...]:
    return session.input_tokens, session.output_tokens, session.cost_usd, session.unknown_cost_calls


BEGUN = [user("Hi"), streamed("a1", "One", input_tokens=1000, output_tokens=1)]
MORE = [*BEGUN, streamed("a2", "Two", input_tokens=1000, output_tokens=50)]
ENDED = [*MORE, streamed("a3", "Three", input_tokens=1000, output_tokens=400, cache_read_input_tokens=500)]


def test_an_answer_that_was_imported_while_it_was_written_gets_the_rest_later(project: Project) -> None:
    at_once = grown(Project.objects.create(name="elsewhere"), ENDED)
    in_parts = grown(project, BEGUN, MORE, ENDED)
    assert sums(in_parts) == sums(at_once)
    assert at_once.cost_usd
    call = Action.objects.get(session=in_parts, kind="llm_call")
    assert call.output_tokens == 1
    events = list(Action.objects.filter(session=in_parts, kind="event").order_by("sequence"))
    assert [(each.client_id, each.parent_id_given, each.output_tokens, each.input_tokens) for each in events] == [
        ("a1/more-1", "a1", 49, None), ("a1/more-2", "a1", 350, 500),
    ]  # fmt: skip


def test_importing_again_or_an_earlier_version_adds_nothing(project: Project) -> None:
    session = grown(project, BEGUN, ENDED)
    before = sums(session)
    for again in (ENDED, BEGUN, MORE):
        done = import_file(project, lines(*again), by="test").sessions[0]
        assert done.already_there == done.actions
        assert sums(done.session) == before


def test_only_a_call_that_grew_gets_an_event(project: Project) -> None:
    grown(project, MORE, MORE)
    assert not Action.objects.filter(kind="event").exists()


def test_tokens_that_arrive_after_their_items_are_added(project: Project) -> None:
    rollout = [
        codex_line("session_meta", id="c1"),
        codex_line("turn_context", 1, model="gpt-5"),
        codex_line(
            "response_item", 2, type="message", role="assistant", content=[{"type": "text", "text": "Hi"}]
        ),
    ]
    count = codex_line(
        "event_msg",
        3,
        type="token_count",
        info={"last_token_usage": {"input_tokens": 70, "output_tokens": 7}},
    )
    session = grown(project, rollout, [*rollout, count])
    assert (session.input_tokens, session.output_tokens) == (70, 7)
    assert session.cost_usd is not None
