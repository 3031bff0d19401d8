"""Recognizes answers that say that they do not answer. English only."""

import re
from typing import Final

from timemachine.text.pure.language.sentences import sentences

NO_ANSWER: Final = "The given context does not answer this question."

_SOURCE: Final = (
    r"(?:context|passages?|documents?|text|information|sources?|excerpts?|articles?|memor(?:y|ies)|records?"
    r"|materials?|snippets?|knowledge base|frames?|search results?|collection)"
)
_WHICH: Final = (
    r"(?: (?:you|that (?:was|were|is|are)))?(?: (?:provided|given|supplied|retrieved|available|above))?"
)
_NOT: Final = r"(?:(?:do|does|did|is|are|was|were)(?:n't| not)|cannot|can't|fails? to)"
_GIVE: Final = (
    r"(?:answer|contain|include|mention|say|provide|specify|state|address|give|discuss|describe|cover|explain"
    r"|identify|disclose|clarify|define|detail|refer)"
)
_UNABLE: Final = r"(?:cannot|can't|can not|could not|couldn't|(?:not able|unable) to|won't|will not)"
_DO: Final = (
    r"(?:answer|find|determine|provide|help|assist|comply|locate|say|tell|give|identify|confirm|verify|see|do that"
    r"|fulfil|fulfill|discuss|share|respond|generate|complete|address|support)"
)
_KNOWN: Final = r"(?:information|context|access|data|knowledge|answer|details?|evidence)"
_PLACED: Final = (
    r"(?:mentioned|specified|stated|provided|given|found|available|included|discussed|addressed|answered|present"
    r"|contained|covered)"
)
_ABOUT: Final = (
    r"(?:found|available|provided|given|mentioned|in the|about|regarding|on this|on that|to answer)"
)

_PATTERNS: Final = (
    # The source does not say.
    rf"\b{_SOURCE}{_WHICH}(?: also)? {_NOT} (?:(?:\w+ly|enough) )?{_GIVE}\b",
    rf"\b{_SOURCE}{_WHICH} (?:has|have|contains?|includes?|provides?|gives?|offers?|says?) (?:no|nothing|insufficient)\b",
    rf"\b{_SOURCE}{_WHICH} lacks?\b",
    rf"\bnot (?:\w+ly )?{_PLACED} (?:in|by|within|anywhere in) (?:\w+ ){{0,3}}{_SOURCE}\b",
    r"\bnot (?:in|within) (?:\w+ ){0,3}(?:context|passages?|documents?)\b",
    rf"\bnone of the (?:\w+ )?{_SOURCE}{_WHICH} (?:\w+ly )?(?:{_GIVE})s?\b",
    rf"\bunable to (?:answer|determine|say|tell|find)\b.{{0,60}}\b(?:based on|from|with|given|using)\b.{{0,30}}\b{_SOURCE}\b",
    # There is nothing to say it from.
    rf"\bno (?:\w+ ){{0,3}}(?:mention|{_KNOWN}|passages?|documents?|results?)\b.{{0,60}}?\b{_ABOUT}\b",
    r"^\W*no (?:\w+ ){0,2}(?:answer|information|results?|data|documents?|passages?)(?: \w+){0,2}\W*$",
    rf"(?:\bnot|n't|\bno) (?:enough|sufficient) (?:\w+ )?{_KNOWN}",
    rf"\binsufficient (?:\w+ )?{_KNOWN}",
    # I cannot.
    rf"\b(?:i|we) (?:\w+ly )?(?:(?:am|are|was|were) )?{_UNABLE} (?:\w+ly )?{_DO}\b",
    rf"(?:\b(?:i'm|we're)|^) {_UNABLE} {_DO}\b",
    rf"^\W*{_UNABLE} {_DO}\b",
    rf"\b(?:i|we) (?:do not|don't|did not|didn't) (?:know|find|see|have (?:\w+ ){{0,3}}{_KNOWN})\b",
    r"\b(?:cannot|can't|can not|could not) be (?:\w+ly )?(?:determined|answered|inferred|established|found)\b",
    r"\bit is (?:unclear|unknown|not clear|not possible to (?:determine|say|answer|tell))\b",
    r"^\W*(?:unanswerable|unknown|not (?:specified|mentioned|stated|found|available|answerable)|n/a)\W*$",
)
_REFUSALS: Final = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
# A sentence that continues with something it does know is an answer.
_CONTINUES: Final = re.compile(
    r"\b(?:but|however|although|though|except|only that)\b\W+(?:\w+\W+){2}", re.IGNORECASE
)
_DETERMINER: Final = r"(?:(?:the|these|those|this) )?(?:\w+ )?"
_DENIES: Final = rf"{_NOT}(?: \w+ly)? (?:{_GIVE}|list)\b"
_BUT: Final = r"[,;]? (?:but|however|although|though|and)\b,? "
# "It does not …" refers to the source only if the sentence began with the source.
_SOURCE_FIRST: Final = rf"(?P<rest>\W*{_DETERMINER}{_SOURCE} .{{4,}}?){_BUT}(?:it|they)(?: also)? {_DENIES}.*"
_SOURCE_LAST: Final = rf"(?P<rest>.{{8,}}?){_BUT}{_DETERMINER}{_SOURCE}{_WHICH}(?: also)? {_DENIES}.*"
_SAYS_FIRST: Final = (
    rf"\W*(?:(?:although|though|while) )?{_DETERMINER}{_SOURCE}{_WHICH} {_DENIES}"
    r"[^,;]*[,;] (?:but |however,? |yet )?(?P<rest>.{8,})"
)
_PARTLY: Final = [
    re.compile(form, re.IGNORECASE | re.DOTALL) for form in (_SOURCE_FIRST, _SOURCE_LAST, _SAYS_FIRST)
]
_POLITE: Final = re.compile(
    r"(?:please|if you|let me|feel free|would you|could you|can you|sorry|i'?m sorry|i am sorry|i apologi[sz]e|you may"
    r"|you might|you can|you could|try|for more|thank|hope|as an ai|i'm here|is there|unfortunately)\b",
    re.IGNORECASE,
)
_MARKDOWN: Final = re.compile(r"[*_`#>]")
# Refusals are not longer.
_LONGEST: Final = 2_000


def is_refusal(text: str) -> bool:
    """Return whether an answer, or one sentence of it, only says that it does not answer.

    That is the case if some sentence refuses and all others are polite phrases ("Please provide more context."). An
    answer that says what is missing and then gives something is an answer. An empty text is not a refusal.
    """
    plain = text.strip().replace("’", "'")
    if not plain or len(plain) > _LONGEST:
        return False
    found = [" ".join(_MARKDOWN.sub("", sentence.body).split()) for sentence in sentences(plain)]
    refusing = [_refuses(sentence) for sentence in found]
    polite = [bool(_POLITE.match(sentence)) for sentence in found]
    return any(refusing) and all(one or other for one, other in zip(refusing, polite, strict=True))


def without_refusal(sentence: str) -> str:
    """Return the part of a sentence that makes a statement, if another part only says what the source does not say.

    "The price is $5, but the passage does not give the date" becomes "The price is $5". In "The passages do not give
    the price, but they say that it closed", the part after "but" remains. Other sentences are returned unchanged.
    """
    if len(sentence) > _LONGEST:
        return sentence
    for form in _PARTLY:
        found = form.match(sentence)
        if found:
            return found["rest"]
    return sentence


def _refuses(sentence: str) -> bool:
    found = _REFUSALS.search(sentence)
    return found is not None and not _CONTINUES.search(sentence, found.end())
