"""What the replay of a step found, in one sentence that a person would say aloud."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from timemachine.core.pure.numbers import counted
from timemachine.core.pure.verdicts import calls_on_one_side, verdict_in_words
from timemachine.replay.runs.pure.fact_changes import (
    figures,
    listed,
    quoted,
    replaced,
    sentence_changes,
    short,
    texts_of,
)

_VERDICTS: Final[Mapping[str, str]] = {
    "identical": "Answer unchanged",
    "same_action": "Same action: the new model calls the same tools with equal arguments",
    "formatting": "Answer unchanged except for its formatting",
    "reworded": "Answer reworded; no difference in facts was found",
    "equivalent": "The new answer means the same",
    "adds": "The new answer adds something",
    "omits": "The new answer leaves something out",
    "numbers_differ": "The new answer has different numbers",
    "names_differ": "The new answer has different names",
    "polarity_differs": "The new answer says the opposite in at least one sentence",
    "changed": "The new answer says something different",
    "contradicts": "The new answer contradicts the recorded one",
    "other_arguments": "The new model calls the same tools with different arguments",
    "other_tool": "The new model makes different calls",
    "answers_instead": "The recorded model called a tool; the new one answers",
    "calls_instead": "The recorded model answered; the new one calls a tool",
    "refused": "The new model declines to answer",
    "newly_answered": "The recorded model declined to answer; the new one answers",
    "not_recorded": "There is no recorded answer to compare with the new one",
    "error": "The call failed",
}
_STATUSES: Final[Mapping[str, str]] = {
    "waiting": "This step has not run yet",
    "running": "This step is running",
    "failed": "This step failed",
    "cancelled": "This step was cancelled",
    "skipped": "This step was not asked, because the spend limit was nearly reached",
}
_CONTEXTS: Final[Mapping[str, str]] = {
    "altered": "The stored context is not what was recorded",
    "missing": "Part of the recorded context is missing",
}
_DANGERS: Final = frozenset({"polarity_differs", "contradicts", "error"})
OF_FACTS: Final = frozenset({"numbers_differ", "names_differ"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPassage:
    """A passage with its recorded rank and its rank now; None where a list does not have it."""

    title: str
    recorded: int | None
    now: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageChanges:
    """How the passages of a step changed. `mattered` supports most of the recorded answer, `rests_on` most of the new one.

    `gained` are the ranks of the passages that came in, `lost` is the number of those that are gone. `cut` is the number of
    passages recorded, `cut_now` that of those found now. `chosen`: a person chose them. `answered`: an answer was recorded.
    """

    mattered: RankedPassage | None
    rests_on: RankedPassage | None
    gained: Sequence[int]
    lost: int
    moved: int
    cut: int
    cut_now: int
    answered: bool
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinding:
    """The sentence, and whether it reports a contradiction, a failure or a danger."""

    sentence: str
    is_bad: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What happened to a replayed step. `is_call`: it is a model call, and not a find or an ask. `frames` passages were recorded with it.
    `recorded` and `new` are the texts of its answers, None where there is none to compare, and `question` that of an ask.
    """

    status: str
    verdict: str | None
    context: str | None
    evidence: Mapping[str, Any]
    is_call: bool
    frames: int = 0
    recorded: str | None = None
    new: str | None = None
    question: str | None = None


def finding(step: StepResult, passages: PassageChanges | None) -> StepFinding:
    """Return what happened to the answer and to the passage that mattered; a context that is not the recorded one comes first."""
    answer = _answer(step)
    changed = None if passages is None or step.status != "done" else _passages(passages)
    result = "; ".join(each for each in (answer, changed) if each) or _only_checked(step)
    danger = None if step.is_call else _CONTEXTS.get(step.context or "")
    sentences = [each for each in (danger, result[:1].upper() + result[1:]) if each]
    return StepFinding(
        sentence=" ".join(f"{each}." for each in sentences),
        is_bad=danger is not None
        or step.status == "failed"
        or step.verdict in _DANGERS
        or "turned" in step.evidence,
    )


def _answer(step: StepResult) -> str | None:
    if step.verdict is not None and step.verdict in _VERDICTS:
        return _facts(step) if step.verdict in OF_FACTS else _with_evidence(step.verdict, step.evidence)
    if step.status in _STATUSES:
        return _STATUSES[step.status]
    if "not_asked" in step.evidence:
        return "It was not sent again for the reason below"
    return None


def _only_checked(step: StepResult) -> str:
    if step.context != "verified" or not step.frames:
        return "No model was called"
    passages = "passage has its" if step.frames == 1 else "passages have their"
    return f"No model was called; {'the' if step.frames == 1 else f'all {step.frames:,}'} frozen {passages} recorded text"


def _with_evidence(verdict: str, evidence: Mapping[str, Any]) -> str:
    """Return the verdict with what it is based on, as far as the evidence says that."""
    says = _SAYING.get(verdict)
    return (says(evidence) if says else "") or _VERDICTS[verdict]


