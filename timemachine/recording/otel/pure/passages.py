"""The passages that a span retrieved, as hits in order."""

import math
from typing import Any, Final

from timemachine.recording.otel.pure.attributes import Attributes, parsed_json
from timemachine.recording.sessions.pure.draft import HitDraft, RetrievalDraft

_TEXTS: Final = ("content", "text", "page_content", "chunk")


def retrieval_of(attributes: Attributes) -> RetrievalDraft | None:
    """Return the retrieval of a span; None if it names no passages.

    `gen_ai.retrieval.documents` is a list; `retrieval.documents.0.document.content` and `reranker.output_documents.…`
    are lists whose parts are separate attributes.
    """
    documents = (
        attributes.value("gen_ai.retrieval.documents")
        or attributes.listed("retrieval.documents")
        or attributes.listed("reranker.output_documents")
    )
    top_k = attributes.whole_number("gen_ai.request.top_k", "reranker.top_k")
    if not isinstance(documents, list):
        documents = []
    hits = tuple(_hit(rank, each) for rank, each in enumerate(documents, 1))
    return RetrievalDraft(top_k=top_k, hits=hits) if hits or top_k is not None else None


def _hit(rank: int, document: Any) -> HitDraft:
    found = document.get("document", document) if isinstance(document, dict) else {"content": document}
    if not isinstance(found, dict):
        found = {"content": found}
    metadata = parsed_json(found.get("metadata"))
    text = next((found[name] for name in _TEXTS if isinstance(found.get(name), str)), None)
    frame = found.get("id")
    return HitDraft(
        rank=rank,
        score=_score(found.get("score")),
        frame=frame if isinstance(frame, int | str) and not isinstance(frame, bool) else None,
        title=_text(found.get("title")),
        uri=_text(found.get("uri") or found.get("url") or found.get("source")),
        metadata=metadata if isinstance(metadata, dict) else None,
        text=text,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _score(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
