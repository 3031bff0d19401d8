"""Appending actions: complete, ordered, once and immutable."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.db.utils import IntegrityError

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import value
from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, TooLarge
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.sessions.queries import action_of, session_of


@pytest.fixture
def session(project: Project) -> Session:
    return start_session(project, name="Läuft", by="test")


def message(text: str, **more: Any) -> ActionDraft:
    return ActionDraft(kind="message", role="user", input=text, **more)


def hits(*texts: str) -> RetrievalDraft:
    return RetrievalDraft(hits=tuple(HitDraft(rank=n, text=text) for n, text in enumerate(texts, 1)))


def test_actions_are_numbered_from_one_in_order_of_arrival(session: Session) -> None:
    assert append(session.id, [message("a"), message("b")]) == [1, 2]
    assert append(session.id, [message("c")]) == [3]
    assert [a.input and value(a.input) for a in Action.objects.order_by("sequence")] == ["a", "b", "c"]


def test_the_id_of_an_answer_in_the_metadata_has_any_length(session: Session) -> None:
    metadata = {"message_id": "".join(text_sha256(str(number)) for number in range(500))}
    append(session.id, [ActionDraft(kind="llm_call", metadata=metadata)])
    assert action_of(session, 1).metadata == metadata


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "naïve ☃ \u202e",
        "NUL \x00 in the middle",
        "lone \ud83d surrogate",
        {"k\x00": ["\x00", 2**70, 1.5]},
        [],
        0,
        False,
    ],
)
def test_any_payload_is_returned_exactly(session: Session, payload: object) -> None:
    append(
        session.id, [ActionDraft(kind="event", input=payload, output=payload, name="n\x00m", tags=("t\x00",))]
    )
    action = action_of(session, 1)
    assert action.input is not None
    assert action.output is not None
    assert value(action.input) == payload
    assert value(action.output) == payload
    assert (action.name, action.tags) == ("n\x00m", ["t\x00"])


def test_a_payload_of_five_megabytes_is_stored_completely(session: Session) -> None:
    long = "ä€" * (1024 * 1024)
    append(session.id, [message(long)])
    assert value(action_of(session, 1).input) == long


def test_an_action_over_the_limit_is_refused_and_nothing_is_stored(session: Session) -> None:
    with pytest.raises(TooLarge, match="8,388,608"):
        append(session.id, [message("a"), message("x" * (8 * 1024 * 1024 + 1))])
    assert not Action.objects.exists()
    assert not Payload.objects.exists()


def test_a_passage_found_many_times_is_stored_once(session: Session) -> None:
    for _ in range(3):
        append(session.id, [ActionDraft(kind="find", input="q", retrieval=hits("same passage", "another"))])
    assert Hit.objects.count() == 6
    assert Payload.objects.filter(sha256=text_sha256("same passage")).count() == 1


def test_nothing_is_shared_between_projects(project: Project, other_project: Project) -> None:
    for owner in (project, other_project):
        append(start_session(owner, name="s", by="test").id, [message("the same bytes")])
    assert Payload.objects.filter(sha256=text_sha256("the same bytes")).count() == 2


def test_a_repeated_client_id_is_the_same_action(session: Session) -> None:
    assert append(session.id, [message("a", id="one"), message("b", id="two")]) == [1, 2]
    assert append(
        session.id, [message("b", id="two"), message("c", id="three"), message("c", id="three")]
    ) == [2, 3, 3]
    assert Action.objects.count() == 3


def test_a_repeated_idempotency_key_gets_the_same_answer(session: Session) -> None:
    first = append(session.id, [message("a")], idempotency_key="k", request_sha256="1")
    assert append(session.id, [message("a")], idempotency_key="k", request_sha256="1") == first
    with pytest.raises(Conflict, match="another request"):
        append(session.id, [message("b")], idempotency_key="k", request_sha256="2")
    assert Action.objects.count() == 1


def test_an_appended_checkpoint_stores_no_secret_of_its_environment(session: Session) -> None:
    state = {
        "environment": {"OPENAI_API_KEY": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789", "HOME": "/home"},
        "mood": "good",
    }
    append(
        session.id,
        [ActionDraft(kind="checkpoint", name="c", output=state), ActionDraft(kind="checkpoint", output=1)],
    )
    stored = value(action_of(session, 1).output)
    assert "sk-proj" not in str(stored)
    assert (stored["environment"]["HOME"], stored["mood"], value(action_of(session, 2).output)) == (
        "/home",
        "good",
        1,
    )


def test_actions_of_an_ended_session_can_be_sent_again(session: Session) -> None:
    drafts = [ActionDraft(kind="message", id=str(number), output=number) for number in range(3)]
    assert append(session.id, drafts) == [1, 2, 3]
    end_session(session.id)
    assert append(session.id, drafts[1:]) == [2, 3]
    with pytest.raises(Conflict, match="has ended"):
        append(session.id, [*drafts, ActionDraft(kind="message", id="3", output=3)])
    assert session.actions.count() == 3


def test_an_ended_session_accepts_nothing_more_and_ends_once(session: Session) -> None:
    ended = end_session(session.id)
    assert end_session(session.id).ended_at == ended.ended_at
    with pytest.raises(Conflict, match="has ended"):
        append(session.id, [message("late")])


def test_the_counters_add_up_and_an_unknown_price_is_counted_as_unknown(session: Session) -> None:
    append(
        session.id,
        [
            ActionDraft(
                kind="llm_call",
                model="openai:gpt-4o",
                usage=Usage(input_tokens=10, output_tokens=5),
                cost_usd=Decimal("0.25"),
            ),
            ActionDraft(kind="llm_call", model="who:knows", usage=Usage(input_tokens=1)),
            ActionDraft(kind="tool_result", error_type="E", error_message="broke"),
        ],
    )
    session.refresh_from_db()
    assert (session.last_sequence, session.error_count) == (3, 1)
    assert (session.input_tokens, session.output_tokens) == (11, 5)
    assert (session.cost_usd, session.unknown_cost_calls) == (Decimal("0.25"), 1)


def test_unrecorded_tokens_are_unknown_and_not_zero(session: Session) -> None:
    append(session.id, [ActionDraft(kind="event"), ActionDraft(kind="ask", model="local:extractive-1")])
    session.refresh_from_db()
    assert (session.input_tokens, session.output_tokens) == (None, None)
    append(session.id, [ActionDraft(kind="llm_call", usage=Usage(input_tokens=0))])
    session.refresh_from_db()
    assert (session.input_tokens, session.output_tokens) == (0, None)


@pytest.mark.parametrize(
    ("draft", "says"),
    [
        (ActionDraft(kind="dance"), "kind"),
        (ActionDraft(kind="event", layer="moon"), "layer"),
        (ActionDraft(kind="event", role="boss"), "role"),
        (ActionDraft(kind="event", significance="huge"), "significance"),
        (ActionDraft(kind="event", importance=1.2), "importance"),
        (ActionDraft(kind="event", iteration=-1), "iteration"),
        (ActionDraft(kind="event", duration_ms=-1.0), "duration_ms"),
        (ActionDraft(kind="event", duration_ms=1e16), "duration_ms"),
        (ActionDraft(kind="event", started_at=datetime(1, 1, 1, tzinfo=UTC)), "started_at"),
        (ActionDraft(kind="event", cost_usd=Decimal(1_000_001)), "cost_usd"),
        (ActionDraft(kind="event", saved_usd=Decimal("1e-16")), "saved_usd"),
        (ActionDraft(kind="find", retrieval=RetrievalDraft(hits=(HitDraft(rank=2**31),))), "rank"),
        (
            ActionDraft(kind="find", retrieval=RetrievalDraft(hits=(HitDraft(rank=1, version=2**31),))),
            "version",
        ),
        (ActionDraft(kind="event", id="x", parent="x"), "own parent"),
        (ActionDraft(kind="event", tool="t" * 1001), "1,001"),
        (ActionDraft(kind="event", usage=Usage(input_tokens=10**12 + 1)), "usage.input_tokens"),
        (ActionDraft(kind="find", retrieval=RetrievalDraft(mode="psychic")), "retrieval.mode"),
        (ActionDraft(kind="find", retrieval=RetrievalDraft(hits=(HitDraft(rank=0),))), "ranks"),
        (
            ActionDraft(kind="find", retrieval=RetrievalDraft(hits=(HitDraft(rank=1, sha256="zz"),))),
            "64 lower-case",
        ),
        (
            ActionDraft(
                kind="find", retrieval=RetrievalDraft(hits=(HitDraft(rank=1, sha256="0" * 64, text="t"),))
            ),
            "does not match its text",
        ),
    ],
)
def test_an_invalid_action_is_refused_by_field(session: Session, draft: ActionDraft, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        append(session.id, [message("fine"), draft])
    assert not Action.objects.exists()


@pytest.mark.parametrize("key", ["", "has space", "ü", "a/b", "x" * 201])
def test_a_malformed_key_is_refused(project: Project, key: str) -> None:
    with pytest.raises(InvalidInput, match="is not valid"):
        start_session(project, name="s", by="test", key=key)


def test_a_taken_key_is_a_conflict_only_in_its_project(project: Project, other_project: Project) -> None:
    start_session(project, name="s", by="test", key="run-1")
    start_session(other_project, name="s", by="test", key="run-1")
    with pytest.raises(Conflict, match="run-1"):
        start_session(project, name="s", by="test", key="run-1")


def test_a_session_is_found_by_uuid_and_key_only_in_its_project(
    session: Session, other_project: Project
) -> None:
    assert session_of(session.project, str(session.id)) == session
    assert session_of(session.project, session.key) == session
    for name in (str(session.id), session.key, "nope", "%00"):
        with pytest.raises(NotFound):
            session_of(other_project, name)


@pytest.mark.parametrize("table", ["tm_action", "tm_hit", "tm_payload"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_the_database_refuses_to_change_what_was_recorded(
    session: Session, table: str, statement: str
) -> None:
    append(session.id, [ActionDraft(kind="find", input="q", retrieval=hits("passage"))])
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table))


def test_erasing_may_delete_rows_but_never_change_them(session: Session) -> None:
    append(session.id, [message("a")])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute("UPDATE tm_action SET name = 'other'")


def test_erasing_a_session_removes_it_completely_and_nothing_of_another(
    project: Project, session: Session
) -> None:
    other = start_session(project, name="stays", by="test")
    append(other.id, [message("shared bytes")])
    append(
        session.id,
        [message("shared bytes"), ActionDraft(kind="find", input="q", retrieval=hits("own passage"))],
    )
    assert erase_session(session) == 2
    assert [s.name for s in Session.objects.all()] == ["stays"]
    assert Action.objects.count() == 1
    assert set(Payload.objects.values_list("sha256", flat=True)) == {text_sha256("shared bytes")}
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM tm_action")


@pytest.mark.django_db(transaction=True)
def test_concurrent_writers_leave_no_gap_and_no_duplicate() -> None:
    session = start_session(Project.objects.create(name="p"), name="s", by="test")

    def write(writer: int) -> list[int]:
        try:
            return [
                append(session.id, [message(f"{writer}-{n}"), message("same for all")])[0] for n in range(10)
            ]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        firsts = [sequence for part in pool.map(write, range(8)) for sequence in part]
    assert sorted(firsts) == list(range(1, 161, 2))
    assert list(Action.objects.order_by("sequence").values_list("sequence", flat=True)) == list(range(1, 161))


def test_a_session_open_for_weeks_accepts_more_actions(project: Project) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    session = start_session(project, name="Long", by="test", started_at=begun)
    assert append(session.id, [message("first", started_at=begun)]) == [1]
    assert append(session.id, [message("weeks later", started_at=datetime(2026, 3, 1, tzinfo=UTC))]) == [2]
    session.refresh_from_db()
    assert (session.status, session.started_at, session.last_sequence) == ("recording", begun, 2)


def test_a_session_without_a_key_gets_a_free_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["00000001", "00000001", "00000002"])
    monkeypatch.setattr("secrets.token_hex", lambda _: next(drawn))
    keys = [start_session(project, name="n", by="test").key for _ in range(2)]
    assert keys == ["sess-00000001", "sess-00000002"]
