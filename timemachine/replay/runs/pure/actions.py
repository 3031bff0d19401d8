"""The verdict on what a model did: which tools it called, with which arguments, and what it said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.verdicts import Verdict
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.canonical import canonical_arguments
from timemachine.llm.pure.requests.differences import Difference, call_differences
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.text.pure.difference.verdict import AnswerVerdict, answer_verdict
from timemachine.text.pure.language.refusal import is_refusal

_MOST: Final = 50
"""The most entries of a list of evidence. A list that was cut has a count of all entries."""
_LONGEST: Final = 1_000
"""The most characters of a text in the evidence. The recorded and the new answer have the complete texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The calls of two answers, each recorded one with the new one that it is compared with. Parallel calls have no
    order: equal ones are paired first, then those of the same tool."""

    equal: Sequence[tuple[ToolCall, ToolCall]]
    differing: Sequence[tuple[ToolCall, ToolCall]]
    only_recorded: Sequence[ToolCall]
    only_new: Sequence[ToolCall]


def action_verdict(
    recorded: Answer, new: Answer, stated: tuple[bool, bool] = (False, False)
) -> AnswerVerdict:
    """Compare what a model did with what was recorded. The first verdict that applies:

    `refused`, `newly_answered` {refusal} · `identical` {characters, calls} · `same_action` {calls, text}: the same tools
    with equal arguments, other words · `other_arguments` {differing: [{tool, paths}], calls, text} · `other_tool`
    {only_recorded, only_new, calls, text}: names of tools · `answers_instead`, `calls_instead` {only_recorded, only_new}
    · the verdict on the text, if neither calls a tool. `text` is the verdict on the words next to the calls, absent if one
    of the answers has none; `calls` is how many are equal. Arguments are compared as JSON by their structure.

    `stated` is whether the provider reports each answer as a refusal, whatever its words. An answer that calls a tool
    is not one.
    """
    if not recorded.calls and not new.calls:
        return answer_verdict(recorded.text, new.text, None, stated)
    refusals = _refuses(recorded, says_so=stated[0]), _refuses(new, says_so=stated[1])
    if refusals[0] is not refusals[1]:
        name: Verdict = "refused" if refusals[1] else "newly_answered"
        return AnswerVerdict(name=name, evidence={"refusal": (new if refusals[1] else recorded).text})
    return _on_calls(pairing(recorded.calls, new.calls), recorded, new)


def is_same_action(recorded: Answer, new: Answer) -> bool:
    """Return whether both answers call the same tools with equal arguments, and at least one."""
    pairs = pairing(recorded.calls, new.calls)
    return bool(pairs.equal) and not (pairs.differing or pairs.only_recorded or pairs.only_new)


def _refuses(answer: Answer, *, says_so: bool) -> bool:
    return not answer.calls and (says_so or is_refusal(answer.text))


def _on_calls(pairs: Pairing, recorded: Answer, new: Answer) -> AnswerVerdict:
    evidence: JsonObject = {
        **_names("only_recorded", pairs.only_recorded),
        **_names("only_new", pairs.only_new),
    }
    if not new.calls:
        return AnswerVerdict(name="answers_instead", evidence=evidence)
    if not recorded.calls:
        return AnswerVerdict(name="calls_instead", evidence=evidence)
    if recorded.text == new.text and not pairs.differing and not evidence:
        return AnswerVerdict(
            name="identical", evidence={"characters": len(new.text), "calls": len(pairs.equal)}
        )
    evidence["calls"] = len(pairs.equal)
    if recorded.text and new.text:
        evidence["text"] = answer_verdict(recorded.text, new.text).name
    if evidence.keys() & {"only_recorded", "only_new"}:
        return AnswerVerdict(name="other_tool", evidence=evidence)
    if not pairs.differing:
        return AnswerVerdict(name="same_action", evidence=evidence)
    found = [
        {"tool": before.name, **_listed("paths", [_path(each) for each in call_differences(before, after)])}
        for before, after in pairs.differing
    ]
    return AnswerVerdict(name="other_arguments", evidence={**_listed("differing", found), **evidence})


def pairing(recorded: Sequence[ToolCall], new: Sequence[ToolCall]) -> Pairing:
    """Pair the calls of two answers."""
    waiting = list(new)
    equal, differing, alone = [], [], []
    rest = []
    for call in recorded:
        same = next((each for each in waiting if _is_equal(call, each)), None)
        if same is None:
            rest.append(call)
        else:
            waiting.remove(same)
            equal.append((call, same))
    for call in rest:
        alike = next((each for each in waiting if each.name == call.name), None)
        if alike is None:
            alone.append(call)
        else:
            waiting.remove(alike)
            differing.append((call, alike))
    return Pairing(equal=equal, differing=differing, only_recorded=alone, only_new=waiting)


def _is_equal(left: ToolCall, right: ToolCall) -> bool:
    return left.name == right.name and canonical_arguments(left) == canonical_arguments(right)


def _names(field: str, calls: Sequence[ToolCall]) -> JsonObject:
    return _listed(field, [call.name for call in calls]) if calls else {}


def _listed(field: str, entries: Sequence[Any]) -> JsonObject:
    more: Mapping[str, int] = {f"{field}_count": len(entries)} if len(entries) > _MOST else {}
    return {field: list(entries[:_MOST]), **more}


def _path(found: Difference) -> JsonObject:
    """Return a place in the arguments that differs, as a JSON pointer, with both values."""
    values = {
        "recorded": None if found.change == "added" else _short(found.left),
        "new": None if found.change == "removed" else _short(found.right),
    }
    return {"path": found.path, "change": found.change, **values}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    written = canonical_arguments(ToolCall(id="", name="", arguments=value))
    return value if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"
