"""Sweeps as the API takes them."""

from pydantic import Field

from timemachine.replay.sweeps.pure.grid import MODES, Grid, Mode


class SweepIn(Grid):
    """The grid to measure: every combination of its values."""

    modes: list[Mode] = Field(default=[*MODES], max_length=3)
    top_k: list[int] = Field(default=[4, 8, 16], max_length=50)
    adaptive: list[bool] = Field(default=[False, True], max_length=2)
    embedding_models: list[str] = Field(default=[], max_length=20)
