"""The answer cache: what it returns, what it never stores, and that no entry outlives what was erased."""

import threading
from collections.abc import Generator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from tests.stub_model_server import Script, StubModelServer
from timemachine.config.celery import app as queue
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.errors import ModelFailed
from timemachine.knowledge.commands import NewFrame, erase_collection, get_or_create_collection
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection
from timemachine.llm.pure.cancellation import Listening
from timemachine.recording.answering import cache as answer_cache
from timemachine.recording.answering.cache import OF_THE_CALL
from timemachine.recording.answering.commands import AskDone, AskObserver, ask, put
from timemachine.recording.answering.model_asks import CallParameters
from timemachine.recording.answering.models import CachedAnswer
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.tasks import trim_answer_cache
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything
from timemachine.recording.timeline.totals import summary_of
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.estimate import estimate_replays
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.worker import work

MODEL = "openai:gpt-4o-mini"
QUESTION = "How long are invoices kept?"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Generator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def collection_of(project: Project, name: str = "handbook") -> Collection:
    collection = get_or_create_collection(project, name, by="test")
    put(collection, [NewFrame(title="Retention", text="Invoices are kept for ten years.")], by="test")
    return collection


def session_of(collection: Collection) -> Session:
    return start_session(collection.project, name="Läufe", by="test", collection=collection)


def run_ask(collection: Collection, session: Session | None = None, **options: Any) -> AskDone:
    question = options.pop("question", QUESTION)
    return ask(
        collection.project,
        collection,
        Query(text=question, top_k=2),
        use_model=options.pop("model", MODEL),
        session=session,
        **options,
    )


def document(session: Session, sequence: int) -> dict[str, Any]:
    return ActionOut.of(
        with_everything(Action.objects.filter(session=session, sequence=sequence)).get()
    ).model_dump()


def test_a_repeated_question_with_the_same_passages_is_answered_from_the_cache(
    project: Project, stub: StubModelServer
) -> None:
    collection = collection_of(project)
    first, second = session_of(collection), session_of(collection)
    original, repeated = run_ask(collection, first), run_ask(collection, second)
    assert len(stub.calls()) == 1
    assert repeated.answered.text == original.answered.text
    step_document = document(second, 1)
    assert (step_document["cached"], step_document["cost_usd"], step_document["usage"]) == (True, 0.0, None)
    assert step_document["saved_usd"] == pytest.approx(float(original.answered.cost_usd or 0))
    before = document(first, 1)
    assert step_document["cached_from"] == {
        "session": str(first.id),
        "sequence": 1,
        "at": before["started_at"],
        "call_ms": original.answered.duration_ms,
        "usage": before["usage"],
    }
    assert step_document["grounding"] == before["grounding"]
    assert step_document["retrieval"]["hits"] == before["retrieval"]["hits"]
    assert OF_THE_CALL & before["parameters"].keys() == {"call_ms", "first_text_ms", "response_id"}
    assert not OF_THE_CALL & step_document["parameters"].keys()
    assert step_document["parameters"]["prompt_sha256"] == before["parameters"]["prompt_sha256"]
    assert [each.kind for each in Action.objects.filter(session=second).order_by("sequence")] == [
        "ask",
        "find",
    ]


def test_an_answer_cached_outside_a_session_has_no_origin_step(
    project: Project, stub: StubModelServer
) -> None:
    collection = collection_of(project)
    run_ask(collection)
    origin = run_ask(collection, session_of(collection)).answered.cached_from
    assert origin is not None
    assert (origin["session"], origin["sequence"]) == (None, None)
    assert len(stub.calls()) == 1


def test_a_session_adds_up_known_savings_and_counts_unknown_ones(
    project: Project, stub: StubModelServer
) -> None:
    collection, model = collection_of(project), "openai:no-such-model"
    session = session_of(collection)
    known = [run_ask(collection, session) for _ in range(3)]
    for _ in range(2):
        run_ask(collection, session, model=model)
    summary = summary_of(session)
    session.refresh_from_db()
    saved = known[0].answered.cost_usd
    assert saved
    assert (summary.cached_calls, summary.unknown_saved_calls) == (3, 1)
    assert summary.saved_usd == pytest.approx(float(2 * saved))
    assert (session.cached_calls, session.unknown_saved_calls, session.saved_usd) == (3, 1, 2 * saved)
    assert summary.cost_usd == pytest.approx(float(saved))
    assert summary.unknown_cost_calls == 1
    assert session.input_tokens == sum(len(call.prompt.split()) for call in stub.calls())


