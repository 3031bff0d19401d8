"""The form that launches a replay."""

from collections.abc import Mapping
from typing import Any, Final, cast

from django import forms

from timemachine.base.errors import TimeMachineError
from timemachine.base.ids import uuid7
from timemachine.base.wording import spaced
from timemachine.providers.listing import Choice
from timemachine.recording.models import Session
from timemachine.replay.options import ReplayOptions
from timemachine.retrieval.cutoff import CLIFF, RELATIVE_TO_BEST
from timemachine.retrieval.meaning import models_with_vectors
from timemachine.web.model_select import ModelSelect

KINDS = [
    ("audit", "Audit: the frozen context, verified"),
    ("debug", "Debug: retrieval runs again"),
]
MODES = [("", "As recorded"), ("hybrid", "Hybrid"), ("semantic", "Semantic"), ("lexical", "Lexical")]
ADAPTIVE = [("", "As recorded"), ("yes", "Adaptive"), ("no", "Exactly top-k")]
MOMENTS = [("now", "As it is now"), ("recorded", "As it was at each step")]
FIELD_OF_CODE = {
    "unknown_model": "model",
    "model_not_usable": "model",
    "model_needed": "model",
    "reason_needed": "reason",
    "retrieval_options_in_audit": "kind",
    "nothing_to_replay": "through_sequence",
}


_SHOWN_ELSEWHERE: Final = {"audit", "reason", "use_model"}
_IN_WORDS: Final[dict[tuple[str, object], tuple[str, str]]] = {
    ("skip_asks", True): ("Asks", "left out"),
    ("skip_finds", True): ("Finds", "left out"),
    ("adaptive", True): ("Cut-off", "adaptive"),
    ("adaptive", False): ("Cut-off", "exactly top-k"),
    ("as_of", "now"): ("Collection", "as it is now"),
    ("as_of", "recorded"): ("Collection", "as it was at each step"),
}
_NAMES: Final = {
    "relative": "Cut below this share of the best score",
    "cliff": "Cut below this share of the score before",
    "min_score": "Least score",
}


def chosen_options(kept: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The options of a replay as they were kept, in words, but those that its page shows elsewhere."""
    return [
        _IN_WORDS.get((name, value), (_NAMES.get(name, spaced(name).capitalize()), str(value)))
        for name, value in kept.items()
        if name not in _SHOWN_ELSEWHERE
    ]


class ReplayForm(forms.Form):
    """What to replay, over which context, with which model; the same rules as the API's."""

    form_id = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid7)
    kind = forms.ChoiceField(label="Kind", choices=KINDS, widget=forms.RadioSelect, initial="audit")
    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = forms.CharField(
        label="Another model",
        required=False,
        help_text="Written provider:model; it goes before the choice above.",
    )
    reason = forms.CharField(
        label="Reason",
        required=False,
        help_text="Required for an audit; it is kept with it.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    top_k = forms.IntegerField(
        label="Top-k", required=False, min_value=1, max_value=1000, help_text="Debug only."
    )
    search_mode = forms.ChoiceField(label="Mode", choices=MODES, required=False, help_text="Debug only.")
    adaptive = forms.ChoiceField(label="Cut-off", choices=ADAPTIVE, required=False, help_text="Debug only.")
    relative = forms.FloatField(
        label="Cut below this share of the best score",
        required=False,
        min_value=0,
        max_value=1,
        help_text=f"Adaptive only; {RELATIVE_TO_BEST} where it is not said, 0 turns it off.",
    )
    cliff = forms.FloatField(
        label="Cut below this share of the score before",
        required=False,
        min_value=0,
        max_value=1,
        help_text=f"Adaptive only; {CLIFF} where it is not said, 0 turns it off.",
    )
    min_score = forms.FloatField(
        label="Least score",
        required=False,
        help_text="The floor: BM25 in lexical, cosine in semantic, 0 to 1 in hybrid.",
    )
    embedding_model = forms.ChoiceField(
        label="Embedding model", required=False, help_text="Debug only: those that have vectors here."
    )
    as_of = forms.ChoiceField(
        label="Collection", choices=MOMENTS, required=False, initial="now", help_text="Debug only."
    )
    temperature = forms.FloatField(label="Temperature", required=False, min_value=0, max_value=2)
    seed = forms.IntegerField(label="Seed", required=False, min_value=0)
    max_tokens = forms.IntegerField(label="Longest answer, in tokens", required=False, min_value=1)
    system_prompt = forms.CharField(
        label="System prompt",
        required=False,
        help_text="Empty: as recorded.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    through_sequence = forms.IntegerField(label="Through step", required=False, min_value=1)
    skip_asks = forms.BooleanField(label="Leave asks out", required=False)
    skip_finds = forms.BooleanField(label="Leave finds out", required=False)
    spend_limit_usd = forms.FloatField(
        label="Spend at most, in US dollars",
        required=False,
        min_value=0,
        help_text="No call starts once this is spent. Calls of unknown price are not counted in it.",
    )

    def __init__(self, choices: tuple[Choice, ...], session: Session, data: Any = None, **more: Any) -> None:
        super().__init__(data, label_suffix="", **more)
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(
            choices, "None: an audit checks the recorded answers, a debug replay asks the recorded models"
        )
        self.fields["through_sequence"].widget.attrs |= {"placeholder": str(session.last_sequence)}
        there = models_with_vectors(session.collection) if session.collection is not None else []
        embedding = cast("forms.ChoiceField", self.fields["embedding_model"])
        embedding.choices = [("", "The collection's own"), *((name, name) for name in there)]

    def options(self) -> ReplayOptions:
        """The options that were chosen; retrieval options belong to a debug replay and are left out of an audit."""
        asked = self.cleaned_data
        audit = asked["kind"] == "audit"
        return ReplayOptions(
            audit=audit,
            reason=asked["reason"].strip() or None,
            use_model=asked["other_model"].strip() or asked["model"] or None,
            system_prompt=asked["system_prompt"] or None,
            temperature=asked["temperature"],
            seed=asked["seed"],
            max_tokens=asked["max_tokens"],
            skip_asks=asked["skip_asks"],
            skip_finds=asked["skip_finds"],
            through_sequence=asked["through_sequence"],
            spend_limit_usd=asked["spend_limit_usd"],
            top_k=asked["top_k"],
            search_mode=asked["search_mode"] or None,
            adaptive={"yes": True, "no": False}.get(asked["adaptive"]),
            relative=asked["relative"],
            cliff=asked["cliff"],
            min_score=asked["min_score"],
            embedding_model=asked["embedding_model"] or None,
            as_of=None if audit else asked["as_of"] or None,
        )

    def refuse(self, why: TimeMachineError) -> int:
        """Say at the field that it is about what does not work; the status to answer with."""
        field = why.facts.get("field") or FIELD_OF_CODE.get(why.code)
        self.add_error(field if field in self.fields else None, why.message)
        return why.status
