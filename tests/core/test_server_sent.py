"""Server-sent events, read and written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.server_sent import KEEP_ALIVE, event_bytes, events_in

EVENTS: list[tuple[str, list[tuple[str, str]]]] = [
    ("data: a\n\n", [("message", "a")]),
    ("data:a\r\n\r\ndata: b\r\rdata: c\n\n", [("message", "a"), ("message", "b"), ("message", "c")]),
    ("event: error\ndata: 1\ndata: 2\n\n", [("error", "1\n2")]),
    (": a comment\n\nid: 7\nretry: 3\n\ndata: x\n\n", [("message", "x")]),
    ("event: lost\n\ndata: y\n\n", [("message", "y")]),
    ("data: not ended\n", []),
    ("data\n\n", [("message", "")]),
    ("data:  two blanks\n\n", [("message", " two blanks")]),
]


@pytest.mark.parametrize(("written", "expected"), EVENTS)
def test_events_are_parsed_as_in_the_standard(written: str, expected: list[tuple[str, str]]) -> None:
    assert [(event.name, event.data) for event in events_in([written.encode()])] == expected


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"))), st.integers(1, 7))
def test_events_may_be_split_into_any_parts(datas: list[str], size: int) -> None:
    written = "".join(f"data: {data}\r\n\r\n" for data in datas).encode()
    parts = [written[at : at + size] for at in range(0, len(written), size)]
    assert [event.data for event in events_in(parts)] == datas


def test_invalid_utf_8_is_not_an_event() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        list(events_in([b"data: \xff\n\n"]))


@given(st.text(), st.from_regex(r"[a-z]+", fullmatch=True))
def test_written_events_are_parsed_back(text: str, name: str) -> None:
    (event,) = events_in([KEEP_ALIVE, event_bytes(name, {"text": text})])
    assert (event.name, json.loads(event.data)) == (name, {"text": text})
