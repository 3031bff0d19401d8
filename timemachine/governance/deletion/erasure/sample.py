"""The first places of which an erasure would erase something, and how they would read.

It is computed when someone looks and never stored: the text around a mark may be erased itself some day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from timemachine.governance.deletion.erasure.before_after import Scan, actions_of, scan_of
from timemachine.governance.deletion.erasure.models import FOUND, Erasure
from timemachine.governance.deletion.erasure.pure.selection import chosen_of
from timemachine.text.redaction.pure.marks import OPENING_ERASED
from timemachine.text.redaction.pure.values import excerpts

SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A place of which something would be erased: the step (None: the session itself), its field and the
    position in it, and the text as it would read.
    """

    sequence: int | None
    field: str
    text: str


def sample_of(erasure: Erasure) -> list[Line]:
    """Return the first `SHOWN` places that would be erased; empty unless the erasure waits for its reason.
    Reads at most `SHOWN` steps.
    """
    if erasure.status != FOUND or erasure.preview is None:
        return []
    steps = erasure.preview["first_steps"][:SHOWN]
    chosen = chosen_of(erasure.profile, erasure.fields, erasure.steps, whole=erasure.turn)
    scan = scan_of(erasure.session, chosen, among=steps)
    return list(islice(_lines(erasure, scan, steps), SHOWN))


def _lines(erasure: Erasure, scan: Scan, steps: list[int]) -> Iterator[Line]:
    if scan.chosen.of_session or scan.repeats:
        seen = scan.session(erasure.session)
        for name in seen.fields:
            for place, text in excerpts(seen.after[name], OPENING_ERASED, name):
                yield Line(sequence=None, field=place, text=text)
    for action in actions_of(erasure.session, steps):
        seen = scan.action(action)
        for name in seen.fields:
            for place, text in excerpts(seen.after[name], OPENING_ERASED, name):
                yield Line(sequence=action.sequence, field=place, text=text)
