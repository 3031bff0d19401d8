"""Identifiers: paths, URLs, code, versions. Their digits are not numbers, and their case matters."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure

_CHUNK: Final = re.compile(r"`[^`\n]+`|[^\s`]+")
# Most chunks are ordinary words, and this matches a run of them in one step.
_ORDINARY: Final = re.compile(
    r"(?:\s++|[\"'“‘(\[]*[A-Z]?[a-z]+(?:['’][a-z]+)*[\"'”’)\].,;:!?…]*(?![^\s`]))*+"
)
_WRAPPING: Final = "\"'“”‘’()[]{}<>,;:!?.*…"
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_SHAPE: Final = re.compile(r"[\w$~./\\:@#+%=&?-]+(?:\(\))?")
_SIGN: Final = re.compile(
    r"""
    \w@\w                                  # an address
    | [^\W_]_[^\W_]                        # snake_case
    | \w\w\.[a-z][a-z0-9]{0,4}(?::\d+)*$   # a file, with line numbers
    | ^[A-Za-z]:\\ | ^[./~\\]+\w    # a path
    | ::\w | \(\)$                         # code
    | ^[a-z]+[A-Z]                         # camelCase
    | ^\#?[A-Za-z][A-Za-z.-]*\d            # GPT-4, v1.2, sha256
    """,
    re.VERBOSE,
)
# a path with more than one part: two patterns in sequence, because a single pattern would try every pair
_FOLDER: Final = re.compile(r"\w[/\\]")
_PART: Final = re.compile(r"\w[./\\]\w")
_COMMIT: Final = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}")
# "ham.6": the end of a sentence and the number of the next one, without the space between.
_RUN_ON: Final = re.compile(r"[a-z]{3,}\.\d+")
_CLOSING_TAG: Final = re.compile(r"</[\w:.-]+>")
"""It looks like a path, but is markup."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_POSSESSIVE: Final = re.compile("['’][sS]$")
_LONGEST: Final = 1_000
# Longer ones rarely recur and are not cached.
_CACHED: Final = 40


def identifier_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the identifiers in a text, in order. Text between backticks is one, unless it is only marks."""
    for found in _chunks(text):
        chunk, at = found[0], found.start()
        within = _short_within(chunk) if len(chunk) <= _CACHED else _within(chunk)
        if within:
            yield at + within[0], at + within[1]


def _within(chunk: str) -> tuple[int, int] | None:
    """Return the span of the identifier in a chunk, without surrounding punctuation."""
    inner = chunk.strip("` ") if chunk[0] == "`" else _without_wrapping(chunk)
    quoted = chunk[0] == "`" and chunk_key(inner) != ""  # empty if it is only marks
    if not quoted and (len(inner) > _LONGEST or _CLOSING_TAG.fullmatch(chunk) or not _is_identifier(inner)):
        return None
    start = chunk.index(inner)
    return start, start + len(inner)


def _chunks(text: str) -> Iterator[re.Match[str]]:
    """Yield the chunks between white space that are not ordinary words, in order."""
    at = 0
    while (ordinary := _ORDINARY.match(text, at)) and (found := _CHUNK.search(text, ordinary.end())):
        yield found
        at = found.end()


@cleared_on_erasure
@lru_cache(maxsize=16_384)
def _short_key(chunk: str) -> str:
    return _POSSESSIVE.sub("", chunk.strip(_WRAPPING + "` ")).casefold()


def chunk_key(chunk: str) -> str:
    """Return a chunk in the form in which it is compared: without punctuation around it, possessive 's, and case."""
    return _short_key(chunk) if len(chunk) <= _CACHED else _short_key.__wrapped__(chunk)


def chunk_keys(text: str) -> frozenset[str]:
    """Return the keys of all chunks between white space and of all text between backticks."""
    return frozenset(map(chunk_key, set(_CHUNK.findall(text))))


def _without_wrapping(chunk: str) -> str:
    inner = chunk.rstrip(_WRAPPING)
    if chunk[len(inner) : len(inner) + 2] == "()":
        inner += "()"
    return inner.lstrip(_WRAPPING.replace(".", ""))


def _is_identifier(chunk: str) -> bool:
    if _URL.match(chunk) or _COMMIT.fullmatch(chunk):
        return True
    if _RUN_ON.fullmatch(chunk):
        return False
    shaped = _LETTER.search(chunk) and _SHAPE.fullmatch(chunk)
    return bool(shaped and (_SIGN.search(chunk) or _is_path(chunk)))


def _is_path(chunk: str) -> bool:
    folder = _FOLDER.search(chunk)
    return folder is not None and _PART.search(chunk, folder.end()) is not None


_short_within: Final = cleared_on_erasure(lru_cache(maxsize=16_384)(_within))
