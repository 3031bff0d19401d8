"""Everything that pages show is proven, or listed with the reason why not: `proof.py` and `unproven.py`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Model

from tests.builders import compared, replayed, tamper
from tests.evidence.proof import COMPARISON, PROOFS, REPLAY, SESSION
from tests.evidence.unproven import UNPROVEN
from tests.governance.deletion.erasure.canary import erased, full_action, sealed
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log.keys import key_in_use
from timemachine.evidence.log.project_log import replace_key
from timemachine.evidence.models import Seal
from timemachine.evidence.queries import subject_of
from timemachine.evidence.sealing import seals
from timemachine.evidence.sealing.checking import SealProblem, compare
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.replay.comparison.commands import mark
from timemachine.replay.comparison.models import CellOpinion
from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
OTHER: Final = (
    (models.BooleanField, "NOT coalesce({0}, false)"),
    (models.DateTimeField, "'2020-02-20T20:20:20Z'"),
    (models.DateField, "'2020-02-20'"),
    (models.UUIDField, "gen_random_uuid()"),
    (models.JSONField, "'{{\"altered\": 1}}'"),
    (ArrayField, "ARRAY['altered']"),
    (models.BinaryField, "'altered'"),
    (models.IntegerField, "coalesce({0}, 0) + 1"),
    (models.DecimalField, "coalesce({0}, 0) + 1"),
    (models.FloatField, "coalesce({0}, 0) + 1"),
    (models.Field, "'altered'"),
)
"""Another value of a column, by its type."""
Things = Mapping[str, Any]


@pytest.fixture(scope="module")
def made(shared_rows: None) -> Things:
    """Return a sealed session, replay and comparison, with erasures, a replaced key and an earlier seal."""
    project = Project.objects.create(name="Prüfung")
    session = start_session(
        project, name="All", by="test", agent="whole", user="ada", metadata={"a": 1}, tags=["x"]
    )
    append(
        session.id,
        [
            full_action(0),
            ActionDraft(kind="message", role="user", output="What is said only here will be erased."),
            ActionDraft(kind="message", role="agent", output="This whole step will be deleted soon."),
            ActionDraft(
                kind="tool_call",
                tool="ls",
                input="docs",
                error_message="No such folder.",
                started_at=now(),
                duration_ms=12.5,
            ),
            ActionDraft(kind="event", output="copied", copied_from=copy_of("earlier")),
        ],
    )
    session = end_session(session.id)
    comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
    replay = replayed(session, ReplayOptions(audit=True, reason="a test", use_model="local:extractive-1"))
    step = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    mark(comparison, step, "better", note="more exact", by="ada@example.org")
    prompt, raw = content_of("Which one?"), content_of("The first.")
    ids = store(project.id, [prompt, raw, content_of("Another payload.")])
    CellOpinion.objects.create(
        comparison=comparison,
        step=ReplayStep.objects.filter(replay__run__comparison=comparison).latest("id"),
        model="openai:judge",
        state="done",
        relation="different",
        preference="worse",
        asked=[{"order": "recorded_first", "relation": "different", "reason": "shorter"}],
        prompt_template="1",
        prompt_id=ids[prompt],
        raw_id=ids[raw],
        cost_usd="0.01",
        calls_made=2,
        requested_by="ada@example.org",
        asked_at=now(),
        finished_at=now(),
    )
    ReplayHit.objects.create(
        step=ReplayStep.objects.filter(replay=replay).earliest("id"),
        rank=1,
        score=0.5,
        title="found again",
        sha256=prompt.sha256,
        payload_id=ids[prompt],
    )
    sealed(session)
    seals.seal_comparison(comparison.id)
    erased(session, fields=["output"], steps=[2])
    erasing.delete_turn(session.actions.get(sequence=3), reason="asked for", by="ada@example.org")
    replace_key(project, by="ada@example.org")
    seals.seal_comparison(comparison.id)
    return {SESSION: session, REPLAY: replay, COMPARISON: comparison}


def problems(made: Things, of: str) -> list[SealProblem]:
    """Return what the check finds."""
    seal = Seal.objects.filter(**{of: made[of]}).order_by("-generation").first()
    assert seal is not None
    return compare(subject_of(seal), seal).problems


def report(made: Things, of: str, folder: Path) -> tm_verify.Report:
    """Return what the verifier finds in a fresh bundle."""
    thing, target = made[of], folder / "fresh.zip"
    with target.open("wb") as file:
        getattr(exporting, f"write_{of}")(file, type(thing).objects.get(pk=thing.pk))
    return tm_verify.verify(str(target), key_in_use(thing.project).fingerprint)


def columns(model: type[Model]) -> set[str]:
    return {each.name for each in model._meta.concrete_fields}


def changes() -> Iterator[Any]:
    for model, proof in PROOFS.items():
        for name in proof.proven.split():
            yield pytest.param(model, name, id=f"{model.__name__}.{name}")


def change(model: type[Model], name: str, made: Things) -> None:
    """Change one value of one row in the database, without triggers."""
    proof, column = PROOFS[model], model._meta.get_field(name)
    assert isinstance(column, models.Field)
    ids = {of: thing.pk for of, thing in made.items()}
    value = proof.values.get(name) or next(text for kind, text in OTHER if isinstance(column, kind))
    statement = f'UPDATE {model._meta.db_table} SET "{column.column}" = {value.format(column.column, **ids)} WHERE {proof.where.format(**ids)}'
    assert tamper(statement.replace("%", "%%"), []) == 1, statement


def test_an_untouched_scene_is_intact_and_verified(made: Things, tmp_path: Path) -> None:
    for of in made:
        assert problems(made, of) == []
        assert report(made, of, tmp_path).problems == []


@pytest.mark.parametrize(("model", "name"), list(changes()))
def test_a_changed_value_is_found(made: Things, tmp_path: Path, model: type[Model], name: str) -> None:
    proof = PROOFS[model]
    change(model, name, made)
    assert problems(made, proof.checked)
    if name in proof.in_bundle.split():
        assert report(made, proof.checked, tmp_path).failed


def test_every_column_is_proven_or_listed_with_the_reason_why_not() -> None:
    for model, proof in PROOFS.items():
        proven = set(proof.proven.split())
        assert columns(model) == proven | proof.unproven.keys(), model
        assert not proven & proof.unproven.keys(), model
        assert set(proof.in_bundle.split()) <= proven, model


def test_every_table_that_leads_to_a_session_is_proven_or_listed_with_the_reason_why_not() -> None:
    leading = {
        model
        for model in apps.get_models()
        if any(each.related_model in PROOFS for each in model._meta.concrete_fields)
    }
    assert {each.__name__ for each in leading - PROOFS.keys()} == UNPROVEN.keys()
