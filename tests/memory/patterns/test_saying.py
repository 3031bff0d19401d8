"""The text by which a step can recur: an error, or a question of a person."""

from typing import Any

import pytest

from timemachine.memory.patterns.pure.step_texts import (
    Step,
    error_or_question_of,
    failure_lines,
    failure_of,
    question_of,
)

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    go()\nValueError: no such gate'


def result(output: Any, **facts: Any) -> Step:
    return Step(**{"kind": "tool_result", "layer": "tool", "output": output, **facts})


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Error: not enough seats", "Error: not enough seats"),
        ("error while reading the file", "error while reading the file"),
        ("  ERROR [12]: no", "ERROR [12]: no"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        (TRACE, "ValueError: no such gate"),
        (
            "exitcode: 1 (execution failed)\nCode output: x\nSyntaxError: leading zeros",
            "SyntaxError: leading zeros",
        ),
        ("exit code 2\nmake: no rule\nstop", "exit code 2 make: no rule stop"),
        ("Exit code: 3", "Exit code: 3"),
        ({"error": "no such user"}, "no such user"),
        ({"error": {"type": "Denied", "message": "not yours"}}, "Denied: not yours"),
        ({"isError": True, "content": [{"type": "text", "text": "no such tool"}]}, "no such tool"),
        ({"exit_code": 127, "output": "x: command not found"}, "exit code 127 x: command not found"),
        ({"metadata": {"exit_code": 1}, "output": "broken"}, "exit code 1 broken"),
        ({"status": "failed", "message": "no disk"}, "no disk"),
        ({"error": True, "message": "no net"}, "no net"),
    ],
)
def test_failures_of_tools_are_recognised_in_common_forms(output: Any, expected: str) -> None:
    assert failure_of(result(output)) == expected


@pytest.mark.parametrize(
    "output",
    [
        None, "", "Errors: 0", "Error handling is told in chapter 3", "there was an Error: once", "exitcode: 0 (fine)\nError: none",
        [], {"error": None}, {"error": False, "exit_code": 0}, {"status": "ok"}, "failures are rare", {"results": []}, 12,
    ],
)  # fmt: skip
def test_a_result_that_only_mentions_errors_is_not_a_failure(output: Any) -> None:
    assert failure_of(result(output)) is None


def test_an_error_text_counts_in_a_terminal_but_not_in_an_agent_message() -> None:
    assert failure_of(Step(kind="message", layer="agent", output="Error: it said no")) is None
    assert failure_of(Step(kind="message", layer="tool", output="Error: it said no")) == "Error: it said no"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"error_type": "Timeout", "error_message": "no answer"}, "Timeout: no answer"),
        ({"error_type": "ValueError", "error_message": TRACE}, "ValueError: no such gate"),
        ({"error_type": "tool_error", "error_message": "no answer"}, "no answer"),
        ({"error_message": "no answer"}, "no answer"),
        ({"error_type": "Timeout"}, "Timeout"),
        ({"error_type": "tool_error", "output": "exit code 1\nno rule"}, "exit code 1 no rule"),
        ({"error_type": "Denied", "output": {"detail": "x"}}, 'Denied: {"detail": "x"}'),
    ],
)
def test_a_recorded_error_is_represented_by_its_name_and_message(
    facts: dict[str, Any], expected: str
) -> None:
    assert failure_of(Step(kind="llm_call", **facts)) == expected


def test_a_step_with_significance_error_is_an_error_with_its_own_words() -> None:
    wrong = Step(kind="message", role="agent", significance="error", output="Seattle has 12 people.")
    assert error_or_question_of(wrong) == ("error", "Seattle has 12 people.")
    assert failure_of(Step(kind="find", significance="error", input="where?")) == "where?"
    assert failure_of(Step(kind="find", significance="error")) is None


def test_an_object_with_an_error_flag_but_no_text_has_no_failure_text() -> None:
    assert failure_of(result({"isError": True})) is None


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Step(kind="ask", input="How long are invoices kept?"), "How long are invoices kept?"),
        (Step(kind="ask", input={"question": "How long?"}), "How long?"),
        (Step(kind="ask", input=12), None),
        (
            Step(kind="message", role="user", output="Hello. Can you refund me? I am in a hurry."),
            "Can you refund me?",
        ),
        (Step(kind="message", role="user", input="Can you refund me?"), "Can you refund me?"),
        (Step(kind="message", role="user", output="Refund me."), None),
        (Step(kind="message", role="agent", output="Shall I refund it?"), None),
    ],
)
def test_a_question_is_the_input_of_an_ask_or_a_user_sentence_with_a_question_mark(
    step: Step, expected: str | None
) -> None:
    assert question_of(step) == expected
    assert error_or_question_of(step) == (None if expected is None else ("question", expected))


def test_the_gist_of_an_empty_text_is_empty() -> None:
    assert failure_lines(" \n ") == ""
