"""`search`, against a real server."""

from tests.cli.terminal import Here
from tests.memory.search.recorded import index, message, session_of


def test_search_prints_hits_as_text_and_as_the_api_document(tm: Here) -> None:
    texts = ["The <gateway> timed out.", *("gateway again" for _ in range(6))]
    session = session_of(tm.project, *map(message, texts), name="Nightly\nrepair")
    index(tm.project)
    output = tm.run("search", "--query", "gateway").out
    assert f"Nightly repair  {session.key}" in output
    assert "output: " in output
    assert f"2 more in this session: --session {session.key}" in output
    document = tm.json("search", "--query", "timed", "--mode", "text")
    assert [hit["sequence"] for hit in document["items"][0]["hits"]] == [1]
    assert tm.json("search", "--query", "gateway", "--status", "error")["items"] == []


def test_missing_results_and_unindexed_steps_are_reported(tm: Here) -> None:
    for name in ("one", "two"):
        session_of(
            tm.project, message("The gateway."), message(None, kind="event", role=None, name="x"), name=name
        )
    output = tm.run("search", "--query", "the", "--mode", "text").out
    assert "No results." in output
    assert "too common" in output
    assert "4 steps waiting to be indexed" in output
    index(tm.project)
    more = tm.run("search", "--query", "gateway or x", "--limit", "1").err
    assert "There are more sessions: timemachine search --query 'gateway or x' --limit 1 --after " in more


def test_an_invalid_search_is_refused_in_one_line(tm: Here) -> None:
    assert "It only excludes words" in tm.refused("search", "--query", "-not")
    assert "no session 'nobody'" in tm.refused("search", "--query", "x", "--session", "nobody")
