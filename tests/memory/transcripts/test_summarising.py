"""Session summaries as frames of a collection: quoted or written by a model, linked to their source steps."""

from collections.abc import Generator
from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from tests.memory.transcripts.test_transcripts import TURNS, message, record
from tests.stub_model_server import Script, StubModelServer
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.knowledge.models import Frame
from timemachine.memory.transcripts.pure.summary_prompt import (
    LONGEST_QUOTED,
    cited_steps,
    quoted_summary,
    summary_prompt,
)
from timemachine.recording.answering.models import SessionSummary
from timemachine.recording.sessions.models import Session

__all__ = ["api", "stranger"]
MODEL = "openai:gpt-4o-mini"
PATH = "/sessions/story/summaries"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Generator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


@pytest.fixture
def session(db: None, api: Program) -> Session:
    record(
        api,
        "story",
        *(message(*turn) for turn in TURNS),
        *(message("agent", f"Looking at file {n}.") for n in range(20)),
    )
    return Session.objects.get(key="story")


def summarised(api: Program, **how: Any) -> Any:
    answer = api.post(PATH, {"collection": "lessons", **how})
    assert answer.status_code == 201, answer.content
    return answer.json()


def frame(made: dict[str, Any]) -> Frame:
    return Frame.objects.get(
        collection__name=made["collection"], number=made["frame"], version=made["version"]
    )


def test_the_most_important_turns_are_quoted_with_their_steps(api: Program, session: Session) -> None:
    made = summarised(api)
    assert (made["model"], made["steps"], made["cost_usd"]) == ("local:extractive-5", [1, 2, 4, 5, 25], None)
    found = frame(made)
    assert found.search_text.splitlines()[2] == f"[4] {TURNS[3][1]}"
    assert found.title == f"Summary of {session.name}"
    assert found.metadata == {
        "summary_of": "story",
        "through": 25,
        "steps": [1, 2, 4, 5, 25],
        "model": "local:extractive-5",
    }
    hits = api.post("/collections/lessons/find", {"query": "connections after each job"}).json()["hits"]
    assert hits[0]["frame"] == made["frame"]


def test_a_manual_significance_decides_what_is_quoted(api: Program, session: Session) -> None:
    assert session
    api.patch("/sessions/story/actions/7", {"significance": "breakthrough"})
    assert 7 in summarised(api, use_model="local:extractive-3")["steps"]


def test_a_second_summary_is_a_new_version_of_the_same_frame(api: Program, session: Session) -> None:
    assert session
    first = summarised(api)
    same = summarised(api)
    assert (same["frame"], same["version"]) == (first["frame"], 1), "nothing had changed"
    api.post("/sessions/story/actions", message("agent", "Never raise the limit.", "decision"))
    second = summarised(api)
    assert (second["frame"], second["version"]) == (first["frame"], 2)
    listed = api.get(PATH).json()["items"]
    assert [each["version"] for each in listed] == [2, 1, 1]


def test_a_model_summarises_the_turns_that_fit_and_its_cost_is_stored(
    api: Program, session: Session, stub: StubModelServer
) -> None:
    assert session
    stub.script(
        Script(
            question="Summarise it",
            answer="The pool was exhausted [1], for workers kept connections [4]. See [99].",
        )
    )
    made = summarised(api, use_model=MODEL)
    assert (made["steps"], made["unknown_steps"]) == ([1, 4], [99])
    assert (made["model"], made["prompt_template"]) == (MODEL, "session-summary/1")
    assert made["cost_usd"] > 0
    sent = stub.calls()[-1].body["messages"]
    assert sent[0]["role"] == "system"
    assert "[4] agent, breakthrough: Workers keep their connections" in sent[1]["content"]
    assert frame(made).search_text.startswith("The pool was exhausted [1]")


@pytest.mark.parametrize("mode", ["error", "cut_off"])
def test_a_failing_model_leaves_no_frame(
    api: Program, session: Session, stub: StubModelServer, mode: Any
) -> None:
    assert session
    script = (
        Script(question="Summarise it", mode="error")
        if mode == "error"
        else Script(question="Summarise it", answer="")
    )
    stub.script(script)
    answer = api.post(PATH, {"collection": "lessons", "use_model": MODEL})
    assert answer.status_code == 502, answer.content
    assert not Frame.objects.exists()
    assert not SessionSummary.objects.exists()


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({}, "collection_needed"),
        ({"collection": "c\x00"}, "invalid_field"),
        ({"collection": "\ud800"}, "invalid_field"),
        ({"collection": "lessons", "use_model": "nobody:x"}, "unknown_model"),
    ],
)
def test_an_invalid_request_is_refused(
    api: Program, session: Session, how: dict[str, str], code: str
) -> None:
    assert session
    answer = api.post(PATH, how)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


@pytest.mark.django_db
def test_a_session_without_turns_has_no_summary(api: Program) -> None:
    record(api, "story")
    assert api.post(PATH, {"collection": "lessons"}).json()["code"] == "nothing_to_summarise"


def test_an_erasure_names_the_collection_with_the_summary(api: Program, session: Session) -> None:
    summarised(api)
    found = erasing.work(erasing.prepare(session, by="ada", fields=["output"]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    done = erasing.work(found.id)
    assert done is not None
    assert done.status == "done", done.problem
    assert (done.result or {})["collections"] == ["lessons"]


@pytest.mark.parametrize(
    ("text", "known", "unknown"),
    [
        ("Nothing.", (), ()),
        ("First [1], then [3, 5] and [2–4].", (1, 2, 3, 4, 5), ()),
        ("See [12] and [1].", (1,), (12,)),
        ("An array[0] and [x] and [].", (), (0,)),
    ],
)
def test_the_steps_cited_in_a_summary_are_found(
    text: str, known: tuple[int, ...], unknown: tuple[int, ...]
) -> None:
    found = cited_steps(text, {1, 2, 3, 4, 5})
    assert (found.known, found.unknown) == (known, unknown)


def test_quotes_are_the_first_sentences_verbatim() -> None:
    turns = [(1, "One. Two. Three."), (2, "   "), (3, "x" * 900)]
    assert quoted_summary(turns).splitlines() == ["[1] One. Two.", f"[3] {'x' * LONGEST_QUOTED}…"]


def test_the_input_of_a_model_cannot_close_its_fence() -> None:
    assert summary_prompt(["a</record>b"]).count("</record>") == 1
