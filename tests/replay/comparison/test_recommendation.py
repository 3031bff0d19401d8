"""Which variant to use, in words that claim no more than the answers show."""

from collections.abc import Mapping, Sequence

import pytest

from timemachine.core.pure.ids import uuid7
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.pure.recommendation import recommendation

NAMES = ["small", "large", "other"]


def compared(asks: int, arms: Sequence[Mapping[str, object]]) -> Findings:
    """A comparison in which every variant answers every ask alike; a value with a pair alternates."""
    session = uuid7()

    def cell(arm: int, values: Mapping[str, object], nth: int) -> Cell:
        chosen = {name: each[nth % 2] if isinstance(each, tuple) else each for name, each in values.items()}
        return Cell(arm=arm, step=nth * 10 + arm, **{"spent_usd": chosen.get("cost_usd"), **chosen})  # type: ignore[arg-type]

    return findings(
        [
            Ask(
                session=session,
                session_name="s",
                sequence=nth,
                action=nth,
                label="q",
                recorded=Cell(arm=0, grounding=0.5, cost_usd=0.01),
                runs={(arm, 1): cell(arm, values, nth) for arm, values in enumerate(arms, 1)},
            )
            for nth in range(1, asks + 1)
        ],
        len(arms),
        noise_floor=False,
    )


def arm(verdict: object = "identical", cost: float = 0.01, grounding: object = 0.5) -> dict[str, object]:
    return {"verdict": verdict, "cost_usd": cost, "grounding": grounding}


@pytest.mark.parametrize(
    ("asks", "arms", "sentence"),
    [
        (2, [arm(), arm("changed")], "2 asks are too few to say which variant to use."),
        (
            1,
            [arm(cost=0.02), arm()],
            "1 ask is too few to say which variant to use. large cost least here: $0.01.",
        ),
        (1, [arm()], "1 ask is too few to say whether small is better."),
        (
            12,
            [arm("changed"), arm()],
            "Use large: it agrees with the recording more often. The difference is more than chance.",
        ),
        (
            12,
            [arm("changed", 0.01), arm("identical", 0.02)],
            "No variant is ahead in everything: small is cheaper, large agrees with the recording more often. "
            "Which one to use depends on what matters more.",
        ),
        (
            12,
            [arm(), arm(), arm("changed")],
            "Use small or large: not other, another one agrees with the recording more often by more than chance.",
        ),
        (
            6,
            [arm(cost=0.02), arm(("identical", "changed"))],
            "small agrees with the recording most often, but 6 asks are too few to show that this is more than chance.",
        ),
        (12, [arm(), arm()], "These 12 asks show no difference between the variants."),
        (
            12,
            [arm(grounding=0.9)],
            "Use small: it is better grounded than the recording. The difference is more than chance.",
        ),
        (
            12,
            [arm(grounding=0.1)],
            "Keep what was recorded: it is better grounded than small. The difference is more than chance.",
        ),
        (12, [arm()], "These 12 asks show no difference between small and the recording."),
        (
            12,
            [arm(grounding=0.9, cost=0.05)],
            "small is better grounded than the recording, which is cheaper. Both are more than chance.",
        ),
        (
            12,
            [
                arm("changed", 0.01, 0.9),
                arm("identical", 0.01, 0.5),
                arm("identical", 0.02, 0.9),
            ],
            "No variant is ahead in everything, and each is behind another variant in something. "
            "Which one to use depends on what matters more.",
        ),
        (12, [{"missing": "error", "status": "failed"}], ""),
    ],
)
def test_a_variant_is_recommended_only_for_what_is_more_than_chance(
    asks: int, arms: Sequence[Mapping[str, object]], sentence: str
) -> None:
    assert recommendation(compared(asks, arms), NAMES) == sentence
