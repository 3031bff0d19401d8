"""`session totals`, against a real server."""

from tests.cli.terminal import Here
from tests.recording.usage.costs.recorded import two_sessions
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of


def lines(tm: Here, *words: str) -> list[str]:
    session, _ = two_sessions(tm.project)
    ran = tm.run("session", "totals", str(session.id), *words)
    assert ran.code == 0, ran
    return [" ".join(line.split()) for line in ran.out.splitlines()]


def test_the_totals_come_first_and_then_each_kind(tm: Here) -> None:
    assert lines(tm) == [
        "steps 6, 1 error",
        "time 3.0 s, recorded by 4 of 6 steps; the time of a step within another counts in both",
        "calls 3 model calls, 3 tool calls",
        "tokens 30 in, 6 out",
        "cost $0.40 + 1 call of unknown price",
        "",
        "kind time share steps calls tool calls errors in out cost",
        "llm_call 3.0 s 98.7% 3 3 0 0 30 6 $0.40 + 1 call of unknown price",
        "tool_call 40 ms 1.3% 3 0 3 1 not recorded not recorded not recorded",
    ]


def test_a_filter_limits_the_totals_to_its_steps(tm: Here) -> None:
    assert lines(tm, "--by", "tool", "--filter", "kind:tool_call") == [
        "filter kind:tool_call",
        "steps 3, 1 error",
        "time 40 ms, recorded by 2 of 3 steps; the time of a step within another counts in both",
        "calls 0 model calls, 3 tool calls",
        "tokens not recorded",
        "cost not recorded",
        "",
        "tool time share steps calls tool calls errors in out cost",
        "read 40 ms 100.0% 2 0 2 1 not recorded not recorded not recorded",
        "write not recorded – 1 0 1 0 not recorded not recorded not recorded",
    ]


def test_steps_without_a_tool_get_a_row_and_empty_totals_get_none(tm: Here) -> None:
    assert lines(tm, "--by", "tool")[-3].startswith("not recorded 3.0 s 98.7%")
    session, _ = two_sessions(tm.project)
    ran = tm.run("session", "totals", str(session.id), "--filter", "tool:none")
    assert ran.out.splitlines()[-1].split() == ["cost", "not", "recorded"]


def test_copied_steps_are_named_as_left_out(tm: Here) -> None:
    original, _ = two_sessions(tm.project)
    session = start_session(tm.project, name="Resumed", by="test")
    copied = ActionDraft(kind="message", input="Hi", copied_from=copy_of(original.key, 1))
    append(session.id, [copied, copied, ActionDraft(kind="message", input="Go on.")])
    ran = tm.run("session", "totals", str(session.id))
    assert (
        " ".join(ran.out.splitlines()[0].split()) == "steps 1, 0 errors, without the session's 2 copied steps"
    )


def test_json_output_is_the_api_document_with_every_row(tm: Here) -> None:
    session, _ = two_sessions(tm.project)
    found = tm.json("session", "totals", str(session.id), "--by", "model")
    assert [each["model"] for each in found["items"]] == ["acme:large", None, "acme:odd"]
    assert found["next"] is None


def test_an_invalid_filter_is_refused_in_one_line(tm: Here) -> None:
    session, _ = two_sessions(tm.project)
    assert "Did you mean kind:ask?" in tm.refused("session", "totals", str(session.id), "--filter", "knd:ask")
