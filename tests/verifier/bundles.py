"""Bundles for the verifier's tests, and changes that can be made to one without the key."""

import base64
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from timemachine.verifier import tm_verify

Files = dict[str, bytes]
Change = Callable[[Files], None]


def unpacked(data: bytes) -> Files:
    """Return the files of a bundle by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(files: Mapping[str, bytes], target: Path) -> Path:
    """Write a zip of these files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return target


def lines(name: str, change: Callable[[list[bytes]], None]) -> Change:
    """Change the lines of a file."""

    def changed(files: Files) -> None:
        found = files[name].splitlines()
        change(found)
        files[name] = b"".join(line + b"\n" for line in found)

    return changed


def replaced(name: str, number: int, old: bytes, new: bytes) -> Change:
    """Replace bytes in a line (the first is 0)."""

    def change(found: list[bytes]) -> None:
        assert old in found[number]
        found[number] = found[number].replace(old, new, 1)

    return lines(name, change)


def document(name: str, change: Callable[[Any], None], number: int | None = None) -> Change:
    """Change a JSON file, or one line of a file of JSON lines."""

    def of_line(found: list[bytes]) -> None:
        value = json.loads(found[number or 0])
        change(value)
        found[number or 0] = json.dumps(value, separators=(",", ":")).encode()

    if number is not None:
        return lines(name, of_line)

    def changed(files: Files) -> None:
        value = json.loads(files[name])
        change(value)
        files[name] = json.dumps(value).encode()

    return changed


def statement(change: Callable[[Any], None]) -> Change:
    """Change what the statement says, below its signature."""

    def changed(signed: Any) -> None:
        value = json.loads(base64.b64decode(signed["payload"]))
        change(value)
        signed["payload"] = base64.b64encode(json.dumps(value).encode()).decode()

    return document("statement.json", changed)


def drop(number: int) -> Callable[[list[bytes]], None]:
    """Remove a line."""

    def change(found: list[bytes]) -> None:
        del found[number]

    return change


def without(name: str) -> Change:
    """Remove a file."""

    def change(files: Files) -> None:
        del files[name]

    return change


def faults(path: Path, key: str | None = None) -> list[tuple[str, str]]:
    """Return the code and place of every fault that the verifier reports."""
    return [(each["code"], each["where"]) for each in tm_verify.verify(str(path), key).problems]
