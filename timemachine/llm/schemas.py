"""What a call of a model used and why it failed, as the API returns it."""

from timemachine.core.pure.schemas import Schema


class UsageOut(Schema):
    """Tokens, null where they were not recorded."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None


class CallUsageOut(UsageOut):
    """Tokens of one call, as they were stored with it."""

    cache_write_1h_tokens: int | None = 0  # absent in calls that were stored before it was counted


class FailureOut(Schema):
    """What went wrong in a step or in a call of a model: the class of the error and its message."""

    type: str | None
    message: str | None


class CancelOut(Schema):
    """That a call of a model is to be cancelled."""

    id: str
    cancel_wanted: bool
