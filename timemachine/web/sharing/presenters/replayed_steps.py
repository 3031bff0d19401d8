"""A replayed step on a share link: the finding in one sentence, and the request of a model call."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.governance.sharing.read_models.replays import SharedReplayStep
from timemachine.governance.sharing.read_models.requests import SharedRequest
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.web.replays.forms.replays import chosen_options
from timemachine.web.sessions.presenters.model_request import ShownRequest, shown

SENT_WITH: Final = ("system_prompt", "question", "messages", "temperature", "seed", "max_tokens")
"""Options of a replay that change a request before it is sent."""
_VERDICTS: Final[Mapping[str, str]] = {
    "identical": "The new answer is the same, byte for byte",
    "same_action": "The new model calls the same tools with equal arguments",
    "formatting": "The new answer differs only in its formatting",
    "reworded": "The new answer uses other words; no difference in facts was found",
    "equivalent": "The new answer means the same",
    "adds": "The new answer says more than the recorded one",
    "omits": "The new answer leaves out something that the recorded one says",
    "numbers_differ": "The new answer has other numbers",
    "names_differ": "The new answer has other names",
    "polarity_differs": "The new answer says the opposite in at least one sentence",
    "changed": "The new answer is another one",
    "contradicts": "The new answer contradicts the recorded one",
    "other_arguments": "The new model calls the same tools with other arguments",
    "other_tool": "The new model makes other calls",
    "answers_instead": "The recorded model called a tool; the new one answers",
    "calls_instead": "The recorded model answered; the new one calls a tool",
    "refused": "The new model declines to answer",
    "newly_answered": "The recorded model declined to answer; the new one answers",
    "not_recorded": "There is no recorded answer to compare the new one with",
    "error": "The call failed",
}
_STATUSES: Final[Mapping[str, str]] = {
    "waiting": "This step has not run yet",
    "running": "This step is running",
    "failed": "This step failed",
    "cancelled": "This step was cancelled",
    "skipped": "This step was not asked, because the spend limit was nearly reached",
}
_REQUESTS: Final[Mapping[str, str]] = {
    "verified": "The request below is the recorded one: its bytes still have the recorded SHA-256",
    "altered": "The stored request is not the one that was recorded: its bytes have another SHA-256",
    "missing": "A step that the request consists of was deleted",
    "not_recorded": "The request was not recorded, or not its beginning",
    "reconstructed": "The request itself was not recorded, or not its beginning; the replay put it together from the steps before it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRequest:
    """The request of a replayed model call as its page shows it, and the options that changed it before it was sent."""

    about: SharedRequest
    shown: ShownRequest | None
    sent_with: list[tuple[str, str]]

    @property
    def says_more(self) -> bool:
        """Whether there are parameters to show, or parts that were not recorded."""
        frozen = self.about.frozen
        return frozen is not None and bool(frozen.absent or (self.shown and self.shown.parameters))

    @property
    def is_altered(self) -> bool:
        return self.about.verdict == "altered"


def replayed_request(
    found: SharedRequest | None, options: Mapping[str, Any], first_bytes: int, most: int, characters: int
) -> ReplayedRequest | None:
    """Return the request with `most` of its latest messages, and so many `characters` of each part; None without one."""
    if found is None:
        return None
    changed = {name: value for name, value in options.items() if name in SENT_WITH}
    return ReplayedRequest(
        about=found,
        shown=None if found.frozen is None else shown(found.frozen, first_bytes, most, characters),
        sent_with=chosen_options(changed),
    )


def finding(step: SharedReplayStep, request: ReplayedRequest | None) -> str:
    """Return what the replay of a step found, in one or two sentences; an altered request comes first."""
    sentences = [_answer(step), *_request(request)]
    if request is not None and request.is_altered:
        sentences.reverse()
    return " ".join(f"{each.rstrip('.')}." for each in sentences)


def _request(request: ReplayedRequest | None) -> Iterator[str]:
    verdict = None if request is None else request.about.verdict
    if verdict is not None:
        yield _REQUESTS[verdict]


def _answer(step: SharedReplayStep) -> str:
    if step.verdict is not None and step.verdict in _VERDICTS:
        return _VERDICTS[step.verdict]
    if step.status in _STATUSES:
        return _STATUSES[step.status]
    if "not_asked" in (step.evidence or {}):
        return "It was not sent again, for the reason below"
    if step.retrieval is not None:
        return f"Searched again, the passages are {_SEARCHED.get(step.retrieval.get('verdict', ''), 'compared below')}"
    if step.kind == MODEL_CALL:
        return "No model was called"
    return "No model was called; the frozen passages of the recorded step were checked"


_SEARCHED: Final[Mapping[str, str]] = {
    "same": "the same",
    "reordered": "the same in another order",
    "changed": "others",
}
