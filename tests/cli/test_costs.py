"""`costs`, against a real server."""

from tests.cli.terminal import Here
from tests.recording.usage.costs.recorded import two_sessions

DAYS = ("--since", "2026-11-20", "--until", "2026-11-21")


def lines(tm: Here, *words: str) -> list[str]:
    ran = tm.run("costs", *DAYS, *words)
    assert ran.code == 0, ran
    return [" ".join(line.split()) for line in ran.out.splitlines()]


def test_the_totals_come_first_and_then_the_models(tm: Here) -> None:
    two_sessions(tm.project)
    assert lines(tm) == [
        "days 2026-11-20 to 2026-11-21 (UTC)",
        "sessions 2",
        "calls 5 model calls, 3 tool calls",
        "tokens 48",
        "cost $0.42 + 1 call of unknown price",
        "unknown 1 call: no reason was recorded",
        "saved $0.05 by 1 cached answer",
        "replays $0, not included above",
        "",
        "model calls tokens cost p50 p95",
        "acme:large 2 24 $0.40 996 ms 2.0 s",
        "acme:small 2 12 $0.02 503 ms 503 ms",
        "acme:odd 1 12 1 call of unknown price not recorded not recorded",
    ]


def test_costs_by_tool_show_how_many_calls_failed(tm: Here) -> None:
    two_sessions(tm.project)
    assert lines(tm, "--by", "tool", "--agent", "coder")[-3:] == [
        "tool calls errors of calls p50 p95",
        "read 2 1 50.0% 20 ms 20 ms",
        "write 1 0 0.0% not recorded not recorded",
    ]


def test_without_recordings_there_is_nothing_to_list(tm: Here) -> None:
    assert lines(tm, "--tag", "none")[1:] == [
        "sessions 0",
        "calls 0 model calls, 0 tool calls",
        "tokens not recorded",
        "cost not recorded",
    ]


def test_json_output_is_the_api_document(tm: Here) -> None:
    two_sessions(tm.project)
    found = tm.json("costs", *DAYS, "--by", "day")
    assert [each["day"] for each in found["items"]] == ["2026-11-21", "2026-11-20"]
    assert found["next"] is None


def test_an_invalid_day_is_refused_in_one_line(tm: Here) -> None:
    ran = tm.run("costs", "--since", "yesterday")
    assert (ran.code, ran.out) == (1, "")
    assert "Write `since` like 2026-11-20" in ran.err
    assert tm.run("costs", "--by", "user").code == 2
