"""The errors of Time Machine, one tree.

    TimeMachineError            500  a bug or a broken installation
    ├── InvalidInput            422  the input cannot be used; the message says which part, and what to send instead
    │   └── TooLarge            413  the input exceeds a limit, which the message names
    ├── NotSignedIn             401  no key or session, or an invalid one
    ├── NotAllowed              403  this member or key does not have the permission
    ├── NotFound                404  this project has nothing with that name
    ├── Conflict                409  the request does not fit the current state
    ├── TooManyRequests         429  try again later; facts["retry_after_seconds"] says when
    ├── ModelFailed             502  the model's provider refused or failed; carries the provider's message
    │   └── Cancelled           409  the call was cancelled; if it had been sent, it may have been billed
    ├── DamagedContent          500  stored bytes cannot be decompressed
    └── Unavailable             503  something required is not configured or not running

Errors are raised where the fault is known and translated once, at the interface: a status and facts for programs, a
message for people that says what to do next.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class TimeMachineError(Exception):
    """An error with a `code` for programs, a `message` for people, and `facts` for both."""

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, code: str | None = None, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.facts: Mapping[str, Any] = facts

    def as_json(self) -> dict[str, object]:
        """Return the error as the API returns it: `code`, `message`, `facts`."""
        return {"code": self.code, "message": self.message, "facts": dict(self.facts)}


class InvalidInput(TimeMachineError):
    """The input cannot be used."""

    status = 422
    default_code = "invalid_input"


class TooLarge(InvalidInput):
    """The input exceeds a limit."""

    status = 413
    default_code = "too_large"


class NotSignedIn(TimeMachineError):
    """The request has no valid key or session."""

    status = 401
    default_code = "not_signed_in"


class NotAllowed(TimeMachineError):
    """The member or key does not have the permission."""

    status = 403
    default_code = "not_allowed"


class NotFound(TimeMachineError):
    """This project has nothing with that name."""

    status = 404
    default_code = "not_found"


class Conflict(TimeMachineError):
    """The request does not fit the current state."""

    status = 409
    default_code = "conflict"


class TooManyRequests(TimeMachineError):
    """The caller has to wait."""

    status = 429
    default_code = "too_many_requests"


class ModelFailed(TimeMachineError):
    """The provider of a model refused the call or failed. The message includes the provider's own."""

    status = 502
    default_code = "model_failed"


class Cancelled(ModelFailed):
    """The call of a model was cancelled before it finished."""

    status = 409
    default_code = "cancelled"


class DamagedContent(TimeMachineError):
    """The stored bytes of a content cannot be decompressed to the `size` that was recorded."""

    default_code = "content_damaged"

    def __init__(self, size: int) -> None:
        message = (
            f"A recorded content of {size:,} bytes is damaged in the database and cannot be read. The check of the"
            " session's seal names the step. To get it back, restore a backup."
        )
        super().__init__(message, size=size)


class Unavailable(TimeMachineError):
    """Something that this needs is not configured or not running."""

    status = 503
    default_code = "unavailable"
