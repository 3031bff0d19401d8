"""What programs send to have something replayed or tried: names and types of every field."""

from typing import Literal

from pydantic import Field, StrictInt, StrictStr

from timemachine.core.pure.schemas import Strict
from timemachine.replay.runs.pure.options import ReplayOptions


class OptionsIn(Strict):
    """The options that a replay, a trial and a suite have in common; see `replay.runs.pure.options`."""

    reason: str | None = None
    system_prompt: str | None = None
    prompt_template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    top_k: int | None = None
    search_mode: str | None = None
    adaptive: bool | None = None
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None
    embedding_model: str | None = None
    as_of: Literal["now", "recorded"] | None = None


class ReplayIn(OptionsIn):
    """What to replay and how; see `replay.runs.pure.options`. A name in `from_checkpoint` is a checkpoint's name or sequence."""

    audit: bool = False
    use_models: list[str] = Field(default_factory=list)
    skip_asks: bool = False
    skip_finds: bool = False
    from_checkpoint: int | str | None = None
    through_sequence: int | None = Field(default=None, ge=1, lt=2**62)
    spend_limit_usd: float | None = None

    def options(self, *, model: str | None, after_sequence: int | None) -> ReplayOptions:
        """As a replay takes them."""
        apart = {"use_models", "from_checkpoint"}
        given = {name: getattr(self, name) for name in type(self).model_fields if name not in apart}
        return ReplayOptions(**given, use_model=model, after_sequence=after_sequence)


class TrialIn(OptionsIn):
    """What to change of one step and try again; what is not given stays as it was recorded."""

    question: str | None = None
    frames: list[StrictInt | StrictStr] | None = Field(default=None, max_length=1_000)
    use_model: str | None = None

    def options(self, sequence: int) -> ReplayOptions:
        """As a trial of that step takes them."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "frames"}
        return ReplayOptions(
            **given, step=sequence, frames=None if self.frames is None else tuple(self.frames)
        )
