"""Suites as the API takes them."""

from pydantic import Field

from timemachine.core.pure.schemas import Strict
from timemachine.replay.runs.pure.options import SessionOptions
from timemachine.replay.suites.pure.matching import Matching


class SuiteIn(Strict):
    """A suite: which sessions, how, with which models, when, and what counts as a failure."""

    name: str
    sessions: list[str] = Field(default_factory=list, max_length=1_000)
    matching: Matching | None = None
    options: SessionOptions = Field(default_factory=SessionOptions)
    use_models: list[str] = Field(default_factory=list, max_length=100)
    fail_on: list[str] = Field(default_factory=list, max_length=100)
    schedule: str | None = None


class SuiteChange(Strict):
    """What to change in a suite; what is left out stays. null removes `schedule` or `matching`."""

    name: str | None = None
    sessions: list[str] | None = Field(default=None, max_length=1_000)
    matching: Matching | None = None
    options: SessionOptions | None = None
    use_models: list[str] | None = Field(default=None, max_length=100)
    fail_on: list[str] | None = Field(default=None, max_length=100)
    schedule: str | None = None


class SuiteRunIn(Strict):
    """Conditions that count for this run in addition to the suite's own."""

    fail_on: list[str] = Field(default_factory=list, max_length=100)
