"""Which variant to use, in words that claim no more than the answers show."""

from collections.abc import Mapping, Sequence

import pytest

from timemachine.core.pure.ids import uuid7
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.pure.recommendation import recommendation

NAMES = ["small", "large", "other"]


def compared(asks: int, arms: Sequence[Mapping[str, object]]) -> Findings:
    """A comparison in which every variant answers every ask alike; the values of a tuple take turns."""
    session = uuid7()

    def cell(arm: int, values: Mapping[str, object], nth: int) -> Cell:
        chosen = {
            name: each[nth % len(each)] if isinstance(each, tuple) else each for name, each in values.items()
        }
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
        (
            2,
            [arm(), arm("changed")],
            "2 asks are too few to say which variant to use: that takes at least 6, and more if the answers vary.",
        ),
        (
            1,
            [arm(cost=0.02), arm()],
            "1 ask is too few to say which variant to use: that takes at least 6, and more if the answers vary. large cost least here: $0.01.",
        ),
        (
            1,
            [arm()],
            "1 ask is too few to say whether small is better: that takes at least 6, and more if the answers vary.",
        ),
        (
            12,
            [arm("changed"), arm()],
            "Use large: it agrees with the recording more often. The difference is more than chance. The recording may itself be wrong.",
        ),
        (
            12,
            [arm("changed", 0.01), arm("identical", 0.02)],
            "No variant is ahead in everything: small is cheaper, large agrees with the recording more often. "
            "Which one to use depends on what matters more. The recording may itself be wrong.",
        ),
        (
            12,
            [arm(), arm(), arm("changed")],
            "Nothing here tells small and large apart; other is behind: another one agrees with the recording more often, "
            "by more than chance. "
            "The recording may itself be wrong.",
        ),
        (
            6,
            [arm(cost=0.02), arm(("identical", "changed"))],
            "small agrees with the recording most often, but 6 asks are too few to show that this is more than chance. "
            "About 230 more asks like these would be needed to show a difference of 0.10 in agreement. "
            "The recording may itself be wrong.",
        ),
        (12, [arm(), arm()], "These 12 asks show no difference between the variants."),
        (
            12,
            [arm(cost=0.01), arm(cost=0.02)],
            "Use small: it is cheaper. The difference is more than chance.",
        ),
        (
            12,
            [arm("changed", 0.01, (0.5, 0.52)), arm("changed", 0.02, 0.5)],
            "small is cheaper, by more than chance, but nothing shows that its answers are as good as those of large. "
            "Read the answers that differ before you choose.",
        ),
        (
            14,
            [arm("changed", 0.01, (0.5, 0.49)), arm("changed", 0.02, 0.5), arm("changed", 0.02, 0.5)],
            "small is cheaper, but another one is better grounded. Both are more than chance. "
            "Which one to use depends on what matters more.",
        ),
        (
            8,
            [arm("changed", 0.01, (0.5, 0.4)), arm("changed", 0.02, 0.5), arm("changed", 0.02, 0.5)],
            "small is cheaper, by more than chance, but nothing shows that its answers are as good as those of large and other. "
            "In 4 of 8 asks, other is better grounded. Read the answers that differ before you choose.",
        ),
        (
            14,
            [
                arm("changed", 0.01, 0.9),
                arm("changed", 0.01, (*[0.9] * 11, *[0.4] * 3)),
                arm("changed", 0.01, 0.1),
            ],
            "Nothing here tells small and large apart; other is behind: another one is better grounded, by more than chance. "
            "But in 3 of 14 asks, small is better grounded than large. Read the answers that differ before you choose. "
            "About 22 more asks like these would be needed to show a difference of 0.10 in grounding.",
        ),
        (
            12,
            [arm("changed", 0.01), arm("changed", 0.0102)],
            "These 12 asks show no difference between the variants. small cost least here: $0.12.",
        ),
        (
            12,
            [arm("changed", 0.01, 0.9), arm("changed", 0.02, (0.9, 0.92)), arm("changed", 0.03, 0.1)],
            "small is cheaper, by more than chance, but nothing shows that its answers are as good as those of large. In 6 of 12 asks, "
            "large is better grounded. Read the answers that differ before you choose. other is behind: another one is better "
            "grounded and is cheaper.",
        ),
        (
            12,
            [arm(grounding=0.9)],
            "Use small: it is better grounded than the recording. The difference is more than chance.",
        ),
        (
            12,
            [arm("changed", 0.005)],
            "small is cheaper than the recording, by more than chance, but nothing shows that its answers are as good as those of "
            "the recording. Read the answers that differ before you choose.",
        ),
        (
            8,
            [arm("changed", 0.005, (0.4, 0.5))],
            "small is cheaper than the recording, by more than chance, but nothing shows that its answers are as good as those of "
            "the recording. In 4 of 8 asks, the recording is better grounded. Read the answers that differ before you choose.",
        ),
        (
            12,
            [arm("identical", 0.005)],
            "Use small: it is cheaper than the recording. The difference is more than chance.",
        ),
        (
            12,
            [arm("changed", 0.05)],
            "The recording is cheaper than small, by more than chance, but nothing shows that its answers are as good as those of "
            "small. Read the answers that differ before you choose.",
        ),
        (
            12,
            [arm("identical", 0.05)],
            "Keep what was recorded: it is cheaper than small. The difference is more than chance.",
        ),
        (
            12,
            [arm(grounding=0.1)],
            "Keep what was recorded: it is better grounded than small. The difference is more than chance.",
        ),
        (
            12,
            [arm()],
            "These 12 asks show no difference between small and the recording in grounding and cost.",
        ),
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
        (
            12,
            [arm(), {"verdict": "identical", "cost_usd": None}, {"missing": "error", "status": "failed"}],
            "These 12 asks show no difference between the variants.",
        ),
        (
            8,
            [arm(grounding=(*[0.5] * 5, *[0.9] * 2, 0.3)), arm(grounding=0.5)],
            "These 8 asks show no difference between the variants. But in 2 of 8 asks, small is better grounded than large, and in 1 worse. "
            "Read the answers that differ before you choose. "
            "About 28 more asks like these would be needed to show a difference of 0.10 in grounding.",
        ),
        (
            8,
            [arm(grounding=(0.5, 0.52)), arm(grounding=0.5)],
            "These 8 asks show no difference between the variants.",
        ),
        (
            8,
            [arm(grounding=(0.5, 0.7)), arm(grounding=(0.6, 0.5))],
            "These 8 asks show no difference between the variants. About 13 more asks like these would be needed to show a "
            "difference of 0.10 in grounding.",
        ),
        (
            12,
            [arm(cost=0.01), arm(cost=0.02), arm("changed", 0.01)],
            "Use small: by more than chance, another one is cheaper than large and another one agrees with the recording "
            "more often than other. The recording may itself be wrong.",
        ),
        (
            10,
            [arm(), arm() | {"missing": (None, "cancelled"), "verdict": ("identical", None)}],
            "10 asks are too few to say which variant to use: fewer than 6 of them have answers on both sides.",
        ),
        (
            14,
            [
                arm("changed", 0.02),
                arm("changed", 0.01),
                arm("changed") | {"cost_usd": None, "grounding": 0.1},
            ],
            "Only large is behind no other variant: by more than chance, another one is cheaper than small and another one is "
            "better grounded than other, but nothing shows that its answers are as good as those of small. "
            "Read the answers that differ before you choose.",
        ),
        (12, [{"missing": "error", "status": "failed"}], ""),
    ],
)
def test_a_variant_is_recommended_only_for_what_is_more_than_chance(
    asks: int, arms: Sequence[Mapping[str, object]], sentence: str
) -> None:
    assert recommendation(compared(asks, arms), NAMES) == sentence


