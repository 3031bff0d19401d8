"""The errors of the client, each with a message for people, and `code` and `facts` for programs."""

from collections.abc import Mapping
from typing import Any, ClassVar


class ClientError(Exception):
    """A request failed: `message` says why and what to do next."""

    default_code: ClassVar[str] = "client_error"

    def __init__(
        self, message: str, *, code: str | None = None, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.facts: Mapping[str, Any] = facts or {}


class NoServer(ClientError):
    """No server or API key is known, or they cannot be used."""

    default_code = "no_server"


class Unreachable(ClientError):
    """The server did not answer, not in time, or not completely."""

    default_code = "unreachable"


class NotUnderstood(ClientError):
    """The answer is not one of the API."""

    default_code = "not_understood"


class NotFound(ClientError):
    """Nothing can have this name."""

    default_code = "not_found"


class NotRecorded(ClientError):
    """The recorder could not accept a value, or not deliver it in time; what it accepted is in the spool. Raised only if it is strict."""

    default_code = "not_recorded"


class Refused(ClientError):
    """The API refused the request; `status` is the HTTP status, `retry_after` the seconds to wait, if the server names them."""

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
