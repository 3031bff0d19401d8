"""Hypothesis strategies for action drafts: any action that can be recorded."""

import string
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from timemachine.core.pure.content import text_sha256
from timemachine.recording.sessions.pure.corrections import correction_prices
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import (
    KINDS,
    LAYERS,
    MODES,
    ROLES,
    SIGNIFICANCES,
)

texts = st.text(st.characters(exclude_categories=()), max_size=12)
words = st.none() | texts
counts = st.none() | st.integers(0, 10**9)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
values: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.none() | st.dictionaries(texts, values, max_size=3)
conditions = st.fixed_dictionaries(
    {},
    optional={
        "speed": st.just("fast"),
        "service_tier": st.sampled_from(["batch", "flex", "priority"]),
        "inference_geo": st.just("us"),
        "cache_write_1h_tokens": st.integers(0, 10**6),
        "web_search_requests": st.integers(0, 9),
        "operation": st.just("embeddings"),
    },
)
sources_of_prices: Any = st.sampled_from(
    [
        {"source": "stated"},
        {"source": "unknown", "reason": "model_not_recorded"},
        {"source": "genai-prices", "input_per_million": "3", "output_per_million": "15", "day": "2026-03-01"},
        {"correction": {"unknown_calls": 1}},
        {"correction": {"unknown_calls": -1.0}},
        {"correction": "of nothing"},
    ]
)
times = st.none() | st.datetimes(timezones=st.just(UTC)).filter(lambda at: 1900 < at.year < 9000)
money = st.none() | st.decimals(0, 1_000_000, places=15)


def hit(rank: int, text: str | None, hashed: bool, rest: dict[str, Any]) -> HitDraft:
    sha256 = text_sha256("elsewhere" if text is None else text) if hashed else None
    return HitDraft(rank=rank, text=text, sha256=sha256, **rest)


hits = st.lists(
    st.tuples(
        words,
        st.booleans(),
        st.fixed_dictionaries(
            {
                "score": st.none() | numbers,
                "scores": st.none() | st.dictionaries(texts, numbers, max_size=2),
                "frame": st.none() | st.integers(0, 2**40) | texts,
                "version": st.none() | st.integers(0, 2**31 - 1),
                "title": words,
                "uri": words,
                "metadata": objects,
                "matched": objects,
            }
        ),
    ),
    max_size=3,
).map(lambda found: tuple(hit(rank, *each) for rank, each in enumerate(found, start=1)))
retrievals = st.builds(
    RetrievalDraft,
    collection=words,
    mode=st.none() | st.sampled_from(MODES),
    top_k=counts,
    adaptive=st.none() | st.booleans(),
    cut_by=words,
    as_of=times,
    embedding_model=words,
    semantic_search=words,
    curve=objects,
    below=objects,
    not_embedded=counts,
    thresholds=objects,
    min_score=st.none() | numbers,
    hits=hits,
)
drafts = st.builds(
    ActionDraft,
    kind=st.sampled_from(KINDS),
    id=st.none() | st.text(string.printable, min_size=1, max_size=6),
    layer=st.none() | st.sampled_from(LAYERS),
    role=st.none() | st.sampled_from(ROLES),
    agent=words,
    name=words,
    tool=words,
    call_id=words,
    parent=st.none() | st.integers(0, 9) | texts.map(lambda text: f"{text}!"),
    copied_from=st.none() | st.fixed_dictionaries({"session": words, "step": words | st.integers(0, 2**40)}),
    significance=st.none() | st.sampled_from(SIGNIFICANCES),
    importance=st.none() | st.floats(0, 1),
    iteration=counts,
    tags=st.lists(texts, max_size=3).map(tuple),
    metadata=objects,
    started_at=times,
    duration_ms=st.none() | st.floats(0, 10**9),
    input=values,
    output=values,
    error_type=words,
    error_message=words,
    model=words,
    parameters=objects | conditions,
    usage=st.none() | st.builds(Usage, **dict.fromkeys(Usage.__slots__, counts)),
    cost_usd=money,
    prices=objects | sources_of_prices,
    cached=st.none() | st.booleans(),
    saved_usd=money,
    cached_from=objects,
    grounding=objects,
    retrieval=st.none() | retrievals,
    source=values,
).filter(lambda draft: draft.id is None or draft.id != draft.parent)


@st.composite
def sessions(draw: st.DrawFn, most: int = 6) -> list[ActionDraft]:
    """The actions of a session: their parents may arrive after them, and a correction changes what one of them used."""
    made = draw(st.lists(drafts, max_size=most))
    ids = sorted({each.id for each in made if each.id is not None})
    found = []
    for each in made:
        moved = draw(st.booleans())
        parent = draw(st.sampled_from(ids)) if ids and moved else each.parent
        found.append(each if parent == each.id else replace(each, parent=parent))
    corrected = draw(st.booleans())
    if ids and corrected:
        taken = Usage(input_tokens=-draw(st.integers(0, 10**9)), output_tokens=-1)
        name = draw(st.sampled_from(ids))
        found.append(
            ActionDraft(
                kind="event",
                id=f"{name}/corrected",
                parent=name,
                usage=taken,
                cost_usd=draw(money) and -Decimal(1),
                prices=correction_prices(
                    draw(sources_of_prices),
                    was=draw(st.booleans()),
                    before=draw(sources_of_prices),
                    now=draw(st.booleans()),
                ),
            )
        )
    return found