@pytest.mark.parametrize(
    "script",
    [
        Script(mode="truncated", answer="Ten"),
        Script(mode="refusal"),
        Script(answer=""),
        Script(answer=" \n"),
    ],
    ids=lambda script: f"{script.mode} {script.answer!r}",
)
def test_an_incomplete_answer_is_not_cached(project: Project, stub: StubModelServer, script: Script) -> None:
    stub.script(script)
    collection = collection_of(project)
    answers = [run_ask(collection).answered for _ in range(2)]
    assert len(stub.calls()) == 2
    assert not any(each.cached for each in answers)
    assert not CachedAnswer.objects.exists()


def test_a_failure_is_not_cached(project: Project, stub: StubModelServer) -> None:
    stub.script(Script(mode="error", status=400, times=1, answer="Ten years."))
    collection = collection_of(project)
    with pytest.raises(ModelFailed):
        run_ask(collection)
    assert not run_ask(collection).answered.cached
    assert run_ask(collection).answered.cached


def test_another_question_passage_parameter_or_project_is_a_cache_miss(
    project: Project, other_project: Project, stub: StubModelServer
) -> None:
    collection, stranger = collection_of(project), collection_of(other_project)
    run_ask(collection)
    others = [
        run_ask(collection, question="How long are invoices kept??"),
        run_ask(collection, parameters=CallParameters(temperature=0.5)),
        run_ask(collection, model="openai:gpt-4o"),
        run_ask(stranger),
    ]
    put(
        collection,
        [NewFrame(number=0, title="Retention", text="Invoices are kept for six years.")],
        by="test",
    )
    others.append(run_ask(collection))
    assert [each.answered.cached for each in others] == [False] * 5


def test_a_hit_from_another_collection_cites_its_own_frame(project: Project, stub: StubModelServer) -> None:
    stub.script(Script(answer="Invoices are kept for ten years."))
    here = collection_of(project)
    there = get_or_create_collection(project, "other", by="test")
    put(
        there,
        [
            NewFrame(text="Apples and pears."),
            NewFrame(title="Retention", text="Invoices are kept for ten years."),
        ],
        by="test",
    )
    run_ask(here)
    done = ask(project, there, Query(text=QUESTION, top_k=1), use_model=MODEL)
    assert done.answered.cached
    assert (done.answered.grounding or {})["sentences"][0]["frame"] == 1


def test_no_cache_asks_the_model_and_replaces_the_cached_answer(
    project: Project, stub: StubModelServer
) -> None:
    stub.script(Script(answer="First.", times=1))
    stub.script(Script(answer="Second."))
    collection = collection_of(project)
    answers = [
        run_ask(collection).answered.text,
        run_ask(collection, no_cache=True).answered.text,
        run_ask(collection).answered.text,
    ]
    assert answers == ["First.", "Second.", "Second."]
    assert CachedAnswer.objects.count() == 1


def test_a_disabled_cache_is_neither_read_nor_written(project: Project, stub: StubModelServer) -> None:
    collection = collection_of(project)
    run_ask(collection)
    answer_cache.switch(project, on=False, by="ada@example.org")
    assert not run_ask(collection).answered.cached
    run_ask(collection, question="Anything else?")
    figures = answer_cache.status_of(project)
    assert (figures.on, figures.changed_by, figures.answers) == (False, "ada@example.org", 1)
    answer_cache.switch(project, on=True, by="ada@example.org")
    assert run_ask(collection).answered.cached


