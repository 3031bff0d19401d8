"""The statuses of replays and of their steps."""

from typing import Final

OPEN_REPLAY_STATUSES: Final = ("queued", "running")
TERMINAL_REPLAY_STATUSES: Final = ("done", "failed", "cancelled")
REPLAY_STATUSES: Final = (*OPEN_REPLAY_STATUSES, *TERMINAL_REPLAY_STATUSES)

OPEN_STEP_STATUSES: Final = ("waiting", "running", "uncertain")
TERMINAL_STEP_STATUSES: Final = ("done", "failed", "skipped", "cancelled")
STEP_STATUSES: Final = ("waiting", "running", *TERMINAL_STEP_STATUSES, "uncertain")
