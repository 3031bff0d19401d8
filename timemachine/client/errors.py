"""Why a request came to nothing, one tree.

ClientError              the sentence for people; `code` and `facts` for programs
├── NoServer             no server or no key is known, or what names them cannot be used
├── Unreachable          nobody answered, or not in time, or the answer broke off
├── NotUnderstood        something answered, and it is not the API
├── NotRecorded          the recorder could not take something, or not deliver it; only where it is strict
└── Refused              the API said no: its HTTP status, and its own code, message and facts
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class ClientError(Exception):
    """A request came to nothing: `message` says why and what to do."""

    default_code: ClassVar[str] = "client_error"

    def __init__(
        self, message: str, *, code: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.facts: Mapping[str, Any] = facts or {}


class NoServer(ClientError):
    """It is not known which server to talk to, or with which key."""

    default_code = "no_server"


class Unreachable(ClientError):
    """The server did not answer, or not to the end."""

    default_code = "unreachable"


class NotUnderstood(ClientError):
    """The answer is none that the API gives."""

    default_code = "not_understood"


class NotFound(ClientError):
    """What was named cannot be there."""

    default_code = "not_found"


class NotRecorded(ClientError):
    """The recorder could not take what it was given, or not deliver it in time; what it took lies in the spool."""

    default_code = "not_recorded"


class Refused(ClientError):
    """The API refused the request; `status` is the HTTP status, `retry_after` the seconds after which to come again, where it says."""

    default_code = "refused"

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        facts: Mapping[str, Any],
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code, facts=facts)
        self.status = status
        self.retry_after = retry_after
