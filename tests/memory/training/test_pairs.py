"""Training pairs: a problem with its solution, rejected attempts, and skipped sessions with their reasons."""

import json
from itertools import batched
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError

from tests.api.conftest import Program, program
from tests.database_roles import as_owner
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.streams import CUT_OFF
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.memory.training import queries
from timemachine.memory.training.jsonl import streamed_pairs
from timemachine.memory.training.pure.options import ExportOptions
from timemachine.memory.training.pure.pairs import Pair, Skipped, chats_of, preferences_of
from timemachine.memory.training.pure.split import PARTS, Split, split_of
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.turn_text import Turn

ERROR = "TypeError: Cannot read property 'map' of undefined, write to zoe@example.org"
GUESS = "Perhaps the array is empty at the start."
ROOT = "The fetch is not awaited."
FIX = "Await fetchData() before the list is drawn."


def message(role: str, text: str, significance: str | None = None, **fields: Any) -> ActionDraft:
    return ActionDraft(
        kind="message", layer="agent", role=role, output=text, significance=significance, **fields
    )


TURNS = (
    message("user", ERROR, "error"),
    message("agent", GUESS, "hypothesis"),
    ActionDraft(
        kind="tool_call",
        role="agent",
        tool="run_tests",
        input="all",
        error_type="Failed",
        error_message="3 red",
    ),
    message("agent", ROOT, "decision"),
    message("agent", FIX, "solution"),
    message("user", "That was it!"),
)


def record_session(
    project: Project, key: str, drafts: tuple[ActionDraft, ...], *, ended: bool = True, tag: str = ""
) -> Session:
    begun = start_session(project, name=key, key=key, by="test", tags=[tag] if tag else [])
    for batch in batched(drafts, 1_000):
        append(begun.id, batch)
    return end_session(begun.id) if ended else begun


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


def lines(api: Program, **parameters: str) -> list[Any]:
    answer = api.get("/training", **parameters)
    assert answer.status_code == 200, answer.content
    return [json.loads(line) for line in answer.getvalue().decode().splitlines()]


@pytest.mark.django_db
def test_problem_and_resolution_become_a_chat_with_secrets_withheld(api: Program, project: Project) -> None:
    record_session(project, "bug", TURNS)
    assert lines(api) == [
        {
            "messages": [
                {"role": "user", "content": ERROR.replace("zoe@example.org", "[withheld: e-mail]")},
                {"role": "assistant", "content": FIX},
            ]
        }
    ]
    report = api.get("/training/report").json()
    assert (report["pairs"], report["sessions"], report["left_out"]) == (1, 1, [])
    assert report["withheld"] == [{"rule": "e-mail", "what": "e-mail", "count": 1}]
    assert report["redaction"]["name"] == "Secrets and personal data"
    assert report["first"][0]["steps"] == [1, 5]


@pytest.mark.django_db
def test_the_complete_chain_ends_with_the_solution(api: Program, project: Project) -> None:
    record_session(project, "bug", TURNS)
    [line] = lines(api, what="chain")
    assert [each["role"] for each in line["messages"]] == ["user", "assistant", "assistant"]
    assert GUESS in line["messages"][1]["content"]
    assert "3 red" in line["messages"][1]["content"]
    assert line["messages"][-1]["content"] == FIX


@pytest.mark.django_db
def test_each_rejected_attempt_is_a_preference_and_the_report_names_the_rule(
    api: Program, project: Project
) -> None:
    record_session(project, "bug", TURNS)
    found = lines(api, form="dpo")
    assert [each["rejected"][0]["content"] for each in found] == ["tool run_tests: all\n! Failed: 3 red"]
    assert all(each["chosen"] == [{"role": "assistant", "content": FIX}] for each in found)
    assert all(each["prompt"][0]["role"] == "user" for each in found)
    report = api.get("/training/report", form="dpo").json()
    assert {each["rule"]: each["pairs"] for each in report["rejected_by"]} == {"failed": 1}
    assert [each["rejected_step"] for each in report["first"]] == [3]


