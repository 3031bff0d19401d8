"""The strings in JSON that was recorded as text, without their escapes, and the place of each character in the text.

Arguments of tool calls are such JSON. In it, a line of a file does not begin a line, and a quotation mark has a backslash.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.text.redaction.pure.engine import readable

SHORTEST: Final = 5
"""The characters of the shortest string that is read."""
LONGEST: Final = 100_000
"""The characters of the longest text whose strings are read: each is searched on its own, which takes time."""
_STRING: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)', re.DOTALL)
_READS_OTHERWISE: Final = re.compile(r"(?i)\\|pass|pwd|auth|secret|token|key|:[^:\s]+:")
_CHARACTER: Final = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)|[^\\]|\\",
    re.DOTALL,
)
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def strings_in(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield each string that reads otherwise on its own: with escapes, or with a line of a file. It comes readable for the
    engine, with the places of its characters and of its end in the text.

    Yields nothing for a text that is longer than `LONGEST` or does not begin like an object or a list.
    """
    if len(text) > LONGEST or text.lstrip()[:1] not in ("{", "["):
        return
    for found in _STRING.finditer(text):
        if len(found[1]) >= SHORTEST and _READS_OTHERWISE.search(found[1]):
            yield _without_escapes(found[1], found.start(1))


def _without_escapes(written: str, begin: int) -> tuple[str, Sequence[int]]:
    characters, places = [], []
    for found in _CHARACTER.finditer(written):
        characters.append(_character(found))
        places.append(begin + found.start())
    return readable("".join(characters)), [*places, begin + len(written)]


def _character(found: re.Match[str]) -> str:
    high, low, code, escaped = found.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if code is not None:
        return chr(int(code, 16))
    return found[0] if escaped is None else _ESCAPED.get(escaped, escaped)
