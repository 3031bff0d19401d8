"""The program with which somebody who need not trust us checks a bundle: one file, on Python's standard library alone."""

from hashlib import sha256
from pathlib import Path


def program() -> bytes:
    """The file `tm_verify.py`, byte for byte."""
    return (Path(__file__).parent / "tm_verify.py").read_bytes()


def program_sha256() -> str:
    """The SHA-256 of `program()`, in hex: by it whoever got the file elsewhere sees that it is the same one."""
    return sha256(program()).hexdigest()