def _facts(step: StepResult) -> str:
    """Say that an answer with other numbers or names says the opposite, or what it adds, leaves out or replaces."""
    of_numbers = step.verdict == "numbers_differ"
    found = figures(step.evidence, step.recorded, step.new, step.question, of_numbers=of_numbers)
    if opposite := _opposite(step.evidence):
        return f"{opposite}; {found.replace('The new answer', 'it', 1)}" if found else opposite
    if found and step.recorded is not None and step.new is not None:
        found = (
            sentence_changes(step.recorded, step.new)
            or replaced(step.evidence, step.recorded, step.new, step.question)
            or found
        )
    return found or _VERDICTS[str(step.verdict)]


def _calls(verdict: str, evidence: Mapping[str, Any]) -> str:
    called, words = calls_on_one_side(evidence), verdict_in_words(verdict, evidence)
    does = f"The new model makes {words}" if words in {"fewer calls", "more calls"} else _VERDICTS[verdict]
    return f"{does}: {called}" if called else ""


def _arguments(evidence: Mapping[str, Any]) -> str:
    tools = _tools(evidence)
    return f"The new model calls {tools} with different arguments" if tools else ""


def _opposite(evidence: Mapping[str, Any]) -> str:
    new, recorded = _quoted(evidence, "new"), _quoted(evidence, "recorded")
    return f"The new answer says the opposite: {new}, recorded {recorded}" if new and recorded else ""


def _quoting(words: str, name: str) -> Callable[[Mapping[str, Any]], str]:
    def sentence(evidence: Mapping[str, Any]) -> str:
        quoted = _quoted(evidence, name)
        return f"{words} {quoted}" if quoted else ""

    return sentence


def _formatting(evidence: Mapping[str, Any]) -> str:
    return (
        "Answer unchanged except for its citations"
        if texts_of(evidence, "differs_in") == ["citations"]
        else ""
    )


_SAYING: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "polarity_differs": _opposite,
    "adds": _quoting("The new answer adds", "added"),
    "omits": _quoting("The new answer leaves out", "omitted"),
    "changed": _quoting("The new answer says something different:", "only_new"),
    "formatting": _formatting,
    "other_arguments": _arguments,
    **{name: partial(_calls, name) for name in ("other_tool", "answers_instead", "calls_instead")},
}


def _tools(evidence: Mapping[str, Any]) -> str:
    found = evidence.get("differing")
    named = (
        [each.get("tool") for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    )
    return listed(list(dict.fromkeys(str(each) for each in named if each)))


def _quoted(evidence: Mapping[str, Any], name: str) -> str:
    sentences = texts_of(evidence, name)
    return quoted(sentences) if sentences else ""


def _passages(found: PassageChanges) -> str:
    return "; ".join(each for each in (_rests_on(found) or _mattered(found), _in_list(found)) if each)


def _rests_on(found: PassageChanges) -> str | None:
    """Say where the passage comes from that supports the new answer, if it was not in the recorded list."""
    passage = found.rests_on
    if passage is None or passage.now is None or passage.recorded is not None:
        return None
    return f"it now rests on “{short(passage.title)}”, which came in at rank {passage.now}{_below(found, passage.now)}"


def _mattered(found: PassageChanges) -> str | None:
    passage = found.mattered
    if passage is None:
        if not found.answered:
            return None
        return "it is unknown which passage mattered, because none is recorded as supporting the answer"
    named = f"the passage that mattered, “{short(passage.title)}”,"
    if passage.recorded is None:
        where = "is in neither list" if passage.now is None else f"came in at rank {passage.now}"
        return f"{named} {where}{_below(found, passage.now or 0)}"
    if passage.now is None:
        return f"{named} is lost: it had rank {passage.recorded} and is not among the {found.cut_now} {'chosen' if found.chosen else 'found'} now"
    if passage.now == passage.recorded:
        return f"{named} stays at rank {passage.now}"
    return f"{named} moved from rank {passage.recorded} to {passage.now}{_below(found, passage.now)}"


def _below(found: PassageChanges, rank: int) -> str:
    return f", below the recorded cut of {found.cut}" if 0 < found.cut < rank else ""


def _at_ranks(ranks: Sequence[int]) -> str:
    """Return `at rank 2`, `at ranks 2 and 9`, `at ranks 9 to 20`, or `between ranks 2 and 40` if there are gaps between many."""
    first, *between, last = sorted(ranks) if len(ranks) > 1 else (ranks[0], ranks[0])
    if first == last:
        return f"at rank {first}"
    if last - first == len(between) + 1 and between:
        return f"at ranks {first} to {last}"
    if len(between) <= 1:
        return f"at ranks {', '.join(map(str, (first, *between)))} and {last}"
    return f"between ranks {first} and {last}"


def _in_list(found: PassageChanges) -> str:
    named = [each.now for each in (found.rests_on, found.mattered) if each and each.recorded is None]
    came, gone = [rank for rank in found.gained if rank not in named[:1]], found.lost
    more = "more passage" if len(came) < len(found.gained) else "passage"
    parts = []
    if came:
        parts.append(f"{counted(len(came), more)} came in {_at_ranks(came)}{_below(found, min(came))}")
    if gone:
        parts.append(f"{counted(gone, 'passage')} {'was' if gone == 1 else 'were'} lost")
    if parts:
        return ", ".join(parts)
    if found.gained:
        return ""
    return "the same passages in a different order" if found.moved else "the same passages in the same order"
