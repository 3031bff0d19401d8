"""The subject of a question, without the words by which people query a memory. Pure.

"What did we figure out?" has no subject: nothing can be searched for, and the most important turns are returned
instead.
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
"""Words without content, and words by which people query a memory."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def subject_of(text: str) -> str:
    """Return the text if it names something to search for; empty if it has only words of asking."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    plain = (re.sub(r"(?:n't|'(?:s|d|ll|re|ve|m))$", "", word) for word in words)
    return text if any(word not in _ASKING for word in plain) else ""
