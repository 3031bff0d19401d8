"""Lines that a tool wrote twice, and records that it sent twice, count once."""

import pytest

from tests.recording.importing.claude_code.lines import answer, result, text, user
from tests.recording.importing.sample_files import lines, read
from tests.recording.importing.samples import SAMPLES
from tests.recording.importing.totals import totals

CLAUDE_CODE = lines(
    user("Read it."),
    answer(text("Reading."), {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}),
    user([result("ok")], "u2"),
)
FILES = {
    "claude_code": CLAUDE_CODE,
    **{name: SAMPLES[name][0] for name in ("copilot_cli", "openai_agents", "pi")},
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_written_twice_has_the_totals_of_one(name: str) -> None:
    once = read(FILES[name])
    twice = read(FILES[name].rstrip() + b"\n" + FILES[name], name)
    ours = ("skipped",)
    assert {key: value for key, value in totals(twice).items() if key not in ours} == {
        key: value for key, value in totals(once).items() if key not in ours
    }
    assert len(twice.sessions) == len(once.sessions)
    assert len(twice.report.skipped) > len(once.report.skipped)


def test_the_report_names_the_line_that_is_repeated() -> None:
    (skipped,) = read(lines(user("Hi."), answer(text("Hello.")), user("Hi."))).report.skipped
    assert (skipped.line, skipped.reason) == (3, "It repeats line 1.")
