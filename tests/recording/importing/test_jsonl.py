"""Files of JSON lines."""

import json

import pytest

from timemachine.core.pure.content import text_sha256
from timemachine.recording.importing.pure.contents import Line, lines_of
from timemachine.recording.importing.pure.report import LineSkipped


def test_each_line_is_read_with_its_number_and_the_hash_of_its_text() -> None:
    assert list(lines_of(b'{"a":1}\n {"b":2} \n')) == [
        Line(number=1, record={"a": 1}, digest=text_sha256('{"a":1}')),
        Line(number=2, record={"b": 2}, digest=text_sha256('{"b":2}')),
    ]


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n\t\n", b"\xef\xbb\xbf\n"])
def test_blank_lines_are_skipped(data: bytes) -> None:
    assert list(lines_of(data)) == []


def test_blank_lines_count_towards_line_numbers() -> None:
    assert [line.number for line in lines_of(b'\n{"a":1}\n\n{"a":2}') if isinstance(line, Line)] == [2, 4]


@pytest.mark.parametrize("data", [b'\xef\xbb\xbf{"a":1}\r\n{"a":2}\r\n', b'{"a":1}\n\xef\xbb\xbf{"a":2}'])
def test_byte_order_marks_and_windows_line_endings_change_nothing(data: bytes) -> None:
    assert list(lines_of(data)) == list(lines_of(b'{"a":1}\n{"a":2}\n'))


def test_a_line_separator_inside_a_text_does_not_end_the_line() -> None:
    record = {"a": "one\u2028two\x85three\x0cfour"}

    assert [line.record for line in lines_of(_plain(record)) if isinstance(line, Line)] == [record]


@pytest.mark.parametrize("text", ["\x00", "\ud800", "a\udfffb", "\U0001f600"])
def test_every_json_text_is_preserved(text: str) -> None:
    found = list(lines_of(json.dumps({"a": text}).encode()))

    assert [line.record for line in found if isinstance(line, Line)] == [{"a": text}]


def test_a_line_of_five_megabytes_is_read_completely() -> None:
    record = {"a": "x" * 5_000_000}

    assert [line.record for line in lines_of(_plain(record)) if isinstance(line, Line)] == [record]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":"cut', "It is truncated or not JSON: Unterminated string starting at character 6."),
        (b"hello", "It is truncated or not JSON: Expecting value at character 1."),
        (b'{"a":1}{"a":2}', "It is truncated or not JSON: Extra data at character 8."),
        (b'{"a":NaN}', "NaN is not JSON; send null or a number."),
        (b'{"a":1,"a":2}', "Duplicate JSON key 'a'; send it once."),
        (b'{"a":' + b"[" * 65 + b"]" * 65 + b"}", "This JSON is nested deeper than 64 levels."),
        (b"[" * 100_000, "This JSON is nested deeper than 64 levels."),
        (b'{"a":' + b"1" * 5000 + b"}", "This JSON has an integer of more than 4,300 digits."),
        (b'{"a":"\xff"}', "It is not UTF-8 text: byte 7 is invalid."),
        (b'{"a":"\xed\xa0\x80"}', "It is not UTF-8 text: byte 7 is invalid."),
        (b"\x00\x00", "It is truncated or not JSON: Expecting value at character 1."),
        (b"[1]", "It is JSON but not an object."),
        (b"null", "It is JSON but not an object."),
    ],
)
def test_a_bad_line_is_skipped_with_a_reason_and_the_next_one_is_read(line: bytes, reason: str) -> None:
    skipped, read = lines_of(line + b'\n{"a":1}')

    assert skipped == LineSkipped(line=1, reason=reason)
    assert isinstance(read, Line)
    assert read.number == 2


def _plain(record: dict[str, str]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode()
