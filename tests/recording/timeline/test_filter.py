import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline.pure.filter import (
    EVERYTHING,
    LAST,
    MEASURES,
    MOST_TERMS,
    SIGNS,
    STATUSES,
    Containing,
    Filter,
    Measured,
    Named,
    parse,
    with_unknown_cost,
)

values = st.text(min_size=1, max_size=8).filter(lambda value: not value.isspace())
terms = (
    st.builds(
        Named,
        field=st.sampled_from(("tool", "model", "agent", "name", "tag")),
        values=st.lists(values, min_size=1, max_size=3, unique=True).map(tuple),
        negated=st.booleans(),
    )
    | st.builds(
        Measured,
        field=st.sampled_from(sorted(MEASURES)),
        sign=st.sampled_from(SIGNS),
        number=st.integers(0, 10**6).map(float) | st.floats(1e-9, 1e9),
        negated=st.booleans(),
    )
    | st.builds(Containing, words=values.map(str.strip), negated=st.booleans())
)
steps = st.tuples(st.integers(1, 999), st.integers(1_000, 9_999) | st.just(LAST))
filters = st.builds(
    Filter,
    kinds=st.sets(st.sampled_from(KINDS)).map(lambda kinds: tuple(kind for kind in KINDS if kind in kinds)),
    status=st.none() | st.sampled_from(STATUSES),
    terms=st.lists(terms, max_size=4, unique=True).map(tuple),
    steps=st.none() | steps,
)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", EVERYTHING),
        ("   ", EVERYTHING),
        ("kind:", EVERYTHING),
        ("kind:ask", Filter(kinds=("ask",))),
        ("kind:ask,find", Filter(kinds=("find", "ask"))),
        ("kind:ask kind:find kind:ask", Filter(kinds=("find", "ask"))),
        ("status:error", Filter(status="error")),
        ("status:ok  kind:tool_call", Filter(kinds=("tool_call",), status="ok")),
        ("status:ok status:error", Filter(status="error")),
        ("-status:ok", Filter(status="error")),
        ("-kind:event,ask", Filter(kinds=tuple(kind for kind in KINDS if kind not in {"event", "ask"}))),
        ("kind:ask,find -kind:ask", Filter(kinds=("find",))),
        ("step:100-200", Filter(steps=(100, 200))),
        ("step:200..100 step:150", Filter(steps=(150, 150))),
        ("step:>100 step:<=300", Filter(steps=(101, 300))),
        ("seq:<5", Filter(steps=(1, 4))),
        ("step:>=7", Filter(steps=(7, LAST))),
        ("tool:read*,write", Filter(terms=(Named(field="tool", values=("read*", "write")),))),
        ('-tag:"two words"', Filter(terms=(Named(field="tag", values=("two words",), negated=True),))),
        ('tool:"a, b","say \\"hi\\""', Filter(terms=(Named(field="tool", values=("a, b", 'say "hi"')),))),
        ("tool: name:,", EVERYTHING),
        ("took:>2s", Filter(terms=(Measured(field="took", sign=">", number=2_000.0),))),
        ("duration:<=1.5m", Filter(terms=(Measured(field="took", sign="<=", number=90_000.0),))),
        (
            "-tokens:>=10k",
            Filter(terms=(Measured(field="tokens", sign=">=", number=10_000.0, negated=True),)),
        ),
        ("cost:unknown cost:UNKNOWN", Filter(terms=(Named(field="cost", values=("unknown",)),))),
        ("-cost:unknown", Filter(terms=(Named(field="cost", values=("unknown",), negated=True),))),
        ("cost:0.01 cost:=0.01", Filter(terms=(Measured(field="cost", sign="=", number=0.01),))),
        ("role:user", Filter(terms=(Named(field="role", values=("user",)),))),
        (
            '"null check" -noise',
            Filter(terms=(Containing(words="null check"), Containing(words="noise", negated=True))),
        ),
        ("12:30", Filter(terms=(Containing(words="12:30"),))),
        ('text:"kind:ask"', Filter(terms=(Containing(words="kind:ask"),))),
        ('""', EVERYTHING),
    ],
)
def test_a_filter_is_parsed(written: str, found: Filter) -> None:
    assert parse(written) == found


