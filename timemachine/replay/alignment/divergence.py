"""The first divergence of two runs: the first pair of steps in which the agent did something else, and what differs.

What the agent does is a tool call, a search, a question, what it stores, and an answer. Calls differ in their tool or in
their arguments, compared as JSON; answers by their verdict. Other words for the same (`formatting`, `reworded`) and
other words with the same calls (`same_action`) are no divergence, and neither is what others did (a user's message, a
tool's result, a time, a cost) or an answer that was not recorded on both sides.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched, groupby, zip_longest
from typing import Any, Final

from timemachine.core.payloads.stored import bytes_of
from timemachine.core.pure.content import value_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.verdicts import NO_DIVERGENCE, OTHER_TOOL, calls_on_one_side, verdict_in_words
from timemachine.llm.pure.completion import is_refused_by
from timemachine.llm.pure.requests.differences import equal_arguments
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.sessions.models import Action
from timemachine.replay.alignment.queries import Aligned, Side, SizedCache
from timemachine.replay.runs.frozen import answer_in
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.actions import action_verdict, is_same_action
from timemachine.text.pure.difference.sessions import StepPair
from timemachine.text.pure.difference.steps import StepFacts

_CALLS: Final = frozenset({"tool_call", "find", "put", "memory_op"})
_ANSWERS: Final = frozenset({"ask", "llm_call"})
_IN_WORDS: Final = {
    "answers_instead": "the left calls a tool, the right answers",
    "calls_instead": "the left answers, the right calls a tool",
    "newly_answered": "only the left refuses",
    "other_arguments": "the same tools with different arguments",
    "refused": "only the right refuses",
}
_CALLS_IN_WORDS: Final = {
    "fewer calls": "fewer calls on the right",
    "more calls": "more calls on the right",
    "other tool": "calls to other tools",
}
_STEPS_IN_WORDS: Final = {"ask": "an answer", "llm_call": "a model call", "message": "a message"}
_READ_AT_ONCE: Final = 200
_MOST_PATHS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where two runs part: the place of the pair, the step of either run (None if it has none there), and what differs."""

    place: int
    left: int | None
    right: int | None
    why: str


_CACHE: Final = SizedCache[tuple[Divergence | None]]()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Couple:
    """What the agent did in either run at the same point, and where that is. `paired`: the alignment pairs the two steps;
    otherwise each has no partner there. `moved` is the step of the other run that is the same as the only one here."""

    place: int
    left: StepFacts | None
    right: StepFacts | None
    paired: bool = False
    moved: int | None = None


def first_divergence(found: Aligned) -> Divergence | None:
    """Return where two aligned runs part, None if no such step is found. At most four queries for every 200 pairs that
    differ before it, none if it is cached.
    """
    cached = _CACHE.get(found.key)
    if cached is None:
        cached = (_first_divergence(found),)
        _CACHE.store(found.key, cached, 0)
    return cached[0]


def _first_divergence(found: Aligned) -> Divergence | None:
    acting = _acting(found)
    for couples in batched(_couples(found.pairs, acting), _READ_AT_ONCE):
        left, right = _recorded_of(found, couples)
        for couple in couples:
            if couple.left is None or couple.right is None:
                return _of_one_run(found, couple, acting)
            why = _difference(couple, left, right)
            if why is not None:
                return _divergence(couple, why)
    return None


def _divergence(couple: _Couple, why: str) -> Divergence:
    return Divergence(
        place=couple.place,
        left=None if couple.left is None else couple.left.sequence,
        right=None if couple.right is None else couple.right.sequence,
        why=why,
    )


def _of_one_run(found: Aligned, alone: _Couple, acting: Collection[str]) -> Divergence:
    """Return the divergence at a step that only one run has. What the other run does next is what it does instead, unless
    the one run does the same later."""
    following = _following(found.pairs, alone, acting) if alone.moved is None else None
    if following is not None:
        instead = replace(
            alone, left=alone.left or following.left, right=alone.right or following.right, paired=False
        )
        left, right = _recorded_of(found, (following, instead))
        does_the_same = following.paired and _difference(following, left, right) is None
        why = None if does_the_same else _difference(instead, left, right)
        if why is not None:
            return _divergence(instead, why)
    here = "left" if alone.right is None else "right"
    there = "" if alone.moved is None else f"; the other has it at step {alone.moved:,}"
    return _divergence(alone, f"{_in_words(alone.left or alone.right)} only on the {here}{there}")


def _following(pairs: Sequence[StepPair], alone: _Couple, acting: Collection[str]) -> _Couple | None:
    """Return the next step of the other run with its partner, None if there is no such step or it is equal or moved."""
    for place in range(alone.place + 1, len(pairs)):
        pair = pairs[place]
        if _acts(pair.left if alone.left is None else pair.right, acting):
            paired = pair.left is not None and pair.right is not None
            couple = _Couple(place=place, left=pair.left, right=pair.right, paired=paired)
            return couple if pair.status in {"modified", "only_left", "only_right"} else None
    return None


def _acting(found: Aligned) -> frozenset[str]:
    """Return the kinds of steps in which the agent acts. Its messages are some only if no model call holds them too."""
    kinds = {facts.kind for pair in found.pairs for facts in (pair.left, pair.right) if facts is not None}
    return _CALLS | _ANSWERS | (frozenset() if kinds & _ANSWERS else {"message"})


def _acts(facts: StepFacts | None, acting: Collection[str]) -> bool:
    return facts is not None and facts.kind in acting and (facts.kind != "message" or facts.role == "agent")


