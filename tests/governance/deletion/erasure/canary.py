"""A step with one text in every field that can contain it, and a search for that text after an erasure."""

from collections.abc import Sequence
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import content_of
from timemachine.evidence import commands as evidence
from timemachine.evidence.models import SealCheck
from timemachine.evidence.queries import sealed_comparison, sealed_replay, sealed_session
from timemachine.evidence.sealing import seals as sealing
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.redaction.pure.paths import OF_ACTION, OF_SESSION
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.rules import read_rules

pytestmark = pytest.mark.django_db
CANARY = "Zqcanary7Kx"
SENTENCE = f"The bird is called {CANARY} in the cellar."
PATTERN = {"name": "bird", "pattern": "zqcanary7kx", "ignore_case": True}
BIRDS = Profile(name="birds", version=1, rules=read_rules({"patterns": [PATTERN]}))
EVERY_FIELD = [*OF_ACTION, *(f"session.{name}" for name in OF_SESSION)]
AUDIT = ReplayOptions(audit=True, reason="a test", use_model="local:extractive-1")


def erased(session: Session, **chosen: Any) -> Erasure:
    """Prepare, confirm and perform an erasure."""
    found = erasing.work(erasing.prepare(session, by="ada@example.org", **chosen).id)
    assert found is not None
    assert found.status == "found", found.problem
    erasing.confirm(found, reason="asked for by the person", by="ada@example.org")
    done = erasing.work(found.id)
    assert done is not None
    assert done.status == "done", done.problem
    session.refresh_from_db()
    return done


def everywhere(needle: str = CANARY) -> dict[str, int]:
    """Return the tables that contain the text, plain or as bytes, with the number of matching dump lines; the server's log is included."""
    found = {}
    needles = [needle.lower(), *(each.encode().hex() for each in (needle, needle.lower(), needle.upper()))]
    for table in connection.introspection.table_names():
        out = BytesIO()
        with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" TO STDOUT') as copy:
            for part in copy:
                out.write(bytes(part))
        dump = out.getvalue().decode().lower()
        if any(each in dump for each in needles):
            found[table] = sum(any(each in line for each in needles) for line in dump.split("\n"))
    if packed := sum(
        needle.lower() in each.data.decode().lower() for each in Payload.objects.filter(packed=True)
    ):
        found["tm_payload"] = found.get("tm_payload", 0) + packed
    return found | _in_the_log(needle)


def _in_the_log(needle: str) -> dict[str, int]:
    """Count the lines of the embedded server's log that contain the text; the log of an external server is not accessible."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting FROM pg_settings WHERE name = 'data_directory'")
        row = cursor.fetchone()
    log = Path(row[0]).parent / "postgres.log" if row else None
    if log is None or not log.exists():
        return {}
    lines = log.read_text(errors="replace").lower().split("\n")
    number = sum(needle.lower() in line for line in lines)
    return {log.name: number} if number else {}


def full_action(n: int) -> ActionDraft:
    """Return an action with the canary in every field that can contain a text."""
    frame = HitDraft(
        rank=1,
        score=0.5,
        scores={CANARY: 0.5},
        frame=f"{CANARY}-frame",
        version=2,
        title=f"{CANARY} title",
        uri=f"file:///{CANARY}",
        metadata={"by": CANARY, CANARY: 1},
        sha256=content_of(SENTENCE).sha256,
        text=SENTENCE,
        matched={"terms": {CANARY: 1.0}},
    )
    return ActionDraft(
        kind="ask",
        id=f"{CANARY}-{n}",
        layer="agent",
        role="user",
        agent=f"{CANARY} agent",
        name=f"{CANARY} name",
        tool=f"{CANARY} tool",
        call_id=f"{CANARY}-call",
        parent=f"{CANARY}-{n - 1}" if n else None,
        copied_from={"session": CANARY, "step": f"{CANARY}-step"} if n == 2 else None,
        tags=(CANARY, "plain"),
        metadata={"by": CANARY, CANARY: [SENTENCE]},
        input={"question": SENTENCE, CANARY: [SENTENCE, {"deep": CANARY}]},
        output=SENTENCE,
        error_type=f"{CANARY}Error",
        error_message=SENTENCE,
        model=f"test:{CANARY}",
        parameters={"system_prompt": SENTENCE},
        cost_usd=Decimal("0.5"),
        prices={"source": CANARY},
        cached_from={"session": CANARY},
        grounding={
            "score": 1.0,
            "label": "HIGH",
            "sentence_count": 1,
            "grounded_sentences": 1,
            "has_warning": False,
            "sentences": [
                {"text": SENTENCE, "start": 0, "end": len(SENTENCE), "score": 1.0, "grounded": True}
            ],
        },
        retrieval=RetrievalDraft(mode="hybrid", top_k=1, hits=(frame,), below={"title": CANARY}),
        source={"raw": SENTENCE},
    )


def sealed(session: Session) -> None:
    sealing.seal_session(session.id)
    for replay in Replay.objects.filter(session=session):
        sealing.seal_replay(replay.id)
    for comparison in Comparison.objects.filter(runs__replay__session=session).distinct():
        sealing.seal_comparison(comparison.id)


def checked(session: Session) -> Sequence[SealCheck]:
    """Compare the session and its replays with their seals, and return the problems."""
    sealed(session)
    comparisons = Comparison.objects.filter(runs__replay__session=session).distinct()
    seals = [
        sealed_session(session).seal,
        *(sealed_replay(each).seal for each in session.replays.all()),
        *(sealed_comparison(each).seal for each in comparisons),
    ]
    found = [evidence.run_check(evidence.request_check(each, by=None).id) for each in seals]
    return [each for each in found if each is not None]
