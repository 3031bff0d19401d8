"""`local:extractive`: an answer made of the passages' own sentences. Not a language model; needs no key and no network. Pure.

The sentences that share the most with the question are quoted, word for word, in the order in which they stand. What a shared
word counts is its inverse document frequency over the sentences of the passages given, so that a word found everywhere
counts for little: ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009,
section 3.3), N the number of sentences and n of those with the word. The same question and passages give the same bytes.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from timemachine.text.pure.language.refusal import NO_ANSWER
from timemachine.text.pure.language.sentences import sentences
from timemachine.text.pure.language.words import FUNCTION_WORDS, WORD, folded, stem, word_set

_QUESTION_MARKS = ("?", "？", "؟")
# what a question is made of, beside function words, and not what it is about
_ASKING_WORDS = FUNCTION_WORDS | word_set(
    "much many long often any some please tell say said give get got take takes not no"
)

_ROWS_OF_DASHES = re.compile(r"(?:[ \t]*[|:+=_-][|:+=_ \t-]+(?:[\r\n]+|$))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of a passage: `passage` counts from 0, `start` and `end` are character offsets in it."""

    passage: int
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The answer, one quote a line; without quotes, the sentence that says there is none."""

    text: str
    quotes: tuple[Quote, ...]


def extract(question: str, passages: Sequence[str], limit: int) -> Extract:
    """The at most `limit` best-matching sentences of the passages, in reading order; ties go to the earlier.

    A sentence that shares no word with the question is never quoted, nor is one that is itself a question; one that stands
    in several passages is quoted once.
    """
    words = _words(question)
    asked = _stems(words - _ASKING_WORDS or words)
    best = sorted(_matching(asked, passages), key=lambda quote: -quote.score)[:limit]
    quotes = tuple(sorted(best, key=lambda quote: (quote.passage, quote.start)))
    return Extract(text="\n".join(quote.text for quote in quotes) or NO_ANSWER, quotes=quotes)


def timed_extract(question: str, passages: Sequence[str], limit: int) -> tuple[Extract, float]:
    """The extract, and how many milliseconds it took, wherever it is made."""
    started = perf_counter()
    found = extract(question, passages, limit)
    return found, (perf_counter() - started) * 1000


def _matching(asked: frozenset[str], passages: Sequence[str]) -> list[Quote]:
    candidates = list(_candidates(passages))
    shared = [asked & _stems(_words(candidate.text)) for candidate in candidates]
    weights = _weights(shared)
    scores = (math.fsum(weights[word] for word in sorted(words)) for words in shared)
    scored = (replace(quote, score=score) for quote, score in zip(candidates, scores, strict=True))
    return [quote for quote in scored if quote.score > 0]


def _candidates(passages: Sequence[str]) -> Iterator[Quote]:
    seen: set[str] = set()
    for passage, text in enumerate(passages):
        for sentence in sentences(text):
            skipped = _before_words(sentence.text)
            quoted = sentence.text[skipped:].strip()
            if quoted and quoted not in seen and not quoted.endswith(_QUESTION_MARKS):
                start = sentence.start + skipped
                yield Quote(passage=passage, start=start, end=start + len(quoted), text=quoted, score=0.0)
            seen.add(quoted)


def _before_words(sentence: str) -> int:
    """How many characters of it are rows of dashes, as between the head and the rows of a table, and white space."""
    found = _ROWS_OF_DASHES.match(sentence)
    ruled = 0 if found is None else found.end()
    return ruled + len(sentence[ruled:]) - len(sentence[ruled:].lstrip())


def _weights(shared: Sequence[frozenset[str]]) -> dict[str, float]:
    found = Counter(word for words in shared for word in words)
    return {word: math.log1p((len(shared) - n + 0.5) / (n + 0.5)) for word, n in found.items()}


def _words(text: str) -> frozenset[str]:
    return frozenset(folded(found[0]) for found in WORD.finditer(text))


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(stem, words))