def _couples(pairs: Sequence[StepPair], acting: Collection[str]) -> Iterator[_Couple]:
    """Yield what the agent did at the same point of both runs, where that may differ. Steps without a partner, between
    two pairs that have both, are coupled in their order."""
    places = enumerate(pairs)
    for whole, group in groupby(
        places, key=lambda each: each[1].left is not None and each[1].right is not None
    ):
        if whole:
            for place, pair in group:
                if pair.status not in {"same", "not_asked"} and _acts(pair.left, acting):
                    yield _Couple(place=place, left=pair.left, right=pair.right, paired=True)
            continue
        alone = list(group)
        lefts = [each for each in alone if _acts(each[1].left, acting)]
        rights = [each for each in alone if _acts(each[1].right, acting)]
        for one, other in zip_longest(lefts, rights):
            place, pair = one or other
            yield _Couple(
                place=place,
                left=one and one[1].left,
                right=other and other[1].right,
                moved=pair.moved if one is None or other is None else None,
            )


def _difference(couple: _Couple, left: Mapping[int, "_Step"], right: Mapping[int, "_Step"]) -> str | None:
    one, other = couple.left, couple.right
    if one is None or other is None:
        return None
    if _in_words(one) != _in_words(other):
        only = "" if couple.paired else "only "
        return f"{_in_words(one)} {only}on the left, {_in_words(other)} {only}on the right"
    why = _difference_of_same(one, other, left, right)
    if why is None or couple.paired:
        return why
    return f"{why}; the list does not pair them"


def _difference_of_same(
    one: StepFacts, other: StepFacts, left: Mapping[int, "_Step"], right: Mapping[int, "_Step"]
) -> str | None:
    """Return what differs between two steps that are called the same, None if nothing does."""
    if one.sequence not in left or other.sequence not in right:  # deleted in the meantime
        return None
    before, after = left[one.sequence], right[other.sequence]
    if one.kind in _CALLS:
        return _of_calls(one, before, after)
    if (one.error is None) != (other.error is None):
        return f"only the {'right' if one.error is None else 'left'} failed"
    return _of_answers(before, after)


def _in_words(facts: StepFacts | None) -> str:
    if facts is None:
        return ""
    if facts.kind in _CALLS:
        return f"{facts.kind.replace('_', ' ')} {facts.tool or facts.name or ''}".rstrip()
    return _STEPS_IN_WORDS[facts.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What is compared of a step, the input of a call or else the output, and whether the provider reports a refusal."""

    value: Any
    refused: bool


def _recorded_of(
    found: Aligned, couples: Sequence[_Couple]
) -> tuple[Mapping[int, _Step], Mapping[int, _Step]]:
    """Return what is compared of the steps of either run that have another to be compared with."""
    whole = [each for each in couples if each.left is not None and each.right is not None]
    return (
        _recorded(found.left, [each.left for each in whole if each.left is not None]),
        _recorded(found.right, [each.right for each in whole if each.right is not None]),
    )


def _recorded(side: Side, steps: Sequence[StepFacts]) -> Mapping[int, _Step]:
    """Return what is compared of these steps of a run, by their numbers. At most two queries."""
    calls = [facts.sequence for facts in steps if facts.kind in _CALLS]
    answers = [facts.sequence for facts in steps if facts.kind not in _CALLS]
    return {
        row[0]: _step(*row[1:])
        for sequences, payload in ((calls, "input"), (answers, "output"))
        if sequences
        for row in _rows(side, sequences, payload)
    }


def _rows(side: Side, sequences: Sequence[int], payload: str) -> Iterable[tuple[Any, ...]]:
    """Return the number, parameters, kind, media type and bytes of a payload of each step."""
    replay = side.run.replay
    inside = "" if replay is None else "action__"
    holder = inside if payload == "input" else ""
    read = f"{holder}{payload}"
    columns = ("sequence", "parameters", f"{inside}kind", f"{read}__media_type", bytes_of(read))
    if replay is None:
        actions = Action.objects.filter(session=side.run.session, sequence__in=sequences)
        return actions.values_list(*columns)
    return ReplayStep.objects.filter(replay=replay, sequence__in=sequences).values_list(*columns)


def _step(parameters: JsonObject | None, kind: str, media_type: str | None, data: bytes | None) -> _Step:
    found = None if media_type is None or data is None else value_of(media_type, data)
    answer = answer_in(found) if kind == "ask" else None
    refused = is_refused_by(parameters)
    return _Step(value=found if answer is None else answer, refused=refused)


def _of_calls(facts: StepFacts, left: _Step, right: _Step) -> str | None:
    if (left.value is None) != (right.value is None):
        there = "right" if left.value is None else "left"
        return f"{_in_words(facts)} with recorded arguments only on the {there}"
    differing = equal_arguments(left.value, right.value)
    if not differing:
        return None
    paths = [each.path or "the whole value" for each in differing[:_MOST_PATHS]]
    more = f" and {len(differing) - len(paths):,} more" if len(differing) > len(paths) else ""
    return f"{_in_words(facts)} with different arguments: {', '.join(paths)}{more}"


def _of_answers(left: _Step, right: _Step) -> str | None:
    if left.value is None or right.value is None:
        return None
    before, after = read_answer(left.value), read_answer(right.value)
    if before is None or after is None:
        return "different answers (values differ)" if equal_arguments(left.value, right.value) else None
    if is_same_action(before, after):
        return None
    found = action_verdict(before, after, stated=(left.refused, right.refused))
    verdict = found.name
    if verdict in NO_DIVERGENCE:
        return None
    if verdict == OTHER_TOOL:
        words = _CALLS_IN_WORDS[verdict_in_words(verdict, found.evidence)]
        return f"{words}: {calls_on_one_side(found.evidence, 'on the left', 'on the right')}"
    return _IN_WORDS.get(verdict) or f"different answers ({verdict.replace('_', ' ')})"
