"""Every verdict that a step of a replay can have: on its context, on its retrieval, and on its answer or action.

Whatever lists, orders or checks verdicts uses these lists: totals, filters, `--fail-on`, and the levels of suites.
Verdicts are shown in words. Those of `other_tool` tell what was called, fewer calls, more calls, or other tools; where that
is not known, as in counts, that the calls differ.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, get_args

from timemachine.core.pure.numbers import spaced

ContextVerdict = Literal["verified", "reconstructed", "altered", "missing", "not_recorded"]
"""`reconstructed`: the request of a model call that was not recorded, put together from the steps before it."""
RetrievalVerdict = Literal["same", "reordered", "changed"]
Verdict = Literal[
    "identical",
    "same_action",
    "formatting",
    "reworded",
    "equivalent",
    "adds",
    "omits",
    "numbers_differ",
    "names_differ",
    "polarity_differs",
    "changed",
    "contradicts",
    "other_arguments",
    "other_tool",
    "answers_instead",
    "calls_instead",
    "refused",
    "newly_answered",
    "not_recorded",
    "error",
]
"""The verdict on an answer, or on what a model call did."""
CONTEXTS: Final[tuple[ContextVerdict, ...]] = get_args(ContextVerdict)
RETRIEVALS: Final[tuple[RetrievalVerdict, ...]] = get_args(RetrievalVerdict)
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
"""In the order in which totals list them: the closest to the recording first."""
NO_DIVERGENCE: Final[frozenset[Verdict]] = frozenset(
    {"identical", "same_action", "formatting", "reworded", "equivalent", "not_recorded", "error"}
)
"""Verdicts with which the model did what was recorded, or that do not tell."""
OTHER_TOOL: Final = "other_tool"
NUMBERS: Final = "numbers_differ"
type NumbersChange = Literal["opposite", "shortened"]
_DOES: Final = {"adds", "omits", "contradicts", "other_arguments", "answers_instead", "calls_instead"}
"""Verdicts that say what an answer does or has, which no number can stand before."""
CALLS_IN_TEXT: Final = "this agent writes its tool calls as text, so the texts are compared"
"""What the verdicts on the model calls of such an agent are about."""
_WHEN_COUNTED: Final = {
    "same_action": "the same action",
    "adds": "adds something",
    "omits": "omits something",
}


def verdict_in_words(verdict: str, evidence: Mapping[str, Any] | None = None) -> str:
    """Return a verdict in words: `fewer calls` if the new answer lacks calls and makes no others, `more calls` if it makes
    others and lacks none, `calls differ` without evidence, as for a verdict of several steps."""
    if verdict != OTHER_TOOL:
        return spaced(verdict)
    recorded, new = _called(evidence)
    if recorded and new:
        return spaced(verdict)
    return "fewer calls" if recorded else "more calls" if new else "calls differ"


def times(number: int, verdict: str) -> str:
    """Format how often a verdict occurred: `2 reworded`, `9 the same action`, `numbers differ in 2`, `other arguments in 1`."""
    words = _WHEN_COUNTED.get(verdict) or verdict_in_words(verdict)
    follows = verdict in _DOES or words.endswith((" differ", " differs"))
    return f"{words} in {number:,}" if follows else f"{number:,} {words}"


def listed_times(counts: Mapping[str, int], *, opposite: int = 0, shortened: int = 0) -> str:
    """Return how often each verdict occurred, the closest to the recording first: `9 identical, 2 reworded`.

    Among the answers whose numbers differ, `opposite` also say the opposite, and `shortened` only leave numbers out.
    """
    notes = {NUMBERS: _numbers_in_brackets(opposite, shortened)}
    return ", ".join(times(counts[name], name) + notes.get(name, "") for name in VERDICTS if counts.get(name))


def numbers_change(verdict: str | None, evidence: Mapping[str, Any] | None) -> NumbersChange | None:
    """Return what an answer with other numbers does besides: it says the `opposite`, or has no number of its own (`shortened`)."""
    if verdict != NUMBERS or not evidence:
        return None
    if evidence.get("turned"):
        return "opposite"
    return None if evidence.get("only_new") else "shortened"


def _numbers_in_brackets(opposite: int, shortened: int) -> str:
    says = [f"{opposite:,} {'says' if opposite == 1 else 'say'} the opposite"] if opposite else []
    leaves = [f"{shortened:,} only {'leaves' if shortened == 1 else 'leave'} some out"] if shortened else []
    return f" ({', '.join([*says, *leaves])})" if opposite or shortened else ""


def calls_on_one_side(
    evidence: Mapping[str, Any] | None, recorded: str = "in the recording", new: str = "in the new answer"
) -> str:
    """Return which tools only one of two answers calls: `Bash ×2, Read only in the recording`. Empty if that is not known."""
    sides = zip(_called(evidence), (recorded, new), strict=True)
    return ", ".join(f"{each_once(names)} only {where}" for names, where in sides if names)


def each_once(names: Iterable[str]) -> str:
    """Return names, each once, with how often it occurs: `Bash ×2, Read`."""
    counts = Counter(names)
    return ", ".join(name if times == 1 else f"{name} ×{times:,}" for name, times in counts.items())


def _called(evidence: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
    found = evidence or {}
    return found.get("only_recorded") or [], found.get("only_new") or []
