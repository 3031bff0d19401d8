"""Where the first things stand that an erasure takes away, and how these places will read.

It is computed when somebody looks and kept nowhere: what stands around a mark may be erased itself one day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from timemachine.governance.deletion.erasure.before_after import Look, actions_of, look_at
from timemachine.governance.deletion.erasure.models import FOUND, Erasure
from timemachine.governance.deletion.erasure.pure.selection import chosen_of
from timemachine.text.redaction.pure.excerpts import around
from timemachine.text.redaction.pure.marks import OPENING_ERASED

SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A place of which something would go: the step (None: the session itself), its field and where in it, and the text as it would read."""

    sequence: int | None
    field: str
    text: str


def sample_of(erasure: Erasure) -> list[Line]:
    """The first `SHOWN` places that would go; none of an erasure that is not waiting for its reason. It reads as many steps at most."""
    if erasure.status != FOUND or erasure.preview is None:
        return []
    steps = erasure.preview["first_steps"][:SHOWN]
    chosen = chosen_of(erasure.profile, erasure.fields, erasure.steps, whole=erasure.turn)
    look = look_at(erasure.session, chosen, among=steps)
    return list(islice(_lines(erasure, look, steps), SHOWN))


def _lines(erasure: Erasure, look: Look, steps: list[int]) -> Iterator[Line]:
    if look.chosen.of_session or look.repeats:
        seen = look.session(erasure.session)
        for name in seen.fields:
            for place, text in around(seen.after[name], OPENING_ERASED, name):
                yield Line(sequence=None, field=place, text=text)
    for action in actions_of(erasure.session, steps):
        seen = look.action(action)
        for name in seen.fields:
            for place, text in around(seen.after[name], OPENING_ERASED, name):
                yield Line(sequence=action.sequence, field=place, text=text)
