"""`recall`, against a real server."""

from pathlib import Path

import pytest

from tests.cli.terminal import Here
from tests.memory.search.recorded import index, message, session_of
from timemachine.cli.commands.recall import local_zone


def test_recall_prints_turns_as_text_and_as_the_api_document(tm: Here) -> None:
    pool = session_of(
        tm.project,
        message("The connection pool\nis exhausted.", significance="error"),
        message("Close the <connection>.", significance="solution", tags=["fix"]),
        name="Pool\nrepair",
        agent="ada",
    )
    session_of(tm.project, message("The button is too small."), name="Style")
    index(tm.project)
    output = tm.run("recall", "--query", "why was the connection exhausted?").out
    assert f"Pool repair  {pool.key}  step 1  " in output
    assert "message  The connection pool is exhausted.  (error, text " in output
    assert "output: The connection pool is exhausted." in output
    assert "Style" not in output
    document = tm.json(
        "recall", "--query", "connection", "--query", "button", "--mode", "text", "--limit", "1"
    )
    assert [len(item["results"]) for item in document["items"]] == [1, 1]
    two = tm.run("recall", "--query", "connection", "--query", "mutex", "--mode", "text").out
    assert "“connection”" in two
    assert "“mutex”\nNo results." in two
    for option, value in (("--tag", "fix"), ("--significance", "solution"), ("--min-importance", "0.9")):
        [item] = tm.json("recall", "--query", "connection", option, value)["items"]
        assert [each["sequence"] for each in item["results"]] == [2]
    assert (
        tm.json("recall", "--query", "connection", "--kind", "ask", "--agent", "ada")["items"][0]["results"]
        == []
    )


def test_the_reading_of_time_expressions_is_shown(tm: Here) -> None:
    session = session_of(tm.project, message("The gateway timed out."), name="Nightly")
    index(tm.project)
    output = tm.run("recall", "--query", "the gateway in May 2020", "--time-zone", "UTC").out
    assert (
        "“in May 2020” is understood as 2020-05-01 00:00 UTC to 2020-06-01 00:00 UTC. Use --no-time-words to turn this off."
        in output
    )
    assert (
        "No results. Nothing was recorded in that time: 2020-05-01 00:00 to 2020-06-01 00:00 (UTC)." in output
    )
    for zone, named in (("Etc/UTC", "UTC"), ("Zulu", "UTC"), ("Europe/Berlin", "Europe/Berlin")):
        output = tm.run("recall", "--query", "the gateway in May 2020", "--time-zone", zone).out
        assert f":00 ({named})." in output
    assert (
        "in May 2020” is understood"
        not in tm.run("recall", "--query", "the gateway in May 2020", "--no-time-words").out
    )
    assert (
        "is understood as since 2020-05-01 00:00 UTC"
        in tm.run("recall", "--query", "gateway since May 2020", "--time-zone", "UTC").out
    )
    assert (
        "is understood as before 2020-05-01"
        in tm.run("recall", "--query", "gateway before May 2020", "--time-zone", "UTC").out
    )
    output = tm.run("recall", "--query", "what happened in the last session?").out
    assert f"“in the last session” is understood as the session Nightly ({session.key})" in output
    assert "showing the most important steps" in output
    assert "(no importance)" in output
    for number in range(6):
        session_of(tm.project, message("gateway"), name=f"Run {number}")
    output = tm.run("recall", "--query", "the gateway in the last two sessions").out
    assert "“in the last two sessions” is understood as the sessions Run 5 (" in output
    output = tm.run("recall", "--query", "the gateway before the last 7 sessions, in 2027").out
    assert "is understood as the time before the sessions Run 5 (" in output
    assert ") and 2 more. Use --no-time-words" in output
    assert "“in 2027” is not understood as a time (it is in the future); searched as words." in output
    output = tm.run("recall", "--query", "gateway last session", "--besides", session.key).out
    assert "the previous session, but none was found" in output


