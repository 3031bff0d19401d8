"""Builders for sessions, replays and comparisons, on top of the product's own commands."""

from collections.abc import Sequence

from django.test import override_settings

from tests.database_roles import as_owner
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import Query
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.worker import work

FACTS = (
    ("Retention", "Invoices are kept for ten years. Then the archive team shreds them."),
    (
        "Travel",
        "Train tickets are booked in second class. Journeys over four hours may be booked in first class.",
    ),
    ("Garten", "Im Frühjahr werden die Apfelbäume geschnitten. Die Beete werden umgegraben."),
    ("Gateway", "When the gateway times out, restart it. Then page the person on duty, Zoë."),
)
QUESTIONS = (
    "How long are invoices kept?",
    "In which class are train tickets booked?",
    "Wann werden die Apfelbäume geschnitten?",
)


def recorded_session(
    project: Project,
    *,
    questions: Sequence[str] = QUESTIONS,
    facts: Sequence[tuple[str, str]] = FACTS,
    model: str = "local:extractive-1",
    top_k: int = 2,
    key: str | None = None,
) -> Session:
    """Return an ended session: one find, then one ask per question, over a collection of the facts."""
    collection = get_or_create_collection(project, "handbook", by="test")
    answering.put(collection, [NewFrame(title=title, text=text) for title, text in facts], by="test")
    session = start_session(project, name="Läufe 🕰", by="test", collection=collection, key=key)
    answering.find(collection, Query(text=questions[0], top_k=top_k), session=session)
    for question in questions:
        answering.ask(
            project, collection, Query(text=question, top_k=top_k), use_model=model, session=session
        )
    return end_session(session.id)


def replayed(session: Session, options: ReplayOptions) -> Replay:
    """Launch a replay and return it finished."""
    return worked(launch(session, options, by="test"))


def worked(replay: Replay) -> Replay:
    """Run a replay as a worker would and return it."""
    work(replay.id, "worker of a test")
    replay.refresh_from_db()
    return replay


def tamper(statement: str, parameters: Sequence[int | str | bytes]) -> int:
    """Change rows without triggers, as a database administrator could. Return how many changed."""
    with as_owner() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement, parameters)
        changed: int = cursor.rowcount
        cursor.execute("SET session_replication_role = DEFAULT")
    return changed


def stored_as(data: str) -> str:
    """Return the assignments that give a payload the bytes of an SQL expression."""
    return f"data = {data}, size = length({data}), packed = false"


def unpack_payloads() -> None:
    """Store every payload as earlier versions did, so that SQL can change its text."""
    for payload in Payload.objects.filter(packed=True):
        tamper(
            f"UPDATE tm_payload SET {stored_as('%s::bytea')} WHERE id = %s",
            [payload.data, payload.data, payload.id],
        )


def worked_off(comparison: Comparison) -> Comparison:
    """Run every replay of a comparison and return it. Calls run one after another: threads would not see a test's rows."""
    with override_settings(MODEL_CALLS_AT_ONCE=1):
        for replay_id in comparison.runs.values_list("replay_id", flat=True):
            work(replay_id, "worker of a test")
    return comparison


def compared(
    project: Project,
    sessions: Sequence[Session],
    *models: str,
    repeats: int = 1,
    noise_floor: bool = False,
) -> Comparison:
    """Return a finished comparison of these models over the asks of these sessions."""
    plan = Plan(
        sessions=sessions,
        arms=[Variant(model=model) for model in models],
        repeats=repeats,
        noise_floor=noise_floor,
        reason="Welches Modell?",
    )
    return worked_off(create(project, plan, by="test"))
