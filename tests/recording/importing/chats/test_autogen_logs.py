"""What `runtime_logging` of AutoGen wrote."""

from decimal import Decimal

from tests.recording.importing.chats.log_samples import LINES, LOG, ROWS
from tests.recording.importing.sample_files import document, lines, read
from timemachine.recording.importing.pure.values import moment


def test_the_lines_of_the_file_logger_are_calls_tools_and_messages() -> None:
    found = read(LOG)
    assert [(each.line, "not JSON" in each.reason) for each in found.report.skipped] == [(1, True)]
    (session,) = found.sessions
    assert (session.key, session.agent) == ("al3", "helper")
    agent, wrapper, received, call, used, returned, bye = session.actions
    assert (agent.name, agent.output, wrapper.name) == ("agent", {"max_turns": 3}, "log")
    assert (received.kind, received.agent, received.output, bye.output) == (
        "message",
        "desk",
        "Who is 7?",
        "Bye",
    )
    assert (call.kind, call.agent, call.model) == ("llm_call", "helper", "gpt-x")
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.output_tokens, call.usage.total_tokens) == (10, 2, 12)
    assert (call.started_at, call.duration_ms) == (moment("2026-03-01T10:00:01Z"), 1500)
    assert (call.input, call.parameters) == ([{"role": "user", "content": "Who is 7?"}], {"temperature": 0})
    assert (used.input, used.tool, returned.output, returned.parent) == ({"id": 7}, None, "Zoë", used.id)


def test_a_cost_of_0_is_unknown_and_an_answer_from_the_cache_is_free() -> None:
    paid, cached = read(document(ROWS[:2])).sessions[0].actions
    assert (float(paid.cost_usd or 0), paid.cached, paid.model) == (0.25, False, "gpt-x-2")
    assert paid.output == {"role": "assistant", "content": "Zoë"}
    assert (cached.usage, cached.cost_usd, cached.cached, float(cached.saved_usd or 0)) == (
        None,
        Decimal(0),
        True,
        0.25,
    )
    (failed,) = read(lines(ROWS[2])).sessions[0].actions
    assert (failed.cost_usd, failed.cached, failed.usage, failed.output) == (None, None, None, None)


def test_each_session_of_a_log_is_one() -> None:
    assert [session.key for session in read(document(ROWS)).sessions] == ["al1", "al2"]


def test_odd_lines_are_kept() -> None:
    response = {"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}], "usage": 7}
    row = {**ROWS[0], "response": response, "request": "half {"}
    silent = {**LINES[2], "json_state": '{"message": {"content": null, "tool_calls": []}, "sender": "desk"}'}
    used = {**LINES[4], "input_args": "half {", "returns": 7}
    call, message, tool, result = read(lines(row, silent, used)).sessions[0].actions
    assert (call.output, call.usage, call.model) == ([{"content": "a"}, {"content": "b"}], None, None)
    assert message.output == {"content": None, "tool_calls": []}
    assert (tool.input, result.output) == ("half {", 7)
    shown = {**LINES[3], "response": "no tokens here"}
    assert read(lines(shown)).sessions[0].actions[0].usage is None
