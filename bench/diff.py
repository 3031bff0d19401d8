"""How long a text diff takes: two texts of 200,000 characters with about 6 % of the words edited and a block of 20 sentences moved.

Baselines, on the same texts and in the same run: a plain diff of all words (rapidfuzz Indel, which does not know sentences or moves) and
Python's difflib over words at a tenth of the length, which is what it can do in reasonable time. Times are medians of process time; the peak
is what Python allocated during one diff (tracemalloc).
"""

import difflib
import random
import re
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

from rapidfuzz.distance import Indel

from bench.common.report import figure, finish
from timemachine.text.pure.difference.text import text_diff

LETTERS, EDITED, MOVED, RUNS = 200_000, 0.06, 20, 7
WITHIN_MS = 50.0
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]


def main() -> None:
    """Measure."""
    old, new = texts(LETTERS)
    found = text_diff(old, new)
    assert "".join(span.text for row in found.rows for span in row.right) == new
    words = old.split(), new.split()
    short = [side[: len(side) // 10] for side in words]
    took = median_ms(lambda: text_diff(old, new))
    plain = median_ms(lambda: indel(*words), 3)
    tenth = median_ms(
        lambda: difflib.SequenceMatcher(None, short[0], short[1], autojunk=False).get_opcodes(), 1
    )
    changed = f"{LETTERS:,} characters, {EDITED:.0%} of the words edited"
    figure(changed, took, "ms", against=("all words by rapidfuzz", plain), most=WITHIN_MS)
    figure("the same by a tenth", took, "ms", against=(f"{LETTERS // 10:,} characters by difflib", tenth))
    figure("peak memory", peak_mib(old, new), "MiB")


def texts(letters: int, seed: int = 7) -> tuple[str, str]:
    """Return a text of made-up words in sentences, and the same with words edited and a block of sentences moved."""
    dice = random.Random(seed)
    vocabulary = [
        "".join(dice.choices(SYLLABLES, k=dice.choice((1, 1, 2, 2, 2, 3, 4)))) for _ in range(3_000)
    ]
    old: list[str] = []
    while sum(map(len, old[-50:])) * max(len(old) // 50, 1) < letters:
        old.append(" ".join(dice.choices(vocabulary, k=dice.randint(8, 24))).capitalize() + ". ")
    start, end = len(old) // 10, len(old) * 7 // 10

    def edited(found: re.Match[str]) -> str:
        if dice.random() >= EDITED:
            return found[0]
        word = dice.choice(vocabulary)
        return word.capitalize() if found[0][0].isupper() else word

    block = old[start : start + MOVED]
    new = [re.sub(r"\w+", edited, sentence) for sentence in (*old[:start], *old[start + MOVED :])]
    return "".join(old)[:letters], "".join([*new[:end], *block, *new[end:]])[:letters]


def median_ms(run: Callable[[], object], runs: int = RUNS) -> float:
    """Return the median of process time in milliseconds, after one uncounted run if there are several."""
    took: list[float] = []
    for _ in range(runs + (runs > 1)):
        started = time.process_time()
        run()
        took.append((time.process_time() - started) * 1_000)
    return statistics.median(took[runs > 1 :])


def indel(left: list[str], right: list[str]) -> object:
    """Compare all words with all words."""
    ids: dict[str, int] = {}
    return Indel.opcodes(
        [ids.setdefault(word, len(ids)) for word in left], [ids.setdefault(word, len(ids)) for word in right]
    )


def peak_mib(old: str, new: str) -> float:
    """Return the peak memory of one diff."""
    tracemalloc.start()
    text_diff(old, new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


if __name__ == "__main__":
    main()
    sys.exit(finish())
