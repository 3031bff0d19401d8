"""Counts stored while recording match a recount."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from timemachine.core.accounts.models import Project
from timemachine.core.pure.numbers import sum_known
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, copy_of
from timemachine.recording.sessions.pure.draft import Usage as Tokens
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.usage.models import LATENCY_STEP, Bin, FirstUse, Latency, Usage
from timemachine.recording.usage.queries import frames_used_through, kinds_of, totals_of, totals_through

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 20, 23, 59, tzinfo=UTC)
STEPS = 730


@pytest.fixture(scope="module")
def mixed(shared_rows: None) -> Session:
    """A session with every kind of step, copies among them, with and without optional values, sent in batches of any size."""
    project = Project.objects.create(name="Prüfung")
    chance = random.Random(11)
    session = start_session(project, name="Mixed", by="test", agent="whole")
    drafts = [_draft(chance) for _ in range(STEPS)]
    while drafts:
        size = chance.choice((1, 2, 50, 170))
        append(session.id, drafts[:size])
        drafts = drafts[size:]
    return session


@pytest.fixture
def session(mixed: Session) -> Session:
    return Session.objects.get(pk=mixed.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


def _draft(chance: random.Random) -> ActionDraft:
    def maybe[T](make: Callable[[], T]) -> T | None:
        return make() if chance.random() < 0.6 else None

    kind = chance.choice(KINDS)
    found = [
        HitDraft(rank=rank, frame=chance.randrange(40), version=chance.choice((None, 1, 2)))
        for rank in (1, 2, 3)
    ]
    return ActionDraft(
        kind=kind,
        agent=maybe(lambda: chance.choice(("one", "tw\x00o"))),
        model=maybe(lambda: "acme:m"),
        tool=maybe(lambda: chance.choice(("read", "write"))),
        parent=maybe(lambda: 1),
        started_at=maybe(lambda: START + timedelta(seconds=chance.randrange(300))),
        duration_ms=maybe(lambda: chance.choice((0.0, 0.4, 12.5, 90_000.0))),
        error_message=chance.choice((None, None, "broken")),
        usage=maybe(
            lambda: Tokens(input_tokens=chance.choice((None, 0, 7)), output_tokens=chance.choice((None, 3)))
        ),
        cost_usd=maybe(lambda: Decimal(chance.randrange(1_000)) / 10**9),
        cached=chance.choice((None, True, False)),
        saved_usd=maybe(lambda: Decimal("0.000001")),
        retrieval=RetrievalDraft(hits=tuple(found)) if kind == "find" else None,
        copied_from=copy_of("earlier") if chance.random() < 0.2 else None,
    )


@pytest.mark.parametrize("sequence", [0, 1, 99, 100, 101, 399, 400, STEPS])
def test_the_totals_up_to_a_step_match_a_recount(session: Session, sequence: int) -> None:
    recomputed = totals_of(Action.objects.filter(session=session, sequence__lte=sequence))
    assert totals_through(session, sequence) == recomputed


def test_the_counters_of_the_session_match_a_recount(session: Session) -> None:
    recomputed = totals_of(Action.objects.filter(session=session))
    assert session.last_sequence == STEPS
    assert session.error_count == recomputed.errors
    for name in (
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "unknown_cost_calls",
        "cached_calls",
        "saved_usd",
    ):
        assert getattr(session, name) == getattr(recomputed, name), name


def test_the_kinds_are_counted_for_the_session(session: Session) -> None:
    assert kinds_of(session) == Counter(Action.objects.filter(session=session).values_list("kind", flat=True))


def test_folded_steps_are_counted_in_their_bin(project: Project) -> None:
    session = start_session(project, name="Folding", by="test")
    ask = [
        ActionDraft(kind="ask", id="q"),
        ActionDraft(kind="find", parent="q"),
        ActionDraft(kind="event", parent=1),
    ]
    same_depth = [ActionDraft(kind="tool_call", id="c"), ActionDraft(kind="tool_result", parent="c")]
    append(session.id, [*ask, *same_depth])
    append(session.id, [ActionDraft(kind="event", parent="not yet"), ActionDraft(kind="ask", id="not yet")])
    append(
        session.id, [ActionDraft(kind="event") for _ in range(64)] + [ActionDraft(kind="event", parent="q")]
    )
    folded = Bin.objects.filter(session=session).order_by("bin").values_list("kind", "folded")
    assert {kind: number for kind, number in folded if number} == {"find": 1, "event": 1}


def test_usage_is_counted_by_day_agent_model_and_tool(session: Session) -> None:
    counted = {
        (row.day, row.kind, row.agent, row.model, row.tool): (row.number, row.errors, row.timed, row.cost_usd)
        for row in Usage.objects.filter(session=session)
    }
    recomputed: dict[object, tuple[int, int, int, Decimal | None]] = {}
    for action in Action.objects.filter(session=session, copied_from__isnull=True):
        day = (action.started_at or action.recorded_at).astimezone(UTC).date()
        what = (day, action.kind, action.agent or "whole", action.model, action.tool)
        number, errors, timed, cost = recomputed.get(what, (0, 0, 0, None))
        recomputed[what] = (
            number + 1,
            errors + (action.error_message is not None),
            timed + (action.duration_ms is not None),
            sum_known(cost, action.cost_usd),
        )
    assert counted == recomputed


def test_latencies_are_counted_in_their_buckets(session: Session) -> None:
    stored = {key: dict(found) for key, found in _latencies(session)}
    assert sum(sum(found.values()) for found in stored.values()) == sum(
        row.timed for row in Usage.objects.filter(session=session)
    )
    buckets = {bucket for found in stored.values() for bucket in found}
    assert buckets == {
        math.floor(math.log(max(took, 0.001), LATENCY_STEP)) for took in (0.0, 0.4, 12.5, 90_000.0)
    }


def _latencies(session: Session) -> Iterator[tuple[UUID, Counter[int]]]:
    for row in Usage.objects.filter(session=session):
        rows = Latency.objects.filter(session=session, key=row.key)
        yield row.key, Counter(dict(rows.values_list("bucket", "number")))


def test_a_frame_is_first_used_where_it_was_first_returned(session: Session) -> None:
    recomputed: dict[object, int] = {}
    for hit in Hit.objects.filter(action__session=session, frame__isnull=False).order_by(
        "action__sequence", "rank"
    ):
        recomputed.setdefault((hit.frame, hit.version), hit.action.sequence)
    stored = frames_used_through(session, STEPS, most=1_000)
    assert [((used.frame, used.version), used.sequence) for used in stored] == list(recomputed.items())


def test_erasing_a_session_erases_its_counts(session: Session, project: Project) -> None:
    other = start_session(project, name="Other", by="test")
    append(other.id, [ActionDraft(kind="event", duration_ms=1.0)])
    erase_session(session)
    for counted in (Bin, Usage, Latency, FirstUse):
        assert not counted.objects.filter(session_id=session.id).exists()
    assert kinds_of(other) == {"event": 1}


def test_a_failed_append_counts_nothing(session: Session) -> None:
    before = totals_through(session, STEPS)
    with pytest.raises(Exception, match="kind"):
        append(session.id, [ActionDraft(kind="event"), ActionDraft(kind="no such kind")])
    session.refresh_from_db()
    assert totals_through(session, session.last_sequence) == before
