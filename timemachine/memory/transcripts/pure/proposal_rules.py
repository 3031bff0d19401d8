"""Suggest the significance of steps from their words and errors, each with a reason. Pure.

The rules are few and easy to check: the step that failed first, the successful retry of a failed call, and
sentences in which the agent decides, supposes, found a cause or sees something solved. Questions do not count,
nor does what is negated, wished for or conditional. A step gets at most one suggestion: of the rules that were
not dismissed, the one with the highest significance.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from timemachine.memory.patterns.pure.retries import changed_between
from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE
from timemachine.text.pure.language.sentences import sentence_texts

LONGEST_READ: Final = 4_096
"""How many characters of a step are read."""
LONGEST_QUOTED: Final = 160
MOST_FAILED: Final = 200
"""How many failed calls, from the first on, are checked for a later success."""
MOST_LATER: Final = 500
"""How many later calls of the same tool are checked for a failed one."""

_PROPOSED: Final = {
    "first_error": "error",
    "error_gone": "solution",
    "decision": "decision",
    "hypothesis": "hypothesis",
    "root_cause": "breakthrough",
    "solved": "solution",
}
RULES: Final = frozenset(_PROPOSED)
"""The names of the rules."""
_FAULT: Final = r"(?:bug|issue|error|problem|failure|crash|leak|regression|tests?|build|deploy(?:ment)?|import|login|upload)"
_OPEN: Final = r"(?!\s+(?:\w+\s+){0,2}(?:not|nothing|unclear|unknown|still|whatever|whichever|either|your)\b)"
_SAYS: Final = {
    "root_cause": re.compile(
        rf"\broot cause(?: of [^.,;]{{1,60}})? (?:is|was|turns out to be|turned out to be){_OPEN}|\broot cause:{_OPEN}|\bturns out that{_OPEN}|\bit turn(?:s|ed) out{_OPEN}"
        r"|\bfound the (?:(?:root )?cause|bug|culprit|problem)\b"
        r"|\bthe (?:bug|culprit|cause|problem|issue) (?:is|was) (?:that|because|caused by|due to|an? (?:missing|wrong|stale|broken))\b",
        re.IGNORECASE,
    ),
    "solved": re.compile(
        rf"\b(?:that|this|which) (?:fixed|solved|resolved) (?:it|the|this|that)\b|\b(?:the|this|that) (?:\w+ )?{_FAULT} (?:is|are|was|has been) (?:now )?(?:fixed|resolved|solved|gone)\b"
        r"|\b(?:works|passes|succeeds) now\b|\bnow (?:works|passes|succeeds)\b|\ball (?:\d+ )?tests (?:now )?pass(?:ed)?\b",
        re.IGNORECASE,
    ),
    "decision": re.compile(
        rf"\b(?:i|we) (?:have |had )?(?:decided|chose|opted|settled on|agreed (?:on|to))\b|\b(?:i|we)(?:[’']ll| will| am| are|[’']re|[’']m) (?:go|going|stick|sticking) with\b{_OPEN}"
        rf"|\blet(?:[’']s| us) (?:go with|use|stick with)\b{_OPEN}|^decision\b\s*[:.–-]|\bthe decision (?:is|was) to\b|\bit was decided\b",
        re.IGNORECASE,
    ),
    "hypothesis": re.compile(
        r"^hypothesis\b\s*[:.–-]|\b(?:i|we) (?:suspect|hypothesi[sz]e)\b|\bmy (?:hypothesis|guess|theory) is\b|\bone (?:hypothesis|theory) is\b"
        r"|\b(?:it|this) might be (?:the|an?|that|because)\b",
        re.IGNORECASE,
    ),
}
_NOT_SO: Final = re.compile(
    r"\b(?:not|never|no|nothing|no longer|cannot|can[’']t|isn[’']t|wasn[’']t|aren[’']t|don[’']t|didn[’']t|doesn[’']t|haven[’']t|hasn[’']t|won[’']t|if|unless|until"
    r"|whether|once|when|hope|hopefully|make sure|ensure|should|would|could|please)\b",
    re.IGNORECASE,
)
_REFUSED: Final = re.compile(
    r"\buser (?:doesn[’']t want|does not want|rejected|declined|denied)\b", re.IGNORECASE
)
_SPEAKING: Final = frozenset({"message", "ask", "llm_call"})
_MARKS: Final = " \t\r\n*_#>-•"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What the rules read of a step: its first words, and whether the agent says them; the tool and arguments of a
    call's outcome; its error.
    """

    sequence: int
    kind: str
    of_agent: bool
    text: str = ""
    call: str | None = None
    given: Any = None
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Return whether something went wrong. A call that a person refused did not fail."""
        return self.error is not None and _REFUSED.search(self.error) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A suggested significance of a step, with the rule and the reason."""

    sequence: int
    rule: str
    significance: str
    reason: str


