"""Cut a ranking by number or by score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from timemachine.knowledge.pure import cutoff
from timemachine.knowledge.pure.cutoff import COSINE_FLOOR, WEAKEST, Curve, Cut, Thresholds, strengths
from timemachine.knowledge.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRule:
    """How many frames to keep in a mode: at most `top_k`, or fewer if `adaptive` and the scores fall earlier.

    `min_score` is the floor. `relative` and `cliff` default to the thresholds of `Thresholds`.
    """

    mode: str
    top_k: int
    adaptive: bool = False
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Scores by frame row, best first: those of the mode, and the raw scores of each retriever."""

    order: list[int]
    score: dict[int, float]
    legs: dict[str, dict[int, float]]
    question: Question = field(default=Question(terms=(), frames=0))
    semantic_search: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CutResult:
    """The result of a cut: the scores that were looked at, the rule that decided, and the thresholds of an
    adaptive cut.
    """

    curve: Curve
    cut_by: str
    thresholds: Thresholds | None

    @property
    def keep(self) -> int:
        """Return how many frames are kept."""
        return self.curve.kept


def best_first(score: Mapping[int, float]) -> list[int]:
    """Return the rows ordered by score; equal scores keep the order in which the frames were added."""
    return sorted(sorted(score), key=score.__getitem__, reverse=True)


def cut(ranked: Ranking, rule: CutRule) -> CutResult:
    """Cut the ranking by the rule."""
    scores = [ranked.score[row] for row in ranked.order]
    if not rule.adaptive:
        by_number = _by_number(scores, rule)
        return CutResult(
            curve=cutoff.curve(rule.mode, scores, by_number), cut_by=by_number.cut_by, thresholds=None
        )
    retriever, scores, thresholds = _adaptive(ranked, rule)
    made = cutoff.cut_adaptively(scores, rule.top_k, thresholds)
    return CutResult(curve=cutoff.curve(retriever, scores, made), cut_by=made.cut_by, thresholds=thresholds)


def needed_settings(ranked: Ranking, rule: CutRule, rank: int) -> dict[str, float] | None:
    """Return the settings with which an adaptive cut would keep the frame at a rank; None if none would."""
    if rank > len(ranked.order):
        return None
    _, scores, thresholds = _adaptive(ranked, rule)
    return cutoff.needed_settings(scores, rank, thresholds, rule.top_k)


def _adaptive(ranked: Ranking, rule: CutRule) -> tuple[str, list[float], Thresholds]:
    """Return what the adaptive rules look at: its name, a score for each row in order, and the thresholds."""
    retriever, scores, floor = _adaptive_scores(ranked, rule)
    usual = Thresholds(floor=floor)
    thresholds = Thresholds(
        relative=usual.relative if rule.relative is None else rule.relative,
        cliff=usual.cliff if rule.cliff is None else rule.cliff,
        floor=floor,
    )
    return retriever, scores, thresholds


def _by_number(scores: Sequence[float], rule: CutRule) -> Cut:
    if rule.min_score is None:
        return cutoff.cut_at(len(scores), rule.top_k)
    enough = sum(1 for score in scores if score >= rule.min_score)
    made = cutoff.cut_at(enough, rule.top_k)
    return made if made.cut_by == "top_k" or enough == len(scores) else Cut(keep=made.keep, cut_by="floor")


def _adaptive_scores(ranked: Ranking, rule: CutRule) -> tuple[str, list[float], float]:
    """Return what the adaptive rules look at: its name, a score for each row in order, and the floor on its scale."""
    lexical, semantic = (ranked.legs.get(name) or {} for name in ("lexical", "semantic"))
    if rule.mode == "hybrid":
        return "strength", strengths(ranked.order, lexical, semantic), _or(rule.min_score, WEAKEST)
    if rule.mode == "lexical":
        return "lexical", [lexical[row] for row in ranked.order], _or(rule.min_score, 0.0)
    return "semantic", [semantic[row] for row in ranked.order], _or(rule.min_score, COSINE_FLOOR)


def _or(chosen: float | None, default: float) -> float:
    return default if chosen is None else chosen
