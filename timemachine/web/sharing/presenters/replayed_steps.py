"""A replayed step on a share link: the finding in one sentence, and the request of a model call."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.governance.sharing.read_models.requests import SharedRequest
from timemachine.web.replays.forms.replays import chosen_options
from timemachine.web.sessions.presenters.model_request import ShownRequest, shown

SENT_WITH: Final = ("system_prompt", "question", "messages", "temperature", "seed", "max_tokens")
"""Options of a replay that change a request before it is sent."""
_REQUESTS: Final[Mapping[str, str]] = {
    "verified": "The request below is the recorded one: its bytes still have the recorded SHA-256",
    "altered": "The stored request is not the one that was recorded: its bytes have a different SHA-256",
    "missing": "A step that is part of the request was deleted",
    "not_recorded": "The request or its beginning was not recorded",
    "reconstructed": "The request or its beginning was not recorded; the replay assembled it from the steps before it",
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


def finding(sentence: str, request: ReplayedRequest | None) -> str:
    """Return what the replay of a step found, and what is known of its request; an altered request comes first."""
    sentences = [sentence, *_request(request)]
    if request is not None and request.is_altered:
        sentences.reverse()
    return " ".join(f"{each.rstrip('.')}." for each in sentences)


def _request(request: ReplayedRequest | None) -> Iterator[str]:
    verdict = None if request is None else request.about.verdict
    if verdict is not None:
        yield _REQUESTS[verdict]
