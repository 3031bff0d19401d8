"""What would be sent with asks, by the sizes of what was recorded: no text is read, and a byte is taken for a character."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any, Final

from django.db.models import Count, F, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left, Length

from timemachine.llm.pure.usage import estimate_tokens
from timemachine.recording.answering.pure.prompt import TEMPLATE, length
from timemachine.recording.sessions.models import Action, Hit
from timemachine.replay.runs.pure.options import ReplayOptions

_READ_TOGETHER: Final = 5_000
_OF_AN_ASK: Final = (
    "id",
    "input__size",
    "output__size",
    "failed",
    "system_prompt",
    "template",
    "parameters__prompt_sha256",
    "parameters__max_tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frozen:
    """How many passages are frozen with an action, or with some, and how large they are together with their titles."""

    passages: int = 0
    text: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a recorded ask would send and get: the sizes of its parts, in bytes; None where one was not recorded.

    `ours` says that it was asked by a prompt of ours, whose hash was recorded. `max_tokens` is what it was asked with.
    """

    question: int
    answer: int | None
    frozen: _Frozen
    system_prompt: int | None
    max_tokens: int | None
    ours: bool

    def as_recorded(self, options: ReplayOptions) -> bool:
        """Whether these options send the very prompt that was recorded, as far as that can be known before passages are looked for."""
        changed = (options.system_prompt, options.prompt_template, options.question, options.frames)
        return self.ours and all(each is None for each in changed)

    def input_tokens(self, options: ReplayOptions) -> int:
        """About how many tokens its prompt has with these options, over the frozen passages."""
        system = self.system_prompt if options.system_prompt is None else len(options.system_prompt)
        return estimate_tokens(
            length(
                question=self.question if options.question is None else len(options.question),
                passages=self.frozen.passages,
                text=self.frozen.text,
                system_prompt=system,
                template=options.prompt_template or TEMPLATE,
            )
        )


def sent_with(asks: Sequence[Action], finds: Sequence[Action]) -> dict[int, Sent]:
    """What each of the asks would send, by their ids; `finds` are those of their sessions. Erased ones are left out.

    Two queries for any number up to 5,000.
    """
    frozen = _frozen([each.id for each in (*asks, *finds)])
    inside = _inside(asks, finds)
    of_ask = {
        ask.id: frozen.get(ask.id) or _together(frozen[each] for each in inside[ask.id] if each in frozen)
        for ask in asks
    }
    return {row["id"]: _sent(row, of_ask[row["id"]]) for row in _rows(list(of_ask))}


def _sent(row: dict[str, Any], frozen: _Frozen) -> Sent:
    most = row["parameters__max_tokens"]
    return Sent(
        question=row["input__size"] or 0,
        answer=None if row["failed"] else row["output__size"],
        frozen=frozen,
        system_prompt=row["system_prompt"],
        max_tokens=most if isinstance(most, int) else None,
        ours=row["parameters__prompt_sha256"] is not None and row["template"] in (None, TEMPLATE),
    )


def _rows(asks: Sequence[int]) -> Iterable[dict[str, Any]]:
    for together in batched(asks, _READ_TOGETHER):
        yield from (
            Action.objects.filter(id__in=together)
            .annotate(
                failed=Q(error_type__isnull=False) | Q(error_message__isnull=False),
                system_prompt=Length(KeyTextTransform("system_prompt", "parameters")),
                template=Left(KeyTextTransform("prompt_template", "parameters"), len(TEMPLATE) + 1),
            )
            .values(*_OF_AN_ASK)
        )


def _frozen(actions: Sequence[int]) -> dict[int, _Frozen]:
    """The passages of each action that has any."""
    found: dict[int, _Frozen] = {}
    for together in batched(actions, _READ_TOGETHER):
        rows = Hit.objects.filter(action__in=together).order_by().values("action_id")
        there = Q(payload__isnull=False)
        for row in rows.annotate(
            passages=Count("payload"),
            text=Sum(F("payload__size")),
            titles=Sum(Length("title") + 1, filter=there & ~Q(title="")),
        ):
            size = (row["text"] or 0) + (row["titles"] or 0)
            found[row["action_id"]] = _Frozen(passages=row["passages"], text=size)
    return found


def _inside(asks: Sequence[Action], finds: Sequence[Action]) -> dict[int, list[int]]:
    """The finds inside each ask."""
    named = {(ask.session_id, name): ask.id for ask in asks for name in (ask.sequence, ask.client_id) if name}
    found: dict[int, list[int]] = defaultdict(list)
    for find in finds:
        names = (find.session_id, find.parent_sequence), (find.session_id, find.parent_id_given)
        for ask in {named[name] for name in names if name in named}:
            found[ask].append(find.id)
    return found


def _together(frozen: Iterable[_Frozen]) -> _Frozen:
    each = list(frozen)
    return _Frozen(passages=sum(one.passages for one in each), text=sum(one.text for one in each))
