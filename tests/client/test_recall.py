"""Recalling earlier sessions through `TimeMachine`."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.client.conftest import Served
from tests.memory.search.recorded import index
from timemachine.client.errors import ClientError


def test_a_conversation_starts_with_context_from_earlier_sessions(served: Served) -> None:
    tm = served.machine()
    with tm.session("Pool", key="pool", agent="ada") as s:
        s.record("user", "The deploy fails: the connection pool is exhausted.", "error")
        s.record("agent", "Workers keep their connections: that is the root cause.", "breakthrough")
    index(served.project)
    with tm.session("Again", key="again", agent="ada") as s:
        s.record("user", "The connections are exhausted, as in the last session.")
        found = tm.context_for(
            "The connections are exhausted, as in the last session.", besides=s, agent="ada"
        )
        [time] = found.times
        assert time["session"] is not None
        assert time["session"]["key"] == "pool"
        assert {each["session"]["key"] for each in found.results} == {"pool"}
        assert found.text.startswith("From earlier sessions:")
        assert "Session Pool (pool), begun " in found.text
        assert "[2] agent, breakthrough: Workers keep their connections" in found.text
        assert found.document["tokens"]["kept"] <= 2_000
    repeated = asyncio.run(tm.acontext_for("Are connections exhausted?", budget=100))
    assert repeated.document["tokens"]["kept"] <= 100
    assert tm.context_for("Guten Tag", mode="text").text == ""


def test_a_future_date_in_a_first_message_does_not_filter_the_results(served: Served) -> None:
    tm = served.machine()
    with tm.session("Pool", key="pool") as s:
        s.record("user", "The connection pool is exhausted.", "error")
    index(served.project)
    found = tm.context_for("Book a flight on May 20th; the pool is exhausted")
    assert [each["session"]["key"] for each in found.results] == ["pool"]
    assert (found.times, found.times_left_out) == ([], False)
    assert tm.recall("the pool on May 20th")["items"][0]["results"] == []
    found = tm.context_for("Is the pool exhausted as two years ago?")
    assert [time["words"] for time in found.times] == ["two years ago"]
    assert found.times_left_out
    assert "The connection pool is exhausted." in found.text
    assert not tm.context_for("Zeppelins as two years ago?", mode="text").times_left_out


def test_all_or_some_sessions_are_searched(served: Served) -> None:
    tm = served.machine()
    for agent in ("ada", "grace"):
        with tm.session(f"Of {agent}", key=agent, agent=agent) as s:
            s.record("user", "The gateway timed out.", tags=["gate"])
            s.record("agent", "It was restarted.")
    index(served.project)
    both, restart = tm.recall("gateway", "who restarted it?", mode="text", around=1)["items"]
    assert {each["session"]["key"] for each in both["results"]} == {"ada", "grace"}
    assert {each["sequence"] for each in restart["results"]} == {2}
    assert [turn["sequence"] for turn in restart["results"][0]["around"]["items"]] == [1, 2]
    [own] = asyncio.run(tm.arecall("gateway", agent="grace", tags=["gate"]))["items"]
    assert {each["session"]["key"] for each in own["results"]} == {"grace"}
    with pytest.raises(TypeError, match="colour"):
        tm.recall("gateway", colour="red")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_without_a_json_form_is_refused_by_name(served: Served, number: float) -> None:
    tm = served.machine()
    with tm.session("Pool", key="pool") as s:
        s.record("user", "The connection pool is exhausted.")
    queries: list[dict[str, Any]] = [{"min_importance": number}, {"tags": ["x", number]}]
    wrongs: list[Callable[[], object]] = [partial(tm.weigh, "pool", 1, importance=number)]
    wrongs.extend(partial(tm.recall, "pool", **each) for each in queries)
    for wrong in wrongs:
        with pytest.raises(ClientError, match=f"(importance|tags)` cannot be {number}. Use a finite") as why:
            wrong()
        assert why.value.code == "not_finite"


def test_values_without_a_json_form_are_not_sent(served: Served) -> None:
    tm = served.machine()
    itself: list[Any] = []
    itself.append(itself)
    for parameters, code in (({"x": itself}, "not_json"), ({float("nan"): 1}, "not_finite")):
        with pytest.raises(ClientError) as why:
            tm.recall("pool", tags=[parameters])
        assert why.value.code == code


def test_a_similarity_query_for_a_session_needs_a_step(served: Served) -> None:
    tm = served.machine()
    with tm.session("Orders", key="orders-tuesday") as s:
        s.record("user", "TypeError: the cart is undefined", "error")
    s.flush()
    for session in ("orders-tuesday", s):
        with pytest.raises(TypeError, match=r"similar_to\('orders-tuesday', step\) needs the step"):
            tm.similar_to(session)
    assert tm.similar_to("orders-friday") == []
    tm.forget("orders-tuesday", reason="asked for")
    assert tm.similar_to("orders-tuesday") == []
    assert tm.similar_to("TypeError: no such session") == []
