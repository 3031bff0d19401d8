"""A step that matches, as it is shown: its scores, and its best passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.stored import sent_sql, shown
from timemachine.core.pure.packing import packed_length
from timemachine.core.pure.postgres_text import searchable
from timemachine.memory.search.indexing import LONGEST_NAME
from timemachine.memory.search.pure import excerpt
from timemachine.memory.search.pure.excerpt import Passage, Source
from timemachine.memory.search.pure.payload_text import LONGEST, text_of
from timemachine.memory.search.retrievers import RankedSteps, lexemes_of
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.prepared_rows import columns, rows_with

_NEEDED: Final = (str(LONGEST), str(packed_length(LONGEST)))
_HITS: Final = f"""
SELECT {columns(Action, "a")}, coalesce(w.cut, false), o.media_type, {sent_sql("o", *_NEEDED)}, i.media_type, {sent_sql("i", *_NEEDED)}
FROM tm_action a LEFT JOIN tm_searched_action w ON w.action_id = a.id
LEFT JOIN tm_payload o ON o.id = a.output_id LEFT JOIN tm_payload i ON i.id = a.input_id
WHERE a.project_id = %(project)s AND a.id = ANY(%(rows)s::bigint[])
"""  # noqa: S608  # names of columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A step that matches, and its score, by which sessions are also ranked.

    `scores` has the raw score of each retriever that found it: `text` (BM25 without rarity) and `semantic`
    (cosine). `passage` is an excerpt with the ranges `marks` highlighted; None if the step has no text. `cut`:
    only a part of its text is searchable.
    """

    action: Action
    score: float
    scores: dict[str, float]
    passage: Passage | None
    marks: tuple[tuple[int, int], ...]
    cut: bool


def hits_of(
    project: Project, rows: Sequence[int], ranked: RankedSteps, stems: frozenset[str], named: frozenset[str]
) -> dict[int, Hit]:
    """Return those rows that are the project's steps, with passages that have the stems or what was `named` (in
    lower case).
    """
    read = rows_with(Action, _HITS, {"project": project.id, "rows": list(rows)})
    steps = {action.pk: _Step(action, *rest) for action, rest in read}
    passages = {row: excerpt.passage(_sources(one), stems | named) for row, one in steps.items()}
    marked = _matching([each.text for each in passages.values() if each], stems)
    return {
        row: Hit(
            action=step.action,
            score=ranked.score[row],
            scores={name: scores[row] for name, scores in ranked.by_retriever.items() if row in scores},
            passage=passages[row],
            marks=_marks(passages[row], marked, named),
            cut=step.cut,
        )
        for row, step in steps.items()
    }


class _Step(NamedTuple):
    """A row of `_HITS`."""

    action: Action
    cut: bool
    said_as: str | None
    said: bytes
    given_as: str | None
    given: bytes


def _sources(step: _Step) -> list[Source]:
    """Return the texts of a step that a passage may come from, most informative first."""
    action = step.action
    failed = " ".join(filter(None, (action.error_type, action.error_message)))
    named = " ".join(filter(None, (action.name, action.tool))) or action.label
    bodies = [
        Source(part=part, text=text_of(media_type, shown(data, LONGEST)))
        for part, media_type, data in (
            ("output", step.said_as, step.said),
            ("input", step.given_as, step.given),
        )
        if media_type is not None
    ]
    name = Source(part="name", text=searchable(named[:LONGEST_NAME]))
    return [Source(part="error", text=searchable(failed[:LONGEST_NAME])), *bodies, name]


def _matching(texts: Sequence[str], stems: frozenset[str]) -> set[str]:
    """Return the words of the texts that have one of the stems. One query."""
    words = {word for text in texts for word in excerpt.words_in(text)}
    return {word for word, own in lexemes_of(sorted(words)).items() if own & stems}


def _marks(passage: Passage | None, words: set[str], literals: frozenset[str]) -> tuple[tuple[int, int], ...]:
    return () if passage is None else tuple(excerpt.marks(passage.text, words, literals))
