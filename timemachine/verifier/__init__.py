"""The program that checks a bundle without trust in the server: one file that needs only Python's standard library."""

from hashlib import sha256
from pathlib import Path


def program() -> bytes:
    """The file `tm_verify.py`, byte for byte."""
    return (Path(__file__).parent / "tm_verify.py").read_bytes()


def program_sha256() -> str:
    """Return the SHA-256 of `program()` in hex, to compare with a copy from another source."""
    return sha256(program()).hexdigest()
