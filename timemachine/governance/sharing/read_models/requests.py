"""The request of a replayed model call as a visitor sees it, with the result of checking its bytes.

A link to a replay shows only the recorded steps that were repeated. So it shows a request that its call recorded, but not one
that was put together from other steps.
"""

from dataclasses import dataclass

from timemachine.core.payloads.queries import current_sha256, value
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.model_calls.queries import recorded_request
from timemachine.replay.runs.models import ReplayStep
from timemachine.text.redaction.pure.marks import HASH, mark


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRequest:
    """The request of a replayed model call.

    `verdict` is that of a check of the recorded bytes now; of a request that was put together, also if only its beginning was,
    that of the replay, and None before the step has run. `frozen` is None for the latter, and if its bytes cannot be read. `sha256` is the recorded hash of the
    bytes and `found_sha256` the one that they have now, if it is another; both are marks if something of them is withheld.
    `payload` names the bytes that can be downloaded.
    """

    verdict: str | None
    frozen: FrozenRequest | None = None
    sha256: str | None = None
    found_sha256: str | None = None
    payload: str | None = None


def shared_request(step: ReplayStep, redactor: Redactor) -> SharedRequest:
    """Return the request of a replayed model call, redacted."""
    recorded = step.action.input
    if recorded is None:
        return SharedRequest(verdict=step.context)
    found = current_sha256(recorded)
    altered = found != recorded.sha256
    before = value(recorded)
    frozen = recorded_request(step.action, redactor.document)
    if frozen is None and not altered:
        return SharedRequest(verdict=step.context)
    is_complete = frozen is None or frozen.verdict == "verified"
    is_whole = redactor.document({"input": before})["input"] == before
    return SharedRequest(
        verdict="altered" if altered else "verified" if is_complete else step.context,
        frozen=frozen,
        sha256=recorded.sha256 if is_whole else mark(HASH),
        found_sha256=None if not altered else found if is_whole else mark(HASH),
        payload=recorded.sha256 if is_whole and not altered else None,
    )
