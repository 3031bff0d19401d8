"""Moving the offsets of sentences and passages to where they are once marks replace erased text. Pure."""

from collections.abc import Mapping
from typing import Any

from timemachine.core.pure.json_types import JsonObject
from timemachine.text.redaction.pure.marks import erased_place


def placed(document: JsonObject, names: frozenset[str]) -> JsonObject:
    """Return a redacted step with its sentence offsets as they will be after `as_erased`."""
    grounding = document.get("grounding")
    sentences = grounding.get("sentences") if isinstance(grounding, Mapping) else None
    if grounding is None or not isinstance(sentences, list):
        return document
    retrieval = document.get("retrieval")
    hits = retrieval.get("hits") if isinstance(retrieval, Mapping) else None
    texts = {str(hit.get("frame")): hit.get("text") for hit in hits or () if isinstance(hit, Mapping)}
    made = [_sentence(each, document.get("output"), texts, names) for each in sentences]
    return document | {"grounding": {**grounding, "sentences": made}}


def _sentence(sentence: Any, answer: Any, texts: Mapping[str, Any], names: frozenset[str]) -> Any:
    if not isinstance(sentence, Mapping):
        return sentence
    passage = texts.get(str(sentence.get("frame")))
    return {
        **sentence,
        **{name: _place(answer, sentence[name], names) for name in ("start", "end") if name in sentence},
        **{
            name: _place(passage, sentence[name], names)
            for name in ("passage_start", "passage_end")
            if name in sentence
        },
    }


def _place(text: Any, offset: Any, names: frozenset[str]) -> Any:
    if not isinstance(text, str) or not isinstance(offset, int):
        return offset
    return erased_place(text, offset, names)
