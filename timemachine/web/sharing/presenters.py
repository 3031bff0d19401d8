"""How shared pages show a step: what the templates of the timeline and of a replay need, from read models."""

from dataclasses import replace

from timemachine.governance.sharing.read_models.replays import SharedReplayStep
from timemachine.governance.sharing.read_models.steps import SharedStep
from timemachine.web.replays.presenters.side_by_side import Pair, Sides, side_by_side
from timemachine.web.sessions.presenters.step_tabs import kind_facts
from timemachine.web.sessions.presenters.supporting_passages import source_of, supported_answer


def shown_step(found: SharedStep) -> dict[str, object]:
    """A recorded step by the names that the templates of the timeline know."""
    sources = [source_of(each) for each in found.passages]
    return {
        "source": found.source,
        "found": replace(found, source=None),  # the templates link to it where only members may download it
        "origin": found.origin,
        **supported_answer(found.output, found.action.grounding, sources),
        **kind_facts(found.action),
    }


def sides_of(step: SharedReplayStep, *, everything: bool, withholds: bool) -> Sides:
    """Both sides of a step.

    Where the link withholds something, only the verdict says that two answers are the same: they may differ in what is withheld.
    """
    pair = Pair(
        step=step,
        recorded=step.action,
        question=step.question,
        asked=step.asked,
        recorded_answer=step.recorded_answer,
        new_answer=step.new_answer,
        frozen=step.recorded_frames,
        found=step.found_frames,
        rests_on=step.answer_frames,
        erased=step.erased_ranks,
        attempts=step.attempts,
    )
    found = side_by_side(pair, everything=everything, beginnings=True)
    return replace(found, same=found.same and step.verdict == "identical") if withholds else found
