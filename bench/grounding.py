"""How often the label of a grounding is wrong: on a labelled file, compared with word overlap and with the answer's length alone.

The file is named as the argument or in GROUNDING_FILE: JSONL, each line `{"context": ["…"], "answer": "…", "unsupported": true|false}`,
true if a person found something in the answer that is not in the context. Without a file it runs on cases generated
from the texts below by rules; those are easy, and show that it works, not how well. The interval is a bootstrap over answers.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.common.report import figure, finish
from timemachine.text.pure.grounding.passages import Passage
from timemachine.text.pure.grounding.schemas import GroundingOut
from timemachine.text.pure.grounding.support import ground
from timemachine.text.pure.language.statement import Statement

RESAMPLED = 1_000
TEXTS = (
    (
        "The tram line was opened in 1904 and closed in 1962. It ran from the harbour to the upper market in 25 minutes. "
        "Twelve cars served it, each with seats for 40 people. The council replaced it with buses because the rails were worn."
    ),
    (
        "The observatory stands on a hill 800 metres above the town. Its telescope has a mirror of two metres and was built by Zeiss. "
        "Visitors are admitted on Fridays after sunset. The dome is closed when the wind is stronger than 60 km/h."
    ),
    (
        "Rye bread keeps longer than wheat bread because its crumb holds more water. The sour dough needs 16 hours at room temperature. "
        "The loaf is baked at 250 degrees for ten minutes and at 200 degrees for another hour."
    ),
    (
        "The archive lends drawings to museums for at most six months. Borrowers pay the insurance and the transport. "
        "A drawing may not be shown in daylight. Requests are decided by the director within four weeks."
    ),
)
INVENTED = (
    "It was restored by volunteers after a fire destroyed most of the roof.",
    "Members of the royal family attended the ceremony in large numbers.",
    "Experts recommend choosing a sunny location with well-drained soil.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An answer with its passages, and whether something in it is unsupported."""

    context: tuple[str, ...]
    answer: str
    unsupported: bool


def main() -> None:
    """Measure on the given file, or on the generated cases, and print."""
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("GROUNDING_FILE", "")
    cases = list(read(Path(named))) if named else list(made())
    labels = [case.unsupported for case in cases]
    of = Path(named).name if named else "cases made by rules"
    began = time.process_time()
    found = [ground(case.answer, passages(case)) for case in cases]
    figure("an answer, processor time", 1000 * (time.process_time() - began) / len(cases), "ms", most=5)
    scores = [1 - (each.score if each.score is not None else 1.0) for each in found]
    overlaps = auroc([1 - overlap(case) for case in cases], labels)
    low, high = interval(scores, labels)
    figure(
        f"AUROC of {len(cases):,} {of}",
        auroc(scores, labels),
        against=("word overlap", overlaps),
        ratio_least=1,
    )
    figure("AUROC, from (95 %)", low)
    figure("AUROC, to (95 %)", high)
    figure("AUROC of the answer's length alone", auroc([len(case.answer) for case in cases], labels))
    print("\n".join(bands(found, labels)))


def read(file: Path) -> Iterator[Case]:
    """Yield the cases of a labelled file."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip():
            entry = json.loads(line)
            yield Case(
                context=tuple(entry["context"]),
                answer=entry["answer"],
                unsupported=bool(entry["unsupported"]),
            )


def made() -> Iterator[Case]:
    """Generate cases by rules: quotes and shortened quotes as supported; invented, negated and swapped-in sentences as unsupported."""
    for at, text in enumerate(TEXTS):
        sentences = [f"{each}." for each in text.rstrip(".").split(". ")]
        for first, last in pairwise(sentences):
            yield Case(context=TEXTS, answer=f"{first} {last}", unsupported=False)
            yield Case(
                context=(text,),
                answer=f"According to the passage, {last[0].lower()}{last[1:]}",
                unsupported=False,
            )
            yield Case(
                context=(text,), answer=f"{first} {INVENTED[at % len(INVENTED)]} {last}", unsupported=True
            )
            yield Case(
                context=(text,),
                answer=f"{first} It is not true that {last[0].lower()}{last[1:]}",
                unsupported=True,
            )
            elsewhere = TEXTS[(at + 1) % len(TEXTS)].split(". ")[0]
            yield Case(context=(text,), answer=f"{last} {elsewhere}.", unsupported=True)


def passages(case: Case) -> list[Passage]:
    """Return the context of a case, each passage as a frame."""
    return [Passage(frame=frame, text=text) for frame, text in enumerate(case.context)]


def overlap(case: Case) -> float:
    """Return the share of the answer's words that occur in the context: the baseline for the label."""
    held = {term.key for text in case.context for term in Statement(text).terms}
    terms = [term.key for term in Statement(case.answer).terms]
    return sum(key in held for key in terms) / len(terms) if terms else 1.0


def auroc(risks: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the probability that an unsupported answer has a higher risk than a supported one; ties count half. NaN if one kind is missing."""
    order = sorted(range(len(risks)), key=risks.__getitem__)
    ranks = [0.0] * len(risks)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and risks[order[end]] == risks[order[at]]:
            end += 1
        for place in order[at:end]:
            ranks[place] = (at + end + 1) / 2
        at = end
    bad = sum(labels)
    good = len(labels) - bad
    above = sum(rank for rank, label in zip(ranks, labels, strict=True) if label) - bad * (bad + 1) / 2
    return above / (bad * good) if bad and good else float("nan")


def interval(risks: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """Return the middle 95 % of the AUROC over resampled answers."""
    drawn = random.Random(0)
    places = range(len(labels))
    found = sorted(
        auroc([risks[at] for at in sample], [labels[at] for at in sample])
        for sample in (drawn.choices(places, k=len(labels)) for _ in range(RESAMPLED))
    )
    return found[int(0.025 * RESAMPLED)], found[int(0.975 * RESAMPLED) - 1]


def bands(found: Sequence[GroundingOut], labels: Sequence[bool]) -> Iterator[str]:
    """Return for each label how many answers have it, and how many of them are unsupported."""
    for label in ("HIGH", "MEDIUM", "LOW", None):
        wrong = [bad for each, bad in zip(found, labels, strict=True) if each.label == label]
        if wrong:
            share = sum(wrong) / len(wrong)
            low, high = wilson(sum(wrong), len(wrong))
            yield f"  {label or 'no claim':8} {len(wrong):5,} answers, {sum(wrong):4,} unsupported ({share:.1%}, 95 % {low:.1%} to {high:.1%})"


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, "Probable inference", 1927)."""
    z = 1.96
    middle = (hits + z * z / 2) / (of + z * z)
    reach = z / (of + z * z) * (hits * (of - hits) / of + z * z / 4) ** 0.5
    return max(0.0, middle - reach), min(1.0, middle + reach)


if __name__ == "__main__":
    main()
    sys.exit(finish())