def test_being_close_to_a_recording_that_is_known_to_be_bad_recommends_nobody() -> None:
    closer = compared(12, [arm("changed", 0.01), arm("identical", 0.02)])
    assert recommendation(closer, NAMES, 1) == (
        "small is cheaper, by more than chance, but nothing shows that its answers are as good as those of large. "
        "Read the answers that differ before you choose. Agreement with the recording does not count here: "
        "1 of 12 recorded answers is marked as an error or rated worse than a new one."
    )
    alone = compared(12, [arm("changed"), arm("identical")])
    assert recommendation(alone, NAMES, 2).startswith(
        "These 12 asks show no other difference between the variants. Agreement with the recording does not count here: 2 of 12"
    )
    assert recommendation(compared(12, [{"missing": "error", "status": "failed"}]), NAMES, 1) == ""


def test_a_variant_that_failed_some_asks_does_not_answer_everything_as_recorded() -> None:
    failing = arm(cost=0.005) | {"missing": (*[None] * 5, "error"), "status": (*["done"] * 5, "failed")}
    assert recommendation(compared(12, [failing]), NAMES).startswith(
        "small is cheaper than the recording, by more than chance, but nothing shows"
    )


def test_variants_that_answer_exactly_as_a_doubted_recording_are_as_good_as_each_other() -> None:
    found = compared(12, [arm(cost=0.005), arm(cost=0.02)])
    assert recommendation(found, NAMES, doubted=2).startswith("Use small: it is cheaper.")
