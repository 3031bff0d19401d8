"""Erasing fields: what is gone is in no table, its tombstone names it, and everything else stays proven."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from tests.builders import compared, recorded_session, replayed, tamper
from tests.verifier.bundles import document, packed, statement, unpacked
from timemachine.accounts.models import Project
from timemachine.alignment.queries import aligned
from timemachine.base.clock import now
from timemachine.base.content import content_of
from timemachine.base.errors import Conflict, InvalidInput
from timemachine.comparison.models import CellMark, Comparison
from timemachine.erasure import commands as erasing
from timemachine.erasure.models import Erasure
from timemachine.evidence import commands as evidence
from timemachine.evidence import exporting, sealing
from timemachine.evidence.models import ErasedField, LogEntry, SealCheck, SealedRecord
from timemachine.evidence.queries import sealed_comparison, sealed_replay, sealed_session
from timemachine.judging.models import Judgement
from timemachine.notes import commands as notes
from timemachine.payloads.commands import keep
from timemachine.recording.commands import append, end_session, start_session
from timemachine.recording.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.models import Action, Session
from timemachine.redaction.paths import OF_ACTION, OF_SESSION
from timemachine.redaction.profile import Profile
from timemachine.redaction.rules import read_rules
from timemachine.replay.models import Replay, ReplayStep
from timemachine.replay.options import ReplayOptions
from timemachine.search.indexing import work_off
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
CANARY = "Zqcanary7Kx"
SENTENCE = f"The bird is called {CANARY} in the cellar."
PATTERN = {"name": "bird", "pattern": "zqcanary7kx", "ignore_case": True}
BIRDS = Profile(name="birds", version=1, rules=read_rules({"patterns": [PATTERN]}))
EVERY_FIELD = [*OF_ACTION, *(f"session.{name}" for name in OF_SESSION)]
AUDIT = ReplayOptions(audit=True, reason="a test", use_model="local:extractive-1")


def erased(session: Session, **chosen: Any) -> Erasure:
    """An erasure that was looked for, confirmed and done."""
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
    """In which tables the text stands, plain or as bytes, and in how many lines of their dump."""
    found = {}
    for table in connection.introspection.table_names():
        out = BytesIO()
        with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" TO STDOUT') as copy:
            for part in copy:
                out.write(bytes(part))
        lines = out.getvalue().decode().lower().split("\n")
        hexed = [each.encode().hex() for each in (needle, needle.lower(), needle.upper())]
        if number := sum(needle.lower() in line or any(each in line for each in hexed) for line in lines):
            found[table] = number
    return found


def full_action(n: int) -> ActionDraft:
    """An action with the canary in every field that can hold a text."""
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
        tags=(CANARY, "plain"),
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


@pytest.fixture
def session(project: Project) -> Session:
    """A session that holds the canary wherever it can, with everything that is made from sessions."""
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
    action = Action.objects.get(session=begun, sequence=1)
    content = content_of(SENTENCE)
    prompt = keep(project.id, [content])[content]
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
    while work_off(project.id):
        pass
    begun.refresh_from_db()
    return begun


def sealed(session: Session) -> None:
    sealing.seal_session(session.id)
    for replay in Replay.objects.filter(session=session):
        sealing.seal_replay(replay.id)
    for comparison in Comparison.objects.filter(runs__replay__session=session).distinct():
        sealing.seal_comparison(comparison.id)


def checked(session: Session) -> Sequence[SealCheck]:
    """What comparing the session and its replays with their seals comes to."""
    sealed(session)
    comparisons = Comparison.objects.filter(runs__replay__session=session).distinct()
    seals = [
        sealed_session(session).seal,
        *(sealed_replay(each).seal for each in session.replays.all()),
        *(sealed_comparison(each).seal for each in comparisons),
    ]
    found = [evidence.check(evidence.ask_for_check(each, by=None).id) for each in seals]
    return [each for each in found if each is not None]


@pytest.mark.parametrize("before_the_seal", [False, True])
def test_what_a_profile_finds_is_in_no_table_any_more(session: Session, before_the_seal: bool) -> None:
    if not before_the_seal:
        sealed(session)
    assert set(everywhere()) >= {
        "tm_action",
        "tm_hit",
        "tm_payload",
        "tm_session",
        "tm_note",
        "tm_usage",
        "tm_searched_action",
    }
    done = erased(session, profile=BIRDS)
    assert everywhere() == {"tm_erasure": 1}  # the pattern of the profile
    assert done.result is not None
    assert (done.result["steps"], done.preview and done.preview["steps"]) == (3, 3)
    if before_the_seal:
        sealed(session)
    checks = checked(session)
    assert [each.problems for each in checks] == [[]] * len(checks)
    assert bool(checks[0].erased) != before_the_seal
    assert not ErasedField.objects.filter(commitment=None).exists() or before_the_seal
    assert Action.objects.get(session=session, sequence=2).parent_sequence == 1


def test_in_what_a_profile_leaves_nothing_is_found_any_more(session: Session) -> None:
    rules = read_rules(
        {"detect": ["phone"], "phone_regions": ["DE"], "patterns": [PATTERN], "fields": EVERY_FIELD}
    )
    everything = Profile(name="everything", version=1, rules=rules)
    done = erased(session, profile=everything)
    assert done.result is not None
    assert done.result["counts"] != []
    again = erasing.work(erasing.prepare(session, by="ada@example.org", profile=everything).id)
    assert again is not None
    assert again.preview is not None
    found = {
        name: again.preview[name] for name in ("steps", "of_steps", "of_session", "counts", "replay_steps")
    }
    assert found == {"steps": 0, "of_steps": [], "of_session": [], "counts": [], "replay_steps": 0}


@pytest.mark.parametrize("path", ["retrieval.hits", "retrieval.hits[*]", "retrieval.hits[*].sha256"])
def test_passages_that_are_erased_are_found_no_more(session: Session, path: str) -> None:
    erased(session, fields=[path])
    again = erasing.work(erasing.prepare(session, by="ada@example.org", fields=[path]).id)
    assert again is not None
    assert again.preview is not None
    assert (again.preview["steps"], again.preview["counts"]) == (0, [])


def test_fields_that_were_chosen_are_in_no_table_any_more(session: Session) -> None:
    sealed(session)
    erased(session, fields=EVERY_FIELD)
    # the name and price of a model are figures, which no path leads to
    assert everywhere() == {"tm_action": 3, "tm_usage": 1}
    assert [each.problems for each in checked(session)] == [[]] * 5


def test_it_still_says_what_was_not_chosen(project: Project) -> None:
    session = recorded_session(project)
    sealed(session)
    step = Action.objects.filter(session=session, kind="ask").order_by("sequence").first()
    assert step is not None
    before = everywhere("ten years")
    assert before
    replay = replayed(session, AUDIT)
    sealed(session)
    done = erased(session, fields=["output"], steps=[step.sequence])
    step.refresh_from_db()
    assert bytes(step.output.data) == b"[erased: field]"  # type: ignore[union-attr]
    again = ReplayStep.objects.get(replay=replay, sequence=step.sequence)
    assert b"ten years" not in bytes(again.output.data)  # type: ignore[union-attr]
    assert done.result is not None
    assert done.result["collections"] == ["handbook"]
    check = checked(session)
    assert [each.problems for each in check] == [[]] * len(check)
    assert check[0].erased == ErasedField.objects.filter(session=session, replay=None).count() > 0


def test_a_field_that_is_missing_without_a_tombstone_is_a_fault(session: Session) -> None:
    sealed(session)
    tamper("UPDATE tm_sealed_record SET salts = salts - 'output' WHERE index = 1", [])
    assert [each["says"] for each in checked(session)[0].problems] == ["`output` is not what was sealed."]


def verified(session: Session, folder: Path) -> dict[str, Any]:
    """What the stand-alone verifier says of the session's bundle."""
    with (folder / "bundle.zip").open("wb") as file:
        exporting.write_session(file, session)
    return tm_verify.verify(str(folder / "bundle.zip")).as_json()


