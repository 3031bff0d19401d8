"""A session that contains the canary wherever possible."""

import pytest

from tests.builders import compared, replayed
from tests.governance.deletion.erasure.canary import CANARY, SENTENCE, full_action
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.knowledge.commands import create_collection
from timemachine.memory.search.indexing import index_new_steps
from timemachine.recording.annotations.notes import commands as notes
from timemachine.recording.importing.models import FileImport
from timemachine.recording.intake.models import Intake
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.comparison.models import CellMark, Comparison
from timemachine.replay.judging.models import Judgement
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> Session:
    """Return a session that is recorded once per test file."""
    return everything_recorded(Project.objects.create(name="Prüfung"))


@pytest.fixture
def session(recorded: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded.pk)


def everything_recorded(project: Project) -> Session:
    """Return a session that contains the canary wherever possible, with everything derived from sessions."""
    begun = start_session(
        project,
        name=f"Name {CANARY}",
        by="test",
        key=f"key-{CANARY}",
        agent=f"{CANARY} agent",
        user=f"{CANARY} user",
        metadata={CANARY: {"in": CANARY}},
        tags=[CANARY],
    )
    append(
        begun.id,
        [full_action(n) for n in range(3)],
        idempotency_key=f"delivery {SENTENCE}",
        request_sha256="0" * 64,
    )
    end_session(begun.id)
    comparison = compared(project, [begun], "local:extractive-1", "local:extractive-3")
    replayed(begun, ReplayOptions(audit=True, reason=f"Because: {SENTENCE}"))
    notes.add(begun, 1, f"It says: {SENTENCE}", by="test")
    step = ReplayStep.objects.filter(replay__run__comparison=comparison).first()
    assert step is not None
    CellMark.objects.create(
        comparison=comparison, step=step, verdict="better", note=SENTENCE, marked_by="test"
    )
    Comparison.objects.filter(pk=comparison.pk).update(
        reason=f"Why: {SENTENCE}",
        arms=[variant | {"system_prompt": f"Say it: {SENTENCE}"} for variant in comparison.arms],
    )
    for target in (begun, comparison):
        create_link(project, target, Terms(label=f"For: {SENTENCE}"), by="test")
    content = content_of("a file")
    Intake.objects.create(
        project=project,
        collection=create_collection(project, "files", by="test"),
        session=begun,
        recorded=True,
        name=f"{SENTENCE}.md",
        title=f"It is {SENTENCE}",
        uri=f"file:///{CANARY}",
        payload_id=store(project.id, [content])[content],
        put_by="test",
        status="done",
        skipped=[{"line": 3, "why": SENTENCE}],
        error_message=SENTENCE,
    )
    FileImport.objects.create(
        project=project,
        name=f"{SENTENCE}.jsonl",
        format="timemachine",
        data=b"",
        size=1,
        put_by="test",
        status="done",
        finished_at=now(),
        sessions=[{"id": str(begun.id), "actions": 3, "already_there": 0}],
        report={"lines": 3, "became": {}, "skipped": [{"line": 3, "reason": SENTENCE}], "notes": [SENTENCE]},
        error_message=SENTENCE,
    )
    action = Action.objects.get(session=begun, sequence=1)
    content = content_of(SENTENCE)
    prompt = store(project.id, [content])[content]
    Judgement.objects.create(
        project=project,
        session=begun,
        action=action,
        sequence=1,
        model="test:judge",
        state="done",
        prompt_template="1",
        system_prompt="Judge.",
        prompt_sha256=content.sha256,
        prompt_id=prompt,
        answer_sha256=content.sha256,
        raw_id=prompt,
        sentences=[{"text": SENTENCE}],
        created_by="test",
    )
    while index_new_steps(project.id):
        pass
    begun.refresh_from_db()
    return begun
