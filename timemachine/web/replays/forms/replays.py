"""The form that launches a replay."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from django import forms

from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import spaced
from timemachine.llm.pure.listing import Choice
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.web.model_select import ModelSelect
from timemachine.web.number_fields import Number, WholeNumber
from timemachine.web.option_fields import SessionFields
from timemachine.web.single_submission import SentOnce
from timemachine.web.template_library import register

FIELD_OF_CODE = {
    "unknown_model": "model",
    "model_not_usable": "model",
    "model_needed": "model",
    "reason_needed": "reason",
    "nothing_to_replay": "through_sequence",
}


_NOT_IN_AN_AUDIT: Final = "An audit uses the frozen context. Leave this as recorded, or choose Debug."
_SHOWN_ELSEWHERE: Final = {"audit", "reason", "use_model", "step"}
_IN_WORDS: Final[dict[tuple[str, object], tuple[str, str]]] = {
    ("skip_asks", True): ("Asks", "left out"),
    ("skip_finds", True): ("Finds", "left out"),
    ("adaptive", True): ("Cut-off", "adaptive"),
    ("adaptive", False): ("Cut-off", "exactly top-k"),
    ("as_of", "now"): ("Collection", "as it is now"),
    ("as_of", "recorded"): ("Collection", "as it was at each step"),
}
_NAMES: Final = {
    "spend_limit_usd": "Spend limit (USD)",
    "after_sequence": "After step",
    "through_sequence": "Through step",
    "relative": "Cut below this share of the best score",
    "cliff": "Cut below this share of the previous score",
    "min_score": "Minimum score",
}


def chosen_options(kept: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the stored options of a replay in words, without those that its page shows elsewhere."""
    return [_in_words(name, value) for name, value in kept.items() if name not in _SHOWN_ELSEWHERE]


@register.filter
def changes(kept: Mapping[str, Any]) -> str:
    """Return the changes of a trial in one line; using the collection as it was is not a change."""
    changed = {name: value for name, value in kept.items() if (name, value) != ("as_of", "recorded")}
    model = [kept["use_model"]] if "use_model" in kept else []
    return ", ".join([*model, *(f"{name}: {value}" for name, value in chosen_options(changed))]) or "nothing"


def _in_words(name: str, value: Any) -> tuple[str, str]:
    if isinstance(value, list | tuple):
        return spaced(name).capitalize(), written_frames(value) or "none"
    return _IN_WORDS.get((name, value), (_NAMES.get(name, spaced(name).capitalize()), str(value)))


def written_frames(names: Sequence[int | str]) -> str:
    """Return the names of passages as a form accepts them: `#3, #12, rank 2`."""
    return ", ".join(f"#{name}" if isinstance(name, int) else name for name in names)


class ReplayForm(SentOnce, SessionFields):
    """Launch a replay; the same rules as in the API."""

    model = forms.CharField(label="Model", required=False, widget=ModelSelect)
    other_model = forms.CharField(
        label="Another model",
        required=False,
        help_text="Written as provider:model. Overrides the choice above.",
    )
    reason = forms.CharField(
        label="Reason",
        required=False,
        help_text="Required for an audit and stored with it.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    from_sequence = WholeNumber(label="From step", required=False, min_value=1)
    through_sequence = WholeNumber(label="Through step", required=False, min_value=1)
    spend_limit_usd = Number(
        label="Spend limit in US dollars",
        required=False,
        min_value=0,
        help_text="A call starts only if its expected cost fits. Calls with unknown cost are made one at a time and are not "
        "counted.",
    )

    def __init__(self, choices: tuple[Choice, ...], session: Session, data: Any = None, **more: Any) -> None:
        super().__init__(data, label_suffix="", **more)
        select = cast("ModelSelect", self.fields["model"].widget)
        select.offer(choices, "None: an audit calls no model, a debug replay calls the recorded models")
        self.fields["from_sequence"].widget.attrs |= {"placeholder": "1"}
        self.fields["through_sequence"].widget.attrs |= {"placeholder": str(session.last_sequence)}
        self.offer_embedding_models(session)

    @property
    def is_debug(self) -> bool:
        """Return whether a debug replay is chosen."""
        return bool(self["kind"].value() == "debug")

    @property
    def has_range(self) -> bool:
        """Return whether a first or last step is chosen."""
        return any(self[name].value() for name in ("from_sequence", "through_sequence"))

    def options(self) -> ReplayOptions:
        """Return the chosen options."""
        asked = self.cleaned_data
        return ReplayOptions(
            **dict(self.session_options()),
            use_model=asked["other_model"].strip() or asked["model"] or None,
            after_sequence=(asked["from_sequence"] or 1) - 1 or None,
            through_sequence=asked["through_sequence"],
        )

    def refuse(self, why: TimeMachineError) -> int:
        """Show an error at its field and return the HTTP status. A form that was used gets a new id."""
        if why.code == "form_used":
            self.renew()
        if why.code == "retrieval_options_in_audit":
            for name in why.facts["options"]:
                self.add_error(name, _NOT_IN_AN_AUDIT)
            return why.status
        field = why.facts.get("field") or FIELD_OF_CODE.get(why.code)
        self.add_error(field if field in self.fields else None, why.message)
        return why.status
