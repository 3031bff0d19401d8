"""The beginning of a file."""

import json

from timemachine.recording.importing.pure.reader import LOOKED_AT, opening_of


def test_a_long_document_is_recognised_by_its_beginning() -> None:
    content = {"version": 2, "samples": [{"id": 1, "text": 'x\\"{' * 10}] * 60_000}
    opening = opening_of(json.dumps(content).encode())
    assert opening.fields["version"] == 2
    assert opening.fields["samples"][0] == content["samples"][0]  # type: ignore[index]
    assert opening.lines == (opening.document,)


def test_an_overlong_first_line_is_recognised_by_its_beginning() -> None:
    line = json.dumps({"type": "user", "sessionId": "s", "message": "x" * LOOKED_AT}).encode() + b"\n"
    assert opening_of(line + line).lines == ({"type": "user", "sessionId": "s"},)


def test_list_items_and_lines_are_records() -> None:
    assert opening_of(b'[{"a":1},7]').records == ({"a": 1},)
    assert opening_of(b'{"a":1}\n{"b":2}\n').records == ({"a": 1}, {"b": 2})
    assert opening_of(b'{"a":1}\n{"b":2}\n').document is None
    assert opening_of(b"[1]").fields == {}


def test_a_file_that_is_not_json_has_no_document() -> None:
    for data in (b"notes", b"", b"{]", b'{"a" 1', b'{"a":1}}', b'{"a":1,"a":2}'):
        assert opening_of(data).document is None or opening_of(data).document == {}
    opening_of(b"[" * 100_000)
