"""Transcripts of sessions over the API."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError

from tests.api.conftest import Program, api, stranger
from tests.database_roles import as_owner
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.streams import CUT_OFF
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME, count_tokens
from timemachine.memory.search import indexing
from timemachine.memory.transcripts import transcript
from timemachine.memory.transcripts.rendering import FORMS
from timemachine.memory.transcripts.turn_rows import PAGE
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.turn_text import omission_mark, paragraph

__all__ = ["api", "stranger"]
pytestmark = pytest.mark.django_db
TURNS = (
    ("user", "The deploy fails: the connection pool is exhausted.", "error"),
    ("agent", "Perhaps the database is slow.", "hypothesis"),
    ("agent", "I look at the log of slow queries; it is empty.", None),
    ("agent", "Workers keep their connections after each job: that is the root cause.", "breakthrough"),
    ("agent", "Close the connection after each job.", "solution"),
)


def record(api: Program, key: str, *actions: dict[str, Any]) -> None:
    assert api.post("/sessions", {"name": f"Session {key}", "key": key}).status_code == 201
    for begin in range(0, len(actions), 1_000):
        sent = api.post(f"/sessions/{key}/actions", {"actions": actions[begin : begin + 1_000]})
        assert sent.status_code == 201, sent.json()


def message(role: str, text: str, significance: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"kind": "message", "role": role, "output": text, "significance": significance, **fields}


@pytest.fixture
def session_key(api: Program) -> str:
    record(api, "story", *(message(*turn) for turn in TURNS))
    return "story"


def read_transcript(api: Program, session: str, **parameters: Any) -> Any:
    answer = api.get(f"/sessions/{session}/transcript", **parameters)
    assert answer.status_code == 200, answer.content
    body = b"".join(answer.streaming_content).decode()
    return body if parameters.get("as") == "text" else json.loads(body)


def sequences(found: Any) -> list[int]:
    return [each["sequence"] for each in found["items"]]


def test_a_session_is_listed_completely_and_in_order(api: Program, session_key: str) -> None:
    found = read_transcript(api, session_key)
    assert [(each["role"], each["output"], each["significance"]) for each in found["items"]] == list(TURNS)
    assert sequences(found) == [1, 2, 3, 4, 5]
    assert [each["importance"] for each in found["items"]] == [0.80, 0.75, None, 0.97, 0.95]
    assert found["turns"] == {"kept": 5, "recorded": 5}
    assert found["tokens"]["kept"] == found["tokens"]["recorded"] > 40
    assert (found["tokens"]["tokenizer"], found["tokens"]["estimated"]) == (TOKENIZER_NAME, False)


def test_only_decisions_and_their_results_are_listed_with_marks_for_the_rest(
    api: Program, session_key: str
) -> None:
    parameters = {"significance": "solution,breakthrough"}
    found = read_transcript(api, session_key, **parameters)
    assert (sequences(found), found["turns"]) == ([4, 5], {"kept": 2, "recorded": 5})
    assert ([each["left_out_before"] for each in found["items"]], found["left_out_after"]) == ([3, 0], 0)
    assert found["tokens"]["kept"] < found["tokens"]["recorded"]
    text = read_transcript(api, session_key, **parameters, **{"as": "text"})
    assert text.split("\n\n")[1:-1] == [
        "[3 turns left out]",
        f"[4] agent, breakthrough: {TURNS[3][1]}",
        f"[5] agent, solution: {TURNS[4][1]}",
    ]
    messages = read_transcript(api, session_key, **parameters, **{"as": "messages"})["messages"]
    assert messages[0] == {"role": "user", "content": "[3 turns left out]"}
    assert messages[2] == {"role": "assistant", "content": TURNS[4][1]}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"min_importance": 0.8}, [1, 4, 5]),
        ({"role": "user"}, [1]),
        ({"role": "user,agent", "significance": "error"}, [1]),
        ({"role": "human"}, [1]),
        ({"role": "human, assistant,agent", "significance": "error"}, [1]),
        ({"role": "developer,human"}, [1]),
        ({"kind": "message"}, [1, 2, 3, 4, 5]),
        ({"kind": "find"}, []),
        ({"tag": "nothing"}, []),
        ({"min_importance": 1}, []),
    ],
)
def test_filters_restrict_the_turns(
    api: Program, session_key: str, parameters: dict[str, Any], expected: list[int]
) -> None:
    found = read_transcript(api, session_key, **parameters)
    assert sequences(found) == expected
    assert found["turns"] == {"kept": len(expected), "recorded": 5}
    missing = [each["left_out_before"] for each in found["items"]]
    assert sum(missing) + found["left_out_after"] == 5 - len(expected)


def test_a_budget_is_filled_by_importance_and_listed_in_order(api: Program) -> None:
    weights = [0.9, 0.1, 0.5, 0.99, 0.2, 0.7]
    record(
        api, "six", *(message("agent", f"Turn of weight {weight}.", importance=weight) for weight in weights)
    )
    total = read_transcript(api, "six")["tokens"]["recorded"]
    assert sequences(read_transcript(api, "six", budget=total)) == [1, 2, 3, 4, 5, 6]
    mark = count_tokens(paragraph(omission_mark(6)))
    of_best = read_transcript(api, "six", min_importance=0.95)["tokens"]["kept"]
    for budget in range(1, total, 11):
        answer = read_transcript(api, "six", budget=budget)
        found, tokens = sequences(answer), answer["tokens"]
        assert found == sorted(set(found))
        assert 4 in found or budget < of_best + 2 * mark
        text = read_transcript(api, "six", budget=budget, **{"as": "text"})
        assert not found or count_tokens(text.partition("\n\n")[2]) <= budget
        assert not found or tokens["kept"] + tokens["marks"] <= budget
        summary = f"{tokens['kept']} of {total} tokens{(tokens['marks'] and f', {tokens["marks"]} more for markers') or ''} ("
        assert summary in text.partition("\n\n")[0]


def test_deleted_content_has_no_tokens(api: Program, session_key: str, project: Project) -> None:
    before = read_transcript(api, session_key)["tokens"]
    deleted = read_transcript(api, session_key, **{"as": "text"}).split("\n\n")[2]
    assert before["marks"] == 0
    assert api.delete_for(f"/sessions/{session_key}/actions/2", {"reason": "asked for"}).status_code == 200
    for _ in range(2):
        complete, text = (
            read_transcript(api, session_key),
            read_transcript(api, session_key, **{"as": "text"}),
        )
        notice = text.split("\n\n")[2]
        remaining_tokens = before["recorded"] - count_tokens(paragraph(deleted))
        assert "deleted" in notice
        assert (complete["tokens"]["kept"], complete["tokens"]["recorded"]) == (
            remaining_tokens,
            remaining_tokens,
        )
        assert complete["tokens"]["marks"] == count_tokens(paragraph(notice))
        limited = read_transcript(api, session_key, budget=10_000)["tokens"]
        assert (limited["kept"], limited["recorded"]) == (remaining_tokens, remaining_tokens)
        assert limited["marks"] == count_tokens(paragraph(omission_mark(1)))
        while indexing.index_new_steps(project.id):
            pass


def test_stored_token_counts_equal_those_counted_on_request(
    api: Program, session_key: str, project: Project
) -> None:
    before = read_transcript(api, session_key)["tokens"]
    while indexing.index_new_steps(project.id):
        pass
    assert read_transcript(api, session_key)["tokens"] == before
    text = read_transcript(api, session_key, **{"as": "text"})
    assert before["recorded"] == sum(count_tokens(f"{each}\n\n") for each in text.split("\n\n")[1:-1])


def test_more_turns_than_a_page_are_listed_completely_and_in_order(api: Program) -> None:
    turns = [
        message("agent" if number % 2 else "user", f"This is turn {number}.") for number in range(PAGE + 50)
    ]
    record(api, "long", *turns)
    found = read_transcript(api, "long")
    assert [turn["output"] for turn in found["items"]] == [turn["output"] for turn in turns]
    assert found["turns"] == {"kept": len(turns), "recorded": len(turns)}


def test_more_turns_than_the_counting_limit_are_the_same_counted_or_estimated(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "MOST_COUNTED", 20)
    record(api, "many", *(message("agent", f"This is turn {number}.") for number in range(25)))
    estimated = read_transcript(api, "many")
    while indexing.index_new_steps(project.id):
        pass
    found = read_transcript(api, "many")
    assert estimated["items"] == found["items"]
    assert found["turns"] == estimated["turns"] == {"kept": 25, "recorded": 25}
    assert (estimated["tokens"]["estimated"], found["tokens"]["estimated"]) == (True, False)


def test_a_long_turn_is_estimated_and_short_ones_next_to_it_are_counted(
    api: Program, project: Project
) -> None:
    record(api, "wide", message("user", "word " * 20_000), message("agent", "Short."))
    before = read_transcript(api, "wide")["tokens"]
    while indexing.index_new_steps(project.id):
        pass
    assert read_transcript(api, "wide")["tokens"] == before
    assert before["estimated"] is True
    assert before["recorded"] == 100_016 // 4 + count_tokens("[2] agent: Short.\n\n")
    assert sequences(read_transcript(api, "wide", budget=20)) == [2]


def test_during_counting_by_a_worker_every_turn_is_counted_exactly_once(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH", 10)
    record(api, "busy", *(message("agent", f"This is turn {number}.") for number in range(30)))
    session = Session.objects.get()
    total = read_transcript(api, "busy")["tokens"]
    for through in (0, 10, 20):
        assert indexing.index_some(project.id, session.id, through) == 10
        assert read_transcript(api, "busy")["tokens"] == total
        assert read_transcript(api, "busy", budget=10_000_000)["tokens"] == total


def test_calls_tools_and_asks_are_rendered_as_text_and_as_a_chat(api: Program) -> None:
    prompt = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Old question"},
        {"role": "assistant", "content": "Old answer"},
        {"role": "user", "content": [{"type": "text", "text": "How warm is it?"}]},
    ]
    record(
        api,
        "mixed",
        {"kind": "llm_call", "model": "openai:gpt-5", "input": prompt, "output": {"role": "assistant", "content": "I look."}},
        {"kind": "tool_call", "tool": "weather", "input": {"city": "Ulm"}, "output": "21 °C", "call_id": "c1"},
        {"kind": "tool_call", "tool": "weather", "input": {"city": "?"}, "error": {"type": "ValueError", "message": "no city"}},
        {"kind": "ask", "input": "And tomorrow?", "output": "19 °C"},
        {"kind": "event", "name": "heartbeat"},
        {"kind": "message", "role": "tool", "output": "raw"},
    )  # fmt: skip
    text = read_transcript(api, "mixed", **{"as": "text"}).split("\n\n")[1:-1]
    assert text == [
        "[1] model openai:gpt-5: How warm is it?\n→ I look.",
        '[2] tool weather: {"city": "Ulm"}\n→ 21 °C',
        '[3] tool weather: {"city": "?"}\n! ValueError: no city',
        "[4] ask: And tomorrow?\n→ 19 °C",
        "[5] event heartbeat: ",
        "[6] tool: raw",
    ]
    messages = read_transcript(api, "mixed", **{"as": "messages"})["messages"]
    assert [(each["role"], each["content"]) for each in messages] == [
        ("user", "How warm is it?"),
        ("assistant", "I look."),
        ("assistant", 'tool weather: {"city": "Ulm"}\n→ 21 °C'),
        ("assistant", 'tool weather: {"city": "?"}\n! ValueError: no city'),
        ("user", "And tomorrow?"),
        ("assistant", "19 °C"),
        ("user", "event heartbeat: "),
        ("user", "raw"),
    ]


def test_text_with_unencodable_characters_is_rendered(api: Program) -> None:
    record(api, "odd", message("user", "lone \ud800 and \x00 zero"))
    assert read_transcript(api, "odd")["items"][0]["output"] == "lone \ud800 and \x00 zero"
    assert "lone ? and \x00 zero" in read_transcript(api, "odd", **{"as": "text"})


def test_more_than_fits_into_memory_is_streamed_completely(api: Program) -> None:
    large = [letter * 6_000_000 for letter in "abc"]
    record(api, "large", *(message("user", text) for text in ("", *large, "", "the end")))
    assert [each["output"] for each in read_transcript(api, "large")["items"]] == ["", *large, "", "the end"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"significance": "important"}, "important"),
        ({"kind": "message,talk"}, "talk"),
        ({"as": "poem"}, "as"),
        ({"budget": 0}, "budget"),
        ({"min_importance": 2}, "min_importance"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(
    api: Program, session_key: str, parameters: dict[str, Any], field: str
) -> None:
    answer = api.get(f"/sessions/{session_key}/transcript", **parameters)
    assert (answer.status_code, field in answer.json()["message"]) == (422, True), answer.json()


@pytest.fixture
def begun(api: Program, project: Project) -> dict[str, Iterator[bytes]]:
    """Start a transcript in each form. Its first piece was read, but not yet the last turns."""
    session = start_session(project, name="Cut", key="cut", by="test")
    for turns in (1_000, 100):
        append(session.id, [ActionDraft(kind="message", role="user", output="0" * 100)] * turns)
    return {form: api.get("/sessions/cut/transcript", **{"as": form}).streaming_content for form in FORMS}


def remaining(pieces: Iterator[bytes], why: type[Exception]) -> bytes:
    """Return everything sent until it breaks off."""
    found = list[bytes]()
    with pytest.raises(why):
        found.extend(pieces)
    return b"".join(found)


def test_a_transcript_of_a_session_deleted_meanwhile_says_that_it_is_incomplete(
    begun: dict[str, Iterator[bytes]],
) -> None:
    erase_session(Session.objects.get(key="cut"))
    for form, pieces in begun.items():
        received = remaining(pieces, Conflict)
        assert received.endswith(CUT_OFF)
        if form != "text":
            with pytest.raises(json.JSONDecodeError):
                json.loads(received)


def test_a_transcript_cut_off_by_the_database_ends_with_a_notice(begun: dict[str, Iterator[bytes]]) -> None:
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE tm_payload RENAME TO tm_hidden")
    assert remaining(begun["text"], DatabaseError).endswith(CUT_OFF)


def test_a_mark_for_one_turn_is_singular() -> None:
    assert (omission_mark(1), omission_mark(1_200)) == ("[1 turn left out]", "[1,200 turns left out]")
