import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.core.pure.content import text_sha256
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything

pytestmark = pytest.mark.django_db

FIELDS = [
    "sequence",
    "id",
    "kind",
    "layer",
    "role",
    "agent",
    "name",
    "tool",
    "call_id",
    "parent",
    "copied_from",
    "significance",
    "importance",
    "iteration",
    "tags",
    "metadata",
    "started_at",
    "duration_ms",
    "input",
    "output",
    "error",
    "model",
    "parameters",
    "usage",
    "cost_usd",
    "prices",
    "cached",
    "saved_usd",
    "cached_from",
    "grounding",
    "retrieval",
]
HIT_FIELDS = [
    "rank",
    "score",
    "scores",
    "frame",
    "version",
    "title",
    "uri",
    "metadata",
    "sha256",
    "text",
    "matched",
]


def document(session: Session, sequence: int = 1) -> dict[str, Any]:
    return ActionOut.of(
        with_everything(Action.objects.filter(session=session)).get(sequence=sequence)
    ).model_dump()


def test_a_minimal_action_has_every_field_and_only_recorded_values(record: Record) -> None:
    found = document(record([ActionDraft(kind="event")]))
    assert list(found) == FIELDS
    assert {name: value for name, value in found.items() if value is not None} == {
        "sequence": 1,
        "kind": "event",
        "tags": [],
    }


def test_a_recorded_action_is_returned_as_sent(record: Record) -> None:
    hit = HitDraft(
        rank=1,
        score=0.5,
        scores={"bm25": 3.0},
        frame=66,
        version=2,
        title="T",
        uri="u",
        metadata={"a": 1},
        text="Ä",
    )
    grounding = {"score": 0.5, "label": "MEDIUM", "sentences": [{"text": "x\x00", "grounded": False}]}
    sent = ActionDraft(
        kind="ask",
        id="mine",
        layer="agent",
        role="user",
        agent="mender",
        name="n",
        call_id="c",
        parent="p",
        significance="decision",
        importance=0.92,
        iteration=3,
        tags=("a", "\ud800"),
        started_at=datetime(2026, 11, 20, 9, 0, 0, 123_000, tzinfo=UTC),
        duration_ms=12.5,
        input={"q": ["Why?", None, 2**60]},
        output="Because \x00",
        error_type="E",
        error_message="m",
        model="acme:m",
        parameters={"temperature": 0},
        usage=Usage(input_tokens=1, output_tokens=2, total_tokens=3, cached_tokens=0, reasoning_tokens=4),
        cost_usd=Decimal("0.0213"),
        prices={"input": 3},
        cached=False,
        saved_usd=Decimal(0),
        grounding=grounding,
        retrieval=RetrievalDraft(mode="hybrid", top_k=4, adaptive=True, cut_by="cliff", hits=(hit,)),
        source={"line": 1},
    )
    found = document(record([sent]))
    assert {
        name: found[name] for name in ("id", "parent", "call_id", "importance", "iteration", "duration_ms")
    } == {
        "id": "mine",
        "parent": "p",
        "call_id": "c",
        "importance": 0.92,
        "iteration": 3,
        "duration_ms": 12.5,
    }
    assert found["input"] == sent.input
    assert (found["output"], found["tags"]) == (sent.output, ["a", "\ud800"])
    assert found["started_at"] == "2026-11-20T09:00:00.123000Z"
    assert found["error"] == {"type": "E", "message": "m"}
    assert (found["cost_usd"], found["saved_usd"], found["cached"]) == (0.0213, 0.0, False)
    assert (found["usage"]["total_tokens"], found["usage"]["cached_tokens"]) == (3, 0)
    assert (found["grounding"], found["prices"], found["source"]) == (grounding, {"input": 3}, {"line": 1})
    assert found["retrieval"]["cut_by"] == "cliff"
    (frozen,) = found["retrieval"]["hits"]
    assert list(frozen) == HIT_FIELDS
    assert (frozen["frame"], frozen["text"], frozen["sha256"]) == (66, "Ä", text_sha256("Ä"))
    assert json.loads(json.dumps(found)) == found


def test_a_parent_given_by_its_sequence_stays_a_number(record: Record) -> None:
    assert (
        document(record([ActionDraft(kind="event"), ActionDraft(kind="event", parent=1)]), 2)["parent"] == 1
    )


def test_an_error_may_have_a_message_without_a_type(record: Record) -> None:
    found = document(record([ActionDraft(kind="event", error_message="m")]))
    assert found["error"] == {"type": None, "message": "m"}


def test_any_number_of_documents_takes_two_queries(
    record: Record, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    hits = tuple(HitDraft(rank=rank, text=f"passage {rank}") for rank in range(1, 9))
    session = record(
        [ActionDraft(kind="find", input="?", output="!", retrieval=RetrievalDraft(hits=hits))] * 20
    )
    with django_assert_num_queries(2):
        assert (
            len(
                [
                    ActionOut.of(each).model_dump()
                    for each in with_everything(Action.objects.filter(session=session))
                ]
            )
            == 20
        )