@pytest.mark.django_db
def test_skipped_sessions_are_reported_with_the_reason(api: Program, project: Project) -> None:
    record_session(project, "none", TURNS[:2])
    record_session(project, "open", TURNS, ended=False)
    record_session(project, "unasked", (message("agent", FIX, "solution"),))
    record_session(project, "users", (message("user", "Why?"), message("user", "Found it.", "solution")))
    record_session(
        project,
        "only-secrets",
        (message("user", "zoe@example.org"), message("agent", "zoe@example.org", "solution")),
    )
    session = record_session(project, "gone", TURNS)
    delete_turn(session.actions.get(sequence=5), reason="asked for", by="ada")
    record_session(project, "first-try", (message("user", "Why?"), message("agent", FIX, "solution")))
    report = api.get("/training/report", form="dpo").json()
    assert report["pairs"] == 0
    assert {each["reason"]: each["count"] for each in report["left_out"]} == {
        "no_solution": 1, "recording": 1, "no_problem": 1, "not_the_agents": 1, "nothing_left": 1, "deleted": 1, "no_rejected_attempt": 1,
    }  # fmt: skip
    assert {each["key"] for each in report["first_left_out"]} == {
        "open",
        "unasked",
        "users",
        "only-secrets",
        "gone",
        "first-try",
    }
    assert lines(api, form="dpo") == []


@pytest.mark.django_db
def test_a_solution_set_by_a_person_counts_and_a_withdrawn_one_does_not(
    api: Program, project: Project
) -> None:
    record_session(project, "plain", (message("user", "Why?"), message("agent", "Because.")))
    assert lines(api) == []
    assert api.patch("/sessions/plain/actions/2", {"significance": "solution"}).status_code == 200
    assert lines(api)[0]["messages"][-1]["content"] == "Because."
    assert api.patch("/sessions/plain/actions/2", {"significance": "normal"}).status_code == 200
    assert lines(api) == []


@pytest.mark.django_db
def test_the_split_is_deterministic_and_its_parts_add_up_to_all_pairs(api: Program, project: Project) -> None:
    for n in range(8):
        record_session(
            project,
            f"s{n}",
            (message("user", f"Why {n}?"), message("agent", f"Because {n}.", "solution")),
            tag="x" if n else "",
        )
    parts = {part: lines(api, part=part, shares="50,25,25") for part in PARTS}
    assert parts == {part: lines(api, part=part, shares="50,25,25") for part in PARTS}
    every = lines(api)
    assert sorted(map(json.dumps, every)) == sorted(
        json.dumps(each) for pairs in parts.values() for each in pairs
    )
    report = api.get("/training/report", shares="50,25,25").json()["split"]
    assert report["pairs"] == {part: len(pairs) for part, pairs in parts.items()}
    assert parts != {part: lines(api, part=part, shares="50,25,25", seed="another") for part in PARTS}
    assert len(lines(api, tag="x")) == 7


@pytest.mark.django_db
@pytest.mark.parametrize(
    "parameters",
    [
        {"form": "x"},
        {"what": "x"},
        {"part": "x"},
        {"shares": "1,2"},
        {"shares": "80,10,11"},
        {"seed": "x" * 101},
    ],
)
def test_an_invalid_parameter_is_refused_by_name(api: Program, parameters: dict[str, str]) -> None:
    for path in ("/training", "/training/report"):
        refused = api.get(path, **parameters)
        assert refused.status_code == 422
        assert next(iter(parameters)) in refused.content.decode()
    assert api.get("/training", redaction="none").status_code == 404


@pytest.mark.django_db
def test_two_projects_are_kept_separate(other_project: Project, api: Program) -> None:
    record_session(other_project, "bug", TURNS)
    assert lines(api) == []
    assert api.get("/training/report").json()["sessions"] == 0


def turn(sequence: int, role: str, text: str, significance: str | None = None) -> Turn:
    return Turn(sequence=sequence, kind="message", role=role, output=text, significance=significance)


def test_each_solution_has_the_turns_since_the_previous_one() -> None:
    turns = [
        turn(1, "user", "A?"),
        turn(2, "agent", "a", "solution"),
        turn(3, "user", "B?"),
        turn(4, "agent", "b", "breakthrough"),
    ]
    found = [each for each in chats_of(turns, "chain") if isinstance(each, Pair)]
    assert [each.steps for each in found] == [(1, 2), (3, 4)]


