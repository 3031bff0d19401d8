"""JSON lines: each becomes a passage or states why not, and endless files are refused."""

import pytest

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents import reading
from timemachine.text.pure.documents.jsonl import BadLine, Record, read_jsonl
from timemachine.text.pure.documents.reading import Limits, read_lines

LIMITS = Limits(seconds=20, megabytes=768)


def test_every_line_of_jsonl_is_a_passage_or_states_why_not() -> None:
    lines = [
        b'\xef\xbb\xbf{"text": "one", "title": "T", "uri": "u", "page": 3}',
        b"",
        b"[1]",
        b'{"text": 5}',
        b'{"title": "x"}',
        b'{"text": "x"',
        b'{"text": "\xff"}',
        b'{"text": "two", "title": null}\r',
        b'{"text": NaN}',
        b'{"text": "", "id": 471}',
    ]
    found = read_jsonl(b"\n".join(lines))
    assert [each for each in found if isinstance(each, Record)] == [
        Record(line=1, text="one", title="T", uri="u", metadata={"page": 3}),
        Record(line=8, text="two", title="", uri="", metadata={}),
        Record(line=10, text="", title="", uri="", metadata={"id": 471}),
    ]
    bad = {each.line: each.reason for each in found if isinstance(each, BadLine)}
    assert set(bad) == {3, 4, 5, 6, 7, 9}
    assert bad[6] == "It is not JSON: Expecting ',' delimiter at character 13."
    assert "UTF-8" in bad[7]
    assert read_lines(b"\n".join(lines), LIMITS) == found


def test_many_lines_are_read_within_limits_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SMALL_LINES", 10_000)
    many = b"".join(
        b'{"text": "%d \\ud800 Z\xc3\xb6e", "id": %d, "n": [0.1, null, {"a": 1e300}]}\n{"text": %d}\n'
        % (n, 2**70 + n, n)
        for n in range(200)
    )
    assert len(many) > reading.SMALL_LINES
    narrow = Limits(seconds=20, megabytes=45)
    assert read_lines(many, narrow) == read_jsonl(many)
    with pytest.raises(TooLarge) as refused:
        read_lines(many * 100, narrow)
    assert refused.value.facts["megabytes"] == 45
    with pytest.raises(InvalidInput) as empty:
        read_lines(b"\n" * (reading.SMALL_LINES + 1), LIMITS)
    assert empty.value.code == "no_text"


def test_endless_lines_stop_at_the_time_limit() -> None:
    lines = b'{"text": "x", "deep": [%s]}\n' % b",".join([b'{"a": 1.5}'] * 1_000) * 1_500
    with pytest.raises(TooLarge) as refused:
        read_lines(lines, Limits(seconds=1, megabytes=2_000))
    assert refused.value.facts["seconds"] == 1


def test_jsonl_without_a_line_is_refused() -> None:
    with pytest.raises(InvalidInput):
        read_jsonl(b"\n \n")


def test_a_file_with_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.text.pure.documents.jsonl.MOST_PASSAGES", 2)
    assert len(read_jsonl(b"1\n2\n")) == 2
    with pytest.raises(TooLarge):
        read_jsonl(b"1\n2\n3")
