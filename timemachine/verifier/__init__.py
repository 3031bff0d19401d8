"""The program with which somebody who need not trust us checks a bundle: one file, on Python's standard library alone."""

from pathlib import Path


def program() -> bytes:
    """The file `tm_verify.py`, byte for byte."""
    return (Path(__file__).parent / "tm_verify.py").read_bytes()
