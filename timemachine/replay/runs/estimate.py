"""The estimated cost of a replay and of a single call, at current prices. An estimate lists what it leaves out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from django.db.models import Count

from timemachine.core.pure.clock import now
from timemachine.core.pure.unknown_prices import by_frequency, reason_of
from timemachine.llm.priced import Priced
from timemachine.llm.prices import price, recorded_price
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.usage import TokenUsage, estimate_tokens
from timemachine.llm.queries import usable_model
from timemachine.recording.answering.pure.prompt import TEMPLATE, Prompt, check_template
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs.plan import Planner, replayable_in
from timemachine.replay.runs.prompt_size import PromptSize, RequestSize, prompt_sizes, request_sizes
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import EstimateOut
from timemachine.replay.runs.selection import chosen, recorded

TOKENS_OF_AN_ANSWER: Final = 500
"""The assumed length of an answer that was not recorded or whose call failed."""
_SPREAD: Final = 2
"""The range of an estimate: from answers half as long as expected to answers twice as long, if no limit is set."""
_READ_FOR_AN_ESTIMATE: Final = 2_000
_READ_OF_EACH_SESSION: Final = 100
_PRIMES: Final = (3, 7, 13, 29, 61, 127, 257, 509, 1_021)
"""Of so many steps one is read. Agents work in rounds of a few steps, which have none of these as a factor."""
_COUNTED: Final = ("input_tokens", "output_tokens", "cached", "cached_from")
_SUMMED: Final = tuple(
    name for name in EstimateOut.model_fields if name not in ("model", "kinds", "unknown_reasons")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A recorded ask or model call, the size of what was sent, and its recorded tokens (None if they were not recorded)."""

    action: Action
    sent: PromptSize | RequestSize
    counted: TokenUsage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """The steps of sessions that can be replayed, and the calls among them by the step's id."""

    sessions: Sequence[tuple[Session, Sequence[Action]]]
    calls: Mapping[int, _Call]

    def chosen(self, options: ReplayOptions) -> list[Action]:
        """Return the steps that a replay with these options repeats."""
        return [step for session, steps in self.sessions for step in chosen(session, steps, options)]


class _Prices:
    """The costs of calls at one moment. Each number of tokens is priced once for each model."""

    def __init__(self, model: ModelName | None) -> None:
        """Price everything with this model, or each call with its recorded one."""
        self._model, self._moment = model, now()
        self._known: dict[tuple[str, int, int], Priced] = {}

    def of(self, call: _Call, used: TokenUsage) -> Priced:
        recorded = "" if self._model else call.action.model or ""
        key = recorded, used.input_tokens or 0, used.output_tokens or 0
        if key not in self._known:
            self._known[key] = (
                price(self._model, used, self._moment)
                if self._model
                else recorded_price(recorded, used, self._moment)
            )
        return self._known[key]

    def total(self, used: Iterable[tuple[_Call, TokenUsage]]) -> Decimal:
        """Return the sum of the known costs."""
        costs = (self.of(call, usage).cost_usd for call, usage in used)
        return sum((each for each in costs if each is not None), Decimal(0))


def estimate_replays(
    sessions: Sequence[Session], options_list: Sequence[ReplayOptions], *, runs: int = 1
) -> list[EstimateOut]:
    """Return the estimated cost of replaying the sessions this many times, for each of the options.

    This is what a spend limit reserves, call by call. Passages that would be retrieved again are assumed to
    be as large as the frozen ones. The calls are read once for all options. Without a model, each goes to
    its recorded model, and an audit calls no model; a call without a recorded model is then not repeated and
    not counted.

    Raises: `InvalidInput` and `Unavailable` for a model or a template that cannot be used.
    """
    for options in options_list:
        check_template(options.prompt_template or TEMPLATE)
    return _estimates(list(replayable_in(sessions, also=_COUNTED)), options_list, runs)


def estimate_launch(session: Session, options_list: Sequence[ReplayOptions]) -> list[EstimateOut]:
    """Return the estimated cost of the replays that `commands.launch` would store with each of the options. Raises what it
    raises, but needs no reason."""
    planner, found = Planner(session.project_id), list(replayable_in([session], also=_COUNTED))
    for options in options_list:
        planner.plan(session, options, found[0][1])
    return _estimates(found, options_list, 1)


