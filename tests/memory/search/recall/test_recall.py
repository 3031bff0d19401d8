"""Recall across sessions over the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from tests.memory.search.recorded import index
from timemachine.core.accounts.models import Project
from timemachine.knowledge.embedding import table
from timemachine.recording.sessions.models import Session

__all__ = ["api", "stranger"]
pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def now() -> datetime:
    return datetime.now(UTC)


def message(text: Any, at: datetime | None = None, **fields: Any) -> dict[str, Any]:
    when = {} if at is None else {"started_at": at.isoformat()}
    return {"kind": "message", "role": "user", "output": text, **when, **fields}


def record(api: Program, key: str, *actions: dict[str, Any], **fields: Any) -> None:
    sent = {"name": f"Session {key}", "key": key, **fields}
    assert api.post("/sessions", sent).status_code == 201
    answer = api.post(f"/sessions/{key}/actions", {"actions": list(actions)})
    assert answer.status_code == 201, answer.json()


def recall(api: Program, *queries: str, **parameters: Any) -> Any:
    answer = api.post("/recall", {"queries": list(queries), **parameters})
    assert answer.status_code == 200, answer.content
    return answer.json()


def places(item: Any) -> list[tuple[str, int]]:
    return [(each["session"]["key"], each["sequence"]) for each in item["results"]]


def found(api: Program, query: str, **parameters: Any) -> list[tuple[str, int]]:
    return places(recall(api, query, **parameters)["items"][0])


def test_a_question_returns_turns_with_their_session_and_step(
    api: Program, last_session_time: datetime
) -> None:
    document = recall(api, "why were the connections exhausted?")
    [item] = document["items"]
    assert {("pool", 1), ("pool", 4), ("pool", 5)} <= set(places(item))
    assert item["looked_for"] == "why were the connections exhausted?"
    assert (item["times"], item["ranked_by"]) == ([], "hybrid")
    best = item["results"][0]
    session = Session.objects.get(key="pool")
    assert best["address"] == f"/sessions/{session.id}/?step={best['sequence']}"
    assert best["session"]["name"] == "Session pool"
    assert best["session"]["turns"] == 5
    assert best["found_by"] == ["words", "meaning"]
    assert best["passage"]["text"]
    first = next(each for each in item["results"] if each["sequence"] == 1)
    assert (first["significance"], first["importance"], first["role"]) == ("error", 0.8, "user")
    assert document["not_indexed"] == 0
    assert document["embedding_model"].startswith("wordllama")
    assert "text" not in document


def test_a_turn_need_not_contain_all_words_and_rare_ones_count_most(api: Program, project: Project) -> None:
    record(
        api,
        "many",
        *(message(f"the worker did job {n}") for n in range(30)),
        message("the mutex of a worker"),
    )
    index(project)
    assert found(api, "did a worker wait for the mutex in the night?", mode="text")[0] == ("many", 31)


def test_an_identifier_is_matched_exactly(api: Program, project: Project) -> None:
    record(api, "names", message("It failed at parser.js:42."), message("It failed at parser.js:421."))
    index(project)
    best = recall(api, "what was wrong at parser.js:42 ?", mode="text")["items"][0]["results"][0]
    assert best["sequence"] == 1
    assert [best["passage"]["text"][a:b] for a, b in best["passage"]["marks"]] == [
        "failed at parser.js:42"
    ] or any("parser.js:42" in best["passage"]["text"][a:b] for a, b in best["passage"]["marks"])


def test_several_queries_are_answered_separately(api: Program, last_session_time: datetime) -> None:
    one, two = recall(api, "connection pool", "how high is the button")["items"]
    assert {key for key, _ in places(one)} == {"pool"}
    assert places(two)[0] == ("style", 2)
    assert (one["query"], two["query"]) == ("connection pool", "how high is the button")


def test_time_words_restrict_the_turns_and_are_reported(api: Program, last_session_time: datetime) -> None:
    document = recall(api, "what about the button or the connection yesterday?")
    [item] = document["items"]
    assert {key for key, _ in places(item)} == {"style"}
    assert item["looked_for"] == "what about the button or the connection ?"
    [time] = item["times"]
    yesterday = (now() - DAY).date().isoformat()
    assert (time["words"], time["from"], time["until"]) == (
        "yesterday",
        f"{yesterday}T00:00:00Z",
        f"{now().date().isoformat()}T00:00:00Z",
    )
    assert item["query"][time["start"] : time["end"]] == "yesterday"
    assert (time["session"], time["previous_session"]) == (None, False)
    assert {key for key, _ in found(api, "button or connection before yesterday")} == {"pool"}
    assert found(api, "button or connection in 2019") == []


def test_time_words_can_be_ignored_on_request(api: Program, last_session_time: datetime) -> None:
    [item] = recall(api, "the connection yesterday", time_words=False)["items"]
    assert (item["times"], item["looked_for"]) == ([], "the connection yesterday")
    assert {key for key, _ in places(item)} >= {"pool"}


def test_days_are_those_of_the_given_time_zone(api: Program, last_session_time: datetime) -> None:
    document = recall(api, "button yesterday", time_zone="Pacific/Kiritimati")  # UTC+14
    [time] = document["items"][0]["times"]
    assert time["from"].endswith("T10:00:00Z")
    assert document["time_zone"] == "Pacific/Kiritimati"


def test_the_last_session_is_the_one_before_the_asking_session(
    api: Program, last_session_time: datetime
) -> None:
    [item] = recall(api, "which button was it in the last session?", besides="newest")["items"]
    assert {key for key, _ in places(item)} == {"style"}
    [time] = item["times"]
    assert (time["words"], time["session"]["key"]) == ("in the last session", "style")
    assert (time["from"] is not None, time["until"]) == (True, None)
    [item] = recall(api, "connection in our last meeting", agent="ada", besides="newest")["items"]
    assert item["times"][0]["session"]["key"] == "pool"
    [item] = recall(api, "weather last session")["items"]
    assert places(item) == [("newest", 1)]
    [item] = recall(api, "connection last session", user="bob", besides="newest")["items"]
    assert (item["times"][0]["session"], item["results"]) == (None, [])
    assert found(api, "weather last session", session="pool") == []


def test_a_long_s_in_a_question_is_handled(api: Program, last_session_time: datetime) -> None:
    [item] = recall(api, "button in the laſt ſix sessions")["items"]
    assert item["times"][0]["words"] == "in the laſt ſix sessions"
    assert ("style", 1) in places(item)


def test_an_invalid_time_expression_is_reported_with_the_reason(
    api: Program, last_session_time: datetime
) -> None:
    [item] = recall(api, "the connection on 31 February, or next Friday")["items"]
    assert (item["times"], item["looked_for"]) == ([], "the connection on 31 February, or next Friday")
    assert item["unread"] == [
        {"words": "on 31 February", "start": 15, "end": 29, "why": "this day does not exist"},
        {"words": "next Friday", "start": 34, "end": 45, "why": "it is in the future"},
    ]
    assert {key for key, _ in places(item)} >= {"pool"}
    assert recall(api, "the connection on 31 February", time_words=False)["items"][0]["unread"] == []


def test_without_a_subject_the_most_important_turns_are_returned(
    api: Program, last_session_time: datetime
) -> None:
    [item] = recall(api, "What did we figure out before yesterday?", limit=2)["items"]
    assert (item["looked_for"], item["ranked_by"]) == ("", "importance")
    assert places(item) == [("pool", 4), ("pool", 5)]
    assert item["results"][0]["importance"] == 0.97
    assert item["results"][0]["found_by"] == []
    assert found(api, "what did we decide?", agent="grace")[0] == ("style", 2)
    assert found(api, "what happened last session", besides="newest")[0] == ("style", 2)
    assert ("style", 1) not in found(api, "what did we say", besides="style")


@pytest.mark.parametrize("mode", ["hybrid", "text", "semantic"])
def test_filters_restrict_the_turns(api: Program, project: Project, mode: str) -> None:
    record(
        api,
        "one",
        message("gateway one", significance="decision", agent="eve"),
        message("gateway two", tags=["cause"], importance=0.99),
        {"kind": "tool_call", "tool": "gateway"},
        agent="ada",
        user="ann",
        tags=["backend"],
    )
    record(api, "two", message("gateway three", significance="solution"), agent="ada", user="bob")
    index(project)

    def narrowed(**parameters: Any) -> set[tuple[str, int]]:
        return set(found(api, "gateway", mode=mode, **parameters))

    everything = {("one", 1), ("one", 2), ("one", 3), ("two", 1)}
    assert narrowed() == everything
    assert narrowed(agent="ada") == {("one", 2), ("one", 3), ("two", 1)}
    assert narrowed(agent="eve") == {("one", 1)}
    assert narrowed(user="bob") == narrowed(user="bob", agent="ada") == {("two", 1)}
    assert narrowed(tags=["cause"]) == {("one", 2)}
    assert narrowed(tags=["backend", "none"]) == {each for each in everything if each[0] == "one"}
    assert narrowed(kinds=["tool_call"]) == {("one", 3)}
    assert narrowed(kinds=["tool_call", "message"]) == everything
    assert narrowed(significances=["decision", "solution"]) == {("one", 1), ("two", 1)}
    assert narrowed(min_importance=0.92) == {("one", 1), ("one", 2), ("two", 1)}
    assert narrowed(min_importance=0.95, user="ann") == {("one", 2)}
    assert narrowed(session="two") == narrowed(besides="one") == {("two", 1)}
    assert narrowed(since="2001-01-01", until="2999-01-01") == everything
    assert narrowed(until="2001-01-01") == narrowed(since="2999-01-01") == narrowed(agent="no\x00ne") == set()
    assert len(found(api, "gateway", mode=mode, limit=1)) == 1


def test_the_current_significance_counts(api: Program, last_session_time: datetime) -> None:
    assert api.patch("/sessions/pool/actions/2", {"significance": "decision"}).status_code == 200
    [item] = recall(api, "perhaps the database is slow", significances=["decision"], session="pool")["items"]
    [result] = item["results"]
    assert (result["sequence"], result["significance"], result["importance"]) == (2, "decision", 0.92)
    assert found(api, "the database", min_importance=0.9, session="pool", mode="text") == [("pool", 2)]


def test_surrounding_turns_are_listed_in_order_with_gaps_marked(
    api: Program, last_session_time: datetime
) -> None:
    [item] = recall(api, "log of slow queries", around=1, limit=1)["items"]
    [result] = item["results"]
    assert result["sequence"] == 3
    around = result["around"]
    assert [(each["sequence"], each["left_out_before"]) for each in around["items"]] == [
        (2, 1),
        (3, 0),
        (4, 0),
    ]
    assert around["left_out_after"] == 1
    assert around["items"][0]["output"] == "Perhaps the database is slow."
    [complete] = recall(api, "log of slow queries", around=20, limit=1)["items"][0]["results"]
    assert [each["sequence"] for each in complete["around"]["items"]] == [1, 2, 3, 4, 5]
    assert complete["around"]["left_out_after"] == 0


def test_a_very_long_surrounding_turn_is_truncated_to_its_beginning(api: Program, project: Project) -> None:
    long = {"said": "ü" * 100_000}
    failed = {"type": "Broken", "message": "e" * 50_000}
    record(api, "long", message(long), message("the mutex"), message("x" * 8_192), message("", error=failed))
    index(project)
    document = recall(api, "mutex", "a mutex", mode="text", around=2, limit=1, budget=3_000)
    for item in document["items"]:
        first, own, short, broken = item["results"][0]["around"]["items"]
        assert [each["cut"] for each in (first, own, short, broken)] == [True, False, False, True]
        assert first["output"] == '{"said":"' + "ü" * 4_091
        assert short["output"] == "x" * 8_192
        assert broken["error"] == {"type": "Broken", "message": "e" * 8_192}
    assert "[2] user: the mutex" in document["text"]


def test_a_turn_around_several_results_is_listed_with_each(api: Program, project: Project) -> None:
    record(api, "one", *(message(f"mutex {n}") for n in range(6)))
    record(api, "other", message("another mutex"))
    index(project)
    [item] = recall(api, "mutex", mode="text", around=1)["items"]
    around = {(each["session"]["key"], each["sequence"]): each["around"]["items"] for each in item["results"]}
    assert len(around) == 7
    assert [each["output"] for each in around["one", 3]] == ["mutex 1", "mutex 2", "mutex 3"]
    assert [each["output"] for each in around["one", 4]] == ["mutex 2", "mutex 3", "mutex 4"]
    assert [each["sequence"] for each in around["one", 6]] == [5, 6]
    assert [each["output"] for each in around["other", 1]] == ["another mutex"]


@pytest.mark.parametrize(
    "query", ["po\x00ol pool", "pool \ud800 x", "\x00", "the po\uffffol pool today", "\udfff"]
)
@pytest.mark.parametrize("mode", ["hybrid", "text", "semantic"])
def test_a_question_with_characters_postgres_cannot_store_is_answered(
    api: Program, last_session_time: datetime, query: str, mode: str
) -> None:
    [item] = recall(api, query, mode=mode, budget=500)["items"]
    assert item["query"] == query
    if "pool" in query and mode == "text":
        assert ("pool", 1) in places(item) or item["times"]
    assert [query[time["start"] : time["end"]] for time in item["times"]] == [
        time["words"] for time in item["times"]
    ]


def test_turns_of_another_project_are_never_returned(
    api: Program, stranger: Program, project: Project, other_project: Project
) -> None:
    record(api, "shared-key", message("our secret gateway"), user="ann", agent="ada")
    record(stranger, "shared-key", message("their secret gateway"), user="ann", agent="ada")
    record(stranger, "theirs", message("another gateway of theirs"), user="ann", agent="ada")
    index(project)
    index(other_project)
    for mode in ("hybrid", "text", "semantic"):
        for parameters in ({}, {"agent": "ada"}, {"user": "ann"}, {"session": "shared-key"}, {"around": 5}):
            document = recall(
                api,
                "secret gateway",
                "gateway last session",
                "what happened today",
                mode=mode,
                budget=500,
                **parameters,
            )
            assert all(places(item) == [("shared-key", 1)] for item in document["items"])
            assert "their" not in document["text"]
    mine = Session.objects.get(project=project)
    assert recall(api, "gateway last session")["items"][0]["times"][0]["session"]["id"] == str(mine.id)
    other_session = str(Session.objects.get(key="theirs").id)
    for field in ("session", "besides"):
        answer = api.post("/recall", {"queries": ["gateway"], field: other_session})
        assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, "queries"),
        ({"queries": []}, "queries"),
        ({"queries": [" "]}, "queries"),
        ({"queries": ["x"] * 21}, "queries"),
        ({"queries": ["x" * 16_385]}, "queries"),
        ({"queries": ["x"], "query": "y"}, "query"),
        ({"queries": ["x"], "kinds": ["dance"]}, "kinds"),
        ({"queries": ["x"], "significances": ["huge"]}, "significances"),
        ({"queries": ["x"], "mode": "fuzzy"}, "mode"),
        ({"queries": ["x"], "around": 21}, "around"),
        ({"queries": ["x"] * 3, "around": 20, "limit": 50}, "6,150 turns; the limit is 1,000"),
        ({"queries": ["x"], "around": 10, "limit": 48}, "1,008 turns"),
        ({"queries": ["x"], "limit": 0}, "limit"),
        ({"queries": ["x"], "budget": 0}, "budget"),
        ({"queries": ["x"], "min_importance": 2}, "min_importance"),
        ({"queries": ["x"], "time_zone": "Mars/Olympus"}, "time zone"),
        ({"queries": ["x"], "time_zone": "../etc"}, "time zone"),
        ({"queries": ["x"], "since": "yesterday"}, "yesterday"),
        ({"queries": ["x"], "since": "2026-11-03", "until": "2026-11-02"}, "later than `until`"),
    ],
)
def test_an_invalid_parameter_is_refused_by_name(api: Program, body: dict[str, Any], names: str) -> None:
    answer = api.post("/recall", body)
    assert answer.status_code == 422, answer.content
    assert names in answer.content.decode()


def test_without_the_model_words_are_still_found_and_a_notice_is_shown(
    api: Program, last_session_time: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    from timemachine.core.pure.errors import Unavailable

    def missing(*_: object) -> list[float]:
        raise Unavailable("The model is missing.", code="no_embeddings")

    monkeypatch.setattr(table, "query_vector", missing)
    document = recall(api, "connection")
    assert document["no_embeddings"] == "The model is missing."
    assert document["embedding_model"] is None
    assert {key for key, _ in places(document["items"][0])} == {"pool"}
    assert api.post("/recall", {"queries": ["x"], "mode": "semantic"}).json()["code"] == "no_embeddings"


def test_if_every_word_is_common_a_turn_must_contain_them_all(
    api: Program, last_session_time: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.memory.search.recall.retrievers.MOST_COUNTED", 1)
    assert found(api, "connection pool", mode="text") == [("pool", 1)]
    assert set(found(api, "connection", mode="text")) == {("pool", 1), ("pool", 4), ("pool", 5)}


def test_with_many_words_the_rarest_are_looked_up(
    api: Program, last_session_time: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.memory.search.recall.retrievers.MOST_LOOKED_UP", 1)
    assert found(api, "connection pool", mode="text") == [("pool", 1)]
    assert found(api, "the mutex", mode="text") == []
