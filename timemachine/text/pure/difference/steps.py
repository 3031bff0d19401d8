"""The facts of a step that are compared: what was done, with what input and result."""

from dataclasses import dataclass
from typing import Final, Literal

Field = Literal["name", "input", "output", "error", "model", "frames"]
FIELDS: Final[tuple[Field, ...]] = ("name", "input", "output", "error", "model", "frames")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """The compared facts of a step. Times, tokens, money and parameters are not among them: they differ in every run.

    `input` and `output` are hashes, None if not recorded. `frames` are the hashes of the passages by rank, None if a
    replay failed before it found any. `words` is the beginning of the step's texts, for finding similar steps, never
    for equality. `answered` is False if a replay did not ask, so that there is no output to compare.
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
        """The kind of step. Two steps of different kinds are never one modified step."""
        return (self.kind, self.tool or "", self.role or "")

    @property
    def doing(self) -> tuple[str, ...]:
        """What was done: kind, name and input; everything that is compared if no input was recorded."""
        return self.fingerprint if self.input is None else (*self.sort, self.name or "", self.input)

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """Everything that is compared. Steps with the same fingerprint are the same."""
        known = self.output or "" if self.answered else "not asked"
        done = (*self.sort, self.name or "", self.input or "")
        frames = ("not found",) if self.frames is None else self.frames
        return (*done, known, self.error or "", self.model or "", *frames)

    def drop_words(self) -> None:
        """Free the memory of the words, which only the alignment needs. Copying thousands of steps would take longer."""
        object.__setattr__(self, "words", "")


def differing(left: StepFacts, right: StepFacts) -> tuple[Field, ...]:
    """Return the fields in which two steps differ, in a fixed order.

    If one was not asked, output, error and model are not compared. If one failed before it found frames, frames are
    not.
    """
    unknown = () if left.answered and right.answered else ("output", "error", "model")
    if left.frames is None or right.frames is None:
        unknown = (*unknown, "frames")
    return tuple(
        field for field in FIELDS if field not in unknown and getattr(left, field) != getattr(right, field)
    )