def proposals(lines: Sequence[Line], declined: Collection[tuple[int, str]] = ()) -> list[Proposal]:
    """Return suggestions for the steps of a session, given in order; at most one per step.

    `declined` are the steps and rules that were dismissed.
    """
    every = [*_first_error(lines), *_retries(lines), *_statements(lines)]
    found = [each for each in every if (each.sequence, each.rule) not in declined]
    found.sort(key=lambda each: (each.sequence, -DEFAULT_IMPORTANCE[each.significance], each.rule))
    return [next(group) for _, group in groupby(found, key=lambda each: each.sequence)]


def _first_error(lines: Sequence[Line]) -> Iterator[Proposal]:
    failed = [line for line in lines if line.failed]
    if failed:
        first, more = failed[0], len(failed) - 1
        others = f"; {more:,} more failed after it" if more else "; no other step failed"
        yield _proposed(first, "first_error", f"the first step that failed: {_quoted(first.error)}{others}")


def _retries(lines: Sequence[Line]) -> Iterator[Proposal]:
    """Return the successful retry of each failed call, with equal or mostly equal arguments."""
    calls: dict[str, list[Line]] = {}
    for line in lines:
        if line.call is not None:
            calls.setdefault(line.call, []).append(line)
    outcomes = {call: _outcomes(made) for call, made in calls.items()}
    failed = [line for made in outcomes.values() for line in made if line.failed][:MOST_FAILED]
    solved: dict[int, tuple[Line, Line]] = {}
    for line in failed:
        made = outcomes[line.call or ""]
        well = _first_success(line, made[made.index(line) + 1 :][:MOST_LATER])
        if well is not None:
            solved[well.sequence] = (line, well)
    for before, well in solved.values():
        yield _proposed(
            well,
            "error_gone",
            f"{well.call} failed in step {before.sequence:,} with {_quoted(before.error)}; tried again here, it succeeded",
        )


def _outcomes(made: list[Line]) -> list[Line]:
    """Return the steps that show how calls of a tool ended: results if there are any, else calls."""
    return [line for line in made if line.kind == "tool_result"] or made


def _first_success(failed: Line, later: Sequence[Line]) -> Line | None:
    """Return the first successful retry of the call, unless the call failed again after it."""
    retries = [line for line in later if changed_between(failed.given, line.given) is not None]
    well = next((line for line in retries if line.error is None), None)
    if well is None or any(line.failed for line in retries if line.sequence > well.sequence):
        return None
    return well


def _statements(lines: Iterable[Line]) -> Iterator[Proposal]:
    for line in lines:
        if not line.of_agent or line.kind not in _SPEAKING:
            continue
        for sentence in sentence_texts(line.text[:LONGEST_READ]):
            words = sentence.strip(_MARKS)
            for rule, says in _SAYS.items():
                found = None if words.endswith("?") else says.search(words)
                if found is not None and not _NOT_SO.search(words[: found.end()]):
                    yield _proposed(line, rule, f"it says {_quoted(words)}")


def _proposed(line: Line, rule: str, reason: str) -> Proposal:
    return Proposal(sequence=line.sequence, rule=rule, significance=_PROPOSED[rule], reason=reason)


def _quoted(text: str | None) -> str:
    words = " ".join((text or "").split())
    return f"“{words if len(words) <= LONGEST_QUOTED else words[:LONGEST_QUOTED] + '…'}”"
