"""The sizes of what asks and model calls would send. Only stored sizes are read, no text; one byte counts as one character."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from typing import Final
from uuid import UUID

from django.db.models import Count, F, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Left, Length

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
_OF_A_CALL: Final = (
    "id",
    "session_id",
    "input__size",
    "output__size",
    "input_tokens",
    "parameters__max_tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frozen:
    """How many passages are frozen with one or more actions, and their total size with titles."""

    passages: int = 0
    text: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSize:
    """The sizes of the parts of a recorded ask and its answer, in bytes; None if a part was not recorded.

    `ours` means that the prompt was built by this product and its hash was recorded. `max_tokens` is the
    recorded option.
    """

    question: int
    answer: int | None
    frozen: _Frozen
    system_prompt: int | None
    max_tokens: int | None
    ours: bool

    def sends_recorded_prompt(self, options: ReplayOptions) -> bool:
        """Return whether these options send exactly the recorded prompt, as far as is known before retrieval."""
        changed = (options.system_prompt, options.prompt_template, options.question, options.frames)
        return self.ours and all(each is None for each in changed)

    def input_tokens(self, options: ReplayOptions) -> int:
        """Return the estimated number of prompt tokens with these options and the frozen passages."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSize:
    """The sizes of a recorded model call in bytes: its request, or the steps before it if only turns were recorded, and
    its answer (None if that was not recorded). `max_tokens` is the recorded option."""

    request: int
    answer: int | None
    max_tokens: int | None

    def sends_recorded_prompt(self, options: ReplayOptions) -> bool:
        """Return whether these options send the recorded request."""
        return sends_recorded_request(options)

    def input_tokens(self, options: ReplayOptions) -> int:
        """Return the estimated number of tokens of the request with these options."""
        added = sum(len(each) for each in (options.system_prompt, options.question) if each is not None)
        return estimate_tokens(self.request + added)


def sends_recorded_request(options: ReplayOptions) -> bool:
    """Return whether a model call sends its recorded request with these options, except for its parameters."""
    return options.system_prompt is None and options.question is None


def request_sizes(calls: Sequence[Action]) -> dict[int, RequestSize]:
    """Return the size of each model call, by its id, without erased ones.

    One query for up to 5,000 calls, and one for each session with calls that recorded neither request nor tokens.
    """
    found = {}
    turns: dict[UUID, set[int]] = defaultdict(set)
    for batch in batched(calls, _READ_TOGETHER):
        rows = Action.objects.filter(id__in=[call.id for call in batch])
        for row in rows.values(*_OF_A_CALL):
            most = row["parameters__max_tokens"]
            if row["input__size"] is None and row["input_tokens"] is None:
                turns[row["session_id"]].add(row["id"])
            found[row["id"]] = RequestSize(
                request=row["input__size"] or 0,
                answer=row["output__size"],
                max_tokens=most if isinstance(most, int) else None,
            )
    before = {call: size for session, ids in turns.items() for call, size in _sizes_before(session, ids)}
    return {each: replace(size, request=before.get(each, size.request)) for each, size in found.items()}


def _sizes_before(session: UUID, calls: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield for each of these calls the size of all steps before it."""
    size = Coalesce(F("input__size"), 0) + Coalesce(F("output__size"), 0)
    rows = Action.objects.filter(session=session).order_by("sequence").values_list("id", size)
    before = 0
    for step, own in rows.iterator():
        if step in calls:
            yield step, before
        before += own


def prompt_sizes(asks: Sequence[Action], finds: Sequence[Action]) -> dict[int, PromptSize]:
    """Return the prompt size of each ask, by its id, without erased ones; `finds` are those of their sessions.

    Two queries for up to 5,000 asks.
    """
    frozen = _frozen([each.id for each in (*asks, *finds)])
    inside = _inside(asks, finds)
    of_ask = {
        ask.id: frozen.get(ask.id) or _sum(frozen[each] for each in inside[ask.id] if each in frozen)
        for ask in asks
    }
    found = {}
    for batch in batched(asks, _READ_TOGETHER):
        rows = Action.objects.filter(id__in=[ask.id for ask in batch]).annotate(
            failed=Q(error_type__isnull=False) | Q(error_message__isnull=False),
            system_prompt=Length(KeyTextTransform("system_prompt", "parameters")),
            template=Left(KeyTextTransform("prompt_template", "parameters"), len(TEMPLATE) + 1),
        )
        for row in rows.values(*_OF_AN_ASK):
            most = row["parameters__max_tokens"]
            found[row["id"]] = PromptSize(
                question=row["input__size"] or 0,
                answer=None if row["failed"] else row["output__size"],
                frozen=of_ask[row["id"]],
                system_prompt=row["system_prompt"],
                max_tokens=most if isinstance(most, int) else None,
                ours=row["parameters__prompt_sha256"] is not None and row["template"] in (None, TEMPLATE),
            )
    return found


def _frozen(actions: Sequence[int]) -> dict[int, _Frozen]:
    """Return the passages of each action that has any."""
    found: dict[int, _Frozen] = {}
    for batch in batched(actions, _READ_TOGETHER):
        rows = Hit.objects.filter(action__in=batch).order_by().values("action_id")
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
    """Return the finds inside each ask."""
    named = {(ask.session_id, name): ask.id for ask in asks for name in (ask.sequence, ask.client_id) if name}
    found: dict[int, list[int]] = defaultdict(list)
    for find in finds:
        names = (find.session_id, find.parent_sequence), (find.session_id, find.parent_id_given)
        for ask in {named[name] for name in names if name in named}:
            found[ask].append(find.id)
    return found


def _sum(frozen: Iterable[_Frozen]) -> _Frozen:
    each = list(frozen)
    return _Frozen(passages=sum(one.passages for one in each), text=sum(one.text for one in each))