def test_recall_prints_surrounding_turns_and_text_for_a_prompt(tm: Here) -> None:
    session_of(
        tm.project, *(message(f"step of {word}") for word in ("wood", "iron", "glass", "wool")), name="Stuff"
    )
    index(tm.project)
    output = tm.run("recall", "--query", "iron", "--mode", "text", "--around", "1").out
    assert (
        "      1  user: step of wood\n      2  user: step of iron\n      3  user: step of glass\n" in output
    )
    assert "… 1 step left out" in output
    output = tm.run("recall", "--query", "glass", "--mode", "text", "--around", "1", "--limit", "1").out
    assert output.index("… 1 step left out") < output.index("iron")
    text = tm.run("recall", "--query", "iron", "--mode", "text", "--budget", "200").out
    assert text.startswith("From earlier sessions:\n\nSession Stuff (")
    assert "[2] user: step of iron" in text


def test_values_around_a_result_that_are_not_text_are_shown_as_json(tm: Here) -> None:
    session_of(
        tm.project,
        message({"exit_code": 1, "out": None, "who": "Jürgen"}),
        message("the mutex"),
        message(0),
        name="Stuff",
    )
    index(tm.project)
    output = tm.run("recall", "--query", "mutex", "--mode", "text", "--around", "2").out
    assert '1  user: {"exit_code": 1, "out": null, "who": "Jürgen"}\n' in output
    assert "      3  user: 0\n" in output


def test_an_empty_text_distinguishes_no_results_from_too_small_a_budget(tm: Here) -> None:
    session_of(tm.project, message("step of iron"), name="Stuff")
    index(tm.project)
    ask = ("recall", "--query", "iron", "--mode", "text", "--budget")
    least = tm.json(*ask, "1")["tokens"]["least"]
    output = tm.run(*ask, "1").out
    assert output.startswith(f"1 turn found, but none fits in 1 token. Use --budget {least} or more: ")
    assert "[1] user: step of iron" in tm.run(*ask, str(least)).out
    no_results = tm.run("recall", "--query", "zeppelin", "--mode", "text", "--budget", "1").out
    assert no_results.startswith("No results. No step")


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e400", "2"])
def test_an_importance_that_is_not_a_finite_number_is_wrong_usage(tm: Here, number: str) -> None:
    session = session_of(tm.project, message("The gateway."))
    weighing = ("session", "weigh", session.key, "--step", "1", f"--importance={number}")
    for words in (
        weighing,
        ("recall", "--query", "x", f"--min-importance={number}"),
        ("session", "transcript", session.key, f"--min-importance={number}"),
    ):
        ran = tm.run(*words)
        assert ran.code == 2, ran
        assert "0" in ran.err
        assert "1" in ran.err
        assert "fault" not in ran.err


def test_unindexed_turns_and_invalid_queries_are_reported(tm: Here) -> None:
    session_of(tm.project, message("The gateway."))
    assert "1 step waiting to be indexed" in tm.run("recall", "--query", "gateway").out
    assert "no session 'nobody'" in tm.refused("recall", "--query", "x", "--session", "nobody")
    assert "Unknown time zone 'Mars'" in tm.refused("recall", "--query", "x", "--time-zone", "Mars")


def test_the_local_time_zone_is_read_from_the_localtime_link(tmp_path: Path) -> None:
    zone = tmp_path / "zoneinfo" / "Europe" / "Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    link = tmp_path / "localtime"
    link.symlink_to(zone)
    assert local_zone(link) == "Europe/Berlin"
    assert local_zone(tmp_path / "none") is None


def test_a_deleted_turn_around_a_result_is_marked_as_deleted(tm: Here) -> None:
    session_of(tm.project, message("step of iron"), message("step of glass"), name="Stuff", key="s1")
    tm.run("session", "delete", "s1", "--step", "1", "--reason", "asked for", "--yes")
    index(tm.project)
    output = tm.run("recall", "--query", "glass", "--mode", "text", "--around", "1").out
    assert "message: [deleted 20" in output or "user: [deleted 20" in output
    assert ": asked for]" in output
    assert "[erased" not in output
