"""Real recordings are continued by a model that repeats what was recorded: the run is followed to its end, every tool
result is from the record, and no tool is executed."""

from pathlib import Path

import pytest

from tests.replay.continuation.conftest import continued, ending_of
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.llm.pure.requests.canonical import FREE_TEXT
from timemachine.llm.pure.requests.neutral import Part, Text, ToolCall
from timemachine.recording.importing.commands import import_file
from timemachine.recording.model_calls.pure.conversation import answers
from timemachine.recording.model_calls.results import followed_by
from timemachine.recording.model_calls.stored_steps import rows_through, steps_of
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.recordings
FILES = {
    "codex/rollout_a.jsonl": (35, 34),
    "codex/rollout_b.jsonl": (58, 57),
    "more/15-claude-code/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl": (7, 12),
    # it ends with results of tools, after which the model answers
    "more/16-codex/rollout-codex-0.39.0.jsonl": (20, 19),
}


@pytest.mark.parametrize("file", FILES)
def test_a_model_that_does_the_same_follows_the_run_to_its_end(
    file: str, project: Project, stub: StubModelServer, recordings: Path
) -> None:
    data = (recordings / file).read_bytes()
    (imported,) = import_file(project, data, filename=file, by="test").sessions
    first = imported.session.actions.filter(kind="llm_call").earliest("sequence")
    for parts in recorded_answers(imported.session, first):
        stub.script(script_of(parts))
    before = imported.session.last_sequence
    ending = ending_of(continued(imported.session, first.sequence, max_calls=100))
    found = ending.why, ending.calls, ending.recorded_results, ending.unused_results
    assert found == ("finished", *FILES[file], 0), ending.finding
    imported.session.refresh_from_db()
    assert imported.session.last_sequence == before


def recorded_answers(session: Session, first: Action) -> list[tuple[Part, ...]]:
    """Return what each model call of the conversation answered, in order."""
    read = steps_of(rows_through(session, session.last_sequence))
    calls = followed_by(first).calls
    found = answers(read.steps, calls)
    return [found[sequence] for sequence in calls]


def script_of(parts: tuple[Part, ...]) -> Script:
    """Return an answer with the same words and calls, in which a tool with free text takes it as `input`."""
    calls = tuple(
        (part.name, part.arguments if part.raw is None else {FREE_TEXT: part.raw})
        for part in parts
        if isinstance(part, ToolCall)
    )
    return Script(answer="".join(part.text for part in parts if isinstance(part, Text)), tools=calls, times=1)
