"""What a find shows of its frames, read in one statement: each frame with its text, and what the question shares with it."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from timemachine.core.payloads.queries import text_of
from timemachine.core.pure.errors import TooLarge
from timemachine.core.pure.postgres_text import original, original_json
from timemachine.knowledge import prepared_statements
from timemachine.knowledge.match_reasons import Matched, matched
from timemachine.knowledge.question import Question

LARGEST_FINDING = 64 * 1024 * 1024
MOST_EXPLAINED = 64
"""How many terms, the heaviest ones, a hit is explained by."""

_READ = """
SELECT f.id, f.number, f.version, f.title, f.uri, f.metadata, f.sha256, why.places, why.parts,
       sum(p.size) OVER () AS together, CASE WHEN sum(p.size) OVER () <= %(largest)s THEN p.data END
FROM tm_frame AS f JOIN tm_payload AS p ON p.id = f.payload_id
CROSS JOIN LATERAL (
    SELECT array_agg(asked.place) AS places, array_agg(-(w.weights <#> asked.vector)) AS parts
    FROM tm_frame_weights AS w, unnest(%(vectors)s::sparsevec[]) WITH ORDINALITY AS asked(vector, place)
    WHERE w.frame_id = f.id AND w.weights <#> asked.vector < 0
) AS why
WHERE f.id = ANY(%(rows)s::bigint[])
"""


class Read(NamedTuple):
    """One frame as it is shown."""

    number: int
    version: int
    title: str
    uri: str
    metadata: dict[str, Any]
    sha256: str
    text: str
    matched: Matched


def read(rows: Sequence[int], question: Question) -> dict[int, Read]:
    """The frames of some rows, and what each term of the question gave to their scores: its part of the BM25 score.

    The parts together are the score; of a question with more than `MOST_EXPLAINED` terms the lightest ones are left out.
    Raises `TooLarge` for passages that together would fill the memory.
    """
    explained = question.terms[:MOST_EXPLAINED]
    facts = {
        "rows": list(rows),
        "vectors": [term.vector for term in explained],
        "largest": LARGEST_FINDING,
    }
    frames = {}
    for (
        row,
        number,
        version,
        title,
        uri,
        metadata,
        sha256,
        places,
        parts,
        together,
        data,
    ) in prepared_statements.rows(_READ, facts):
        if together > LARGEST_FINDING:
            raise TooLarge(
                f"These passages have {together:,} bytes together; one find may return {LARGEST_FINDING:,}. Ask for a smaller "
                "`top_k`.",
                limit_bytes=LARGEST_FINDING,
            )
        shared = [(explained[place - 1], part) for place, part in zip(places or (), parts or (), strict=True)]
        frames[row] = Read(
            number=number,
            version=version,
            title=original(title),
            uri=original(uri),
            metadata=original_json(json.loads(metadata)),
            sha256=sha256,
            text=text_of(data),
            matched=matched(shared),
        )
    return frames
