"""The words of a text that carry content, in one form each: what two sentences are compared by."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Final, Literal, NamedTuple

from timemachine.language.identifiers import chunk_key, identifier_spans
from timemachine.language.numbers import Number, numbers_beside
from timemachine.language.words import FUNCTION_WORDS, WORD, folded, stem, word_set

# The key that all negating words share; no stem is like it ("not" is that of "note").
NEGATION: Final = "~not"

Kind = Literal["word", "number", "identifier", "negation"]

_NEGATIONS: Final = word_set(
    "not no never none nobody nothing nowhere neither without cannot unable lack lacks lacked lacking hardly"
)
# "one" counts nothing in most places, and "not" that does not negate belongs to "not only".
_EMPTY: Final = word_set("one not")
_FAILING: Final = word_set("fail fails failed failing refuse refuses refused decline declines declined")
_MAY_NEGATE: Final = _NEGATIONS | _FAILING
_SAYS_NOTHING: Final = FUNCTION_WORDS | _EMPTY
# "Do not forget to …" says to do it.
_NEVER_MEANT: Final = word_set("forget hesitate worry")
_CLAUSE_WORDS: Final = word_set(
    "and or but yet while although though whereas because if so then unless until"
)
_DATE: Final = re.compile(r"^date (?:\d{4}|-)-(\d\d)\b.*")
_CLAUSE_MARK: Final = re.compile(r"[,;:()—–.!?\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One content word, number, identifier or negation.

    `key` is equal for what means the same ("$2B" and "2 billion", "closed" and "closing", "not" and "never");
    `start` and `end` are characters of the text. `opens` says that a new clause starts here.
    """

    key: str
    kind: Kind
    start: int
    end: int
    opens: bool = False


class _Token(NamedTuple):
    start: int
    end: int
    word: str
    fixed: tuple[str, Kind] | None = None


def terms(text: str) -> tuple[Term, ...]:
    """The terms of a text in order. Function words are left out, but never a negation or a comparison."""
    spans = list(identifier_spans(text))
    return terms_beside(text, spans, numbers_beside(text, spans))


def terms_beside(
    text: str, identifiers: Iterable[tuple[int, int]], numbers: Iterable[Number]
) -> tuple[Term, ...]:
    """The terms of a text whose identifiers (as spans) and numbers are known already, each in order."""
    fixed = merge(_identifiers(text, identifiers), _numbers(numbers), key=lambda token: token.start)
    return tuple(_terms(text, list(_tokens(text, fixed))))


def number_key(number: Number) -> str:
    """The key of a number as a term: its value without a unit other than percent, the month of a date."""
    if number.bare is not None and number.unit != "%":
        return f"#{number.bare}"
    return "#" + _DATE.sub(r"date \1", number.key)


def _tokens(text: str, fixed: Iterator[_Token]) -> Iterator[_Token]:
    """The words of a text, and in place of those in them the numbers and identifiers, which are in order."""
    following = next(fixed, None)
    if not following:
        yield from (_Token(*found.span(), folded(found[0])) for found in WORD.finditer(text))
        return
    for found in WORD.finditer(text):
        while following and following.end <= found.start():
            yield following
            following = next(fixed, None)
        if not following or found.end() <= following.start:
            yield _Token(found.start(), found.end(), folded(found[0]))
    if following:
        yield following
    yield from fixed


def _identifiers(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[_Token]:
    for start, end in spans:
        yield _Token(start, end, "", (chunk_key(text[start:end]), "identifier"))


def _numbers(numbers: Iterable[Number]) -> Iterator[_Token]:
    for number in numbers:
        fixed: tuple[str, Kind] | None = (number_key(number), "number") if number.certain else None
        yield _Token(number.start, number.end, "one", fixed)


def _terms(text: str, tokens: list[_Token]) -> Iterator[Term]:
    opens, last_end = False, 0
    for position, token in enumerate(tokens):
        opens = opens or token.word in _CLAUSE_WORDS or _marked(text[last_end : token.start])
        last_end = token.end
        meaning = token.fixed or _meaning(text, tokens, position)
        if meaning:
            key, kind = meaning
            yield Term(key=key, kind=kind, start=token.start, end=token.end, opens=opens)
            opens = False


def _marked(gap: str) -> bool:
    return gap not in ("", " ") and _CLAUSE_MARK.search(gap) is not None


def _meaning(text: str, tokens: list[_Token], position: int) -> tuple[str, Kind] | None:
    word = tokens[position].word
    if word in _MAY_NEGATE or word.endswith("n't"):
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        if _negates(text, tokens[position], following):
            return NEGATION, "negation"
    # Digits that state no number mark an item of a list, or cite.
    if word in _SAYS_NOTHING or word.isdecimal():
        return None
    return stem(word), "word"


def _negates(text: str, token: _Token, following: _Token | None) -> bool:
    """Whether the word negates what follows; "not only", "No," as an answer, "no. 5" and "failed" alone do not."""
    after = following.word if following else ""
    if token.word in _FAILING:
        return after == "to"
    if after in _NEVER_MEANT:
        return False
    if token.word.endswith("n't"):
        return True
    if token.word not in _NEGATIONS or after == "only":
        return False
    return token.word != "no" or (following is not None and _qualifies(text, token, following))


def _qualifies(text: str, token: _Token, following: _Token) -> bool:
    return following.fixed is None and text[token.end : following.start].isspace()
