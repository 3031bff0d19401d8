"""The identifiers that a passage or a question names, as they are looked up: exactly. Pure.

Postgres' parser takes `parser.js:42`, `ERR_CONN_RESET` or an id apart; here each stays whole, without case. A long form
stands for its short ones too: `src/parser.js:42` is found by `parser.js:42`, `src/parser.js` and `parser.js`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.language.identifiers import chunk_key, identifier_spans

MOST: Final = 4_000
"""How many a passage or question may name; what comes after them is found by its words only."""
_LONGEST: Final = 200
_MOST_FOLDERS: Final = 6
# Longer chunks hardly come again, and are not kept.
_KEPT: Final = 40
_CHUNK: Final = re.compile(r"[^\s`,;|<>\[\](){}\"“”]+")
_DIGIT: Final = re.compile(r"\d")
_CODE: Final = re.compile(r"(?=.*\d)(?=.*[a-z])[a-z0-9][a-z0-9._:/#@+-]{2,}[a-z0-9]|\d+(?:[.:/-]\d+){2,}")
_WORD_OF_A_RANGE: Final = re.compile(r"\d+(?:st|nd|rd|th|s|k|m|mm|cm|km|kg|g|ms|h|x|%)")
_LINE: Final = re.compile(r"(?<=\w)(?::\d+)+$")
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*://")


def identifiers(text: str) -> tuple[str, ...]:
    """The identifiers of a text and their shorter forms, each once, in the order of their first place; at most `MOST`."""
    found: dict[str, None] = {}
    seen: set[str] = set()
    for written in _written(text):
        if written in seen:
            continue
        seen.add(written)
        found.update(_forms(written) if len(written) <= _KEPT else _forms.__wrapped__(written))
        if len(found) >= MOST:
            break
    return tuple(found)[:MOST]


def _written(text: str) -> Iterator[str]:
    for start, end in identifier_spans(text):
        if end - start <= _LONGEST:
            yield chunk_key(text[start:end])
    for chunk in _CHUNK.findall(text):
        key = _code_of(chunk) if len(chunk) <= _KEPT else _code_of.__wrapped__(chunk)
        if key:
            yield key


@cleared_on_erasure
@lru_cache(maxsize=16_384)
def _code_of(chunk: str) -> str | None:
    """The key of a code with digits, and None for any other chunk."""
    if len(chunk) > 2 * _LONGEST or not _DIGIT.search(chunk):
        return None
    key = chunk_key(chunk)
    if len(key) <= _LONGEST and _CODE.fullmatch(key) and not _WORD_OF_A_RANGE.fullmatch(key):
        return key
    return None


@cleared_on_erasure
@lru_cache(maxsize=16_384)
def _forms(key: str) -> dict[str, None]:
    """The identifier itself first, then what is left without scheme, folders and line numbers."""
    if key.isalnum():
        return {key: None}
    bare = _SCHEME.sub("", key).strip("/").removesuffix("()")
    if bare != key and _names_nothing(bare):  # a word between slashes, not a path
        return {}
    return dict.fromkeys((key, *_shorter_forms(bare)))


def _shorter_forms(bare: str) -> Iterator[str]:
    for form in _without_folders(bare):
        for shorter in (form, _LINE.sub("", form)):
            if not _names_nothing(shorter):
                yield shorter


def _without_folders(path: str) -> Iterator[str]:
    parts = re.split(r"[/\\]+", path)
    for first in range(max(0, len(parts) - _MOST_FOLDERS), len(parts)):
        yield "/".join(parts[first:])


def _names_nothing(form: str) -> bool:
    """Whether a short form is only a word or a number, which is found as a word already."""
    return form.isalnum() and (form.isalpha() or form.isdecimal())
