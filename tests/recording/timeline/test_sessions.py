import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import combinations

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.recording.timeline.conftest import Record
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.search.sessions import SessionQuery, sessions_page
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_pages_are_newest_first_without_a_gap(record: Record, project: Project) -> None:
    # three at a time start at the same moment, so that the moment alone does not order them
    made = [record([], key=f"s{n}", started_at=START + timedelta(minutes=n // 3)) for n in range(20)]
    seen, after = [], None
    while True:
        found = sessions_page(project, SessionQuery(), after, limit=6)
        seen += [session.id for session in found.sessions]
        after = found.next
        if after is None:
            break
    assert seen == [
        each.id for each in sorted(made, key=lambda each: (each.started_at, each.id), reverse=True)
    ]


def test_sessions_of_another_project_are_not_visible(record: Record, other_project: Project) -> None:
    record([], name="Ours")
    assert list(sessions_page(other_project, SessionQuery()).sessions) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SessionQuery(), {"a", "b", "c"}),
        (SessionQuery(q="PARSER"), {"a"}),
        (SessionQuery(q="b"), {"b"}),
        (SessionQuery(named="b"), {"b"}),
        (SessionQuery(named="nul", q="scribe"), set()),
        (SessionQuery(q="100%"), {"c"}),
        (SessionQuery(q="\x00"), {"b"}),
        (SessionQuery(agent="mender"), {"a", "c"}),
        (SessionQuery(agent="mender", status="ended"), {"c"}),
        (SessionQuery(status="recording"), {"a", "b"}),
        (SessionQuery(tag="bug"), {"a"}),
        (SessionQuery(tag="bu"), set()),
        (SessionQuery(tool="\x00"), set()),
        (SessionQuery(tag="\x00"), set()),
        (SessionQuery(agent="\x00"), set()),
    ],
)
def test_filters_narrow_the_list(project: Project, query: SessionQuery, expected: set[str]) -> None:
    start_session(project, by="t", key="a", name="The parser", agent="mender", tags=["bug", "eu"])
    start_session(project, by="t", key="b", name="Nul \x00 here", agent="scribe")
    end_session(start_session(project, by="t", key="c", name="100% done", agent="mender").id)
    assert {session.key for session in sessions_page(project, query).sessions} == expected


@pytest.mark.parametrize("name", ["status", "kind"])
@pytest.mark.parametrize("value", ["nonsense", "\x00"])
def test_an_unknown_status_or_kind_is_refused(project: Project, name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=f"`{name}` cannot be"):
        sessions_page(project, SessionQuery(**{name: value}))  # type: ignore[arg-type]


def test_several_filters_are_combined_with_and(project: Project) -> None:
    filters = {
        "named": "run 1",
        "agent": "ada",
        "user": "ann",
        "status": "ended",
        "tag": "eu",
        "tool": "read",
        "kind": "tool_call",
        "model": "acme:m",
        "since": "2026-11-20T10:00Z",
        "until": "2026-11-20T10:07Z",
        "min_cost": 2,
    }
    chance = random.Random(3)
    for number in range(16):
        yes = {name: chance.random() < 0.8 for name in filters}
        session = start_session(
            project,
            by="t",
            key=f"s{number}",
            name=f"run {1 if yes['named'] else 2}",
            agent="ada" if yes["agent"] else None,
            user="ann" if yes["user"] else "bob",
            tags=["eu", "x"] if yes["tag"] else ["x"],
            started_at=START + timedelta(minutes=56 + number),
        )
        kind = "tool_call" if yes["kind"] else "llm_call"
        one, other = ("acme:m" if yes["model"] else None), ("read" if yes["tool"] else "write")
        append(session.id, [ActionDraft(kind=kind, model=one, cost_usd=Decimal(2 if yes["min_cost"] else 1))])
        append(session.id, [ActionDraft(kind="tool_result", tool=other)])
        if yes["status"]:
            end_session(session.id)

    def matching(*names: str) -> set[str]:
        query = SessionQuery(**{name: filters[name] for name in names})  # type: ignore[arg-type]
        return {each.key for each in sessions_page(project, query).sessions}

    alone = {name: matching(name) for name in filters}
    assert all(0 < len(each) < 16 for each in alone.values())
    for size in (2, len(filters) - 1, len(filters)):
        for names in combinations(filters, size):
            assert matching(*names) == set.intersection(*(alone[name] for name in names)), names


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SessionQuery(since="2026-11-20"), {1, 2, 3}),
        (SessionQuery(until="2026-11-20"), {0, 1, 2}),
        (SessionQuery(since="2026-11-20", until="2026-11-20"), {1, 2}),
        (SessionQuery(since="2026-11-20T00:00:01Z", until="2026-11-20 23:59 UTC"), set()),
        (SessionQuery(since="2026-11-21T01:00:00+01:00"), {3}),
    ],
)
def test_a_range_of_days_includes_full_days(
    record: Record, project: Project, query: SessionQuery, expected: set[int]
) -> None:
    day = datetime(2026, 11, 20, tzinfo=UTC)
    moments = [
        day - timedelta(seconds=1),
        day,
        day + timedelta(hours=24, seconds=-1),
        day + timedelta(days=1),
    ]
    made = [record([], key=f"s{n}", started_at=moment).id for n, moment in enumerate(moments)]
    shown = {session.id for session in sessions_page(project, query).sessions}
    assert shown == {made[n] for n in expected}


@pytest.mark.parametrize("after", ["x", "!!", "MjAyNg==", "é", "MjAyNi0xMS0yMFQwOTowMDowMCswMDowMCB4"])
def test_a_cursor_that_the_list_never_returned_is_refused(project: Project, after: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        sessions_page(project, SessionQuery(), after)
    assert refused.value.code == "unknown_after"


def test_a_page_takes_one_query(
    record: Record, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(9):
        record([], key=f"s{n}")
    with django_assert_num_queries(1):
        assert len(sessions_page(project, SessionQuery()).sessions) == 9
