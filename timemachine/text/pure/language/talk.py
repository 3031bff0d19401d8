"""Sentences without content of their own: courtesies, introductions, advice to ask a professional. English only."""

import re
from typing import Final

from timemachine.text.pure.language.words import root, stem, word_set

# Words that connect an answer, whatever its subject. They say little that a passage could support.
GLUE_WORDS: Final = word_set(
    """
    additionally moreover furthermore however therefore thus overall finally lastly firstly secondly first second third
    also alternatively instead otherwise then next note noted important importantly importance essential key crucial
    following follow step steps way ways method methods include includes including such example instance several various
    different certain specific particular general generally typically usually often commonly common mainly primarily
    help helps make makes sure ensure ensures need needs needed needing order use uses used using provide provides
    involve involves consider considered possible possibly potentially likely able allow allows certain depending appear
    appears seem seems suggest suggests recommend recommended recommendation advise advised advisable suggestion
    consult professional question answer summary conclusion conclude discuss discusses discussed describe describes
    described refer refers referred explain explains explained relate related topic topics aspect aspects factor factors
    reason reasons thing things something someone person people individual individuals user users get gets give gives
    take takes become becomes remain remains well as known called referring regarding concerning due result results
    cause causes main major some many much more most other others another one two both each every any all
    necessarily necessary properly proper appropriate simply easily effectively successfully completely fully directly
    forget remember further detailed details detail information once while until within without especially particularly even still yet
    """
) - word_set("without more most until all many two much first second third before after")
GLUE: Final = frozenset(root(stem(word)) for word in GLUE_WORDS)

_MARKER: Final = re.compile(r"^\W*(?:\d{1,2}[.)]\s*)?")
_DIGIT: Final = re.compile(r"\d")
_COURTESY: Final = re.compile(
    r"""(?:
        (?:yes|sure|certainly|of\ course|absolutely|great(?:\ question)?|okay|ok|hello|hi|thanks|thank\ you)(?:\s(?:thing|there|you))?\W*$
      | (?:yes|sure|certainly|of\ course|absolutely),?\ i\b[^.]{0,30}\b(?:help|assist|answer)\b[^.]{0,40}$
      | (?:please\ )?(?:note\ that\ )?(?:this|these|the)\ (?:\w+\ ){0,3}(?:is|are|was|were)\ (?:only\ |solely\ )?based\ on\ the\ (?:\w+\ )?
        (?:passages?|context|documents?|sources?|text)\b
      | (?:i\ |we\ )?hope\ (?:this|that|it|my|the|you)\b
      | (?:please\ )?(?:let\ me\ know|feel\ free|don't\ hesitate|do\ not\ hesitate)\b
      | if\ you\ have\ (?:any|more|further|other|additional)\ .{0,40}(?:questions?|concerns?)\b
      | i'?(?:\ a)?m\ happy\ to\ help | happy\ to\ help | thank\ you\ for | you'?(?:\ a)?re\ welcome
      | (?:i'?(?:\ a)?m\ )?(?:sorry|i\ apologi[sz]e)\b[^.]{0,40}$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_INTRODUCTION: Final = re.compile(
    r"\b(?:here(?:'s|\ is|\ are)|(?:as|the)\ follow(?:s|ing)|these\ (?:\w+\ )?(?:steps|ways|remedies|tips|methods)|steps)\b[^.!?]*:\W*$",
    re.IGNORECASE,
)
_ASK: Final = r"(?:consult|contact|call|see|speak|talk|ask|seek|visit|check|reach\ out|hire)"
_WHO: Final = (
    r"(?:professionals?|doctors?|physicians?|lawyers?|attorneys?|experts?|specialists?|dentists?|pharmacists?|plumbers?"
    r"|electricians?|mechanics?|technicians?|veterinarians?|vets?|therapists?|providers?|advisors?|advisers?|agents?"
    r"|accountants?|manufacturers?|manuals?|websites?|help|advice|assistance|attention|guidance)"
)
_IMPERSONAL: Final = (
    r"it(?:'s|\ is|\ may\ be|\ might\ be|\ would\ be)\ (?:\w+\ )?"
    r"(?:recommended|advisable|advised|important|best|wise|necessary|essential|crucial|a\ good\ idea)"
)
_ADVICE: Final = re.compile(
    rf"""^(?:
        .*\b(?:you|please|always|remember|we\ recommend|i\ recommend|{_IMPERSONAL})\b
      | (?:if\b[^,]*,\ |however,?\ |finally,?\ |then,?\ )?(?={_ASK}\b)
    ).*?\b{_ASK}(?:ing)?\b.{{0,60}}?\b{_WHO}\b""",
    re.IGNORECASE | re.VERBOSE,
)
_AGAINST: Final = re.compile(
    rf"\b(?:not|never|no\ need\ to|\w+n't)\ (?:\w+\ )?{_ASK}\b", re.IGNORECASE | re.VERBOSE
)
_LONGEST: Final = 400


def makes_no_claim(sentence: str) -> bool:
    """Return whether a sentence is a courtesy ("I hope this helps!"), an introduction ending in a colon, or advice to
    ask someone.

    Advice with a number ("Call a doctor after 3 days") or against asking ("You need not see a doctor") makes a claim.
    """
    plain = _MARKER.sub("", sentence[:_LONGEST].replace("’", "'"))
    if _COURTESY.match(plain) or _INTRODUCTION.search(plain):
        return True
    advice = _ADVICE.match(plain) is not None and _AGAINST.search(plain) is None
    return advice and _DIGIT.search(plain) is None
