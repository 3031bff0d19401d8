"""Parsing a judge's reply without trusting it: the JSON in it, each sentence's verdict, and whether its quote is really in a passage."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput, ModelFailed
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.completion import Completion

SUPPORTED, CONTRADICTED, NOT_FOUND = "supported", "contradicted", "not_found"
VERDICTS: Final = (SUPPORTED, CONTRADICTED, NOT_FOUND)
QUOTE_NOT_FOUND: Final = "quote_not_found"
"""The class of a verdict whose quote is in no passage."""
# Many models wrap their reply in one Markdown code fence. That is accepted; any other text around the JSON is not.
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceVerdict:
    """The judge's verdict on one sentence. Sentences and passages are numbered from 1.

    `passage` and `quote` are what the judge named, None if it named none. `quote_in` is the passage that
    contains the quote, the named one first; None if none contains it or there is no quote.
    """

    number: int
    verdict: str
    passage: int | None
    quote: str | None
    quote_in: int | None


class StoredSentence(TypedDict, total=False):
    """A sentence of an answer as a judgement stores it: with its `number` and `text`, and once it was judged with its verdict.

    `frame` is the name of the passage in the session.
    """

    number: int
    text: str
    verdict: str
    passage: int | None
    quote: str | None
    quote_in: int | None
    frame: int | str | None


def text_of(completion: Completion) -> str:
    """Return the judge's reply. Raises `ModelFailed` if it refused (`judge_refused`) or was cut off (`judge_cut_off`)."""
    if completion.refused:
        raise ModelFailed("The judge model refused to answer. Choose another one.", code="judge_refused")
    if completion.cut_short:
        raise ModelFailed(
            f"The judge's answer was cut off ({completion.finish_reason}). Choose another model.",
            code="judge_cut_off",
        )
    return completion.text


def document_of(raw: str) -> Any:
    """Return the JSON of a reply, without a code fence. Raises `ModelFailed` (`judge_not_understood`) if it is not JSON."""
    dressed = _FENCE.fullmatch(raw.strip())
    try:
        return parse_json(dressed[1] if dressed else raw.strip())
    except InvalidInput as why:
        raise not_understood(f"it is not the requested JSON. {why.message}") from why


def not_understood(why: str) -> ModelFailed:
    """Return the error for a reply that does not have the requested form."""
    return ModelFailed(
        f"The judge's answer cannot be read: {why} Try again, or choose another model.",
        code="judge_not_understood",
    )


def read_verdicts(raw: str, sentences: int, passages: Sequence[str]) -> tuple[SentenceVerdict, ...]:
    """Return the verdict of every sentence, in order. `passages` are the texts as the judge read them.

    Runs of white space are equal when a quote is searched for. Raises `ModelFailed` (`judge_not_understood`)
    with the reason: not the requested JSON; a sentence that is missing, repeated or unknown; a value of the
    wrong type.
    """
    entries = _entries(raw)
    found = [_verdict(entry, sentences, passages) for entry in entries]
    numbers = [each.number for each in found]
    repeated = sorted({number for number in numbers if numbers.count(number) > 1})
    if repeated:
        raise not_understood(f"it judges sentence {repeated[0]} twice.")
    missing = sorted(set(range(1, sentences + 1)) - set(numbers))
    if missing:
        raise not_understood(f"it leaves out sentence {', '.join(map(str, missing))}.")
    return tuple(sorted(found, key=lambda each: each.number))


def counted_as(verdict: str, quote: str | None, quote_in: int | None) -> str:
    """Return the class in which a verdict counts: the verdict, or `quote_not_found`."""
    invented = verdict != NOT_FOUND and quote is not None and quote_in is None
    return QUOTE_NOT_FOUND if invented else verdict


def agrees(counted: str, grounded: bool | None) -> bool | None:
    """Return whether the judge and the recorded grounding agree on a sentence; None if either has no verdict that counts."""
    return None if grounded is None or counted == QUOTE_NOT_FOUND else (counted == SUPPORTED) == grounded


def _entries(raw: str) -> list[JsonObject]:
    document = document_of(raw)
    entries = document.get("sentences") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise not_understood("it has no list of `sentences`.")
    return entries


def _verdict(entry: JsonObject, sentences: int, passages: Sequence[str]) -> SentenceVerdict:
    number: Any = entry.get("number")
    if not _counts(number, sentences):
        raise not_understood(f"there is no sentence {number!r}; there are {sentences}.")
    verdict = entry.get("verdict")
    if verdict not in VERDICTS:
        raise not_understood(
            f"sentence {number} has the verdict {verdict!r}; it must be one of {', '.join(VERDICTS)}."
        )
    passage, quote = entry.get("passage"), entry.get("quote")
    if passage is not None and not _counts(passage, len(passages)):
        raise not_understood(f"sentence {number} names passage {passage!r}; there are {len(passages)}.")
    if quote is not None and not isinstance(quote, str):
        raise not_understood(f"the quote of sentence {number} is not text.")
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
