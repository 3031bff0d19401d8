"""The errors of Time Machine, one tree.

    TimeMachineError            500  a fault of ours
    ├── InvalidInput            422  what was sent cannot be used; says which part and what to send instead
    │   └── TooLarge            413  it is over a limit; names the limit
    ├── NotSignedIn             401  no key, or one that is not valid
    ├── NotAllowed              403  known, but this member or key may not do it
    ├── NotFound                404  nothing of that name in this project
    ├── Conflict                409  it does not fit what stands already
    ├── TooManyRequests         429  try again later; facts["retry_after_seconds"] says when
    ├── ModelFailed             502  the model's provider refused or failed; carries its own words
    │   └── Cancelled           409  somebody ended the call before its end; once sent it may have been billed
    └── Unavailable             503  something this needs is not configured or not running

Rooms raise them; doors translate them once: the status for machines, the message for people (it says what to do next),
and the facts for both.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class TimeMachineError(Exception):
    """Something went wrong that has a name: `code` for programs, `message` for people, `facts` for both."""

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, code: str | None = None, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.facts: Mapping[str, Any] = facts

    def as_json(self) -> dict[str, Any]:
        """The error as the API answers it: `code`, `message`, `facts`."""
        return {"code": self.code, "message": self.message, "facts": dict(self.facts)}


class InvalidInput(TimeMachineError):
    """What was sent cannot be used."""

    status = 422
    default_code = "invalid_input"


class TooLarge(InvalidInput):
    """What was sent is over a limit."""

    status = 413
    default_code = "too_large"


class NotSignedIn(TimeMachineError):
    """There is no valid key or session with the request."""

    status = 401
    default_code = "not_signed_in"


class NotAllowed(TimeMachineError):
    """The member or key is known but may not do this."""

    status = 403
    default_code = "not_allowed"


class NotFound(TimeMachineError):
    """Nothing of that name exists in this project."""

    status = 404
    default_code = "not_found"


class Conflict(TimeMachineError):
    """The request does not fit what stands already."""

    status = 409
    default_code = "conflict"


class TooManyRequests(TimeMachineError):
    """The caller has to wait."""

    status = 429
    default_code = "too_many_requests"


class ModelFailed(TimeMachineError):
    """The provider of a model refused the call or failed; the message carries its own words."""

    status = 502
    default_code = "model_failed"


class Cancelled(ModelFailed):
    """Somebody ended the call of a model before its end."""

    status = 409
    default_code = "cancelled"


class Unavailable(TimeMachineError):
    """Something this needs is not configured or not running."""

    status = 503
    default_code = "unavailable"