def test_the_verifier_names_what_was_erased_and_proves_the_rest(session: Session, tmp_path: Path) -> None:
    sealed(session)
    erased(session, fields=["output"], steps=[2])
    found = verified(session, tmp_path)
    assert found["problems"] == []
    assert (
        found["checked"]["erased_fields"] == ErasedField.objects.filter(session=session, replay=None).count()
    )
    assert found["checked"]["withheld"] == 0
    with (tmp_path / "log.zip").open("wb") as file:
        exporting.write_log(file, session.project)
    assert tm_verify.verify(str(tmp_path / "log.zip")).problems == []


def test_where_fields_may_be_withheld_those_with_a_tombstone_are_told_apart(
    session: Session, tmp_path: Path
) -> None:
    sealed(session)
    erased(session, fields=["output"], steps=[2])
    told = verified(session, tmp_path)["checked"]
    files = unpacked((tmp_path / "bundle.zip").read_bytes())
    statement(lambda said: said["predicate"]["trees"][0].update(withholds=True))(files)
    document("session/disclosed.jsonl", lambda line: line["fields"].popitem(), 1)(files)
    found = tm_verify.verify(str(packed(files, tmp_path / "withheld.zip")))
    assert (found.checked["erased_fields"], found.checked["withheld"]) == (told["erased_fields"], 1)
    assert "missing" not in {each["code"] for each in found.problems}