def test_the_last_solution_of_a_problem_counts() -> None:
    turns = [
        turn(1, "user", "A?"),
        turn(2, "agent", "It is not awaited.", "breakthrough"),
        turn(3, "agent", "We await it.", "decision"),
        turn(4, "agent", "Awaited.", "solution"),
        turn(5, "user", "B?"),
        turn(6, "agent", "b", "solution"),
    ]
    found = [each for each in chats_of(turns, "resolution") if isinstance(each, Pair)]
    assert [each.steps for each in found] == [(1, 4), (5, 6)]


def test_a_deleted_turn_is_in_no_chain() -> None:
    turns = [turn(1, "user", "A?"), turn(2, "agent", "b"), turn(3, "agent", "c", "solution")]
    [found] = chats_of(turns, "chain", {2})
    assert isinstance(found, Pair)
    assert found.steps == (1, 3)
    [skipped] = chats_of(turns, "chain", {1})
    assert skipped == Skipped(solution=3, reason="deleted")


def test_an_attempt_followed_by_an_error_was_rejected() -> None:
    turns = [
        turn(1, "user", "A?"),
        turn(2, "agent", "try x"),
        turn(3, "user", "still red", "error"),
        turn(4, "agent", "try y", "solution"),
    ]
    [found] = preferences_of(turns, "chain")
    assert isinstance(found, Pair)
    assert (found.rule, found.rejected_step, [each["content"] for each in found.prompt]) == (
        "failed",
        2,
        ["A?"],
    )


def test_a_hypothesis_confirmed_by_the_solution_is_not_a_rejected_attempt() -> None:
    guess = turn(2, "agent", "Workers keep their connections after each job.", "hypothesis")
    turns = [
        turn(1, "user", "The pool is exhausted.", "error"),
        guess,
        turn(3, "agent", "Confirmed: workers keep their connections.", "solution"),
    ]
    assert list(preferences_of(turns, "chain")) == [Skipped(solution=3, reason="no_rejected_attempt")]
    answered = [
        *turns[:2],
        turn(3, "user", "Still exhausted.", "error"),
        turn(4, "agent", "Close.", "solution"),
    ]
    [found] = preferences_of(answered, "chain")
    assert isinstance(found, Pair)
    assert (found.rule, found.rejected_step) == ("failed", 2)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/training", "/training/report"])
def test_an_invalid_time_is_refused_before_anything_is_sent(api: Program, path: str) -> None:
    assert api.get(path, since="no time").status_code == 422


@pytest.mark.django_db
def test_a_file_that_breaks_off_ends_with_a_notice(project: Project) -> None:
    for key in ("one", "two"):
        record_session(project, key, TURNS)
    answer = streamed_pairs(project, ExportOptions())
    parts = iter(answer)
    assert json.loads(next(parts))["messages"]
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE tm_erased_turn RENAME TO tm_hidden")
    broken = list[bytes]()
    with pytest.raises(DatabaseError):
        broken.extend(parts)
    assert broken == [CUT_OFF]


@pytest.mark.django_db
def test_a_report_reads_a_limited_amount_and_the_file_has_everything(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_TURNS", 40)
    monkeypatch.setattr(queries, "MOST_BYTES", 60_000)
    long = tuple(message("agent", f"look {n}") for n in range(40))
    record_session(project, "long", (*TURNS[:1], *long, *TURNS[4:]))
    record_session(
        project, "large", (*TURNS[:1], *[message("agent", "look " * (60_000 // 15 + 1))] * 3, *TURNS[4:])
    )
    record_session(project, "short", TURNS)
    report = api.get("/training/report").json()
    assert (report["pairs"], report["unread"], [each["key"] for each in report["first"]]) == (1, 2, ["short"])
    assert len(lines(api)) == 3


def test_the_split_follows_its_shares() -> None:
    split = Split(shares=(80, 10, 10))
    counts = dict.fromkeys(PARTS, 0)
    for number in range(2_000):
        counts[split.part_of(UUID(int=number))] += 1
    assert 1_500 < counts["train"] < 1_700
    assert Split(shares=(100, 0, 0)).part_of(UUID(int=0)) == "train"
    assert split_of("", "").shares == (80, 10, 10)
    with pytest.raises(InvalidInput):
        split_of("", "a,b,c")
