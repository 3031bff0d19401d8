"""The changes of a replay to a step, each next to the recorded value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.pure.numbers import counted
from timemachine.llm.pure.catalogue import LOCAL
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import CALL_OPTIONS
from timemachine.web.replays.forms.replays import chosen_options, written_frames
from timemachine.web.template_library import register

_OF_RETRIEVAL: Final = {
    "search_mode": "mode",
    "top_k": "top_k",
    "adaptive": "adaptive",
    "embedding_model": "embedding_model",
}
_OF_THE_CALL: Final = ("temperature", "seed", "max_tokens")


@register.simple_tag
def trial_changes(kept: Mapping[str, Any], action: Action, passages: int) -> list[str]:
    """Return the changes of a trial in words, like `passages #2, #7 instead of the 8 recorded`; none if it repeats the step as recorded.

    `passages` is the number recorded with the step.
    """
    return list(_changes(kept, action, passages))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """An option of the call that differs from the recorded one; `was` is None if that was not recorded."""

    name: str
    chosen: str
    was: str | None


@register.simple_tag
def call_changes(step: ReplayStep) -> list[Changed]:
    """Return the changes of a replay to a model call; an option with the recorded value is not a change."""
    if step.kind != "ask":
        return []
    before = step.action.parameters or {}
    options = step.replay.options.items()
    changed = {name: value for name, value in options if name in CALL_OPTIONS and value != before.get(name)}
    named = zip(changed, chosen_options(changed), strict=True)
    return [
        Changed(name=words, chosen=chosen, was=str(before[name]) if before.get(name) is not None else None)
        for name, (words, chosen) in named
    ]


@register.filter
def changes_unused_prompt(step: ReplayStep) -> bool:
    """Return whether a step changes the system prompt or template for a model that uses no prompt."""
    options = step.replay.options
    model = str(step.model or options.get("use_model") or step.action.model or "")
    changed = any(name in options for name in ("system_prompt", "prompt_template"))
    return step.kind == "ask" and changed and model.partition(":")[0] == LOCAL


def _changes(options: Mapping[str, Any], action: Action, passages: int) -> Iterator[str]:
    if "use_model" in options:
        yield f"model {options['use_model']} instead of {action.model or 'an unrecorded one'}"
    for name, value in options.items():
        if name in ("step", "use_model", "audit", "reason") or (name, value) == ("as_of", "recorded"):
            continue
        if name == "question":
            yield "a different question, shown below"
        elif name == "frames":
            yield f"passages {written_frames(value) or 'none'} instead of the {counted(passages, 'recorded one')}"
        else:
            yield _of_an_option(name, value, action)


def _of_an_option(name: str, value: Any, action: Action) -> str:
    ((words, chosen),) = chosen_options({name: value})
    was = _recorded(name, action)
    return f"{words[:1].lower()}{words[1:]} {chosen}" + (f" instead of {was}" if was is not None else "")


def _recorded(name: str, action: Action) -> str | None:
    """Return the recorded value of an option in the words of the form; None if it was not recorded."""
    if name in _OF_RETRIEVAL:
        found = (action.retrieval or {}).get(_OF_RETRIEVAL[name])
    elif name in _OF_THE_CALL:
        found = (action.parameters or {}).get(name)
    else:
        return None
    if name == "adaptive" and isinstance(found, bool):
        return "adaptive" if found else "exactly top-k"
    return None if found is None else str(found)
