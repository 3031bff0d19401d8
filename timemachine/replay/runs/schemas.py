"""Replays as the API takes them."""

from typing import Annotated

from pydantic import Field, StrictInt, StrictStr

from timemachine.replay.runs.pure.options import MOST_FRAMES, ReplayOptions, SessionOptions, StepOptions


class ReplayIn(SessionOptions):
    """What to replay and how. `from_checkpoint` is a checkpoint's name or sequence; several `use_models` make a comparison."""

    use_models: list[str] = Field(default_factory=list)
    from_checkpoint: int | str | None = None
    through_sequence: Annotated[int, Field(ge=1, lt=2**62)] | None = None

    def options(self, *, model: str | None, after_sequence: int | None) -> ReplayOptions:
        """The options of the replay with one of the models."""
        given = self.model_dump(exclude={"use_models", "from_checkpoint"})
        return ReplayOptions(**given, use_model=model, after_sequence=after_sequence)


class TrialIn(StepOptions):
    """What to change in one step and try again; what is left out stays as it was recorded."""

    question: str | None = None
    frames: list[StrictInt | StrictStr] | None = Field(default=None, max_length=MOST_FRAMES)
    use_model: str | None = None

    def options(self, sequence: int) -> ReplayOptions:
        """The options of a trial of that step."""
        return ReplayOptions(**dict(self), step=sequence)
