"""The verdict on a new answer: the first that applies of an ordered list, with evidence. Similarity never implies sameness."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from timemachine.core.pure.verdicts import Verdict
from timemachine.text.pure.difference.answers import Answers, Pair
from timemachine.text.pure.language.names import Name
from timemachine.text.pure.language.numbers import CITATION, Number
from timemachine.text.pure.language.plain import plain
from timemachine.text.pure.language.polarity import leading_pole, turned
from timemachine.text.pure.language.refusal import is_refusal
from timemachine.text.pure.language.statement import Statement

# The most entries of a list of evidence. A list that was cut has a count of all entries.
_MOST_EVIDENCE: Final = 50
# The most characters of one entry; a sentence can be an entire answer.
_LONGEST: Final = 1_000
# The most terms of a sentence whose rotations are compared.
_MOST_TERMS: Final = 200
# Citations at the end of a sentence, before or after its full stop. Elsewhere, numbers in brackets can be data.
_CITATIONS: Final = re.compile(rf"(?<=[.!?])(?:\s?{CITATION})+(?=\s|$)|(?:\s{CITATION})+(?=[.!?](?:\s|$))")


type Evidence = dict[str, Any]
"""JSON, with the fields that `AnswerVerdict` lists for each verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerVerdict:
    """A verdict and its evidence.

    `error` {error} · `not_recorded` {missing, and new_refuses if the new answer says that it does not answer} ·
    `refused`, `newly_answered` {refusal} · `identical` {characters} · `formatting` {differs_in} · `numbers_differ`,
    `names_differ` {only_recorded, only_new, and their positions: recorded_at, new_at; for numbers, if a sentence also says the
    opposite, what `polarity_differs` has} · `polarity_differs` {turned,
    recorded, new} · `adds` {added} · `omits` {omitted} · `reworded` {recorded, new} (no difference in facts was found,
    which does not prove sameness) · `changed` {only_recorded, only_new: sentences that the other answer does not
    restate; perhaps_names: capitalized words at the start of a sentence; order: the same words in a different order}.
    Positions are [start, end] in characters of the answer. Lists have at most 50 entries (then `…_count` is the total)
    and entries at most 1,000 characters, with an ellipsis.
    """

    name: Verdict
    evidence: Evidence = field(default_factory=dict)


def answer_verdict(
    recorded: str | None,
    new: str | None,
    error: str | None = None,
    stated: tuple[bool, bool] = (False, False),
) -> AnswerVerdict:
    """Compare a new answer with the recorded one. Return the first verdict that applies, in the order of
    `AnswerVerdict`.

    If an answer is missing although nothing failed, the verdict is `not_recorded`. Numbers differ if one answer has a
    number that the other does not have anywhere (stating a number twice is no difference); the same for names. Answers
    can have any length. `stated` is whether the provider reports each answer as a refusal, whatever its words.
    """
    if error is not None:
        return AnswerVerdict(name="error", evidence={"error": error})
    if recorded is None or new is None:
        missing = [name for name, answer in (("recorded", recorded), ("new", new)) if answer is None]
        refuses = new is not None and (stated[1] or is_refusal(new))
        more = {"new_refuses": True} if refuses else {}
        return AnswerVerdict(name="not_recorded", evidence={"missing": missing, **more})
    return _surface(recorded, new, stated) or _facts(Answers.of(recorded, new))


def _surface(recorded: str, new: str, stated: tuple[bool, bool]) -> AnswerVerdict | None:
    """Return the verdict that the texts show without looking at sentences."""
    refusals = stated[0] or is_refusal(recorded), stated[1] or is_refusal(new)
    if refusals == (False, True):
        return AnswerVerdict(name="refused", evidence={"refusal": new})
    if refusals == (True, False):
        return AnswerVerdict(name="newly_answered", evidence={"refusal": recorded})
    if recorded == new:
        return AnswerVerdict(name="identical", evidence={"characters": len(new)})
    if differs_in := _formatting(recorded, new):
        return AnswerVerdict(name="formatting", evidence={"differs_in": differs_in})
    if all(refusals):
        evidence = {"both_refuse": True, "recorded": [recorded], "new": [new]}
        return AnswerVerdict(name="reworded", evidence=evidence)
    return None


def _formatting(recorded: str, new: str) -> list[str]:
    """Return what differs between texts of the same words; nothing if their words differ."""
    if plain(recorded) != plain(new):
        return ["citations"] if _only_one_cites(recorded, new) else []
    if recorded.split() == new.split():
        return ["white_space"]
    if recorded.casefold() == new.casefold():
        return ["case"]
    if recorded.casefold().split() == new.casefold().split():
        return ["case", "white_space"]
    return ["punctuation_or_markdown"]


def _only_one_cites(recorded: str, new: str) -> bool:
    """Return whether two texts differ only in the citations of one of them. Other citations for the same words are a difference."""
    bare, other = (_CITATIONS.sub("", each) for each in (recorded, new))
    return (bare == recorded) != (other == new) and plain(bare) == plain(other)


def _facts(answers: Answers) -> AnswerVerdict:
    numbers = _missing_in_one("numbers_differ", *answers.missing_numbers())
    return (
        _with_opposite(numbers, answers)
        or _one_has_more(answers)
        or _names(answers)
        or _polarity(answers)
        or _reworded(answers)
        or _changed(answers)
    )


