"""Files recorded by other people with tools of which `recordings/more` has a single file, against counts made without
this project."""

from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.sample_files import read
from tests.recording.importing.totals import totals
from timemachine.recording.importing.pure.registry import detect_format

pytestmark = pytest.mark.recordings
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    # Gemini counts thoughts (2,141) apart from its output (2,152) and bills both as output
    "01-gemini-cli/gemini.jsonl": (
        "gemini_cli",
        {"from_user": 3, "model_calls": 6, "tool_calls": 12, "tool_results": 12, "unlinked": 0, "input_tokens": 202586,
         "output_tokens": 2152 + 2141, "reasoning_tokens": 2141, "cost": None, "skipped": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_has_what_was_counted_in_it(recordings: Path, name: str) -> None:
    if not (recordings / "more").is_dir():
        pytest.skip("RECORDINGS_DIR has no folder `more`")
    data = (recordings / "more" / name).read_bytes()
    format_name, expected = FILES[name]
    assert detect_format(data, name) == format_name
    found = totals(read(data))
    assert {each: found[each] for each in expected} == expected
