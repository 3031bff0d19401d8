"""The delivery of OpenTelemetry spans: each line of the recording has some, and they are sent to `/v1/traces`."""

from typing import TYPE_CHECKING, Any, Final

from timemachine.client.errors import Refused
from timemachine.client.recording.outbox import Outbox
from timemachine.client.recording.recording import Recording
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.connection import Connection

NAME: Final = "OpenTelemetry spans"
KEY: Final = "opentelemetry"
_OF_TRACES: Final = "traces"
_NEVER: Final = 400
"""The status of spans that can never be accepted; for actions it is 422."""
_UNPROCESSABLE: Final = 422


def traces_header() -> JsonObject:
    """What the header of a recording of spans has in addition."""
    return {_OF_TRACES: True}


def outbox_of(recording: Recording, **options: Any) -> Outbox:
    """The outbox of a recording of actions or of spans."""
    made = TracesOutbox if recording.header.get(_OF_TRACES) else Outbox
    return made(recording, **options)


class TracesOutbox(Outbox):
    """The undelivered spans of a process. The server knows from each span to which session it belongs, and stores it once."""

    def _start(self, connection: "Connection") -> None:  # noqa: ARG002  # spans need no session
        self._started = self.begun = True

    def _post(self, connection: "Connection", lines: list[bytes]) -> JsonObject:
        body = b'{"resourceSpans":[' + b",".join(lines) + b"]}"
        try:
            answer = connection.call("POST", "/v1/traces", content=body, content_type="application/json")
        except Refused as why:
            if why.status != _NEVER:
                raise
            raise Refused(why.message, status=_UNPROCESSABLE, code=why.code, facts=why.facts) from why
        partial = (answer or {}).get("partialSuccess") or {}
        if int(
            partial.get("rejectedSpans") or 0
        ):  # the others are stored; sending them again changes nothing
            raise Refused(
                partial.get("errorMessage") or "", status=_UNPROCESSABLE, code=Refused.default_code, facts={}
            )
        return {}

    def _record_refusal(self, connection: "Connection", line: bytes, why: Refused) -> None:
        """Do nothing: the spool has the refused spans, and the log has the reason."""
