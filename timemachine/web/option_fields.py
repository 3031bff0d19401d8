"""Form fields for retrieval settings, and for the prompt and parameters of a model call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from django import forms

from timemachine.knowledge.pure.cutoff import CLIFF, POOL, RELATIVE_TO_BEST
from timemachine.knowledge.vectors import models_with_vectors
from timemachine.recording.answering.pure.prompt import TEMPLATE
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.pure.options import LIMITS, NEEDS_REASON, RETRIEVAL_OPTIONS, SessionOptions
from timemachine.web.form_parts import Number, WholeNumber, area_field

MODES = [("", "As recorded"), ("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
ADAPTIVE = [("", "As recorded"), ("yes", "Adaptive"), ("no", "Exactly top-k")]
_EMPTY: Final = (None, "")
_SAME_NAME: Final = (
    "reason",
    "skip_asks",
    "skip_finds",
    "skip_calls",
    "only",
    "sample",
    "spend_limit_usd",
)
VERIFY, ASK, SEARCH = "verify", "ask", "search"
_CHOICES: Final = [
    (VERIFY, "Verify only"),
    (ASK, "Ask another model with the same context"),
    (SEARCH, "Search again"),
]
_ABOUT: Final[Mapping[str, str]] = {
    VERIFY: "An audit: checks that every frozen passage and request still matches the recording. No model is called.",
    ASK: "An audit: sends exactly what was recorded to a model you choose, and shows what its answers change.",
    SEARCH: "Searches again with other settings and shows which passages come, go and move. The model is asked again too.",
}
_NO_CALL: Final = "This session has no ask or model call."
MOMENTS = [("now", "Current"), ("recorded", "As it was at each step")]


def _limits(option: str) -> dict[str, Any]:
    """The smallest and the largest value of the field of an option."""
    least, most = LIMITS[option]
    return {"min_value": least, "max_value": most}


class ThresholdFields(forms.Form):
    """The thresholds of an adaptive cut-off, and the minimum score; empty means default."""

    relative = Number(
        label="Cut off below this share of the best score",
        required=False,
        **_limits("relative"),
        help_text=f"Adaptive only. Default: {RELATIVE_TO_BEST}; 0 turns it off.",
    )
    cliff = Number(
        label="Cut off below this share of the previous score",
        required=False,
        **_limits("cliff"),
        help_text=f"Adaptive only. Default: {CLIFF}; 0 turns it off.",
    )
    min_score = Number(
        label="Minimum score",
        required=False,
        help_text="BM25 in lexical mode, cosine in semantic mode, 0 to 1 in hybrid mode.",
    )

    @property
    def threshold_fields(self) -> list[forms.BoundField]:
        """Return the fields in display order."""
        return [self[name] for name in ThresholdFields.base_fields]

    @property
    def thresholds_open(self) -> bool:
        """Return whether one of them is set or has an error."""
        return any(field.errors or field.value() not in _EMPTY for field in self.threshold_fields)

    def thresholds(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ThresholdFields.base_fields}


class RetrievalFields(ThresholdFields):
    """The retrieval settings; empty means as recorded."""

    top_k = WholeNumber(label="Top-k", required=False, **_limits("top_k"))
    search_mode = forms.ChoiceField(label="Mode", choices=MODES, required=False)
    adaptive = forms.ChoiceField(label="Cut-off", choices=ADAPTIVE, required=False)
    pool = WholeNumber(
        label="Pool",
        required=False,
        **_limits("pool"),
        help_text=f"Adaptive only: consider this many of the best passages. Default: {POOL}, whatever the top-k.",
    )
    embedding_model = forms.ChoiceField(
        label="Embedding model", required=False, help_text="Models for which this collection has vectors."
    )
    as_of = forms.ChoiceField(label="Collection", choices=MOMENTS, required=False, initial="now")

    @property
    def retrieval_fields(self) -> list[forms.BoundField]:
        """Return the fields in display order."""
        return [self[name] for name in RETRIEVAL_OPTIONS]

    @property
    def retrieval_refused(self) -> bool:
        """Return whether one of them has an error."""
        return any(field.errors for field in self.retrieval_fields)

    def offer_embedding_models(self, session: Session) -> None:
        """Offer the models for which the session's collection has vectors."""
        there = models_with_vectors(session.collection) if session.collection is not None else []
        embedding = cast("forms.ChoiceField", self.fields["embedding_model"])
        embedding.choices = [("", "The collection's model"), *((name, name) for name in there)]

    def retrieval_options(self) -> dict[str, Any]:
        data = self.cleaned_data
        return {
            "top_k": data["top_k"],
            "search_mode": data["search_mode"] or None,
            "adaptive": {"yes": True, "no": False}.get(data["adaptive"]),
            "pool": data["pool"],
            **self.thresholds(),
            "embedding_model": data["embedding_model"] or None,
        }


