"""The identifiers in a passage or a question, for exact lookup. Pure.

Postgres' parser splits `parser.js:42`, `ERR_CONN_RESET` or an id into words; here each stays one term, in lower
case. A long form also yields its short forms: `src/parser.js:42` can be found as `parser.js:42`,
`src/parser.js` and `parser.js`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.language.identifiers import chunk_key, identifier_spans

MOST: Final = 4_000
"""Maximum number of identifiers of a passage or question; later ones are found by their words only."""
_LONGEST: Final = 200
_MOST_FOLDERS: Final = 6
# Longer chunks rarely occur again and are not cached.
_LONGEST_CACHED: Final = 40
_CHUNK: Final = re.compile(r"[^\s`,;|<>\[\](){}\"“”]+")
_DIGIT: Final = re.compile(r"\d")
_CODE: Final = re.compile(r"(?=.*\d)(?=.*[a-z])[a-z0-9][a-z0-9._:/#@+-]{2,}[a-z0-9]|\d+(?:[.:/-]\d+){2,}")
_WORD_OF_A_RANGE: Final = re.compile(r"\d+(?:st|nd|rd|th|s|k|m|mm|cm|km|kg|g|ms|h|x|%)")
_LINE: Final = re.compile(r"(?<=\w)(?::\d+)+$")
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*://")


def identifiers(text: str) -> tuple[str, ...]:
    """Return the identifiers of a text and their shorter forms, without duplicates, in order of appearance; at
    most `MOST`.
    """
    found: dict[str, None] = {}
    seen: set[str] = set()
    for written in _written(text):
        if written in seen:
            continue
        seen.add(written)
        found.update(_forms(written) if len(written) <= _LONGEST_CACHED else _forms.__wrapped__(written))
        if len(found) >= MOST:
            break
    return tuple(found)[:MOST]


def _written(text: str) -> Iterator[str]:
    for start, end in identifier_spans(text):
        if end - start <= _LONGEST:
            yield chunk_key(text[start:end])
    for chunk in _CHUNK.findall(text):
        key = _code_of(chunk) if len(chunk) <= _LONGEST_CACHED else _code_of.__wrapped__(chunk)
        if key:
            yield key


@cleared_on_erasure
@lru_cache(maxsize=16_384)
def _code_of(chunk: str) -> str | None:
    """Return the key of a code that contains digits, or None for any other chunk."""
    if len(chunk) > 2 * _LONGEST or not _DIGIT.search(chunk):
        return None
    key = chunk_key(chunk)
    if len(key) <= _LONGEST and _CODE.fullmatch(key) and not _WORD_OF_A_RANGE.fullmatch(key):
        return key
    return None


@cleared_on_erasure
@lru_cache(maxsize=16_384)
def _forms(key: str) -> dict[str, None]:
    """Return the identifier, then its forms without scheme, folders and line numbers."""
    if key.isalnum():
        return {key: None}
    bare = _SCHEME.sub("", key).strip("/").removesuffix("()")
    if bare != key and _is_plain_word(bare):  # a word between slashes, not a path
        return {}
    return dict.fromkeys((key, *_shorter_forms(bare)))


def _shorter_forms(bare: str) -> Iterator[str]:
    for form in _without_folders(bare):
        for shorter in (form, _LINE.sub("", form)):
            if not _is_plain_word(shorter):
                yield shorter


def _without_folders(path: str) -> Iterator[str]:
    parts = re.split(r"[/\\]+", path)
    for first in range(max(0, len(parts) - _MOST_FOLDERS), len(parts)):
        yield "/".join(parts[first:])


def _is_plain_word(form: str) -> bool:
    """Return whether a short form is only a word or a number, which the text search finds anyway."""
    return form.isalnum() and (form.isalpha() or form.isdecimal())
