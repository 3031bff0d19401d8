"""Reading what a judge answered, without trusting it: each sentence's verdict, and whether its quote really stands there. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.replay.judging.pure.judge_answers import document_of, not_understood

SUPPORTED, CONTRADICTED, NOT_FOUND = "supported", "contradicted", "not_found"
VERDICTS: Final = (SUPPORTED, CONTRADICTED, NOT_FOUND)
QUOTE_NOT_FOUND: Final = "quote_not_found"
"""How a verdict counts whose quote stands in no passage: what the judge rests it on is not there."""
CLASSES: Final = (*VERDICTS, QUOTE_NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceVerdict:
    """What the judge says of one sentence. Sentences and passages are counted from 1.

    `passage` and `quote` are what it named, None where it named none. `quote_in` is the passage in which the quote really
    stands, the named one before any other; None where it stands in none, or there is no quote.
    """

    number: int
    verdict: str
    passage: int | None
    quote: str | None
    quote_in: int | None


def read_verdicts(raw: str, sentences: int, passages: Sequence[str]) -> tuple[SentenceVerdict, ...]:
    """The verdict of every sentence, in their order. `passages` are the texts as the judge read them.

    White space counts as one space where a quote is looked for. Raises `ModelFailed` (`judge_not_understood`) that says what
    is wrong: it is not the JSON asked for, a sentence is missing, there twice or unknown, a value is of the wrong type.
    """
    entries = _entries(raw)
    found = [_verdict(entry, sentences, passages) for entry in entries]
    numbers = [each.number for each in found]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    if twice:
        raise not_understood(f"it judges sentence {twice[0]} twice.")
    missing = sorted(set(range(1, sentences + 1)) - set(numbers))
    if missing:
        raise not_understood(f"it leaves out sentence {', '.join(map(str, missing))}.")
    return tuple(sorted(found, key=lambda each: each.number))


def counted_as(verdict: str, quote: str | None, quote_in: int | None) -> str:
    """The class in which a verdict counts, one of `CLASSES`: the verdict, unless it rests on a quote that is nowhere."""
    invented = verdict != NOT_FOUND and quote is not None and quote_in is None
    return QUOTE_NOT_FOUND if invented else verdict


def agrees(counted: str, grounded: bool | None) -> bool | None:
    """Whether a judge and the recorded grounding say the same of a sentence; None where one of them says nothing that counts."""
    return None if grounded is None or counted == QUOTE_NOT_FOUND else (counted == SUPPORTED) == grounded


def _entries(raw: str) -> list[dict[str, Any]]:
    document = document_of(raw)
    entries = document.get("sentences") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise not_understood("it has no list of `sentences`.")
    return entries


def _verdict(entry: dict[str, Any], sentences: int, passages: Sequence[str]) -> SentenceVerdict:
    number: Any = entry.get("number")
    if not _counts(number, sentences):
        raise not_understood(f"there is no sentence {number!r}; there are {sentences}.")
    verdict = entry.get("verdict")
    if verdict not in VERDICTS:
        raise not_understood(
            f"sentence {number} has the verdict {verdict!r}; it is one of {', '.join(VERDICTS)}."
        )
    passage, quote = entry.get("passage"), entry.get("quote")
    if passage is not None and not _counts(passage, len(passages)):
        raise not_understood(f"sentence {number} names passage {passage!r}; there are {len(passages)}.")
    if quote is not None and not isinstance(quote, str):
        raise not_understood(f"the quote of sentence {number} is no text.")
    words = quote if quote and quote.strip() else None
    return SentenceVerdict(
        number=number,
        verdict=verdict,
        passage=passage,
        quote=words,
        quote_in=_place(words, passage, passages),
    )


def _counts(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _place(quote: str | None, named: int | None, passages: Sequence[str]) -> int | None:
    if quote is None:
        return None
    words = _folded(quote)
    order = [*([named] if named else []), *range(1, len(passages) + 1)]
    return next((number for number in order if words in _folded(passages[number - 1])), None)


def _folded(text: str) -> str:
    return " ".join(text.split())