class CallFields(forms.Form):
    """The prompt and parameters of a model call; empty means as recorded."""

    temperature = Number(label="Temperature", required=False, **_limits("temperature"))
    seed = WholeNumber(label="Seed", required=False, **_limits("seed"))
    max_tokens = WholeNumber(label="Maximum answer tokens", required=False, **_limits("max_tokens"))
    system_prompt = area_field("System prompt", "Leave empty to use the recorded one, if any.", rows=3)
    prompt_template = area_field(
        "Prompt template",
        f"Use {{passages}} and {{question}} as placeholders. Default: {TEMPLATE}.",
        rows=4,
    )

    @property
    def call_refused(self) -> bool:
        """Return whether one of the fields has an error."""
        return any(self[name].errors for name in CallFields.base_fields if name in self.fields)

    def call_options(self) -> dict[str, Any]:
        data = self.cleaned_data
        return {
            "temperature": data["temperature"],
            "seed": data["seed"],
            "max_tokens": data["max_tokens"],
            "system_prompt": data["system_prompt"] or None,
            "prompt_template": data.get("prompt_template") or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchChoice:
    """One of the three kinds of replays, whether it is chosen, and why it cannot be."""

    value: str
    title: str
    about: str
    chosen: bool
    why_not: str | None


class SessionFields(RetrievalFields, CallFields):
    """The options of a replay that fit any session. Fields that do not belong to the choice have no effect.

    The form adds `reason`, `spend_limit_usd` and the field `model_field`. While `estimating`, a missing model or reason is
    no error.
    """

    model_field: ClassVar[str] = "model"
    estimating: bool = False
    kind = forms.ChoiceField(label="What to do", choices=_CHOICES, initial=VERIFY)
    skip_asks = forms.BooleanField(label="Skip asks", required=False)
    skip_finds = forms.BooleanField(label="Skip finds", required=False)
    skip_calls = forms.BooleanField(label="Skip model calls", required=False)
    only = forms.CharField(
        label="Only matching steps",
        required=False,
        help_text="A timeline filter, for example tool:Bash, agent:reviewer or status:error. For a tool call, the model call "
        "that led to it is replayed.",
    )
    sample = WholeNumber(
        label="Sample",
        required=False,
        min_value=1,
        help_text="At most this many of the steps, always the same ones of a session.",
    )

    @classmethod
    def initial_of(cls, options: SessionOptions, model: str) -> dict[str, Any]:
        """Return the initial values of the fields for existing options, with the chosen model or models."""
        names = (*_SAME_NAME, *CallFields.base_fields, *RetrievalFields.base_fields)
        adaptive = "" if options.adaptive is None else "yes" if options.adaptive else "no"
        return {
            **{name: getattr(options, name) for name in names},
            "adaptive": adaptive,
            "kind": SEARCH if not options.audit else ASK if model else VERIFY,
            cls.model_field: model,
        }

    def clean(self) -> dict[str, Any]:
        """Forget what does not belong to the choice, and demand what it needs."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        kind = data.get("kind")
        unused = {
            VERIFY: (
                self.model_field,
                "spend_limit_usd",
                *CallFields.base_fields,
                *RetrievalFields.base_fields,
            ),
            ASK: tuple(RetrievalFields.base_fields),
        }
        for name in unused.get(str(kind), ()):
            self.errors.pop(name, None)
            data[name] = cast("Any", self.fields[name]).to_python("")
        if not self.estimating and self.lacks_model:
            self.add_error(self.model_field, "Choose a model.")
        if not self.estimating and kind in (VERIFY, ASK) and not data.get("reason", "").strip():
            self.add_error("reason", NEEDS_REASON)
        return data

    def choices(self, *, calls: bool = True) -> list[LaunchChoice]:
        """Return the three choices; `calls` says whether the session has an ask or a model call."""
        return [
            LaunchChoice(
                value=value,
                title=title,
                about=_ABOUT[value],
                chosen=self["kind"].value() == value,
                why_not=_NO_CALL if value == ASK and not calls else None,
            )
            for value, title in _CHOICES
        ]

    @property
    def is_audit(self) -> bool:
        """Return whether the frozen context is used, and nothing searched again."""
        return bool(self.cleaned_data["kind"] != SEARCH)

    @property
    def lacks_model(self) -> bool:
        """Return whether another model is to be asked and none is chosen yet."""
        data = self.cleaned_data
        return data.get("kind") == ASK and not (data.get(self.model_field) or "").strip()

    @property
    def more_is_open(self) -> bool:
        """Return whether one of the options that choose single steps or limit the spending is set or has an error."""
        names = ("skip_asks", "skip_finds", "skip_calls", "only", "sample", "spend_limit_usd")
        return any(self[name].value() or self[name].errors for name in names)

    def session_options(self) -> SessionOptions:
        """The options that were chosen; those of retrieval belong to a debug replay."""
        data = self.cleaned_data
        audit = self.is_audit
        return SessionOptions(
            audit=audit,
            reason=data["reason"].strip() or None,
            **self.call_options(),
            skip_asks=data["skip_asks"],
            skip_finds=data["skip_finds"],
            skip_calls=data["skip_calls"],
            only=data["only"] or None,
            sample=data["sample"],
            spend_limit_usd=data["spend_limit_usd"],
            **self.retrieval_options(),
            as_of=None if audit else data["as_of"] or None,
        )
