"""What a trial changed of its step, each change beside what was recorded."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from timemachine.base.wording import counted
from timemachine.recording.models import Action
from timemachine.web.library import register
from timemachine.web.replay_forms import chosen_options, written_frames

_OF_RETRIEVAL: Final = {
    "search_mode": "mode",
    "top_k": "top_k",
    "adaptive": "adaptive",
    "embedding_model": "embedding_model",
}
_OF_THE_CALL: Final = ("temperature", "seed", "max_tokens")


@register.simple_tag
def trial_changes(kept: Mapping[str, Any], action: Action, passages: int) -> list[str]:
    """The changes of a trial in words, like `passages #2, #7 instead of the 8 recorded`; none where it asks again as it was.

    `passages` is how many were recorded with the step.
    """
    return list(_changes(kept, action, passages))


def _changes(kept: Mapping[str, Any], action: Action, passages: int) -> Iterator[str]:
    if "use_model" in kept:
        yield f"model {kept['use_model']} instead of {action.model or 'one that was not recorded'}"
    for name, value in kept.items():
        if name in ("step", "use_model", "audit", "reason") or (name, value) == ("as_of", "recorded"):
            continue
        if name == "question":
            yield "another question, below"
        elif name == "frames":
            yield f"passages {written_frames(value) or 'none'} instead of the {counted(passages, 'recorded one')}"
        else:
            yield _of_an_option(name, value, action)


def _of_an_option(name: str, value: Any, action: Action) -> str:
    ((words, chosen),) = chosen_options({name: value})
    was = _recorded(name, action)
    return f"{words[:1].lower()}{words[1:]} {chosen}" + (f" instead of {was}" if was is not None else "")


def _recorded(name: str, action: Action) -> str | None:
    """What was recorded of an option, in the words of the form; None where it was not."""
    if name in _OF_RETRIEVAL:
        found = (action.retrieval or {}).get(_OF_RETRIEVAL[name])
    elif name in _OF_THE_CALL:
        found = (action.parameters or {}).get(name)
    else:
        return None
    if name == "adaptive" and isinstance(found, bool):
        return "adaptive" if found else "exactly top-k"
    return None if found is None else str(found)
