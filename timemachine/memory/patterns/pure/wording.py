"""Reduce a text to a wording, without the values that vary: numbers, ids, paths, quoted values, addresses and
times. Pure.

Codes stay, because they distinguish errors: the value after `status`, `code`, `errno`, `exit` and similar
words, and what a message begins with before a colon. Withheld and erased text counts as a value. A text with
few words besides quoted values (`KeyError: 'name'`) keeps the quoted values and the paths in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.postgres_text import searchable
from timemachine.text.pure.language.words import FUNCTION_WORDS, WORD, folded, stem
from timemachine.text.redaction.pure.marks import PATTERN

LONGEST: Final = 2_000
"""How many characters of a text are read."""
FEWEST_WITHOUT_VALUES: Final = 3
"""How many words a text must have besides its values for the values to be dropped; negations are not counted."""
FEWEST_WORDS: Final = 2
"""How many words a text must have to stand without the name of its tool."""
NEGATION: Final = "not"
"""Every negation is compared as this word."""

_MARK: Final = re.compile(r"<(?:time|address|quoted|path|id|number|withheld)>")
_PIECES: Final = re.compile(
    rf"(?P<withheld>{PATTERN.replace(': ', r':\ ')})"
    r"""
  | (?P<kept>
        <(?:time|address|quoted|path|id|number|withheld)>
      | \b(?:(?:exit|status|error|response)[ _-]?code|code|status|errno|exit|exitcode|sqlstate|signal|http(?:/\d(?:\.\d)?)?)
        [\s:=\#(\[]{0,3}[A-Z]{0,5}-?\d{1,6}\b
      | \berror(?:\ |\[|\ \[)[A-Z]{0,5}-?\d{1,6}\b
      | \A\W{0,3}[A-Z]{1,6}-?\d{2,6}(?=:)
    )
  | (?P<time>
        \b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\ ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?(?![\w-])
      | \b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\ ?[ap]m)?\b(?!:)
    )
  | (?P<address>
        \b[a-z][a-z0-9+.-]{1,20}://[^\s'"<>`]+
      | \b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+
      | \b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b
      | \b(?:localhost|[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}):\d{2,5}\b(?!:)
    )
  | (?P<quoted>
        "[^"\n]{1,300}" | `[^`\n]{1,300}` | “[^”\n]{1,300}” | (?<![\w>])'[^'\n]{1,300}'(?!\w)
    )
  | (?P<path>
        (?<![\w.])(?:[A-Za-z]:\\|~?/|\.{1,2}/)[\w.@+\\/-]{1,300}(?::\d+)*
      | \b[\w.@+-]{1,100}(?:[/\\][\w.@+-]{1,100}){2,20}(?::\d+)*
      | \b[\w-]{1,100}(?:[/\\.][\w-]{1,100}){0,8}\.[a-z]{1,5}(?::\d+)+
      | \b[\w-]{1,100}(?:[/\\][\w-]{1,100}){0,8}\.(?:py|js|ts|tsx|go|rs|java|rb|c|h|cpp|md|txt|json|yaml|yml|toml|html|css|sql|sh|csv|pdf|log|lock)\b
    )
  | (?P<id>
        \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
      | \b0x[0-9a-fA-F]+\b
    )
  | (?P<word>
        \b(?=\w*[^\W\d_])(?=[\w-]*\d)\w[\w-]{0,200}
    )
  | (?P<number>
        (?<![\w.])[-+]?\d[\d.,]*(?<![.,])%?
      | \d+
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[^_-]+")
_DIGIT: Final = re.compile(r"\d")
_SPACE: Final = re.compile(r"\s+")
_ENDING: Final = " .!;,…"
_NEGATING: Final = frozenset({"not", "no", "never", "none", "cannot", "neither", "nor", "nothing"})
_OF_EVERY_ERROR: Final = frozenset({"error", "exception"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A text without the values that vary. `words` are the stems of its content words, without duplicates, in
    order, with `NOT` for a negation.
    """

    text: str
    words: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Return the hash that identifies the wording."""
        return text_sha256(self.text)


def wording_of(text: str, tool: str | None = None) -> Wording | None:
    """Return the text without the values that vary, or None if nothing remains to compare.

    A text of fewer than `TELLING` words is too general alone, so the name of the tool is put before it.
    """
    given = searchable(text[:LONGEST])
    bare = _written(given, keep_values=False)
    if len(_content(bare)) < FEWEST_WITHOUT_VALUES:
        bare = _written(given, keep_values=True)
    if tool and len(_content(bare)) < FEWEST_WORDS:
        bare = f"{_written(searchable(tool[:200]), keep_values=True)}: {bare}"
    return Wording(text=bare, words=words_of(bare)) if _content(bare) else None


def words_of(text: str) -> tuple[str, ...]:
    """Return the stems of the content words of a wording, without duplicates, in order of appearance."""
    return tuple(dict.fromkeys(_stems(_MARK.sub(" ", text))))


def _stems(text: str) -> Iterator[str]:
    for found in WORD.finditer(text):
        word = folded(found[0])
        if word in _NEGATING or word.endswith("n't"):
            yield NEGATION
        elif word not in FUNCTION_WORDS and word not in _OF_EVERY_ERROR:
            yield stem(word)


def _content(text: str) -> list[str]:
    """Return the remaining words without negations, and the words in quotation marks and in paths."""
    return [word for word in words_of(_PIECES.sub(_without_values, text)) if word != NEGATION]


def _without_values(found: re.Match[str]) -> str:
    return " " if found.lastgroup in {"quoted", "path", "withheld"} else found[0]


def _written(text: str, *, keep_values: bool) -> str:
    def piece(found: re.Match[str]) -> str:
        kind, matched = str(found.lastgroup), found[0]
        if kind == "kept" or (keep_values and kind in {"quoted", "path"}):
            return matched
        return _word(matched) if kind == "word" else f"<{kind}>"

    return _SPACE.sub(" ", _PIECES.sub(piece, text)).strip().rstrip(_ENDING)


def _word(word: str) -> str:
    """Return a word without its parts that contain digits, which are ids; hyphens and underscores separate parts."""
    return _PARTS.sub(lambda part: "<id>" if _DIGIT.search(part[0]) else part[0], word)
