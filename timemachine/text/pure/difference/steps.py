"""One step of a run as it is compared: what was done, over what, and what came of it. Pure."""

from dataclasses import dataclass
from typing import Final, Literal

Field = Literal["name", "input", "output", "error", "model", "frames"]
FIELDS: Final[tuple[Field, ...]] = ("name", "input", "output", "error", "model", "frames")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """What of a step is compared. Times, tokens, money and parameters are not: they differ from run to run.

    `input` and `output` stand for the whole value (a hash), None where none was recorded; `frames` are the hashes of the passages
    by rank, None where a replay failed before it had found any. `words` is how the step's texts begin: by it alike steps are found, never sameness. `answered` is False where a
    replay did not ask, so that there is no output to compare.
    """

    sequence: int
    kind: str
    tool: str | None = None
    role: str | None = None
    name: str | None = None
    input: str | None = None
    output: str | None = None
    error: str | None = None
    model: str | None = None
    frames: tuple[str, ...] | None = ()
    words: str = ""
    answered: bool = True

    @property
    def sort(self) -> tuple[str, str, str]:
        """What kind of step it is; two steps of different sorts are never one step modified."""
        return (self.kind, self.tool or "", self.role or "")

    @property
    def doing(self) -> tuple[str, ...]:
        """What was done: the sort of step, its name and its input; all that is compared where no input was recorded."""
        return self.fingerprint if self.input is None else (*self.sort, self.name or "", self.input)

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """All that is compared: two steps that share it are the same."""
        known = self.output or "" if self.answered else "not asked"
        done = (*self.sort, self.name or "", self.input or "")
        frames = ("not found",) if self.frames is None else self.frames
        return (*done, known, self.error or "", self.model or "", *frames)


def differing(left: StepFacts, right: StepFacts) -> tuple[Field, ...]:
    """In what two steps differ, in a fixed order; nothing for the same step.

    Where one of them was not asked, what an asking would have brought (output, error, model) is not compared; nor are frames
    where one of them failed before it had any.
    """
    unknown = () if left.answered and right.answered else ("output", "error", "model")
    if left.frames is None or right.frames is None:
        unknown = (*unknown, "frames")
    return tuple(
        field for field in FIELDS if field not in unknown and getattr(left, field) != getattr(right, field)
    )
