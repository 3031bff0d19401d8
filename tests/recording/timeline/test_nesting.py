from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline.pure.nesting import REACH, Place, Row, flat, nest


def step(sequence: int, kind: str = "event", client_id: str | None = None) -> Row:
    return Row(sequence=sequence, kind=kind, client_id=client_id)


def under(sequence: int, parent: int | str, kind: str = "event", client_id: str | None = None) -> Row:
    if isinstance(parent, str):
        return Row(sequence=sequence, kind=kind, client_id=client_id, parent_id_given=parent)
    return Row(sequence=sequence, kind=kind, client_id=client_id, parent_sequence=parent)


def seen(places: list[Place]) -> list[tuple[int, int]]:
    return [(place.step.sequence, place.depth) for place in places if not place.hidden]


def test_the_find_inside_an_ask_is_folded() -> None:
    steps = [step(1, kind="ask", client_id="a"), under(2, "a", "find"), step(3)]
    places = nest(steps)
    assert seen(places) == [(1, 0), (3, 0)]
    assert (places[0].folds, places[0].inside, places[0].unfolded) == (True, 1, False)


def test_an_unfolded_ask_shows_its_children() -> None:
    steps = [step(1, kind="ask"), under(2, 1, "find")]
    assert seen(nest(steps, {1})) == [(1, 0), (2, 1)]


def test_the_selected_step_is_never_hidden_by_a_fold() -> None:
    steps = [step(1, kind="ask"), under(2, 1, "find"), under(3, 2), step(4)]
    places = nest(steps, selected=3)
    assert seen(places) == [(1, 0), (2, 1), (3, 2), (4, 0)]
    assert places[0].unfolded


def test_the_children_of_a_model_call_are_shown_under_it() -> None:
    steps = [
        step(1, kind="llm_call", client_id="l"),
        under(2, "l", "tool_call", "t"),
        under(3, "t", "tool_result"),
    ]
    places = nest(steps)
    assert seen(places) == [(1, 0), (2, 1), (3, 2)]
    assert not any(place.folds for place in places)


def test_results_have_the_same_depth_as_their_calls() -> None:
    steps = [
        step(1, kind="llm_call"),
        under(2, 1, "tool_call"),
        under(3, 1, "tool_call"),
        under(4, 2, "tool_result"),
        under(5, 3, "tool_result"),
    ]
    assert seen(nest(steps)) == [(1, 0), (2, 1), (3, 1), (4, 1), (5, 1)]


def test_a_child_separated_from_its_parent_is_not_indented() -> None:
    steps = [step(1, kind="ask"), step(2), under(3, 1, "find")]
    assert seen(nest(steps)) == [(1, 0), (2, 0), (3, 0)]


def test_a_child_directly_before_its_parent_is_indented() -> None:
    steps = [under(1, "late"), step(2, client_id="late")]
    places = nest(steps)
    assert seen(places) == [(1, 1), (2, 0)]
    assert [(place.above, place.below, place.inside) for place in places] == [((), (2,), 0), ((), (), 0)]


def test_blocks_recorded_at_their_end_come_after_everything_inside_them() -> None:
    steps = [
        step(1),
        under(2, "inner", "tool_call", "t"),
        under(3, "t", "tool_result"),
        under(4, "inner", "message"),
        under(5, "outer", "llm_call", "inner"),
        under(6, "outer", "message"),
        step(7, kind="tool_call", client_id="outer"),
        under(8, "outer", "message"),
        step(9),
    ]
    places = nest(steps)
    assert [(place.step.sequence, place.above, place.below) for place in places] == [
        (1, (), ()), (2, (), (7, 5)), (3, (2,), (7, 5)), (4, (), (7, 5)), (5, (), (7,)), (6, (), (7,)), (7, (), ()), (8, (7,), ()), (9, (), ()),
    ]  # fmt: skip


def test_a_child_separated_from_its_later_parent_is_not_indented() -> None:
    steps = [under(1, "late"), step(2), step(3, client_id="late")]
    assert seen(nest(steps)) == [(1, 0), (2, 0), (3, 0)]
    far = [*(under(n, "late") for n in range(1, REACH + 3)), step(REACH + 3, client_id="late")]
    assert [place.depth for place in nest(far)] == [0, 0, *[1] * REACH, 0]


def test_a_fold_does_not_hide_steps_before_it() -> None:
    steps = [under(1, "a", "find"), step(2, kind="ask", client_id="a")]
    assert seen(nest(steps)) == [(1, 0), (2, 0)]


def test_a_step_that_is_its_own_parent_is_not_indented() -> None:
    assert seen(nest([under(1, 1), under(2, "b", client_id="b")])) == [(1, 0), (2, 0)]


def test_steps_beyond_the_reach_of_a_parent_are_not_nested() -> None:
    steps = [step(1, kind="ask"), *(under(n, 1) for n in range(2, REACH + 4))]
    depths = {place.step.sequence: place.depth for place in nest(steps, {1})}
    assert depths[REACH + 1] == 1
    assert depths[REACH + 2] == 0


def test_a_flat_list_hides_and_nests_nothing() -> None:
    steps = [step(1, kind="ask"), under(2, 1, "find")]
    assert seen(flat(steps)) == [(1, 0), (2, 0)]


@st.composite
def sessions(draw: st.DrawFn) -> list[Row]:
    count = draw(st.integers(0, 30))
    return [
        Row(
            sequence=n,
            kind=draw(st.sampled_from(KINDS)),
            client_id=draw(st.none() | st.just(f"id{n}")),
            parent_sequence=draw(st.none() | st.integers(0, 32)),
            parent_id_given=draw(st.none() | st.integers(0, 32).map(lambda m: f"id{m}")),
        )
        for n in range(1, count + 1)
    ]


@settings(max_examples=25)
@given(sessions())
def test_steps_are_always_in_sequence_order_and_complete(steps: list[Row]) -> None:
    assert [place.step for place in nest(steps)] == steps


@settings(max_examples=25)
@given(sessions(), st.sets(st.integers(1, 30)))
def test_the_children_of_a_step_directly_follow_it(steps: list[Row], unfolded: set[int]) -> None:
    places = nest(steps, unfolded)
    for index, place in enumerate(places):
        following = places[index + 1 : index + 1 + place.inside]
        assert all(place.step.sequence in each.above for each in following)
        assert sum(place.step.sequence in each.above for each in places) == place.inside


@settings(max_examples=25)
@given(sessions())
def test_every_step_between_a_child_and_its_later_parent_is_inside_the_parent(steps: list[Row]) -> None:
    places = nest(steps)
    for place in places:
        for outer in place.below:
            between = places[place.step.sequence - 1 : outer - 1]
            assert outer > place.step.sequence
            assert all(outer in each.below for each in between)


@settings(max_examples=25)
@given(sessions(), st.integers(1, 30))
def test_exactly_the_steps_inside_a_closed_fold_are_hidden(steps: list[Row], selected: int) -> None:
    places = nest(steps, selected=selected)
    closed = {place.step.sequence for place in places if place.folds and not place.unfolded}
    for place in places:
        assert place.hidden == bool(closed & set(place.above))
        assert not (place.hidden and place.step.sequence == selected)
