"""Which significance the words and errors of a session speak for, each with its reason. Pure.

The rules are few and can be checked by reading: where a step failed first, where a failure came for the last time and the same call went
well afterwards, and sentences in which somebody says that they decide, suppose, found a cause or see something solved. Questions say
none of these, nor does what is negated or depends on something. At most one rule speaks for a step: the one that weighs most.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from timemachine.language.sentences import sentence_texts
from timemachine.recording.vocabulary import DEFAULT_IMPORTANCE

LONGEST_READ: Final = 4_096
"""So many characters of a step are read for its wording."""
LONGEST_QUOTED: Final = 160

_PROPOSED: Final = {
    "first_error": "error",
    "error_gone": "solution",
    "decision": "decision",
    "hypothesis": "hypothesis",
    "root_cause": "breakthrough",
    "solved": "solution",
}
_WE: Final = r"(?:i|we|let[’']?s|let us)(?:[’'](?:ll|ve)| will| have| am| are)?"
_SAYS: Final = {
    "root_cause": re.compile(
        r"\broot cause (?:is|was|turns out|turned out|:)|\b(?:it )?turns out(?: that)? |\bthat[’']?s why\b|\bfound (?:it|the (?:bug|cause|culprit|problem))\b"
        r"|\bthe (?:bug|culprit|cause) (?:is|was) ",
        re.IGNORECASE,
    ),
    "solved": re.compile(
        r"\b(?:that|this|which) (?:fixed|fixes|solved|solves|resolved|resolves) (?:it|the|this|that)\b|\b(?:is|are|was|now) (?:fixed|resolved|solved)\b"
        r"|\b(?:works|passes|pass|succeeds|succeed) now\b|\bnow (?:works|passes|pass|succeeds)\b|\ball (?:\d+ )?tests (?:now )?pass",
        re.IGNORECASE,
    ),
    "decision": re.compile(
        rf"\b{_WE} (?:decided?|chose|choose|opt(?:ed)?|settled?)\b|\b{_WE} (?:go|going|went|stick|sticking) with\b|^decision\b\s*[:.–-]"
        r"|\b(?:the )?decision (?:is|was) to\b|\bit (?:is|was) decided\b",
        re.IGNORECASE,
    ),
    "hypothesis": re.compile(
        r"^hypothesis\b\s*[:.–-]|\b(?:i|we) (?:suspect|hypothesi[sz]e)\b|\bmy (?:hypothesis|guess|theory) is\b|\bone (?:hypothesis|theory) is\b",
        re.IGNORECASE,
    ),
}
_NEGATED: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|can[’']t|isn[’']t|wasn[’']t|aren[’']t|don[’']t|didn[’']t|doesn[’']t|haven[’']t|hasn[’']t|won[’']t|if|unless|until)\b",
    re.IGNORECASE,
)
_SPEAKING: Final = frozenset({"message", "ask", "llm_call"})
_MARKS: Final = " \t\r\n*_#>-•"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What the rules read of a step: who does what, the beginning of what the agent says, and what went wrong; `call` is the tool or name that is called."""

    sequence: int
    kind: str
    of_agent: bool
    text: str = ""
    call: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """That a step may be of that significance, by which rule and why."""

    sequence: int
    rule: str
    significance: str
    reason: str


def proposals(lines: Sequence[Line]) -> list[Proposal]:
    """What the rules propose for the steps of a session, which come in their order; at most one for a step."""
    found = [*_first_error(lines), *_errors_gone(lines), *_said(lines)]
    found.sort(key=lambda each: (each.sequence, -DEFAULT_IMPORTANCE[each.significance], each.rule))
    return [next(group) for _, group in groupby(found, key=lambda each: each.sequence)]


def _first_error(lines: Sequence[Line]) -> Iterator[Proposal]:
    failed = [line for line in lines if line.error is not None]
    if failed:
        first, more = failed[0], len(failed) - 1
        others = f"; {more:,} more failed after it" if more else "; no other step failed"
        yield _proposed(first, "first_error", f"the first step that failed: {_quoted(first.error)}{others}")


def _errors_gone(lines: Sequence[Line]) -> Iterator[Proposal]:
    """For each call that failed and went well afterwards for good: the last that the agent did before it went well."""
    calls: dict[str, list[Line]] = {}
    for line in lines:
        if line.call is not None:
            calls.setdefault(line.call, []).append(line)
    for call, made in sorted((call, _outcomes(made)) for call, made in calls.items()):
        last = max((place for place, line in enumerate(made) if line.error is not None), default=None)
        if last is None or last + 1 >= len(made):
            continue
        failed, well = made[last], made[last + 1]
        yield _proposed(
            _fixing(lines, failed, well) or well,
            "error_gone",
            f"{_quoted(failed.error)} came for the last time in step {failed.sequence:,}; {call} went well in step {well.sequence:,} and did not fail again",
        )


def _outcomes(made: list[Line]) -> list[Line]:
    """The steps that say how calls ended: the results where there are any, else the calls."""
    return [line for line in made if line.kind == "tool_result"] or made


def _fixing(lines: Sequence[Line], failed: Line, well: Line) -> Line | None:
    """The last that the agent did between a failure and the same call's success, without the calls of that tool themselves."""
    between = (line for line in reversed(lines) if failed.sequence < line.sequence < well.sequence)
    return next(
        (line for line in between if line.of_agent and line.error is None and line.call != well.call), None
    )


def _said(lines: Iterable[Line]) -> Iterator[Proposal]:
    for line in lines:
        if not line.of_agent or line.kind not in _SPEAKING:
            continue
        for sentence in sentence_texts(line.text[:LONGEST_READ]):
            words = sentence.strip(_MARKS)
            if words.endswith("?"):
                continue
            for rule, says in _SAYS.items():
                found = says.search(words)
                if found is not None and not _NEGATED.search(words[: found.end()]):
                    yield _proposed(line, rule, f"it says {_quoted(words)}")


def _proposed(line: Line, rule: str, reason: str) -> Proposal:
    return Proposal(sequence=line.sequence, rule=rule, significance=_PROPOSED[rule], reason=reason)


def _quoted(text: str | None) -> str:
    words = " ".join((text or "").split())
    return f"“{words if len(words) <= LONGEST_QUOTED else words[:LONGEST_QUOTED] + '…'}”"
