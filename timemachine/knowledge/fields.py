"""Database fields for vectors, for every package that stores its own."""

from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.django import HalfVectorField, SparseVectorField
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper

LEXEME_SPACE = 16_777_216


class VectorField(HalfVectorField):
    """A vector of an embedding model, in half precision."""


class WeightsField(SparseVectorField):
    """The weights of a text's terms, each in the dimension that `tm_term_dimension` assigns."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"dimensions": LEXEME_SPACE, **options})


def register_binary_vectors() -> None:
    """Make new connections send a `HalfVector` in binary. Writing and reading it as text takes a tenth of a find."""
    for dumper in (HalfVectorDumper, HalfVectorBinaryDumper):  # the one registered last wins
        psycopg.adapters.register_dumper(HalfVector, dumper)
