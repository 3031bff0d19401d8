"""Sessions and replays to share."""

from decimal import Decimal
from typing import Any

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep

FROZEN = "Die Brücke am Fluß wurde 1894 gebaut."
NEW_PASSAGE = "Die Brücke wurde 1901 erneuert."


def ask(question: str, answer: str, **fields: Any) -> ActionDraft:
    """Return an ask over one frozen passage."""
    return ActionDraft(
        kind="ask",
        input=question,
        output=answer,
        model="local:extractive-3",
        usage=Usage(input_tokens=40, output_tokens=8, total_tokens=48),
        cost_usd=Decimal("0.002"),
        retrieval=RetrievalDraft(
            mode="hybrid", top_k=4, hits=(HitDraft(rank=1, score=0.9, frame=7, title="Brücke", text=FROZEN),)
        ),
        **fields,
    )


def recorded(project: Project, steps: int = 6, name: str = "Prüfung der Brücke ☃") -> Session:
    """Return a session with 1 a message, 2 an ask that contains a find (3), then messages; the last one is an error."""
    session = start_session(project, name=name, by="Test", agent="Prüferin", user="Zoë")
    drafts = [
        ActionDraft(kind="message", role="user", input="Wann wurde die Brücke gebaut?"),
        ask("Wann wurde die Brücke gebaut?", "1894", id="ask-1"),
        ActionDraft(kind="find", input="Brücke", parent="ask-1", source={"raw": "Quelle der dritten"}),
        *(ActionDraft(kind="message", role="agent", output=f"Schritt {n}") for n in range(4, steps)),
        ActionDraft(
            kind="event",
            name="last",
            error_message="letzter Fehler",
            parent="ask-1",
            output=f"Geheim {steps}",
        ),
    ]
    append(session.id, drafts)
    session.refresh_from_db()
    return session


def replayed(session: Session) -> Replay:
    """Return a finished audit replay of the session's ask (step 2), with another answer and one newly found passage."""
    replay = Replay.objects.create(
        project_id=session.project_id,
        session=session,
        kind="audit",
        status="done",
        model="local:extractive-1",
        options={"audit": True, "use_model": "local:extractive-1", "reason": "Jährliche Prüfung"},
        reason="Jährliche Prüfung",
        requested_by="Test",
        started_at=now(),
        finished_at=now(),
    )
    answer, passage = content_of("1901"), content_of(NEW_PASSAGE)
    payloads = store(session.project_id, [answer, passage])
    step = ReplayStep.objects.create(
        replay=replay,
        action=Action.objects.get(session=session, sequence=2),
        sequence=2,
        kind="ask",
        status="done",
        context="verified",
        frames=[],
        verdict="numbers differ",
        evidence={"numbers": {"only_recorded": ["1894"], "only_new": ["1901"]}},
        output_id=payloads[answer],
        model="local:extractive-1",
        cost_usd=Decimal("0.001"),
    )
    ReplayHit.objects.create(
        step=step, rank=1, title="Neu", sha256=passage.sha256, payload_id=payloads[passage]
    )
    return replay