def test_two_concurrent_asks_waste_at_most_one_call(
    project: Project, stub: StubModelServer, transactional_db: None
) -> None:
    stub.script(Script(answer="Ten years.", mode="slow", seconds=0.3))
    collection = collection_of(project)
    sessions = [session_of(collection) for _ in range(2)]
    done: list[AskDone] = []

    def run(session: Session) -> None:
        done.append(run_ask(collection, session))
        connection.close()

    threads = [threading.Thread(target=run, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.answered.text for each in done] == ["Ten years."] * 2
    assert len(stub.calls()) <= 2
    assert CachedAnswer.objects.count() == 1
    assert run_ask(collection).answered.cached


def test_replays_neither_read_nor_write_the_cache(project: Project, stub: StubModelServer) -> None:
    collection = collection_of(project)
    session = session_of(collection)
    run_ask(collection, session)
    stored = CachedAnswer.objects.get()
    replay = launch(session, ReplayOptions(audit=True, reason="r", use_model=MODEL), by="test")
    work(replay.id, "test")
    assert len(stub.calls()) == 2
    assert CachedAnswer.objects.get().used_at == stored.used_at


def test_a_replay_of_a_cached_answer_is_estimated_by_its_original_tokens(
    project: Project, stub: StubModelServer
) -> None:
    collection = collection_of(project)
    first, second = session_of(collection), session_of(collection)
    done = run_ask(collection, first)
    run_ask(collection, second)
    costs = [estimate_replays([each], [ReplayOptions()])[0] for each in (first, second)]
    assert costs[0].unknown_cost_calls == costs[1].unknown_cost_calls == 0
    cost = float(done.answered.cost_usd or 0)
    assert costs[0].cost_usd == costs[1].cost_usd == pytest.approx(cost)


def test_erasing_the_asking_session_erases_the_cached_answer(project: Project, stub: StubModelServer) -> None:
    collection = collection_of(project)
    first, second = session_of(collection), session_of(collection)
    run_ask(collection, first)
    run_ask(collection, second)
    erase_session(first)
    assert not CachedAnswer.objects.exists()
    assert document(second, 1)["cached_from"]["session"] == str(first.id)
    assert not run_ask(collection, second).answered.cached


def test_erasing_a_collection_erases_cached_answers_from_its_passages(
    project: Project, stub: StubModelServer
) -> None:
    remaining, erased = collection_of(project, "kept"), get_or_create_collection(project, "erased", by="test")
    put(erased, [NewFrame(title="Secret", text="Invoices of Zoë are kept for ever.")], by="test")
    run_ask(erased)
    run_ask(erased, session_of(remaining), question="And of Zoë?")
    assert CachedAnswer.objects.count() == 2
    erase_collection(erased)
    assert not CachedAnswer.objects.exists()


def test_a_cached_answer_that_was_tampered_with_is_not_used(project: Project, stub: StubModelServer) -> None:
    collection = collection_of(project)
    run_ask(collection)
    CachedAnswer.objects.update(text="Twelve years.")
    assert not run_ask(collection).answered.cached


def test_an_expired_answer_is_not_used_and_is_removed(
    project: Project, stub: StubModelServer, settings: Settings
) -> None:
    settings.ANSWER_CACHE_MAX_AGE_DAYS = 2
    collection = collection_of(project)
    run_ask(collection)
    CachedAnswer.objects.update(kept_at=now() - timedelta(days=2, minutes=1))
    assert answer_cache.trim() == 1
    run_ask(collection)
    CachedAnswer.objects.update(kept_at=now() - timedelta(days=2, minutes=1))
    assert not run_ask(collection).answered.cached
    assert answer_cache.trim() == 0


def test_the_least_recently_used_answer_of_each_project_is_evicted_first(
    project: Project, other_project: Project, stub: StubModelServer, settings: Settings
) -> None:
    settings.ANSWER_CACHE_MAX_MB = 1
    stub.script(Script(answer="x" * 400_000))
    collection, stranger = collection_of(project), collection_of(other_project)
    for question in ("One?", "Two?", "Three?"):
        run_ask(collection, question=question)
    run_ask(stranger, question="One?")
    assert run_ask(collection, question="One?").answered.cached
    assert answer_cache.trim() == 1
    assert [run_ask(collection, question=each).answered.cached for each in ("One?", "Three?", "Two?")] == [
        True,
        True,
        False,
    ]
    assert run_ask(stranger, question="One?").answered.cached


def test_a_limit_of_zero_caches_nothing(project: Project, stub: StubModelServer, settings: Settings) -> None:
    settings.ANSWER_CACHE_MAX_MB = 0
    collection = collection_of(project)
    assert not any(run_ask(collection).answered.cached for _ in range(2))
    assert not answer_cache.status_of(project).on


def test_emptying_the_cache_removes_only_the_answers_of_the_project(
    project: Project, other_project: Project, stub: StubModelServer
) -> None:
    collection, stranger = collection_of(project), collection_of(other_project)
    run_ask(collection)
    run_ask(stranger)
    assert answer_cache.status_of(project).bytes > 0
    assert answer_cache.empty(project) == 1
    assert not run_ask(collection).answered.cached
    assert run_ask(stranger).answered.cached


def test_answers_of_the_local_model_are_cached_like_any_other(project: Project) -> None:
    collection = collection_of(project)
    run_ask(collection, model="local:extractive")
    repeated = run_ask(collection, model="local:extractive").answered
    assert (repeated.cached, repeated.saved_usd, repeated.cost_usd) == (True, Decimal(0), Decimal(0))
    assert repeated.parameters["sentences"] == 3
    assert repeated.cached_from is not None
    assert repeated.cached_from["at"] <= (written(now()) or "")


def test_a_cached_answer_is_streamed_in_one_piece(project: Project, stub: StubModelServer) -> None:
    stub.script(Script(answer="Invoices are kept for ten years."))
    collection = collection_of(project)
    run_ask(collection)
    received: list[str] = []
    repeated = run_ask(collection, observer=AskObserver(listening=Listening(on_text=received.append)))
    assert repeated.answered.cached
    assert received == ["Invoices are kept for ten years."]


def test_the_sweeper_keeps_the_cache_within_its_limits(project: Project, settings: Settings) -> None:
    run_ask(collection_of(project), model="local:extractive")
    settings.ANSWER_CACHE_MAX_MB = 0
    assert trim_answer_cache.name in queue.conf.beat_schedule
    trim_answer_cache()
    assert not CachedAnswer.objects.exists()
