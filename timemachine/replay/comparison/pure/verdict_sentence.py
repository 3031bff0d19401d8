"""A comparison in two sentences: how often each variant agrees with the recording and at what cost, and what may be chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.model_steps import ModelSteps
from timemachine.core.pure.numbers import counted, money, total_cost
from timemachine.replay.comparison.pure.cells import ERROR, SPEND_LIMIT, missing_counts
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import AGREEMENT, COST
from timemachine.replay.comparison.pure.statistics.paired import A_BETTER, TOO_FEW
from timemachine.replay.comparison.pure.variants import RECORDING

MOST_NAMED: Final = 3
"""Of more variants, the sentence describes the one that agrees most, and gives the range of the others."""
_DOES: Final = {"ask": "answers as recorded", "model call": "does what was recorded"}
_MISSING: Final = {ERROR: "failed", SPEND_LIMIT: "not asked because of the spend limit"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    """What one variant did. `agreeing` of its `comparable` answers agree with the recording."""

    arm: int
    name: str
    comparable: int
    agreeing: int
    missing: str
    answers: int
    cost: float | None
    unknown_cost: int

    @property
    def share(self) -> float:
        """Return how often it agrees, and less than never if that is unknown."""
        return self.agreeing / self.comparable if self.comparable else -1.0

    @property
    def price(self) -> float | None:
        """Return what all its calls cost; None if that is not known of every one."""
        return None if self.unknown_cost else self.cost


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """That one variant is ahead of all others: whether that is shown to be more than chance, and whether there are enough pairs to tell."""

    name: str
    words: str
    shown: bool
    too_few: bool


def verdict_sentence(found: Findings, names: Sequence[str]) -> str:
    """Return the findings in one sentence, and in another what may be chance. `names` are those of the variants, without the recording."""
    steps = found.steps
    variants = [_variant(found, arm, name) for arm, name in enumerate(names, RECORDING + 1)]
    comparable = [each for each in variants if each.comparable]
    parts = [_described(comparable, len(variants), steps)] if comparable else []
    parts += [_without(each, steps) for each in variants if not each.comparable]
    return f"{'; '.join(parts)}.{_chance(_claims(found, comparable), steps)}{_not_whole(found)}"


def _not_whole(found: Findings) -> str:
    """Say how many requests were sent without what was not recorded, and what that means."""
    number, of = sum(ask.incomplete for ask in found.asks), found.steps.model_calls
    if not number:
        return ""
    return (
        f" {number:,} of {counted(of, 'request')} {'was' if number == 1 else 'were'} not recorded completely and sent without the missing parts, "
        "so cost, latency and tokens are not compared with the recording."
    )


def _variant(found: Findings, arm: int, name: str) -> _Variant:
    cells = [cell for ask in found.asks for cell in ask.cells(arm)]
    values = [value for cell in cells if (value := AGREEMENT.read(cell).value) is not None]
    (totals,) = [each for each in found.columns if each.arm == arm]
    missing = missing_counts(cells)
    return _Variant(
        arm=arm,
        name=name,
        comparable=len(values),
        agreeing=round(sum(values)),
        missing=", ".join(f"{number:,} {_MISSING.get(reason, reason)}" for reason, number in missing.items()),
        answers=totals.answers,
        cost=totals.cost.total,
        unknown_cost=totals.unknown_cost,
    )


def _described(variants: Sequence[_Variant], number: int, steps: ModelSteps) -> str:
    foremost = max(variants, key=lambda each: each.share)
    if len(variants) > MOST_NAMED:
        others = [each.share for each in variants if each is not foremost]
        most = f"Of {counted(number, 'variant')}, {_whole(foremost, steps)}"
        shares = dict.fromkeys([_percent(min(others)), _percent(max(others))])
        return f"{most}, the others in {' to '.join(shares)}"
    return ", ".join(
        _whole(each, steps) if each is variants[0] else _after(each, variants[0]) for each in variants
    )


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%"


def _whole(variant: _Variant, steps: ModelSteps) -> str:
    noun = steps.noun if variant.comparable <= steps.total else "answer"
    does = _DOES.get(steps.noun, "agrees with the recording")
    often = f"{_number(variant.agreeing)} of {counted(variant.comparable, noun)}"
    return f"{variant.name} {does} in {often}{_more(variant)}"


def _after(variant: _Variant, first: _Variant) -> str:
    of = "" if variant.comparable == first.comparable else f" of {variant.comparable:,}"
    return f"{variant.name} in {_number(variant.agreeing)}{of}{_more(variant)}"


def _number(agreeing: int) -> str:
    return f"{agreeing:,}" if agreeing else "none"


def _more(variant: _Variant) -> str:
    return f"{f' ({variant.missing})' if variant.missing else ''}{_cost(variant)}"


def _cost(variant: _Variant) -> str:
    if variant.unknown_cost and not variant.cost:
        return " at an unknown cost"
    return "" if variant.cost is None else f" for {total_cost(variant.cost, variant.unknown_cost)}"


def _without(variant: _Variant, steps: ModelSteps) -> str:
    """Describe a variant that has no answer to compare."""
    if variant.answers:
        return f"{variant.name} answered{_cost(variant)}, but there is no recorded answer to compare it with"
    why = f": {variant.missing}" if variant.missing else ""
    return f"{variant.name} answered none of {steps.words}{why}"


def _claims(found: Findings, variants: Sequence[_Variant]) -> list[_Claim]:
    """Return which variant agrees most, and which is the cheapest, as far as that is known and there is no tie."""
    if len(variants) < 2:  # noqa: PLR2004
        return []
    two = len(variants) == 2  # noqa: PLR2004
    most = max(each.share for each in variants)
    claims = []
    ahead = [each for each in variants if each.share == most]
    if len(ahead) == 1:
        words = "agrees more often" if two else "agrees most often"
        claims.append(_claim(found, ahead[0], variants, AGREEMENT.name, words))
    prices = [each.price for each in variants if each.price is not None]
    cheapest = [each for each in variants if len(prices) == len(variants) and each.price == min(prices)]
    if len(cheapest) == 1:
        words = "is cheaper" if two else f"is the cheapest at {money(min(prices))}"
        claims.append(_claim(found, cheapest[0], variants, COST.name, words))
    return [each for each in claims if each is not None]


def _claim(
    found: Findings, ahead: _Variant, variants: Sequence[_Variant], metric: str, words: str
) -> _Claim | None:
    """Return the claim; None if the columns were not compared with each other."""
    others = {each.arm for each in variants} - {ahead.arm}
    verdicts = [
        result.verdict
        for pair in found.ordered
        if pair.a == ahead.arm and pair.b in others
        for result in pair.results
        if result.metric == metric
    ]
    if not verdicts:
        return None
    return _Claim(
        name=ahead.name,
        words=words,
        shown=set(verdicts) == {A_BETTER},
        too_few=TOO_FEW in verdicts,
    )


def _chance(claims: Sequence[_Claim], steps: ModelSteps) -> str:
    """Say in a sentence which claims may be chance."""
    perhaps, shown = ([each for each in claims if each.shown is sure] for sure in (False, True))
    parts = []
    if perhaps:
        few = f": {steps.words} {'is' if steps.total == 1 else 'are'} too few to tell"
        parts.append(
            f"that {_joined(perhaps)} may be chance{few if all(each.too_few for each in perhaps) else ''}"
        )
    if shown:
        parts.append(f"that {_joined(shown)} is more than chance")
    said = ", but ".join(parts)
    return f" {said[:1].upper()}{said[1:]}." if said else ""


def _joined(claims: Sequence[_Claim]) -> str:
    first, *rest = claims
    return " and ".join(
        [
            f"{first.name} {first.words}",
            *(each.words if each.name == first.name else f"{each.name} {each.words}" for each in rest),
        ]
    )
