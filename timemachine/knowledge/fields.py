"""Database fields for vectors, for every package that stores its own."""

from typing import Any

from pgvector.django import HalfVectorField, SparseVectorField

LEXEME_SPACE = 16_777_216


class VectorField(HalfVectorField):
    """A vector of an embedding model, in half precision."""


class WeightsField(SparseVectorField):
    """The weights of a text's terms, each in the dimension that `tm_term_dimension` assigns."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"dimensions": LEXEME_SPACE, **options})