def _with_opposite(verdict: AnswerVerdict | None, answers: Answers) -> AnswerVerdict | None:
    """Return the verdict with the evidence that a sentence also says the opposite, if one does.

    A negation can belong to a number ("no more than 7 days", "not 5 but 6"), so sentences that both have numbers do not count.
    """
    if verdict is None:
        return None
    pairs = [each for each in answers.pairs if not (each.recorded.numbers and each.new.numbers)]
    opposite = _opposed(pairs) or _yes_and_no(answers)
    return (
        verdict if opposite is None else replace(verdict, evidence={**verdict.evidence, **opposite.evidence})
    )


def _changed(answers: Answers) -> AnswerVerdict:
    only_recorded, only_new = answers.unrelated
    names = [name for side in answers.missing_names for name in _texts(side)]
    evidence = {
        **_listed("only_recorded", _texts(only_recorded)),
        **_listed("only_new", _texts(only_new)),
        **_listed("perhaps_names", names),
        **_listed(
            "order", [_texts([pair.recorded, pair.new]) for pair in answers.pairs if _other_order(pair)]
        ),
    }
    return AnswerVerdict(name="changed", evidence=evidence)


def _names(answers: Answers) -> AnswerVerdict | None:
    recorded, new = answers.missing_names
    return _missing_in_one(
        "names_differ", [each for each in recorded if each.certain], [each for each in new if each.certain]
    )


def _missing_in_one(
    name: Verdict, recorded: Sequence[Number | Name], new: Sequence[Number | Name]
) -> AnswerVerdict | None:
    if not recorded and not new:
        return None
    evidence = {
        **_listed("only_recorded", _texts(recorded)),
        **_listed("only_new", _texts(new)),
        **_listed("recorded_at", [[each.start, each.end] for each in recorded]),
        **_listed("new_at", [[each.start, each.end] for each in new]),
    }
    return AnswerVerdict(name=name, evidence=evidence)


def _polarity(answers: Answers) -> AnswerVerdict | None:
    return _opposed(answers.pairs) or _yes_and_no(answers)


def _opposed(pairs: Sequence[Pair]) -> AnswerVerdict | None:
    found = [(pair, _turned(pair)) for pair in pairs]
    opposed = [(pair, what) for pair, what in found if what]
    if not opposed:
        return None
    evidence = {
        "turned": sorted({what for _, whats in opposed for what in whats}),
        **_listed("recorded", _texts([pair.recorded for pair, _ in opposed])),
        **_listed("new", _texts([pair.new for pair, _ in opposed])),
    }
    return AnswerVerdict(name="polarity_differs", evidence=evidence)


def _turned(pair: Pair) -> list[str]:
    one, other = pair.recorded.polarity, pair.new.polarity
    negation = ["negation"] if len(one.negations) != len(other.negations) else []
    return [*negation, *turned(one, other)]


def _yes_and_no(answers: Answers) -> AnswerVerdict | None:
    """Return a verdict if one answer starts with yes and the other with no."""
    if not answers.only_recorded or not answers.only_new:
        return None
    before, after = answers.only_recorded[:1], answers.only_new[:1]
    if {leading_pole(each.text) for each in (*before, *after)} != {"+", "-"}:
        return None
    evidence = {"turned": ["answer"], "recorded": _texts(before), "new": _texts(after)}
    return AnswerVerdict(name="polarity_differs", evidence=evidence)


def _one_has_more(answers: Answers) -> AnswerVerdict | None:
    """Return a verdict if the only difference in facts is in sentences that one answer has beside those of the other.

    A name in such a sentence is part of what is added or omitted.
    """
    only_recorded, only_new = answers.unrelated
    if bool(only_recorded) == bool(only_new):
        return None
    if _names(answers.related) or _polarity(answers.related) or not _only_reworded(answers.related):
        return None
    if only_new:
        return AnswerVerdict(name="adds", evidence=_listed("added", _texts(only_new)))
    return AnswerVerdict(name="omits", evidence=_listed("omitted", _texts(only_recorded)))


def _reworded(answers: Answers) -> AnswerVerdict | None:
    if any(answers.unrelated) or not _only_reworded(answers):
        return None
    if not answers.only_recorded and not answers.only_new:
        return AnswerVerdict(name="reworded", evidence={"differs_in": ["order_of_sentences"]})
    evidence = {
        **_listed("recorded", _texts(answers.only_recorded)),
        **_listed("new", _texts(answers.only_new)),
    }
    return AnswerVerdict(name="reworded", evidence=evidence)


def _only_reworded(answers: Answers) -> bool:
    """Return whether no name is replaced, and no sentence has the same words in an order that can change its meaning."""
    return not all(answers.missing_names) and not any(map(_other_order, answers.pairs))


def _other_order(pair: Pair) -> bool:
    """Return whether two sentences have the same words in an order that may change who did what to whom.

    A phrase that only moved from the end to the front ("on Friday, it closed") changes nothing.
    """
    one, other = pair.recorded.topic, pair.new.topic
    fronted = {one[at:] + one[:at] for at in range(min(len(one), _MOST_TERMS))}
    return other not in fronted and sorted(one) == sorted(other)


def _texts(found: Sequence[Statement | Number | Name]) -> list[str]:
    return [each.text if len(each.text) <= _LONGEST else each.text[:_LONGEST] + "…" for each in found]


def _listed(name: str, entries: Sequence[Any]) -> Evidence:
    """Return the entries under their name, with a count if the list is cut, or nothing without entries."""
    if not entries:
        return {}
    counted = {f"{name}_count": len(entries)} if len(entries) > _MOST_EVIDENCE else {}
    return {name: list(entries[:_MOST_EVIDENCE]), **counted}
