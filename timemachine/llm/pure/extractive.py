"""`local:extractive`: answers with sentences of the passages. Not a language model; needs no key and no network.

It quotes the sentences that share the most with the question, word for word, in their original order. A shared word
counts its inverse document frequency over the sentences of the passages: ln(1 + (N - n + 0.5) / (n + 0.5)), where N is
the number of sentences and n the number with the word (Robertson and Zaragoza, The Probabilistic Relevance Framework,
2009, section 3.3). The same question and passages give the same bytes.
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
# words that make a question, in addition to function words, but are not its subject
_ASKING_WORDS = FUNCTION_WORDS | word_set(
    "much many long often any some please tell say said give get got take takes not no"
)

_ROWS_OF_DASHES = re.compile(r"(?:[ \t]*[|:+=_-][|:+=_ \t-]+(?:[\r\n]+|$))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence of a passage. `passage` counts from 0; `start` and `end` are character offsets in it."""

    passage: int
    start: int
    end: int
    text: str
    score: float


def extract(question: str, passages: Sequence[str], limit: int) -> str:
    """Return the answer: the best-matching sentences, one per line, or the sentence that says there is no answer."""
    return "\n".join(quote.text for quote in best_quotes(question, passages, limit)) or NO_ANSWER


def best_quotes(question: str, passages: Sequence[str], limit: int) -> tuple[Quote, ...]:
    """Return the at most `limit` best-matching sentences of the passages, in reading order. Ties go to the earlier one.

    Sentences that share no word with the question, and questions, are never quoted. A repeated sentence is quoted once.
    """
    words = _words(question)
    terms = _stems(words - _ASKING_WORDS or words)
    best = sorted(_matching(terms, passages), key=lambda quote: -quote.score)[:limit]
    return tuple(sorted(best, key=lambda quote: (quote.passage, quote.start)))


def timed_extract(question: str, passages: Sequence[str], limit: int) -> tuple[str, float]:
    """Return the answer, and how many milliseconds it took in the process that made it."""
    started = perf_counter()
    found = extract(question, passages, limit)
    return found, (perf_counter() - started) * 1000


def _matching(terms: frozenset[str], passages: Sequence[str]) -> list[Quote]:
    candidates = list(_candidates(passages))
    shared = [terms & _stems(_words(candidate.text)) for candidate in candidates]
    holding = Counter(word for words in shared for word in words)
    weights = {word: math.log1p((len(shared) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
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
    """Return how many characters before the words are white space or rows of dashes, such as under a table's header."""
    found = _ROWS_OF_DASHES.match(sentence)
    ruled = 0 if found is None else found.end()
    return ruled + len(sentence[ruled:]) - len(sentence[ruled:].lstrip())


def _words(text: str) -> frozenset[str]:
    return frozenset(folded(found[0]) for found in WORD.finditer(text))


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(stem, words))