def test_the_verifier_misses_a_field_that_has_no_tombstone(session: Session, tmp_path: Path) -> None:
    sealed(session)
    tamper("UPDATE tm_sealed_record SET salts = salts - 'output' WHERE index = 1", [])
    assert [each["where"] for each in verified(session, tmp_path)["problems"]] == ["session record 1 output"]


def test_a_tombstone_of_something_else_is_a_fault(session: Session, tmp_path: Path) -> None:
    sealed(session)
    erased(session, fields=["output"], steps=[2])
    tamper("UPDATE tm_erased_field SET log_index = 0", [])
    found = verified(session, tmp_path)["problems"]
    assert {each["code"] for each in found} == {"tombstone", "missing"}
    assert checked(session)[0].problems


def test_the_log_says_who_erased_what_when_and_why(session: Session) -> None:
    sealed(session)
    erased(session, fields=["output"], steps=[2])
    entries = [bytes(each.entry).decode() for each in LogEntry.objects.filter(project=session.project)]
    told = [each for each in entries if '"erased_fields"' in each and '"of":"session"' in each]
    assert len(told) == 1
    assert '"by":"ada@example.org"' in told[0]
    assert '"reason":"asked for by the person"' in told[0]
    assert '[2,["' in told[0]
    assert not any(CANARY in each for each in entries)


def test_nothing_goes_without_a_reason_or_twice(session: Session) -> None:
    found = erasing.prepare(session, by="ada", fields=["output"], steps=[1])
    with pytest.raises(Conflict, match="still looked through"):
        erasing.confirm(found, reason="because", by="ada")
    erasing.work(found.id)
    with pytest.raises(InvalidInput, match="reason"):
        erasing.confirm(found, reason="  ", by="ada")
    assert Action.objects.filter(session=session, output__data=SENTENCE.encode()).count() == 3
    erasing.confirm(found, reason="because", by="ada")
    erasing.work(found.id)
    erasing.work(found.id)
    with pytest.raises(Conflict, match="erased before"):
        erasing.confirm(found, reason="because", by="ada")


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"fields": ["output"], "profile": BIRDS},
        {"fields": ["sequence"]},
        {"fields": ["output"], "steps": [9]},
    ],
)
def test_what_cannot_be_erased_is_refused(session: Session, chosen: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        erasing.prepare(session, by="ada", **chosen)


def test_nothing_is_erased_while_a_replay_runs(session: Session) -> None:
    Replay.objects.filter(session=session).update(status="running")
    found = erasing.work(erasing.prepare(session, by="ada", profile=BIRDS).id)
    assert found is not None
    assert found.problem is not None
    assert "A replay of this session is under way" in found.problem


def test_recorded_rows_change_in_no_other_way(session: Session) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Action.objects.filter(session=session).update(output=None)
    sealed(session)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'fields'")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Action.objects.filter(session=session).update(kind="find")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        SealedRecord.objects.update(leaf=bytes(32))
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Action.objects.filter(session=session).delete()


def test_what_was_kept_in_memory_of_two_sessions_is_not_shown_again(
    project: Project, session: Session
) -> None:
    other = recorded_session(project)
    first = aligned(project, str(session.id), str(other.id))
    assert any(CANARY in step.label for step in first.left.steps.values())
    erased(session, profile=BIRDS)
    again = aligned(project, str(session.id), str(other.id))
    assert not any(CANARY in step.label for step in again.left.steps.values())


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_whoever_is_killed_in_the_middle_leaves_nothing_half_done(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed(session)
    found = erasing.work(erasing.prepare(session, by="ada", profile=BIRDS).id)
    assert found is not None
    erasing.confirm(found, reason="because", by="ada")
    before, entries = everywhere(), LogEntry.objects.count()
    with monkeypatch.context() as during:
        during.setattr(erasing, "count_anew", killed)
        with pytest.raises(KeyboardInterrupt):
            erasing.work(found.id)
    assert (everywhere(), LogEntry.objects.count()) == (before, entries)
    assert erasing.due_for_ringing() == []
    Erasure.objects.update(started_at=now() - timedelta(hours=1))
    assert erasing.due_for_ringing() == [found.id]
    erasing.work(found.id)
    assert everywhere() == {"tm_erasure": 1}
