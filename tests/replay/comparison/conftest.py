"""A recorded session and a finished comparison of it, created once per test file."""

import pytest

from tests.builders import compared
from tests.replay.comparison.launching import ONE, THREE
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison


@pytest.fixture(scope="module")
def compared_once(recorded_once: Session) -> Comparison:
    """Return a finished comparison of two models over the session of the file."""
    return compared(recorded_once.project, [recorded_once], ONE, THREE)
