"""What packages above `recording` are told of, in the transaction in which it happens."""

from typing import Final

from django.dispatch import Signal

session_moved: Final = Signal()
"""All actions of `session` now belong to another one; the receiver deletes it. `by` says who moved them, `reason` why."""
