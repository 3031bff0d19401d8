"""A recorded run of an agent that reads and writes files, and a stub of the models that continue it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pytest_django import Settings

from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.continuation.commands import launch
from timemachine.replay.continuation.worker import work
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import ReplayOptions

SYSTEM = {"role": "system", "content": "You are careful."}
QUESTION = {"role": "user", "content": "Put the sum of a.txt and b.txt into c.txt."}
ACTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "a.txt"}, "1"),
    ("read_file", {"path": "b.txt"}, "2"),
    ("write_file", {"path": "c.txt", "text": "3"}, "ok"),
]
END = "c.txt has the sum."
FIRST, SECOND = "a.txt has 1 line.", "b.txt has 2 lines."
A, B = ("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})
MODEL = "openai:gpt-4o"


def message(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    called = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": f"Step {number}.", "tool_calls": called}


def drafts() -> list[ActionDraft]:
    """The steps of the run: a model call, its tool call, and so on, and a last answer."""
    messages: list[dict[str, Any]] = [SYSTEM, QUESTION]
    found: list[ActionDraft] = []
    for number, (tool, arguments, result) in enumerate(ACTIONS, start=1):
        answer = message(number, tool, arguments)
        found += [
            called(messages, answer),
            ActionDraft(
                kind="tool_call",
                layer="tool",
                role="tool",
                tool=tool,
                call_id=f"call_{number}",
                input=arguments,
                output=result,
            ),
        ]
        messages = [*messages, answer, {"role": "tool", "tool_call_id": f"call_{number}", "content": result}]
    return [*found, called(messages, END)]


def called(messages: list[dict[str, Any]], output: object) -> ActionDraft:
    request = {"model": "gpt-4o-mini", "messages": messages}
    return ActionDraft(
        kind="llm_call",
        layer="agent",
        role="agent",
        agent="coder",
        input=request,
        output=output,
        model="openai:gpt-4o-mini",
    )


@pytest.fixture
def session(db: None, project: Project) -> Session:
    """Seven steps: model calls 1, 3, 5 and 7, tool calls 2, 4 and 6."""
    session = start_session(project, name="Adding", by="test", agent="coder", user="ada")
    append(session.id, drafts())
    return session


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@contextmanager
def stubbed(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    """A stub in place of OpenAI and Anthropic, for workers in the transaction of a test."""
    settings.MODEL_CALLS_AT_ONCE = 1  # threads would not see the rows of a test
    settings.LEASE_SECONDS = 600  # the database ends transactions in which a worker is idle for longer
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-nobody")
        yield server


def repeat(
    stub: StubModelServer, *, from_action: int = 1, always: bool = False, **changed: dict[str, Any]
) -> None:
    """Have the stub repeat the recorded actions, each once or `always` after the one before; `changed` names the arguments of a
    tool that it changes."""
    for number, (tool, arguments, _) in enumerate(ACTIONS[from_action - 1 :], start=from_action):
        new = changed.get(tool, arguments)
        after = f"Step {number - 1}." if always and number > 1 else ""
        times = None if always else 1
        stub.script(Script(question=after, answer=f"Step {number}.", tools=((tool, new),), times=times))
    stub.script(Script(answer=END) if not always else Script(question=f"Step {len(ACTIONS)}.", answer=END))


def continued(session: Session, sequence: int = 1, **options: Any) -> Replay:
    given = {"continue_from": sequence, "use_model": MODEL, **options}
    return worked(launch(session, ReplayOptions(**given), by="ada@example.com"))


def worked(replay: Replay) -> Replay:
    work(replay.id, "worker of a test")
    return Replay.objects.select_related("branch", "session").get(id=replay.id)


def ending_of(replay: Replay) -> Ending:
    ending = Ending.stored(replay.steps.get().evidence)
    assert ending is not None
    return ending


def branch_steps(replay: Replay) -> list[Action]:
    assert replay.branch is not None
    return list(replay.branch.actions.select_related("input", "output").order_by("sequence"))


def asked(text: str) -> ActionDraft:
    return ActionDraft(kind="message", layer="agent", role="user", agent="coder", input=text)


def answered(output: object) -> ActionDraft:
    return ActionDraft(
        kind="llm_call", layer="agent", role="agent", agent="coder", output=output, model=MODEL
    )


def read(number: int, path: str) -> list[ActionDraft]:
    """A call that reads a file, and its result."""
    arguments = {"path": path}
    result = ActionDraft(
        kind="tool_call", tool="read_file", call_id=f"call_{number}", input=arguments, output=str(number)
    )
    return [answered(message(number, "read_file", arguments)), result]


@pytest.fixture
def chat(db: None, project: Project) -> Session:
    """A user who asks twice, and thanks at the end: model calls 2, 4, 6 and 8, messages 1, 5 and 9."""
    session = start_session(project, name="Two files", by="test", agent="coder", key="chat")
    append(session.id, chat_drafts())
    return session


def chat_drafts() -> list[ActionDraft]:
    return [
        asked("How long is a.txt?"),
        *read(1, "a.txt"),
        answered(FIRST),
        asked("And b.txt?"),
        *read(2, "b.txt"),
        answered(SECOND),
        asked("Thanks."),
    ]


def play(stub: StubModelServer, *answers: str | tuple[str, dict[str, Any]]) -> None:
    for each in answers:
        if isinstance(each, str):
            stub.script(Script(answer=each, times=1))
        else:
            stub.script(Script(answer="", tools=(each,), times=1))
