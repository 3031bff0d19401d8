"""Planning replays from what was recorded, before anything is stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import F
from django.db.models.fields.json import KeyTextTransform

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.knowledge.vectors import stored_model_name
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.usage import TokenUsage
from timemachine.llm.queries import usable_model
from timemachine.recording.otel.pure.kinds import EMBEDDINGS
from timemachine.recording.sessions.deletions import IS_DELETED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, OPERATION
from timemachine.replay.runs.pure import options as replay_options
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.selection import chosen

READ_TOGETHER: Final = 50
"""How many sessions' steps one query reads."""
_DECIDING: Final = (
    "id",
    "sequence",
    "kind",
    "client_id",
    "parent_id_given",
    "parent_sequence",
    "agent",
    "model",
    "retrieval",
    "copied_from",
    "session",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReplay:
    """A replay that can be launched: its options with resolved names, and the steps that it repeats."""

    session: Session
    options: ReplayOptions
    actions: Sequence[Action]


class Planner:
    """Plans any number of replays in one project. Names in their options are looked up once."""

    def __init__(self, project_id: UUID) -> None:
        self._project_id = project_id
        self._resolved: dict[ReplayOptions, ReplayOptions] = {}
        self._searchable: dict[tuple[UUID, str], str] = {}
        self._unusable: dict[str, TimeMachineError | None] = {}

    def plan(self, session: Session, options: ReplayOptions, actions: Sequence[Action]) -> PlannedReplay:
        """Plan the replay of the session's `replayable` actions.

        Raises: `InvalidInput` for options that conflict, an unknown model, a spend limit without a price, or nothing to replay;
        `Unavailable` for a model that cannot be used here, or if all steps are calls of recorded models that cannot.
        """
        if options not in self._resolved:
            self._resolved[options] = _resolved(self._project_id, options)
        resolved = self._over_collection(session, self._resolved[options])
        replay_options.check(options)
        repeated = chosen(session, actions, options)
        if not repeated:
            raise _no_steps_to_repeat(options)
        if options.use_model is None and not options.audit:
            self._check_recorded_models(repeated, options)
        return PlannedReplay(session=session, options=resolved, actions=repeated)

    def _check_recorded_models(self, repeated: Sequence[Action], options: ReplayOptions) -> None:
        models = {each.model for each in repeated} - {None, ""}
        for each in sorted(map(str, models)):
            if options.spend_limit_usd is not None and self._why_unusable(each) is None:
                check_limit(options.spend_limit_usd, usable_model(self._project_id, each))
        if not models or any(each.kind != MODEL_CALL for each in repeated):
            return
        errors = [self._why_unusable(each) for each in sorted(map(str, models))]
        first = errors[0]
        if first is not None and all(errors):
            raise type(first)(
                f"As recorded, the model calls cannot be replayed. {first.message}",
                code=first.code,
                **{**first.facts, "field": "use_model"},
            )

    def _why_unusable(self, model: str) -> TimeMachineError | None:
        if model not in self._unusable:
            try:
                usable_model(self._project_id, model)
                self._unusable[model] = None
            except TimeMachineError as why:
                self._unusable[model] = why
        return self._unusable[model]

    def _over_collection(self, session: Session, options: ReplayOptions) -> ReplayOptions:
        model = options.embedding_model
        if model is None or session.collection is None:
            return options
        place = (session.collection.id, model)
        if place not in self._searchable:
            self._searchable[place] = stored_model_name(session.collection, model)
        return options.model_copy(update={"embedding_model": self._searchable[place]})


def check_limit(spend_limit_usd: float | None, model: ModelName) -> None:
    """Raise `InvalidInput` if there is a spend limit and the price of the model is unknown, so that it could not be kept."""
    one = TokenUsage(input_tokens=1, output_tokens=1)
    if spend_limit_usd is not None and price(model, one, now()).cost_usd is None:
        raise InvalidInput(
            f"The price of {model} is unknown, so a spend limit cannot be kept with it. Leave out the spend limit and limit "
            "the number of calls or steps instead, choose another model, or have its price set in MODEL_PRICES.",
            code="limit_without_price",
            field="spend_limit_usd",
        )


def _no_steps_to_repeat(options: ReplayOptions) -> InvalidInput:
    first, last = options.after_sequence, options.through_sequence
    if first is not None and last is not None and first >= last:
        message = f"There is no step from {first + 1:,} through {last:,}: the range ends before it begins."
    elif options.only is not None:
        return InvalidInput(
            f"No find, ask or model call fits “{options.only}” or led to a step that does, so there is nothing to replay.",
            code="nothing_fits",
        )
    elif (first, last) != (None, None):
        message = "There is no find, ask or model call in this range, so there is nothing to replay. Choose other steps."
    else:
        message = (
            "This session has no find, ask or model call of its own, so there is nothing to replay. "
            "Tools are never run again."
        )
    return InvalidInput(message, code="nothing_to_replay")


def replayable(session: Session) -> list[Action]:
    """Return the session's finds, asks and model calls in order, without deleted ones. Those inside an ask are marked."""
    return next(actions for _, actions in replayable_in([session]))


def replayable_in(
    sessions: Sequence[Session], also: Sequence[str] = (), *, every: int = 1
) -> Iterator[tuple[Session, list[Action]]]:
    """Yield each session with its `replayable` actions, read in batches.

    `also` names columns to read in addition. With `every`, only each n-th step of a session is read, for an estimate.
    """
    for at in range(0, len(sessions), READ_TOGETHER):
        batch = sessions[at : at + READ_TOGETHER]
        found: dict[UUID, list[Action]] = {session.id: [] for session in batch}
        rows = Action.objects.filter(session__in=found, kind__in=REPLAYED_KINDS).only(*_DECIDING, *also)
        if every > 1:
            rows = rows.alias(place=F("sequence") % every).filter(place=0)
        rows = rows.annotate(is_deleted=IS_DELETED, operation=KeyTextTransform(OPERATION, "parameters"))
        for action in rows.order_by("session_id", "sequence"):
            found[action.session_id].append(action)
        for session in batch:
            marked = _marked(session, found[session.id])
            yield session, [action for action in marked if _can_be_repeated(action)]


def _can_be_repeated(action: Any) -> bool:
    """Return whether the step is neither deleted nor a call that embeds texts, which answers nothing."""
    return not action.is_deleted and action.operation != EMBEDDINGS


def steps_in(session: Session, options: ReplayOptions) -> list[int]:
    """Return the sequences of the steps that a replay with these options would repeat."""
    return [action.sequence for action in chosen(session, replayable(session), options)]


def _resolved(project_id: UUID, options: ReplayOptions) -> ReplayOptions:
    if not options.use_model:
        return options
    model = usable_model(project_id, options.use_model)
    check_limit(options.spend_limit_usd, model)
    return options.with_model(str(model))


def _marked(session: Session, actions: list[Action]) -> list[Action]:
    asks = {action.sequence for action in actions if action.kind == "ask"}
    ask_ids = {action.client_id for action in actions if action.kind == "ask"} - {None}
    for action in actions:
        action.session = session
        action.within_ask = action.parent_sequence in asks or action.parent_id_given in ask_ids  # type: ignore[attr-defined]
    return actions