def quick_estimate(session: Session, options: ReplayOptions) -> tuple[EstimateOut, int]:
    """Return the estimate of a launch, and of how many steps one was read for it: 1 if all were.

    A long session is estimated from every n-th of its steps, unless the options choose single ones. Raises what
    `estimate_launch` raises.
    """
    kinds = Action.objects.filter(session=session, kind__in=REPLAYED_KINDS)
    every = _every(kinds.count(), _READ_FOR_AN_ESTIMATE)
    if every == 1 or options.only is not None or options.sample is not None:
        return estimate_launch(session, [options])[0], 1
    found = list(replayable_in([session], also=_COUNTED, every=every))
    if not chosen(session, found[0][1], options):
        return estimate_launch(session, [options])[0], 1
    Planner(session.project_id).plan(session, options, found[0][1])
    return _estimates(found, [options], every)[0], every


def quick_estimates(
    sessions: Sequence[Session], options_list: Sequence[ReplayOptions], *, runs: int = 1
) -> tuple[list[EstimateOut], int]:
    """Return what `estimate_replays` returns, and of how many steps of the longest session one was read for it: 1 if all were."""
    for options in options_list:
        check_template(options.prompt_template or TEMPLATE)
    there = Action.objects.filter(session__in=sessions, kind__in=REPLAYED_KINDS).order_by()
    counts = dict(there.values_list("session").annotate(Count("id")))
    most = max(_READ_FOR_AN_ESTIMATE // max(len(sessions), 1), _READ_OF_EACH_SESSION)
    single_steps = any(each.only is not None or each.sample is not None for each in options_list)
    groups: dict[int, list[Session]] = defaultdict(list)
    for session in sessions:
        groups[1 if single_steps else _every(counts.get(session.id, 0), most)].append(session)
    parts = [
        _estimates(list(replayable_in(of_group, also=_COUNTED, every=every)), options_list, runs * every)
        for every, of_group in (groups or {1: []}).items()
    ]
    return [total_of(each) for each in zip(*parts, strict=True)], max(groups, default=1)


def estimate_steps(session: Session, actions: Sequence[Action], options: ReplayOptions) -> EstimateOut:
    """Return the estimated cost of repeating these of the session's actions. Raises what `estimate_replays` raises."""
    check_template(options.prompt_template or TEMPLATE)
    found = [(session, actions)]
    model = _models([session], [options])[0]
    return _estimate(_Steps(sessions=found, calls=_calls_in(found)), actions, options, model, 1)


def total_of(estimates: Sequence[EstimateOut]) -> EstimateOut:
    """Return the sum of one or more estimates; its model is None unless all have the same."""
    models = {each.model for each in estimates}
    reasons = [reason for each in estimates for reason in each.unknown_reasons.items()]
    kinds: Counter[str] = sum((Counter(each.kinds) for each in estimates), Counter())
    sums = {name: sum(getattr(each, name) for each in estimates) for name in _SUMMED}
    return EstimateOut.model_construct(
        model=models.pop() if len(models) == 1 else None,
        kinds=dict(kinds),
        unknown_reasons=by_frequency(reasons),
        **sums,
    )


def without_calls(steps: int) -> EstimateOut:
    """Return the estimate of repeating steps without calling a model."""
    nothing = dict.fromkeys(_SUMMED, 0)
    return EstimateOut(**nothing | {"model": None, "steps": steps, "kinds": {}, "unknown_reasons": {}})


def _every(steps: int, most: int) -> int:
    """Return of how many of the steps one is read, so that about `most` are."""
    if steps <= most:
        return 1
    return next(each for each in _PRIMES if steps <= each * most or each == _PRIMES[-1])


def _estimates(
    found: Sequence[tuple[Session, Sequence[Action]]], options_list: Sequence[ReplayOptions], runs: int
) -> list[EstimateOut]:
    models = _models([session for session, _ in found], options_list)
    calling = any(not options.audit or model for options, model in zip(options_list, models, strict=True))
    steps = _Steps(sessions=found, calls=_calls_in(found) if calling else {})
    return [
        _estimate(steps, steps.chosen(options), options, model, runs)
        for options, model in zip(options_list, models, strict=True)
    ]


def _models(sessions: Sequence[Session], options_list: Sequence[ReplayOptions]) -> list[ModelName | None]:
    named = {options.use_model for options in options_list if options.use_model is not None and sessions}
    usable = {each: usable_model(sessions[0].project_id, each) for each in named}
    return [usable.get(options.use_model or "") for options in options_list]


def _estimate(
    found: _Steps, steps: Sequence[Action], options: ReplayOptions, model: ModelName | None, runs: int
) -> EstimateOut:
    nobody = options.audit and model is None
    calls = [
        found.calls[step.id]
        for step in steps
        if not nobody and step.id in found.calls and (model or step.model is not None)
    ]
    prices = _Prices(model)
    used = [(each, _used(each, options)) for each in calls]
    unknown = [
        reason_of(priced.prices)
        for each, usage in used
        if (priced := prices.of(each, usage)).cost_usd is None
    ]
    shorter = [
        (each, replace(usage, output_tokens=(usage.output_tokens or 0) // _SPREAD)) for each, usage in used
    ]
    longer = [
        (
            each,
            usage
            if _limit(each, options)
            else replace(usage, output_tokens=(usage.output_tokens or 0) * _SPREAD),
        )
        for each, usage in used
    ]
    return EstimateOut.model_construct(
        model=None if model is None else str(model),
        steps=len(steps) * runs,
        kinds={kind: number * runs for kind, number in Counter(each.kind for each in steps).items()},
        calls=len(calls) * runs,
        input_tokens=sum(usage.input_tokens or 0 for _, usage in used) * runs,
        output_tokens=sum(usage.output_tokens or 0 for _, usage in used) * runs,
        cost_usd=float(prices.total(used) * runs),
        least_usd=float(prices.total(shorter) * runs),
        most_usd=float(prices.total(longer) * runs),
        unknown_cost_calls=len(unknown) * runs,
        unknown_reasons=by_frequency((reason, runs) for reason in unknown),
        guessed_calls=runs
        * sum(each.counted is None or not each.sent.sends_recorded_prompt(options) for each in calls),
    )


def _limit(call: _Call, options: ReplayOptions) -> int | None:
    """Return the most tokens that the answer can have, None without a limit."""
    return call.sent.max_tokens if options.max_tokens is None else options.max_tokens


def _calls_in(found: Sequence[tuple[Session, Sequence[Action]]]) -> dict[int, _Call]:
    """Return the calls among these steps by the step's id, with the sizes of what is sent to models."""
    actions = [action for _, of_session in found for action in of_session]
    asks = [action for action in actions if action.kind == "ask"]
    finds = [action for action in actions if action.kind == "find" and recorded(action).within_ask]
    requests = [action for action in actions if action.kind == MODEL_CALL]
    sent: dict[int, PromptSize | RequestSize] = {**prompt_sizes(asks, finds), **request_sizes(requests)}
    return {
        each.id: _Call(action=each, sent=sent[each.id], counted=_counted(each))
        for each in (*asks, *requests)
        if each.id in sent  # or it was erased in the meantime
    }


def _used(call: _Call, options: ReplayOptions) -> TokenUsage:
    same = call.sent.sends_recorded_prompt(options)
    most = _limit(call, options)
    return TokenUsage(
        input_tokens=call.counted.input_tokens if call.counted and same else call.sent.input_tokens(options),
        output_tokens=_answer_tokens(call.counted, call.sent.answer) if most is None else most,
    )


def expected_cost(
    model: ModelName,
    action: Action,
    *,
    characters: int,
    same: bool,
    answer: int | None,
    max_tokens: int | None,
) -> Decimal | None:
    """Return the expected cost of sending this many characters, in US dollars; None if the price is unknown.

    `same`: exactly what was recorded is sent, so the recorded tokens count. The answer is assumed to have
    `max_tokens`, or else as many tokens as the recorded one, which has `answer` characters (None: not recorded).

    Raises: `Unavailable` if the operator's prices cannot be read.
    """
    counted = _counted(action)
    usage = TokenUsage(
        input_tokens=counted.input_tokens if counted and same else estimate_tokens(characters),
        output_tokens=_answer_tokens(counted, answer) if max_tokens is None else max_tokens,
    )
    cost = price(model, usage, now()).cost_usd
    return None if cost is None else round(cost, COST_DIGITS)


def _counted(ask: Action) -> TokenUsage | None:
    """Return the recorded tokens. A cached answer used none, so those of the ask that it was first given to are returned."""
    first = (ask.cached_from or {}).get("usage") or {}
    read = first.get("input_tokens") if ask.cached else ask.input_tokens
    written = first.get("output_tokens") if ask.cached else ask.output_tokens
    return None if read is None or written is None else TokenUsage(input_tokens=read, output_tokens=written)


def tokens_of(prompt: Prompt) -> int:
    """Return the estimated number of tokens of a prompt."""
    return estimate_tokens(sum(len(message.content) for message in prompt.messages))


def _answer_tokens(counted: TokenUsage | None, length: int | None) -> int:
    if counted is not None and counted.output_tokens is not None:
        return counted.output_tokens
    return TOKENS_OF_AN_ANSWER if length is None else estimate_tokens(length)
