"""Signals to packages above `recording`, sent in the transaction of the change."""

from typing import Final

from django.dispatch import Signal

session_moved: Final = Signal()
"""All actions of `session` now belong to another one; the receiver deletes it. `by` says who moved them, `reason` why."""
