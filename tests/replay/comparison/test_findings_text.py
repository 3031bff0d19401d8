"""Findings are stored as figures and read back unchanged."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import findings, read, written

SESSIONS = [UUID(int=1), UUID(int=2)]
VERDICTS = ("identical", "numbers_differ", "refused", "error", None)
FIGURES = st.none() | st.floats(0, 1)


@st.composite
def cells(draw: st.DrawFn, arm: int, repeat: int) -> Cell:
    verdict = draw(st.sampled_from(VERDICTS))
    return Cell(
        arm=arm,
        repeat=repeat,
        step=draw(st.none() | st.integers(1, 9)),
        replay=draw(st.none() | st.sampled_from(SESSIONS)),
        verdict=verdict,
        missing="error" if verdict == "error" else None,
        refused=verdict == "refused",
        grounding=draw(FIGURES),
        cost_usd=draw(FIGURES),
        latency_ms=draw(FIGURES),
        tokens=draw(st.none() | st.integers(0, 900)),
        cached=draw(st.booleans()),
        spent_usd=draw(FIGURES),
        unknown_calls=draw(st.integers(0, 3)),
    )


@st.composite
def asks(draw: st.DrawFn) -> list[Ask]:
    return [
        Ask(
            session=draw(st.sampled_from(SESSIONS)),
            session_name="",
            sequence=number,
            action=number,
            label="",
            recorded=draw(cells(0, 1)),
            runs={(arm, repeat): draw(cells(arm, repeat)) for arm in (1, 2) for repeat in (0, 1)},
        )
        for number in range(draw(st.integers(0, 8)))
    ]


@settings(max_examples=10)
@given(asks())
def test_stored_findings_are_read_back_unchanged(of: list[Ask]) -> None:
    found = findings(of, 2, noise_floor=True)
    assert read(written(found)) == found


def test_no_text_of_a_session_is_stored() -> None:
    failed = Cell(arm=1, verdict="error", missing="error", error="secret error")
    ask = Ask(
        session=SESSIONS[0],
        session_name="secret name",
        sequence=1,
        action=1,
        label="secret question",
        recorded=Cell(arm=0),
        runs={(1, 1): failed},
    )
    text = written(findings([ask], 1, noise_floor=False))
    assert "secret" not in text
    assert read(text).asks[0].runs == {(1, 1): replace(failed, error=None)}
