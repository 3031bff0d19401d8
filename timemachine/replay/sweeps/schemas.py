"""Sweeps as the API takes and returns them."""

from typing import Literal, Self

from pydantic import Field, StrictBool

from timemachine.core.pure.schemas import Page, Schema
from timemachine.replay.runs.pure.options import MODES, Mode
from timemachine.replay.runs.schemas import ReplayStatus
from timemachine.replay.sweeps.models import TERMINAL_ROW_STATUSES, Sweep, SweepRow
from timemachine.replay.sweeps.pure.grid import Grid


class SweepIn(Grid):
    """The grid to measure: every combination of its values."""

    modes: list[Mode] = Field(default=[*MODES], max_length=3)
    top_k: list[int] = Field(default=[4, 8, 16], max_length=50)
    adaptive: list[StrictBool] = Field(default=[False, True], max_length=2)
    embedding_models: list[str] = Field(default=[], max_length=20)


class SettingCounts(Schema):
    """How many settings there are, and how many were measured or have ended in another way."""

    total: int
    finished: int


class SweepResult(Schema):
    """What a setting finds at all steps. `recall` is of the frames that the recorded answers are grounded in."""

    steps: int
    hits: int
    tokens: int
    tokens_per_step: float | None
    grounded_frames: int
    grounded_found: int
    recall: float | None
    overlap: float | None
    rank_biased_overlap: float | None
    left_out: int


class SweepRowOut(Schema):
    """A setting, how far it is, and its result."""

    mode: str
    top_k: int
    adaptive: bool
    embedding_model: str | None
    number: int
    status: Literal["waiting", "running", "done", "failed", "cancelled"]
    result: SweepResult | None
    error: str | None

    @classmethod
    def of(cls, row: SweepRow) -> "SweepRowOut":
        result = None if row.result is None else SweepResult.model_construct(**row.result)
        return cls.from_attributes(row, **row.setting, result=result, error=row.error_message)


class SweepOut(Schema):
    """A sweep: its grid, how far it is, and the result of each setting, in the order of the grid."""

    id: str
    session: str
    status: ReplayStatus
    grid: Grid
    steps: int
    tokenizer: str
    requested_by: str
    created_at: str
    finished_at: str | None
    settings: SettingCounts
    rows: list[SweepRowOut]

    @classmethod
    def of(cls, sweep: Sweep) -> Self:
        found = sorted(sweep.rows.all(), key=lambda row: row.number)
        finished = sum(row.status in TERMINAL_ROW_STATUSES for row in found)
        return cls.from_attributes(
            sweep,
            session=sweep.session_id,
            steps=len(sweep.steps),
            settings=SettingCounts.model_construct(total=len(found), finished=finished),
            rows=[SweepRowOut.of(row) for row in found],
        )


class SweepPage(Page[SweepOut]):
    """Sweeps of a session, the newest first."""


class SweepLaunched(Schema):
    """The id of a sweep that was launched."""

    sweep_id: str
