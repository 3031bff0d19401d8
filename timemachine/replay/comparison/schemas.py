"""Comparisons as the API takes them."""

from pydantic import Field

from timemachine.core.pure.schemas import Strict
from timemachine.replay.comparison.pure.variants import Arm


class ArmIn(Arm):
    """One arm of a comparison: a model and the options of its calls; null is as it was recorded."""

    model: str = Field(min_length=1)


class ComparisonIn(Strict):
    """What to compare. `repeats` is how often each arm is asked; `noise_floor` asks it once more, against itself."""

    sessions: list[str] = Field(max_length=1_000)
    arms: list[ArmIn] = Field(max_length=100)
    repeats: int = 1
    noise_floor: bool = False
    spend_limit_usd: float | None = None
    reason: str | None = None


class OpinionsIn(Strict):
    """The model that is to judge a comparison's cells, or the cell of `session`, `sequence`, `arm` and `run`."""

    model: str
    session: str | None = None
    sequence: int | None = Field(default=None, ge=1, lt=2**62)
    arm: int | None = Field(default=None, ge=1, le=8)
    run: int = Field(default=1, ge=0, le=1_000)


class MarkIn(Strict):
    """What a person says of a cell: the answer of an arm's run at a recorded ask."""

    session: str
    sequence: int = Field(ge=1, lt=2**62)
    arm: int = Field(ge=1, le=8)
    run: int = Field(default=1, ge=0, le=1_000)
    verdict: str
    note: str = ""
