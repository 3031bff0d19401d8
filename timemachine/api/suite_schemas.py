"""What programs send about suites: names and types of every field."""

from typing import Any

from pydantic import Field

from timemachine.api.replay_schemas import OptionsIn
from timemachine.core.pure.schemas import Strict
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.suites.pure.matching import Matching


class SuiteOptionsIn(OptionsIn):
    """How the sessions are replayed; see `replay.runs.pure.options`. What goes by a session's own steps is not among them."""

    audit: bool = False
    skip_asks: bool = False
    skip_finds: bool = False
    spend_limit_usd: float | None = None

    def options(self) -> ReplayOptions:
        """As a replay takes them."""
        given: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        return ReplayOptions(**given)


class MatchingIn(Strict):
    """Which sessions are looked for at each run: the newest `most` that fit all that is given."""

    q: str = ""
    agent: str = ""
    user: str = ""
    tag: str = ""
    most: int = 20

    def matching(self) -> Matching:
        """As a suite takes it."""
        return Matching(q=self.q, agent=self.agent, user=self.user, tag=self.tag, most=self.most)


class SuiteIn(Strict):
    """A suite: which sessions, how, with which models, when, and what counts as a failure."""

    name: str
    sessions: list[str] = Field(default_factory=list, max_length=1_000)
    matching: MatchingIn | None = None
    options: SuiteOptionsIn = Field(default_factory=SuiteOptionsIn)
    use_models: list[str] = Field(default_factory=list, max_length=100)
    fail_on: list[str] = Field(default_factory=list, max_length=100)
    schedule: str | None = None


class SuiteChange(Strict):
    """What of a suite is to be another; what is not sent stays. null takes `schedule` or `matching` away."""

    name: str | None = None
    sessions: list[str] | None = Field(default=None, max_length=1_000)
    matching: MatchingIn | None = None
    options: SuiteOptionsIn | None = None
    use_models: list[str] | None = Field(default=None, max_length=100)
    fail_on: list[str] | None = Field(default=None, max_length=100)
    schedule: str | None = None


class SuiteRunIn(Strict):
    """Conditions that count for this run beside the suite's own."""

    fail_on: list[str] = Field(default_factory=list, max_length=100)