@given(filters)
def test_a_formatted_filter_parses_to_the_same_filter(one: Filter) -> None:
    assert parse(str(one)) == one


@given(filters, st.sampled_from(KINDS))
def test_toggling_a_kind_twice_changes_nothing(one: Filter, kind: str) -> None:
    assert one.toggled(kind).toggled(kind) == one
    assert (kind in one.toggled(kind).kinds) != (kind in one.kinds)


def test_choosing_the_same_status_twice_removes_it() -> None:
    assert EVERYTHING.with_status("error").status == "error"
    assert EVERYTHING.with_status("error").with_status("error") == EVERYTHING


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("knd:ask", "Did you mean kind:ask?"),
        ("kind:asc", "Did you mean kind:ask?"),
        ("kind:tool-call", "Did you mean kind:tool_call?"),
        ("status:erro", "Did you mean status:error?"),
        ("stats:{error}", "Did you mean status:error?"),
        ("statsu:eror", "Did you mean status:error?"),
        ("knds:zzz", "Did you mean kind:…?"),
        ("tokns:many", "Did you mean tokens:…?"),
        ("tol:read", 'Did you mean tool:read? To search for words, use quotation marks: "tol:read".'),
        ("role:usr", "Did you mean role:user?"),
        ("status:", "Known: error, ok."),
        ("zzzzzzzz:1", "Known: kind, status, step, tool, model,"),
        ("kind:zzzzzz", "Known: put, find, ask,"),
    ],
)
def test_an_unknown_filter_suggests_a_similar_one(written: str, advice: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(written)
    assert advice in refused.value.message
    assert refused.value.code == "unknown_filter"


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ('kind:ask "null check', "A quotation mark is not closed."),
        ("took:fast", "Write a number, with > or < before it: took:>2s."),
        ("took:>2kg", "took:>2s"),
        ("tokens:", "tokens:>1"),
        ("cost:>$3", "cost:>=0.01"),
        ("step:abc", "Write the first and the last step: step:100-200, or step:>100."),
        ("-step:1-2", "step:100-200"),
        ("step:>1-2", "step:100-200"),
        ("step:1-5 step:9", "No step is in both ranges."),
        ("step:<1", "Steps are numbered from 1."),
        ("metadata:=prod", "metadata:env=prod"),
        ("kind:ask -kind:ask", "This excludes every kind of step."),
        (" ".join(f"tag:t{n}" for n in range(MOST_TERMS + 1)), "A filter can have at most 50 terms"),
    ],
)
def test_an_invalid_term_is_refused_with_the_correct_syntax(written: str, advice: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(written)
    assert advice in refused.value.message
    assert "is not valid" in refused.value.message
    assert refused.value.code == "unknown_filter"


def test_a_filter_knows_whether_it_hides_steps_and_whether_counts_are_stored() -> None:
    assert not EVERYTHING
    within = parse("step:5-9")
    assert within
    assert (within.picks, within.is_counted) == (False, True)
    assert parse("kind:ask status:ok").is_counted
    assert parse("tool:x").picks
    assert not parse("tool:x").is_counted
    assert parse("tool:x").without(Named(field="tool", values=("x",))) == EVERYTHING
    assert parse("tool:x step:3").within(None) == parse("tool:x")


def test_a_very_long_unknown_filter_is_shortened_in_the_message() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse("x" * 5000 + ":1")
    assert len(refused.value.message) < 400


def test_the_steps_of_unknown_cost_of_a_filter_have_a_filter() -> None:
    found = with_unknown_cost(parse("kind:ask model:a step:<=4"))
    assert str(found) == "kind:ask step:1-4 model:a cost:unknown"
    assert with_unknown_cost(found) == found
