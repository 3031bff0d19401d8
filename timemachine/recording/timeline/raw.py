"""The steps of a sheet as JSON documents, with only the beginning of long payloads."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Prefetch

from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import text_bytes
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.timeline.schemas.actions import ReadAction
from timemachine.recording.timeline.step import Head, heads

SIZE: Final = 50
FIRST_BYTES: Final = 1_000
LONGEST: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPayload:
    """A payload of which the document has only the beginning: its place in the document, hash and full size."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RawStep:
    """A step's document as indented JSON; `size` is its length in characters, `text` the first `LONGEST` of them."""

    sequence: int
    text: str
    size: int
    payloads: Sequence[CutPayload]

    @property
    def cut(self) -> bool:
        return self.size > len(self.text)


type Amend = Callable[[Session, list[ReadAction]], list[ReadAction]]
"""Applies later changes, erasures and deletions to recorded steps."""


def raw_steps(session: Session, sequences: Sequence[int], amend: Amend) -> list[RawStep]:
    """Return the documents of these steps, each payload up to `FIRST_BYTES`.

    Three queries for any number of steps, which read no payload in full, plus those of `amend`.
    """
    if not sequences:
        return []
    hits = Prefetch("hits", Hit.objects.order_by("rank"))
    steps = Action.objects.filter(session=session, sequence__in=sequences).order_by("sequence")
    actions = list(steps.prefetch_related(hits))
    found = heads([payload for action in actions for payload in _payloads(action).values()], FIRST_BYTES)
    shown = amend(session, [_beginnings(action, found) for action in actions])
    return [_raw(action, found, each) for action, each in zip(actions, shown, strict=True)]


def _payloads(action: Action) -> dict[str, int | None]:
    own = {"input": action.input_id, "output": action.output_id, "source": action.source_id}
    return own | {f"text of hit {hit.rank}": hit.payload_id for hit in action.hits.all()}


def _beginnings(action: Action, found: Mapping[int | None, Head]) -> ReadAction:
    for name in ("input", "output", "source"):
        setattr(action, name, _beginning(getattr(action, f"{name}_id"), found))
    for hit in action.hits.all():
        hit.payload = _beginning(hit.payload_id, found)
    return ReadAction.of(action)


def _raw(action: Action, found: Mapping[int | None, Head], shown: ReadAction) -> RawStep:
    text = json.dumps(shown.model_dump(), ensure_ascii=False, indent=2)
    named = {name: found[payload] for name, payload in _payloads(action).items() if payload is not None}
    cut = [
        CutPayload(name=name, sha256=each.sha256, size=each.size) for name, each in named.items() if each.cut
    ]
    return RawStep(sequence=action.sequence, text=text[:LONGEST], size=len(text), payloads=cut)


def _beginning(payload: int | None, found: Mapping[int | None, Head]) -> Any:
    """Return a payload if all of it was read, else its beginning as text that ends with an ellipsis."""
    if payload is None:
        return None
    head = found[payload]
    text, media_type = (head.text + "…", "text/plain") if head.cut else (head.text, head.media_type)
    data = text_bytes(text)
    return Payload(id=payload, media_type=media_type, stored=data, size=len(data))
