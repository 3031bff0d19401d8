"""Steps that were planned before a step said whose model it calls say it after the migration."""

from importlib import import_module

import pytest
from django.db import connection

from tests.builders import recorded_session
from timemachine.accounts.models import Project
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Session
from timemachine.replay.commands import cancel, launch
from timemachine.replay.models import Replay, ReplayStep
from timemachine.replay.options import ReplayOptions

NAMED = import_module("timemachine.migrations.0028_called_provider").NAMED


@pytest.fixture
def session(project: Project, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Asks of several models, and a find."""
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
def test_every_step_that_may_still_run_gets_what_it_would_be_planned_with_today(
    session: Session, options: ReplayOptions, expected: list[str | None]
) -> None:
    replay = launch(session, options, by="test")
    assert providers(replay) == expected
    cancel(replay)  # it can be tried again
    ReplayStep.objects.filter(replay=replay).update(provider=None)
    with connection.cursor() as cursor:
        cursor.execute(NAMED)
    assert providers(replay) == expected


def test_what_is_done_is_left_as_it_is(project: Project) -> None:
    options = ReplayOptions(audit=True, reason="r", use_model="local:extractive-1")
    replay = launch(recorded_session(project), options, by="test")
    replay.steps.update(status="done", provider=None)
    Replay.objects.update(options={"use_model": "openai:gpt-4o"})
    with connection.cursor() as cursor:
        cursor.execute(NAMED)
    assert set(providers(replay)) == {None}
