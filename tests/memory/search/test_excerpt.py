"""The excerpt shown with a search hit, and its marks."""

from timemachine.memory.search.pure.excerpt import SIZE, Source, marks, passage, words_in

LONG = "nothing here. " * 100


def marked(text: str, matching: set[str], literals: set[str]) -> list[str]:
    return [text[start:end] for start, end in marks(text, matching, literals)]


def test_the_excerpt_is_where_most_of_the_words_are() -> None:
    text = f"{LONG}a gateway. {LONG}the gateway timed out. {LONG}"
    found = passage([Source(part="output", text=text)], {"gateway", "time"})
    assert found is not None
    assert "gateway timed out" in found.text
    assert len(found.text) <= SIZE
    assert (found.begins, found.ends) == (False, False)


def test_the_part_with_more_matches_is_shown() -> None:
    sources = [
        Source(part="error", text=" "),
        Source(part="output", text="the gateway"),
        Source(part="input", text="gateway timed out"),
    ]
    found = passage(sources, {"gateway", "time"})
    assert found is not None
    assert (found.part, found.begins, found.ends) == ("input", True, True)


def test_without_matching_words_the_beginning_is_shown_and_an_empty_text_gives_nothing() -> None:
    found = passage([Source(part="output", text=LONG)], {"gateway"})
    assert found is not None
    assert found.text == LONG[:SIZE]
    assert passage([Source(part="output", text=LONG)], set()) == found
    assert passage([Source(part="error", text="")], {"gateway"}) is None


def test_without_matching_words_base64_is_left_out() -> None:
    secret = "gAAAAABo1bBE5tcT-fm2_vHao14mR6" * 20
    found = passage([Source(part="output", text=f"Checking **usage** {secret}== done")], set())
    assert found is not None
    assert (found.text, found.begins, found.ends) == ("Checking **usage** … done", True, True)
    assert passage([Source(part="output", text=secret)], {"gateway"}) is None
    path = "/a/very/long/path" * 10
    assert passage([Source(part="output", text=path)], set()) is not None


def test_a_word_without_a_space_before_it_is_still_shown() -> None:
    found = passage([Source(part="output", text="x" * 500 + ".gateway")], {"gateway"})
    assert found is not None
    assert found.text.endswith(".gateway")


def test_words_and_literals_are_marked_and_adjacent_marks_are_merged() -> None:
    assert words_in("Err_CONN err") == ["err", "conn"]
    assert marked("The gateways timed out", {"gateways", "timed"}, set()) == ["gateways", "timed"]
    assert marked("ERR_CONN_RESET", {"err", "conn", "reset"}, set()) == ["ERR_CONN_RESET"]
    assert marked("see Parser.js:42, not parser.js:421", set(), {"parser.js:42"}) == ["Parser.js:42"]
    assert marked("parser.js:42", {"parser"}, {"parser.js:42"}) == ["parser.js:42"]
    assert marked("", {"x"}, {"x"}) == []
