"""What a question is about, apart from how people ask a memory for it. Pure.

"What did we figure out?" names no subject: then there is nothing to look for, and what mattered most is told instead.
"""

import re
from typing import Final

from timemachine.text.pure.language.words import FUNCTION_WORDS, word_set

_ASKING: Final = FUNCTION_WORDS | word_set(
    """
    agree agreed all any anything ask asked came come compare compared comparison conclude concluded decide decided decision decisions
    discuss discussed earlier else everything figure figured find findings found get give go going got happen
    happened hello help hi important know last learn learned learnt list need over please recall remember
    remembered remind said say show some something summarise summarize summary talk talked tell thing things
    told top up went work worked
    """
)
"""Words without content, and those by which people ask a memory."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def subject_of(text: str) -> str:
    """The text where it names something to look for; empty where it has only words by which people ask."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    plain = (re.sub(r"(?:n't|'(?:s|d|ll|re|ve|m))$", "", word) for word in words)
    return text if any(word not in _ASKING for word in plain) else ""
