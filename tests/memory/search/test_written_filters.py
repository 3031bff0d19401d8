"""Filters written into the search field."""

import pytest

from timemachine.memory.search.pure.written_filters import extract_filters


@pytest.mark.parametrize(
    ("written", "words", "filters"),
    [
        ("timeout status:error", "timeout", {"status": "error"}),
        ('TOOL:"read file" timeout or refused', "timeout or refused", {"tool": "read file"}),
        ("tool:Bash tool:Read", "", {"tool": "Read"}),
        ('"status:error" -tool:Bash http://tool:80', '"status:error" -tool:Bash http://tool:80', {}),
        ('tool: tool:"" state:Texas', 'tool: tool:"" state:Texas', {}),
        ('said "a tool:Bash b"', 'said "a tool:Bash b"', {}),
    ],
)
def test_filters_are_extracted_and_quoted_or_excluded_ones_stay_words(
    written: str, words: str, filters: dict[str, str]
) -> None:
    assert extract_filters(written, ["status", "tool"]) == (words, filters)
