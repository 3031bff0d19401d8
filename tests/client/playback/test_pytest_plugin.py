"""The pytest plugin: a fixture that answers from a recording, and fails tests that leave recorded calls unused."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpcore  # noqa: F401  # what the tests inside these tests import first is imported again after them, as other classes
import pytest

from tests.client.playback.agents import exported, recorded

pytest_plugins = ["pytester"]
HEAD = """
import os
import pytest
from tests.client.playback.agents import ANSWER, chat, messages
"""
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run tests with the plugin in this process."""

    def ran(tests: str, ini: str = "") -> pytest.RunResult:
        pytester.makeini(f"[pytest]\n{ini}")
        pytester.makeconftest('pytest_plugins = ["timemachine.client.pytest"]')
        pytester.makepyfile(HEAD + tests)
        exported(pytester.path, *recorded("chat"), key="chat")
        exported(pytester.path, *recorded("messages"), key="messages")
        plain = ("-p", "no:django", "-p", "no:cov", "-p", "no:xdist", "-p", "no:cacheprovider")
        return pytester.runpytest_inprocess("--strict-markers", *plain)

    return ran


def test_an_agent_is_tested_from_a_recording(run: Run) -> None:
    run("""
@pytest.mark.playback("chat.jsonl", all_used=True)
def test_chat(playback):
    assert chat(playback.url)[0] == ANSWER
    assert playback.unused == ()

@pytest.mark.playback("messages.jsonl", all_used=True)
def test_messages(playback):
    assert messages(playback.url, streamed=True)[0] == ANSWER
""").assert_outcomes(passed=2)


def test_the_file_can_be_an_ini_option(run: Run) -> None:
    tests = """
def test_chat(playback):
    assert chat(playback.url)[0] == ANSWER

def test_nothing(playback):
    pass
"""
    run(tests, "playback_file = chat.jsonl").assert_outcomes(passed=2)
    found = run(tests, "playback_file = chat.jsonl\nplayback_all_used = true")
    found.assert_outcomes(passed=1, failed=1)


def test_a_test_that_leaves_recorded_calls_unused_fails_if_it_must_use_them_all(run: Run) -> None:
    found = run("""
@pytest.mark.playback("chat.jsonl", all_used=True)
def test_chat(playback):
    pass

@pytest.mark.playback("chat.jsonl")
def test_not_asked_to(playback):
    pass

@pytest.mark.playback("chat.jsonl", all_used=True)
def test_its_own_failure_is_shown(playback):
    raise RuntimeError("its own")
""")
    found.assert_outcomes(failed=2, passed=1)
    found.stdout.fnmatch_lines(["*did not make every recorded call. Unused: step 1 and 2 of chat.*"])
    found.stdout.fnmatch_lines(["*RuntimeError: its own*"])


def test_the_environment_is_set_only_if_asked_and_only_for_the_test(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://before.example")
    run("""
from openai import OpenAI
from anthropic import Anthropic

@pytest.mark.playback("chat.jsonl", environment=True)
def test_set(playback):
    with OpenAI() as client:
        assert str(client.base_url) == playback.base_url + "/"
    with Anthropic() as client:
        assert str(client.base_url) == playback.url

@pytest.mark.playback("chat.jsonl")
def test_not_set(playback):
    assert os.environ["OPENAI_BASE_URL"] == "https://before.example"
""").assert_outcomes(passed=2)
    assert os.environ["OPENAI_BASE_URL"] == "https://before.example"


def test_recorded_answers_can_start_over(run: Run) -> None:
    run("""
@pytest.mark.playback("chat.jsonl", start_over=True)
def test_twice(playback):
    assert chat(playback.url) == chat(playback.url)
""").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "why"),
    [
        ("", "*Name the recording: @pytest.mark.playback(FILE), or the ini option playback_file.*"),
        ('@pytest.mark.playback("chat.jsonl", other=1)', "*The marker playback has no option other.*"),
        (
            '@pytest.mark.playback("none.jsonl")',
            "*The recording *none.jsonl cannot be read: No such file or directory.*",
        ),
    ],
)
def test_what_is_missing_is_named(marker: str, why: str, run: Run) -> None:
    found = run(f"{marker}\ndef test_it(playback):\n    pass\n")
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines([why])


def test_importing_the_plugin_imports_no_django(tmp_path: Path) -> None:
    script = (
        "import sys, timemachine.client.pytest; print([name for name in ('django', 'httpx', 'openai', 'anthropic') "
        "if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert ran.stdout == "[]\n"
