"""Plain text: its encodings and its paragraphs."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text.documents.blocks import shape
from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.documents.decoding import decoded
from timemachine.text.pure.documents.plain_text import read_plain_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_is_read_in_every_unambiguous_encoding(encoding: str) -> None:
    assert decoded("Zoë 🕰".encode(encoding)) == "Zoë 🕰"


@pytest.mark.parametrize(
    "data",
    [b"Zo\xeb", b"\xff\xfe\x00", b"text\x00more", b"\x89PNG\r\n\x1a\n\x00\x00"],
    ids=["latin-1", "odd", "NUL", "PNG"],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        decoded(data)
    assert refused.value.code == "not_text"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "an image (PNG)"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "an image (JPEG)"),
        (b"RIFF\xff\x00\x00\x00WEBPVP8 ", "an image (WebP)"),
        (b"\x00\x00\x00\x20ftypisom", "a video (MP4)"),
        (b"PK\x03\x04\x14\x00\xff", "a ZIP archive or an office document"),
        (b"\x80\x01\x02\x03 pickled", "binary data"),
        (b"text\x00" * 9, "binary data"),
        (b"Zo\xeb " * 9, "Byte 3 is not valid UTF-8"),
        (b"a long line of text with one NUL \x00 in it", "it contains NUL bytes"),
    ],
)
def test_a_file_that_is_not_text_is_refused_with_its_actual_format(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)) as refused:
        decoded(data)
    assert refused.value.code == "not_text"


def test_blank_lines_separate_paragraphs() -> None:
    found = read_plain_text(b"one\r\nstill one\r\n \t\r\n\r\ntwo\rtwo again\n\n")
    assert shape(found) == [("paragraph", "one\r\nstill one"), ("paragraph", "two\rtwo again")]
    assert found.text == "one\r\nstill one\r\n \t\r\n\r\ntwo\rtwo again\n\n"


@settings(deadline=None)
@given(st.text(alphabet="a \n\r\t", max_size=60))
def test_the_text_of_a_plain_text_file_is_the_file(text: str) -> None:
    assert read_plain_text(text.encode()).text == text
