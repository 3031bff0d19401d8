"""What a reader found, in a form that a test can write down."""

from timemachine.text.pure.documents.document import Document


def shape(document: Document) -> list[tuple[str, str]]:
    """The kind and the text of each block."""
    return [(block.kind, document.text[block.start : block.end].strip()) for block in document.blocks]
