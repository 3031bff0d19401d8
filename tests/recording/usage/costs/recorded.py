"""Recorded calls with known figures."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def call(
    model: str, cost: str | None, *, day: int = 0, took: float | None = None, agent: str | None = None
) -> ActionDraft:
    """A model call with 10 input and 2 output tokens, this many days after the first."""
    return ActionDraft(
        kind="llm_call",
        agent=agent,
        model=model,
        started_at=NOON + timedelta(days=day),
        duration_ms=took,
        usage=Usage(input_tokens=10, output_tokens=2),
        cost_usd=None if cost is None else Decimal(cost),
    )


def tool(name: str, *, failed: bool = False, took: float | None = None) -> ActionDraft:
    """A tool call on the first day."""
    error = "broken" if failed else None
    return ActionDraft(kind="tool_call", tool=name, started_at=NOON, duration_ms=took, error_message=error)


def two_sessions(project: Project) -> tuple[Session, Session]:
    """A coder's session on two days with two models and a tool, tagged `nightly` and `eu`; a reviewer's on the second day, tagged `eu`."""
    coder = start_session(project, name="Code", by="test", agent="coder", tags=["nightly", "eu"])
    append(
        coder.id,
        [
            call("acme:large", "0.30", took=1_000),
            call("acme:large", "0.10", took=2_000, agent="sub"),
            call("acme:odd", None, day=1),
            tool("read", took=20),
            tool("read", failed=True, took=20),
            tool("write"),
        ],
    )
    reviewer = start_session(project, name="Review", by="test", agent="reviewer", tags=["eu"])
    cached = ActionDraft(
        kind="ask",
        model="acme:small",
        started_at=NOON + timedelta(days=1),
        cost_usd=Decimal(0),
        cached=True,
        saved_usd=Decimal("0.05"),
    )
    append(reviewer.id, [call("acme:small", "0.02", day=1, took=500), cached])
    return coder, reviewer
