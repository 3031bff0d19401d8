"""The three kinds of things that have evidence, and for each what a door needs to hand it out: how it is found, sealed, written and named."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Final

from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import COMPARISON, REPLAY, SESSION
from timemachine.evidence.queries import Sealed, sealed_comparison, sealed_replay, sealed_session
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.comparison.queries import comparison_of
from timemachine.replay.runs.queries import replay_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of thing. `find` raises `NotFound`, `write` as `exporting` does; `file` is what a download of it is called."""

    find: Callable[[Project, str], Any]
    sealed: Callable[[Any], Sealed]
    write: Callable[[IO[bytes], Any], object]
    file: Callable[[Any], str]


KINDS: Final = {
    SESSION: Kind(
        find=session_of,
        sealed=sealed_session,
        write=exporting.write_session,
        file=lambda session: str(session.key),
    ),
    REPLAY: Kind(
        find=replay_of,
        sealed=sealed_replay,
        write=exporting.write_replay,
        file=lambda replay: f"replay-{replay.id}",
    ),
    COMPARISON: Kind(
        find=comparison_of,
        sealed=sealed_comparison,
        write=exporting.write_comparison,
        file=lambda comparison: f"comparison-{comparison.id}",
    ),
}
