"""Where a ranking is cut: what the rule looks at, what it decides, what it leaves out first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from timemachine.knowledge.pure import cutoff
from timemachine.knowledge.pure.cutoff import COSINE_FLOOR, WEAKEST, Curve, Cut, Thresholds, strengths
from timemachine.knowledge.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRule:
    """How many frames are asked for, in which mode: `top_k` at most, or fewer where `adaptive` finds that they stop answering.

    `min_score` is the floor; `relative` and `cliff` None are the usual ones.
    """

    mode: str
    top_k: int
    adaptive: bool = False
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Scores by frame row: of the mode, and raw by leg; best first."""

    order: list[int]
    score: dict[int, float]
    legs: dict[str, dict[int, float]]
    question: Question = field(default=Question(terms=(), frames=0))
    semantic_search: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A cut that was made: what the rule looked at, the rule, and its thresholds, where it was an adaptive one."""

    curve: Curve
    cut_by: str
    thresholds: Thresholds | None

    @property
    def keep(self) -> int:
        """How many frames stay."""
        return self.curve.kept


def best_first(score: Mapping[int, float]) -> list[int]:
    """The rows in the order of their scores; of equal ones the first to come."""
    return sorted(sorted(score), key=score.__getitem__, reverse=True)


def cut(ranked: Ranked, rule: CutRule) -> Made:
    """Cut the ranking by the rule."""
    scores = [ranked.score[row] for row in ranked.order]
    if not rule.adaptive:
        by_number = _by_number(scores, rule)
        return Made(
            curve=cutoff.curve(rule.mode, scores, by_number), cut_by=by_number.cut_by, thresholds=None
        )
    leg, scores, floor = _judged(ranked, rule)
    usual = Thresholds(floor=floor)
    thresholds = Thresholds(
        relative=usual.relative if rule.relative is None else rule.relative,
        cliff=usual.cliff if rule.cliff is None else rule.cliff,
        floor=floor,
    )
    made = cutoff.cut_adaptively(scores, rule.top_k, thresholds)
    return Made(curve=cutoff.curve(leg, scores, made), cut_by=made.cut_by, thresholds=thresholds)


def _by_number(scores: Sequence[float], rule: CutRule) -> Cut:
    if rule.min_score is None:
        return cutoff.cut_at(len(scores), rule.top_k)
    enough = sum(1 for score in scores if score >= rule.min_score)
    made = cutoff.cut_at(enough, rule.top_k)
    return made if made.cut_by == "top_k" or enough == len(scores) else Cut(keep=made.keep, cut_by="floor")


def _judged(ranked: Ranked, rule: CutRule) -> tuple[str, list[float], float]:
    """What the adaptive rules look at: its name, a score for each row in the ranking's order, and the floor on its scale."""
    lexical, semantic = (ranked.legs.get(name) or {} for name in ("lexical", "semantic"))
    if rule.mode == "hybrid":
        return "strength", strengths(ranked.order, lexical, semantic), _or(rule.min_score, WEAKEST)
    if rule.mode == "lexical":
        return "lexical", [lexical[row] for row in ranked.order], _or(rule.min_score, 0.0)
    return "semantic", [semantic[row] for row in ranked.order], _or(rule.min_score, COSINE_FLOOR)


def _or(chosen: float | None, default: float) -> float:
    return default if chosen is None else chosen
