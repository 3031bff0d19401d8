"""The parts of a form that say how passages are looked for, and what is asked of a model beside the question."""

from typing import Any, Final, cast

from django import forms

from timemachine.knowledge.pure.cutoff import CLIFF, RELATIVE_TO_BEST
from timemachine.knowledge.query_vectors import models_with_vectors
from timemachine.recording.answering.pure.prompt import TEMPLATE
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.pure.options import LIMITS, RETRIEVAL_OPTIONS, SessionOptions
from timemachine.web.number_fields import Number, WholeNumber

MODES = [("", "As recorded"), ("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
ADAPTIVE = [("", "As recorded"), ("yes", "Adaptive"), ("no", "Exactly top-k")]
_EMPTY: Final = (None, "")
KINDS = [
    ("audit", "Audit: the frozen context, verified"),
    ("debug", "Debug: retrieval runs again"),
]
MOMENTS = [("now", "As it is now"), ("recorded", "As it was at each step")]


def _said(label: str, what: str) -> dict[str, str]:
    """The errors of a number, each of which names its field: some are shown away from it."""
    return dict.fromkeys(("invalid", "min_value", "max_value"), f"“{label}” is a number{what}.")


def _limits(option: str) -> dict[str, Any]:
    """The smallest and the largest value of the field of an option."""
    least, most = LIMITS[option]
    return {"min_value": least, "max_value": most}


class ThresholdFields(forms.Form):
    """Where an adaptive cut-off cuts, and the least score of any; what is left empty is as usual."""

    relative = forms.FloatField(
        label="Cut below this share of the best score",
        required=False,
        **_limits("relative"),
        error_messages=_said("Cut below this share of the best score", " from 0 to 1"),
        help_text=f"Adaptive only; {RELATIVE_TO_BEST} where it is not said, 0 turns it off.",
    )
    cliff = forms.FloatField(
        label="Cut below this share of the score before",
        required=False,
        **_limits("cliff"),
        error_messages=_said("Cut below this share of the score before", " from 0 to 1"),
        help_text=f"Adaptive only; {CLIFF} where it is not said, 0 turns it off.",
    )
    min_score = forms.FloatField(
        label="Least score",
        required=False,
        error_messages=_said("Least score", ""),
        help_text="The floor: BM25 in lexical, cosine in semantic, 0 to 1 in hybrid.",
    )

    @property
    def threshold_fields(self) -> list[forms.BoundField]:
        """The fields, in the order in which they are shown."""
        return [self[name] for name in ThresholdFields.base_fields]

    @property
    def thresholds_open(self) -> bool:
        """Whether one of them was chosen or is wrong, so that it must be seen."""
        return any(field.errors or field.value() not in _EMPTY for field in self.threshold_fields)

    def thresholds(self) -> dict[str, Any]:
        """What was chosen."""
        return {name: self.cleaned_data[name] for name in ThresholdFields.base_fields}


class RetrievalFields(ThresholdFields):
    """How passages are looked for; what is left empty is as it was recorded."""

    top_k = WholeNumber(label="Top-k", required=False, **_limits("top_k"))
    search_mode = forms.ChoiceField(label="Mode", choices=MODES, required=False)
    adaptive = forms.ChoiceField(label="Cut-off", choices=ADAPTIVE, required=False)
    embedding_model = forms.ChoiceField(
        label="Embedding model", required=False, help_text="Those that have vectors here."
    )
    as_of = forms.ChoiceField(label="Collection", choices=MOMENTS, required=False, initial="now")

    @property
    def retrieval_fields(self) -> list[forms.BoundField]:
        """The fields, in the order in which they are shown."""
        return [self[name] for name in RETRIEVAL_OPTIONS]

    @property
    def retrieval_refused(self) -> bool:
        """Whether one of them is wrong, so that it must be seen."""
        return any(field.errors for field in self.retrieval_fields)

    def offer_embedding_models(self, session: Session) -> None:
        """Offer the models that the session's collection has vectors of."""
        there = models_with_vectors(session.collection) if session.collection is not None else []
        embedding = cast("forms.ChoiceField", self.fields["embedding_model"])
        embedding.choices = [("", "The collection's own"), *((name, name) for name in there)]

    def retrieval_options(self) -> dict[str, Any]:
        """The options that were chosen."""
        asked = self.cleaned_data
        return {
            "top_k": asked["top_k"],
            "search_mode": asked["search_mode"] or None,
            "adaptive": {"yes": True, "no": False}.get(asked["adaptive"]),
            **self.thresholds(),
            "embedding_model": asked["embedding_model"] or None,
        }


class CallFields(forms.Form):
    """What is asked of the model beside the question; what is left empty is as it was recorded."""

    temperature = Number(label="Temperature", required=False, **_limits("temperature"))
    seed = WholeNumber(label="Seed", required=False, **_limits("seed"))
    max_tokens = WholeNumber(label="Longest answer, in tokens", required=False, **_limits("max_tokens"))
    system_prompt = forms.CharField(
        label="System prompt",
        required=False,
        help_text="Empty: as recorded.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    prompt_template = forms.CharField(
        label="Prompt template",
        required=False,
        help_text=f"With {{passages}} and {{question}} where these belong. Empty: {TEMPLATE}.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    @property
    def call_refused(self) -> bool:
        """Whether one of the fields is wrong, so that it must be seen."""
        return any(self[name].errors for name in CallFields.base_fields)

    def call_options(self) -> dict[str, Any]:
        """The options that were chosen."""
        asked = self.cleaned_data
        return {
            "temperature": asked["temperature"],
            "seed": asked["seed"],
            "max_tokens": asked["max_tokens"],
            "system_prompt": asked["system_prompt"] or None,
            "prompt_template": asked["prompt_template"] or None,
        }


class SessionFields(RetrievalFields, CallFields):
    """The options of a replay that fit any session; the form adds `reason` and `spend_limit_usd`, which it explains."""

    kind = forms.ChoiceField(label="Kind", choices=KINDS, widget=forms.RadioSelect, initial="audit")
    skip_asks = forms.BooleanField(label="Leave asks out", required=False)
    skip_finds = forms.BooleanField(label="Leave finds out", required=False)

    def session_options(self) -> SessionOptions:
        """The options that were chosen; those of retrieval belong to a debug replay."""
        asked = self.cleaned_data
        audit = asked["kind"] == "audit"
        return SessionOptions(
            audit=audit,
            reason=asked["reason"].strip() or None,
            **self.call_options(),
            skip_asks=asked["skip_asks"],
            skip_finds=asked["skip_finds"],
            spend_limit_usd=asked["spend_limit_usd"],
            **self.retrieval_options(),
            as_of=None if audit else asked["as_of"] or None,
        )
