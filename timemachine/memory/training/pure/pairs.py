"""Extract training pairs from a session: its problem and solution, or the complete way there, and rejected
attempts. Pure.

A session is divided after each confirmed solution, a turn of significance `solution` or `breakthrough`. A part
without a new question or error continues the one before it. The problem of a part is the first thing the user
said or asked in it, and the first error if that is another turn; both precede the solution.

An attempt of the agent between problem and solution counts as rejected if it `failed`: it recorded an error
itself, or the next turn that is not the agent's is an error. A hypothesis is not rejected, because the solution
may confirm it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from timemachine.recording.sessions.pure.turn_text import Turn, content_of, messages_of
from timemachine.text.redaction.pure.marks import PATTERN_OF_MARKS

CONFIRMED: Final = ("solution", "breakthrough")
"""The significances by which a person or the recorder confirms a solution."""
FORMS: Final = ("chat", "dpo")
WHATS: Final = ("resolution", "chain")
REASONS: Final = {
    "no_solution": "no step is marked as a solution or breakthrough",
    "recording": "it is still recording",
    "deleted": "the solution or the problem was deleted",
    "not_the_agents": "the solution did not come from the agent",
    "no_problem": "no question or error precedes the solution",
    "nothing_left": "everything else in the session is withheld",
    "no_rejected_attempt": "the record shows no rejected attempt before the solution",
}
OF_SESSIONS: Final = frozenset({"no_solution", "recording"})
"""Reasons for leaving out a session; all others leave out a solution."""
RULES: Final = {"failed": "an attempt that recorded an error or was answered with one"}
type What = Literal["resolution", "chain"]
type Message = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A problem and its solution: messages, of which the last is the agent's, and the steps that they come from.

    In a preference, `rejected` is what the agent tried instead, `rejected_step` its step, and `rule` why it
    counts as rejected.
    """

    solution: int
    steps: tuple[int, ...]
    prompt: tuple[Message, ...]
    chosen: Message
    rejected: Message | None = None
    rejected_step: int | None = None
    rule: str | None = None

    def as_chat(self) -> dict[str, Any]:
        """Return the pair in the format of OpenAI's fine-tuning."""
        return {"messages": [*self.prompt, self.chosen]}

    def as_preference(self) -> dict[str, Any]:
        """Return the pair in a format for preference training: a prompt of messages, the chosen answer, the
        rejected one.
        """
        return {"prompt": list(self.prompt), "chosen": [self.chosen], "rejected": [self.rejected]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of a session that yields no pair, by the step of its solution, and the reason (one of `REASONS`)."""

    solution: int | None
    reason: str


def chats_of(turns: Sequence[Turn], what: What, deleted: Collection[int] = ()) -> Iterator[Pair | Skipped]:
    """Yield for each confirmed solution its pair, or why it gives no pair."""
    for stretch in _stretches(turns):
        yield _chat(stretch, what, deleted)


def preferences_of(
    turns: Sequence[Turn], what: What, deleted: Collection[int] = ()
) -> Iterator[Pair | Skipped]:
    """Yield for each confirmed solution one preference per rejected attempt, or why it gives no preference."""
    for stretch in _stretches(turns):
        found = _chat(stretch, what, deleted)
        if isinstance(found, Skipped):
            yield found
            continue
        preferences = list(_preferences(stretch, found, what, deleted))
        yield from preferences
        if not preferences:
            yield Skipped(solution=found.solution, reason="no_rejected_attempt")


def _stretches(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Yield the turns up to each confirmed solution, from the end of the previous problem."""
    stretch: Sequence[Turn] = ()
    begin = end = 0
    for place, turn in enumerate(turns, 1):
        if turn.significance not in CONFIRMED:
            continue
        if stretch and (_problem(turns[end:place]) or _question(turn) is not None):
            yield stretch
            begin = end
        stretch, end = turns[begin:place], place
    if stretch:
        yield stretch


def _chat(stretch: Sequence[Turn], what: What, deleted: Collection[int]) -> Pair | Skipped:
    solution = stretch[-1]
    problem = _problem(stretch)
    if solution.sequence in deleted or any(each.sequence in deleted for each in problem):
        return Skipped(solution=solution.sequence, reason="deleted")
    if not problem and _question(solution) is None:
        return Skipped(solution=solution.sequence, reason="no_problem")
    chosen = _agent_message(solution)
    if chosen is None:
        return Skipped(solution=solution.sequence, reason="not_the_agents")
    turns = [each for each in (stretch[:-1] if what == "chain" else problem) if each.sequence not in deleted]
    prompt = _prompt(turns, solution)
    if not prompt or not any(map(_says_something, prompt)) or not _says_something(chosen):
        return Skipped(solution=solution.sequence, reason="nothing_left")
    steps = tuple(each.sequence for each in (*turns, solution))
    return Pair(solution=solution.sequence, steps=steps, prompt=prompt, chosen=chosen)


def _preferences(
    stretch: Sequence[Turn], found: Pair, what: What, deleted: Collection[int]
) -> Iterator[Pair]:
    """Yield preferences whose prompt is what was known when the attempt was made."""
    solution, problem = stretch[-1], {each.sequence for each in _problem(stretch)}
    for place, attempt in enumerate(stretch[:-1]):
        rule = _rejected_by(attempt, stretch[place + 1 :])
        rejected = _agent_message(attempt)
        if rule is None or rejected is None or attempt.sequence in deleted or attempt.sequence in problem:
            continue
        before = [each for each in stretch[:place] if each.sequence not in deleted]
        turns = before if what == "chain" else [each for each in before if each.sequence in problem]
        prompt = _prompt(turns, solution)
        if prompt and _says_something(rejected) and rejected["content"] != found.chosen["content"]:
            yield Pair(
                solution=found.solution,
                steps=(*(each.sequence for each in turns), found.solution),
                prompt=prompt,
                chosen=found.chosen,
                rejected=rejected,
                rejected_step=attempt.sequence,
                rule=rule,
            )


def _problem(stretch: Sequence[Turn]) -> list[Turn]:
    """Return the first user message or question and the first error before the solution, in order."""
    before = stretch[:-1]
    message = next((each for each in before if _is_users(each)), None)
    wrong = next((each for each in before if _is_error(each)), None)
    found = {each.sequence: each for each in (message, wrong) if each is not None}
    return [found[sequence] for sequence in sorted(found)]


def _rejected_by(attempt: Turn, after: Sequence[Turn]) -> str | None:
    """Return why an attempt of the agent counts as rejected, or None."""
    if not _is_agents(attempt):
        return None
    if attempt.error != (None, None):
        return "failed"
    answer = next((each for each in after if not _is_agents(each)), None)
    return "failed" if answer is not None and _is_error(answer) else None


def _is_users(turn: Turn) -> bool:
    return (turn.kind == "message" and turn.role == "user") or turn.kind == "ask"


def _is_error(turn: Turn) -> bool:
    return turn.significance == "error" or turn.error != (None, None)


def _is_agents(turn: Turn) -> bool:
    """Return whether the agent said or did something beyond noting an error."""
    if turn.significance == "error":
        return False
    if turn.kind == "message":
        return turn.role in {"agent", "assistant"}
    return turn.kind in {"ask", "llm_call", "tool_call"}


def _question(turn: Turn) -> Message | None:
    """Return the question of a step that contains both question and answer."""
    found = [each for each in messages_of(turn) if each["role"] != "assistant"]
    return found[-1] if found and turn.kind in {"ask", "llm_call"} else None


def _agent_message(turn: Turn) -> Message | None:
    """Return the turn as a message of the agent, or None if it is not the agent's."""
    if turn.kind == "message" and turn.role == "agent":
        return {"role": "assistant", "content": content_of(turn)}
    last = messages_of(turn)[-1:]
    return last[0] if last and last[0]["role"] == "assistant" else None


def _prompt(turns: Sequence[Turn], solution: Turn) -> tuple[Message, ...]:
    """Return the messages before the answer, merging consecutive ones of one speaker, but never with the answer."""
    question = _question(solution)
    found: list[Message] = []
    for each in (
        *(message for turn in turns for message in messages_of(turn)),
        *([question] if question else []),
    ):
        if found and found[-1]["role"] == each["role"] and each["role"] != "system":
            found[-1] = {"role": each["role"], "content": f"{found[-1]['content']}\n\n{each['content']}"}
        else:
            found.append(each)
    return tuple(found)


def _says_something(message: Message) -> bool:
    """Return whether anything besides marks for withheld or erased text remains."""
    return any(letter.isalnum() for letter in PATTERN_OF_MARKS.sub("", message["content"]))
