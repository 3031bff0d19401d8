"""The blocks that a reader found, in a compact form for assertions."""

from timemachine.text.pure.documents.document import Document


def shape(document: Document) -> list[tuple[str, str]]:
    """Return the kind and the text of each block."""
    return [(block.kind, document.text[block.start : block.end].strip()) for block in document.blocks]
