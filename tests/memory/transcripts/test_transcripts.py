"""A session told again, through the front door."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, connection

from tests.api.conftest import Program, api, stranger
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
STORY = (
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


def said(role: str, text: str, significance: str | None = None, **more: Any) -> dict[str, Any]:
    return {"kind": "message", "role": role, "output": text, "significance": significance, **more}


@pytest.fixture
def story(api: Program) -> str:
    record(api, "story", *(said(*turn) for turn in STORY))
    return "story"


def told(api: Program, session: str, **asked: Any) -> Any:
    answer = api.get(f"/sessions/{session}/transcript", **asked)
    assert answer.status_code == 200, answer.content
    body = b"".join(answer.streaming_content).decode()
    return body if asked.get("as") == "text" else json.loads(body)


def sequences(found: Any) -> list[int]:
    return [each["sequence"] for each in found["items"]]


def test_a_session_is_told_whole_and_in_order(api: Program, story: str) -> None:
    found = told(api, story)
    assert [(each["role"], each["output"], each["significance"]) for each in found["items"]] == list(STORY)
    assert sequences(found) == [1, 2, 3, 4, 5]
    assert [each["importance"] for each in found["items"]] == [0.80, 0.75, None, 0.97, 0.95]
    assert found["turns"] == {"kept": 5, "recorded": 5}
    assert found["tokens"]["kept"] == found["tokens"]["recorded"] > 40
    assert (found["tokens"]["tokenizer"], found["tokens"]["estimated"]) == (TOKENIZER_NAME, False)


def test_only_the_decisions_and_what_they_led_to_are_told_with_marks_for_the_rest(
    api: Program, story: str
) -> None:
    asked = {"significance": "solution,breakthrough"}
    found = told(api, story, **asked)
    assert (sequences(found), found["turns"]) == ([4, 5], {"kept": 2, "recorded": 5})
    assert ([each["left_out_before"] for each in found["items"]], found["left_out_after"]) == ([3, 0], 0)
    assert found["tokens"]["kept"] < found["tokens"]["recorded"]
    text = told(api, story, **asked, **{"as": "text"})
    assert text.split("\n\n")[1:-1] == [
        "[3 turns left out]",
        f"[4] agent, breakthrough: {STORY[3][1]}",
        f"[5] agent, solution: {STORY[4][1]}",
    ]
    messages = told(api, story, **asked, **{"as": "messages"})["messages"]
    assert messages[0] == {"role": "user", "content": "[3 turns left out]"}
    assert messages[2] == {"role": "assistant", "content": STORY[4][1]}


@pytest.mark.parametrize(
    ("asked", "expected"),
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
def test_what_is_asked_for_is_told(
    api: Program, story: str, asked: dict[str, Any], expected: list[int]
) -> None:
    found = told(api, story, **asked)
    assert sequences(found) == expected
    assert found["turns"] == {"kept": len(expected), "recorded": 5}
    missing = [each["left_out_before"] for each in found["items"]]
    assert sum(missing) + found["left_out_after"] == 5 - len(expected)


def test_a_budget_is_filled_by_importance_and_told_in_order(api: Program) -> None:
    weights = [0.9, 0.1, 0.5, 0.99, 0.2, 0.7]
    record(api, "six", *(said("agent", f"Turn of weight {weight}.", importance=weight) for weight in weights))
    whole = told(api, "six")["tokens"]["recorded"]
    assert sequences(told(api, "six", budget=whole)) == [1, 2, 3, 4, 5, 6]
    mark = count_tokens(paragraph(omission_mark(6)))
    of_best = told(api, "six", min_importance=0.95)["tokens"]["kept"]
    for budget in range(1, whole, 11):
        answer = told(api, "six", budget=budget)
        found, tokens = sequences(answer), answer["tokens"]
        assert found == sorted(set(found))
        assert 4 in found or budget < of_best + 2 * mark
        text = told(api, "six", budget=budget, **{"as": "text"})
        assert not found or count_tokens(text.partition("\n\n")[2]) <= budget
        assert not found or tokens["kept"] + tokens["marks"] <= budget
        said_first = f"{tokens['kept']} of {whole} tokens{(tokens['marks'] and f', {tokens["marks"]} more for marks') or ''} ("
        assert said_first in text.partition("\n\n")[0]


def test_what_was_deleted_has_no_tokens_of_its_own(api: Program, story: str, project: Project) -> None:
    before = told(api, story)["tokens"]
    gone = told(api, story, **{"as": "text"}).split("\n\n")[2]
    assert before["marks"] == 0
    assert api.delete_for(f"/sessions/{story}/actions/2", {"reason": "asked for"}).status_code == 200
    for _ in range(2):
        whole, text = told(api, story), told(api, story, **{"as": "text"})
        notice = text.split("\n\n")[2]
        left = before["recorded"] - count_tokens(paragraph(gone))
        assert "deleted" in notice
        assert (whole["tokens"]["kept"], whole["tokens"]["recorded"]) == (left, left)
        assert whole["tokens"]["marks"] == count_tokens(paragraph(notice))
        some = told(api, story, budget=10_000)["tokens"]
        assert (some["kept"], some["recorded"]) == (left, left)
        assert some["marks"] == count_tokens(paragraph(omission_mark(1)))
        while indexing.index_new_steps(project.id):
            pass


def test_tokens_are_those_that_a_worker_counted_or_counted_at_once_alike(
    api: Program, story: str, project: Project
) -> None:
    before = told(api, story)["tokens"]
    while indexing.index_new_steps(project.id):
        pass
    assert told(api, story)["tokens"] == before
    text = told(api, story, **{"as": "text"})
    assert before["recorded"] == sum(count_tokens(f"{each}\n\n") for each in text.split("\n\n")[1:-1])


def test_more_turns_than_a_page_has_are_told_whole_and_in_order(api: Program) -> None:
    turns = [
        said("agent" if number % 2 else "user", f"This is turn {number}.") for number in range(PAGE + 50)
    ]
    record(api, "long", *turns)
    found = told(api, "long")
    assert [turn["output"] for turn in found["items"]] == [turn["output"] for turn in turns]
    assert found["turns"] == {"kept": len(turns), "recorded": len(turns)}


def test_more_turns_than_are_counted_at_once_are_told_alike_counted_or_estimated(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "MOST_COUNTED", 20)
    record(api, "many", *(said("agent", f"This is turn {number}.") for number in range(25)))
    estimated = told(api, "many")
    while indexing.index_new_steps(project.id):
        pass
    found = told(api, "many")
    assert estimated["items"] == found["items"]
    assert found["turns"] == estimated["turns"] == {"kept": 25, "recorded": 25}
    assert (estimated["tokens"]["estimated"], found["tokens"]["estimated"]) == (True, False)


def test_a_long_turn_is_estimated_and_the_short_ones_beside_it_are_counted(
    api: Program, project: Project
) -> None:
    record(api, "wide", said("user", "word " * 20_000), said("agent", "Short."))
    before = told(api, "wide")["tokens"]
    while indexing.index_new_steps(project.id):
        pass
    assert told(api, "wide")["tokens"] == before
    assert before["estimated"] is True
    assert before["recorded"] == 100_016 // 4 + count_tokens("[2] agent: Short.\n\n")
    assert sequences(told(api, "wide", budget=20)) == [2]


def test_while_a_worker_counts_no_turn_is_counted_twice_or_not_at_all(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH", 10)
    record(api, "busy", *(said("agent", f"This is turn {number}.") for number in range(30)))
    session = Session.objects.get()
    whole = told(api, "busy")["tokens"]
    for through in (0, 10, 20):
        assert indexing.index_some(project.id, session.id, through) == 10
        assert told(api, "busy")["tokens"] == whole
        assert told(api, "busy", budget=10_000_000)["tokens"] == whole


def test_calls_tools_and_asks_are_told_as_words_and_as_a_chat(api: Program) -> None:
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
    text = told(api, "mixed", **{"as": "text"}).split("\n\n")[1:-1]
    assert text == [
        "[1] model openai:gpt-5: How warm is it?\n→ I look.",
        '[2] tool weather: {"city": "Ulm"}\n→ 21 °C',
        '[3] tool weather: {"city": "?"}\n! ValueError: no city',
        "[4] ask: And tomorrow?\n→ 19 °C",
        "[5] event heartbeat: ",
        "[6] tool: raw",
    ]
    messages = told(api, "mixed", **{"as": "messages"})["messages"]
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


def test_what_no_encoding_holds_is_told(api: Program) -> None:
    record(api, "odd", said("user", "lone \ud800 and \x00 zero"))
    assert told(api, "odd")["items"][0]["output"] == "lone \ud800 and \x00 zero"
    assert "lone ? and \x00 zero" in told(api, "odd", **{"as": "text"})


def test_more_than_memory_has_room_for_at_once_is_told_whole(api: Program) -> None:
    large = [letter * 6_000_000 for letter in "abc"]
    record(api, "large", *(said("user", text) for text in ("", *large, "", "the end")))
    assert [each["output"] for each in told(api, "large")["items"]] == ["", *large, "", "the end"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"significance": "important"}, "important"),
        ({"kind": "message,talk"}, "talk"),
        ({"as": "poem"}, "as"),
        ({"budget": 0}, "budget"),
        ({"min_importance": 2}, "min_importance"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_with_its_name(
    api: Program, story: str, asked: dict[str, Any], field: str
) -> None:
    answer = api.get(f"/sessions/{story}/transcript", **asked)
    assert (answer.status_code, field in answer.json()["message"]) == (422, True), answer.json()


def test_a_session_of_another_project_is_not_told(stranger: Program, story: str) -> None:
    assert stranger.get(f"/sessions/{story}/transcript").status_code == 404


@pytest.fixture
def begun(api: Program, project: Project) -> dict[str, Iterator[bytes]]:
    """A transcript in each form, of which the first piece was read, and not yet the last turns."""
    session = start_session(project, name="Cut", key="cut", by="test")
    for turns in (1_000, 100):
        append(session.id, [ActionDraft(kind="message", role="user", output="0" * 100)] * turns)
    return {form: api.get("/sessions/cut/transcript", **{"as": form}).streaming_content for form in FORMS}


def rest(pieces: Iterator[bytes], why: type[Exception]) -> bytes:
    """What still comes before it breaks off."""
    found = list[bytes]()
    with pytest.raises(why):
        found.extend(pieces)
    return b"".join(found)


def test_a_transcript_of_a_session_that_is_deleted_meanwhile_says_that_it_is_not_whole(
    begun: dict[str, Iterator[bytes]],
) -> None:
    erase_session(Session.objects.get(key="cut"))
    for form, pieces in begun.items():
        told = rest(pieces, Conflict)
        assert told.endswith(CUT_OFF)
        if form != "text":
            with pytest.raises(json.JSONDecodeError):
                json.loads(told)


def test_a_transcript_that_the_database_breaks_off_says_so(begun: dict[str, Iterator[bytes]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tm_payload RENAME TO tm_hidden")
    assert rest(begun["text"], DatabaseError).endswith(CUT_OFF)


def test_one_turn_is_one_turn() -> None:
    assert (omission_mark(1), omission_mark(1_200)) == ("[1 turn left out]", "[1,200 turns left out]")
