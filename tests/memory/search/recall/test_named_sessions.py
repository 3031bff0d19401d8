"""Sessions that a question names: the last two, the one before the last, this and that; and the time before and after one."""

from typing import Any

import pytest

from tests.api.conftest import Program, api
from tests.memory.search.recall.test_recall import DAY, found, message, now, places, recall, record
from tests.memory.search.recorded import index
from timemachine.core.accounts.models import Project

__all__ = ["api"]
pytestmark = pytest.mark.django_db


def test_the_last_session_and_the_one_before_it_are_searched(api: Program, project: Project) -> None:
    for number in (1, 2, 3, 4):
        record(api, f"s{number}", message(f"gateway {number}"))
        assert api.post(f"/sessions/s{number}/end", {}).status_code == 200
    record(api, "asks", message("hello"))
    index(project)

    def sessions(words: str, **filters: Any) -> tuple[list[str], set[str]]:
        [item] = recall(api, f"gateway {words}", besides="asks", mode="text", **filters)["items"]
        [time] = item["times"]
        assert time["session"] == next(iter(time["sessions"]), None)
        return [each["key"] for each in time["sessions"]], {key for key, _ in places(item)}

    assert sessions("in the last two sessions") == (["s4", "s3"], {"s4", "s3"})
    assert sessions("in the session before last") == (["s3"], {"s3"})
    assert sessions("before the last 2 sessions") == (["s4", "s3"], {"s1", "s2"})
    assert sessions("since the session before last") == (["s3"], {"s4"})
    assert sessions("in the last 200 meetings")[1] == {"s1", "s2", "s3", "s4"}
    assert sessions("in the last two sessions", session="s3") == (["s4", "s3"], {"s3"})
    assert sessions("in the last two sessions", session="s1") == (["s4", "s3"], set())
    assert sessions("in the last two sessions", user="nobody") == ([], set())
    empty = recall(api, "zeppelin in the last two sessions", besides="asks", kinds=["ask"])["items"][0]
    assert "in that time: the sessions Session s4, Session s3." in empty["nothing"]


def test_each_of_several_named_sessions_is_searched(api: Program, project: Project) -> None:
    for number in (1, 2, 3):
        record(api, f"s{number}", message(f"gateway {number}", significance="decision"))
    index(project)

    def sessions(question: str, **filters: Any) -> set[str]:
        return {key for key, _ in found(api, question, mode="text", **filters)}

    assert sessions("compare the last session with the session before last") == {"s3", "s2"}
    assert sessions("gateway in the last session or the session before last") == {"s3", "s2"}
    assert sessions("gateway in the last two sessions and the last session") == {"s3", "s2"}
    both = "gateway in the last session and the session before last"
    assert sessions(both, session="s2") == {"s2"}
    assert sessions(both, session="s1") == set()
    assert sessions(both, besides="s3") == {"s2", "s1"}
    assert sessions("gateway in the last session or the session before last, in 2019") == set()


def test_a_named_session_that_does_not_exist_is_not_reported(api: Program, project: Project) -> None:
    record(api, "only", message("gateway"))
    index(project)
    both = "gateway in the last session and the session before last"
    assert found(api, both) == [("only", 1)]
    [item] = recall(api, both, kinds=["ask"])["items"]
    assert item["nothing"].endswith("was recorded in that time: the session Session only.")
    [item] = recall(api, both, user="nobody")["items"]
    assert item["nothing"] == "There is no earlier session."


def test_the_time_before_and_after_the_last_session_is_searched(api: Program, project: Project) -> None:
    record(api, "old", message("gateway of old", now() - 2 * DAY))
    record(api, "last", message("gateway of the last"))
    assert api.post("/sessions/last/end", {}).status_code == 200
    record(api, "asks", message("hello"))
    index(project)
    for words, expected in (("before", {"old"}), ("in", {"last"}), ("since", set[str]())):
        [item] = recall(api, f"gateway {words} the last session", besides="asks", mode="text")["items"]
        assert {key for key, _ in places(item)} == expected, words
        [time] = item["times"]
        assert time["relation"] == {"before": "before", "in": "within", "since": "after"}[words]
        assert (time["from"] is None, time["until"] is None) == (words == "before", words == "since")
    assert found(api, "gateway before the last session", besides="asks", user="nobody") == []
