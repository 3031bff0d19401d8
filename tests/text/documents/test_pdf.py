"""PDF: its pages, paragraphs and outline, and files without readable text."""

import pytest

from tests.text.documents.blocks import shape
from tests.text.documents.files import pdf
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents.passages import passages
from timemachine.text.pure.documents.pdf import read_pdf


def test_a_pdf_has_pages_paragraphs_and_the_headings_of_its_outline() -> None:
    file = pdf(
        [
            ["Retention", "Invoices are kept for ten", "years, then shredded.", "", "", "Ask Zoë (first)."],
            [],
            ["Page three."],
        ],
        title="The  handbook",
        outline=[("retention", 1), ("Not on the page", 3), ("Nowhere", 0)],
    )
    found = read_pdf(file)
    assert found.title == "The handbook"
    assert shape(found) == [
        ("heading", "Retention"),
        ("paragraph", "Invoices are kept for ten\nyears, then shredded."),
        ("paragraph", "Ask Zoë (first)."),
        ("paragraph", "Page three."),
    ]
    assert [block.page for block in found.blocks] == [1, 1, 1, 3]
    assert [(each.title, each.page) for each in passages(found, "The handbook")] == [
        ("The handbook › Retention, page 1", 1),
        ("The handbook › Retention, page 3", 3),
    ]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (pdf([["secret"]], encrypted=True), "encrypted"),
        (pdf([[], []]), "no_text"),
        (b"%PDF-1.7 and nothing behind it", "unreadable_document"),
    ],
)
def test_a_pdf_without_readable_text_is_refused_with_the_reason(file: bytes, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_pdf(file)
    assert refused.value.code == code


def test_a_pdf_of_endless_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.text.pure.documents.pdf.LARGEST_TEXT", 20)
    with pytest.raises(TooLarge):
        read_pdf(pdf([["a line of some length"], ["and another"]]))


def test_an_outline_is_read_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.text.pure.documents.pdf._MOST_HEADINGS", 1)
    found = read_pdf(pdf([["One", "a", "Two", "b"]], outline=[("One", 1), ("Two", 1)]))
    assert [block.title for block in found.blocks if block.level] == ["One"]
