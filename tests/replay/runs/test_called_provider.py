"""A planned step names the provider whose model it calls."""

import pytest

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions


@pytest.fixture
def session(project: Project, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Asks with several models, and a find."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-of-nobody")
    session = start_session(project, name="before", by="test")
    models = (
        "openai:gpt-4o",
        "claude:claude-sonnet-4-5",
        "ANTHROPIC:claude-sonnet-4-5",
        "local:extractive",
        None,
    )
    asks = [ActionDraft(kind="ask", input="q", output="a", model=model) for model in models]
    append(session.id, [*asks, ActionDraft(kind="find", input="q")])
    session.refresh_from_db()
    return session


def providers(replay: Replay) -> list[str | None]:
    return list(replay.steps.order_by("sequence").values_list("provider", flat=True))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (ReplayOptions(), ["openai", "anthropic", "anthropic", None, None, None]),
        (ReplayOptions(audit=True, reason="r"), [None] * 6),
        (ReplayOptions(audit=True, reason="r", use_model="openai:gpt-4o"), ["openai"] * 5 + [None]),
        (ReplayOptions(use_model="local:extractive-1"), [None] * 6),
        (ReplayOptions(step=2), ["anthropic"]),
    ],
)
def test_every_planned_step_names_the_provider_it_will_call(
    session: Session, options: ReplayOptions, expected: list[str | None]
) -> None:
    replay = launch(session, options, by="test")
    assert providers(replay) == expected
