"""The first places of which an erasure would erase something, and how they would read.

It is computed when someone looks and never stored: the text around a mark may be erased itself some day.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from timemachine.core.pure.schemas import Schema
from timemachine.governance.deletion.erasure.before_after import Scan, actions_of, scan_of
from timemachine.governance.deletion.erasure.models import FOUND, Erasure
from timemachine.governance.deletion.erasure.pure.selection import chosen_of
from timemachine.text.redaction.pure.marks import OPENING_ERASED
from timemachine.text.redaction.pure.values import excerpts

SHOWN: Final = 20


class ErasedPlace(Schema):
    """A place in a step (null: in the session itself) from which something is to be erased, and its text afterwards."""

    sequence: int | None
    field: str
    text: str


def sample_of(erasure: Erasure) -> list[ErasedPlace]:
    """Return at most `SHOWN` places that would be erased; empty unless the erasure waits for its reason."""
    if erasure.status != FOUND or erasure.preview is None:
        return []
    steps = erasure.preview["first_steps"][:SHOWN]
    chosen = chosen_of(erasure.profile, erasure.fields, erasure.steps, whole=erasure.turn)
    scan = scan_of(erasure.session, chosen, among=steps)
    return list(islice(_lines(erasure, scan, steps), SHOWN))


def _lines(erasure: Erasure, scan: Scan, steps: list[int]) -> Iterator[ErasedPlace]:
    if scan.chosen.of_session or scan.repeats:
        seen = scan.session(erasure.session)
        for name in seen.fields:
            for place, text in excerpts(seen.after[name], OPENING_ERASED, name):
                yield ErasedPlace.model_construct(sequence=None, field=place, text=text)
    for action in actions_of(erasure.session, steps):
        seen = scan.action(action)
        for name in seen.fields:
            for place, text in excerpts(seen.after[name], OPENING_ERASED, name):
                yield ErasedPlace.model_construct(sequence=action.sequence, field=place, text=text)
