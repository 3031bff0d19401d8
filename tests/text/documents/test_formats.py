"""Which format a file has, by its name and its first bytes."""

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.documents.formats import format_of


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        ("notes.txt", b"", "text"),
        ("README.MD", b"", "markdown"),
        ("a.b.html", b"", "html"),
        ("paper.pdf", b"\n\n%PDF-1.4", "pdf"),
        ("paper", b"%PDF-1.4", "pdf"),
        ("paper.txt", b"%PDF-1.4", "pdf"),
        ("about.txt", b"The mark %PDF-", "text"),
        ("lines.jsonl", b"", "jsonl"),
        ("page", b"\xef\xbb\xbf\n<!DOCTYPE html>", "html"),
        ("main.py", b"print()", "text"),
        ("", b"", "text"),
    ],
)
def test_the_format_of_a_file_is_detected(name: str, data: bytes, format_: str) -> None:
    assert format_of(name, data) == format_


@pytest.mark.parametrize(
    ("name", "data", "program"),
    [
        ("a.docx", b"PK\x03\x04rest", "Word"),
        ("a.DOC", b"\xd0\xcf\x11\xe0rest", "Word"),
        ("a.xlsx", b"PK\x03\x04rest", "Excel"),
        ("a.pptx", b"PK\x03\x04rest", "PowerPoint"),
    ],
)
def test_an_office_file_is_refused_by_its_name(name: str, data: bytes, program: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        format_of(name, data)
    assert refused.value.message == f"{program} files are not supported; save it as PDF, HTML or text."


def test_a_text_with_the_name_of_an_office_file_is_a_text() -> None:
    assert format_of("notes.doc", b"hello") == "text"


def test_a_file_named_pdf_must_be_a_pdf() -> None:
    with pytest.raises(InvalidInput):
        format_of("paper.pdf", b"hello")
