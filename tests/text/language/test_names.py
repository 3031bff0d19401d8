import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.names import Name, Vocabulary, missing_names
from timemachine.text.pure.language.statement import Statement


def names(text: str) -> tuple[Name, ...]:
    return Statement(text).names


def certain(text: str) -> list[str]:
    return [name.text for name in names(text) if name.certain]


def uncertain(text: str) -> list[str]:
    return [name.text for name in names(text) if not name.certain]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("John Smith met J. R. Doe.", ["John Smith", "J. R. Doe"]),
        ("the Bank of America in the U.S.", ["Bank of America", "U.S."]),
        ("Then Acme Corp's CEO and NATO left.", ["Acme Corp", "CEO", "NATO"]),
        ("He met Simon & Garfunkel.", ["Simon & Garfunkel"]),
        ("OpenAI's model", ["OpenAI"]),
        ("in the House of", ["House"]),
        ("He lives in The Hague", ["Hague"]),
        ("bought by Acme Monday morning", ["Acme"]),
        ("Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("Plan B failed, plan C too", ["Plan B"]),
        ("He was NOT there on Monday in May", []),
        ("The deal closed. However, it failed.", []),
        ("## Key Findings Today\n**Short Summary**\nNext Steps:\nWARNING: DISK FULL", []),
        ("Élysée in Tokyo", ["Tokyo"]),
    ],
)
def test_names_are_recognised_by_their_capitals(text: str, expected: list[str]) -> None:
    assert certain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See parser.js:42, src/app.py and ./run.sh.", ["parser.js:42", "src/app.py", "./run.sh"]),
        ("user_id, parseJson(), foo.bar()", ["user_id", "parseJson()", "foo.bar()"]),
        ("`git push` to https://a.b/c?d=1.", ["git push", "https://a.b/c?d=1"]),
        ("gpt-4, v1.2.3, sha256 at 3f2a9bc4", ["gpt-4", "v1.2.3", "sha256", "3f2a9bc4"]),
        ("bob@example.com got ERR_CONN_RESET", ["bob@example.com", "ERR_CONN_RESET"]),
        ("std::vector or C:\\temp\\x", ["std::vector", "C:\\temp\\x"]),
        ("and/or he/she, e.g. 24/7, end.Then `` ` x", []),
        ("Cover the ham.6 for approx.25 minutes", []),
        ("x" * 2_000 + "_y", []),
    ],
)
def test_identifiers_are_names(text: str, expected: list[str]) -> None:
    assert [name.text for name in names(text) if name.kind == "identifier"] == expected


def test_one_capital_at_the_start_of_a_sentence_is_uncertain() -> None:
    assert uncertain('Revenue grew. He said: "Profits fell". A test.') == ["Revenue", "Profits"]


def test_one_capital_at_the_start_of_an_element_or_item_is_uncertain() -> None:
    options = "<options>\n<option>Help me fix a bug</option>\n<option>Refactor some code</option>\n</options>"
    assert (certain(options), uncertain(options)) == ([], ["Help", "Refactor"])
    assert certain("First fix it • Review the code • Add tests, or ask 'Refactor some code'.") == []
    assert certain("<city>Rome</city> is where <b>Ann Lee</b> and 'Bob' met.") == ["Rome", "Ann Lee", "Bob"]


def test_a_name_inside_an_identifier_is_not_reported_twice() -> None:
    assert [name.text for name in names("see src/Acme.Corp/main.py by Bob and `Ann Lee`")] == [
        "src/Acme.Corp/main.py",
        "Bob",
        "Ann Lee",
    ]


@settings(deadline=None)
@given(st.text(alphabet="AbC. _`/:'’\"()#*\n&of1", max_size=50))
def test_names_in_any_text_have_correct_offsets(text: str) -> None:
    found = names(text)
    assert [text[name.start : name.end] for name in found] == [name.text for name in found]
    assert [name.start for name in found] == sorted(name.start for name in found)


@pytest.mark.parametrize(
    ("stated", "elsewhere", "expected"),
    [
        ("He met John Smith", "smith, john", []),
        ("He met John Smith", "John Doe", ["John Smith"]),
        ("in parser.js:42", "in `parser.js:42`", []),
        ("in parser.js:42", "in parser.js line 42", ["parser.js:42"]),
        ("uses OpenAI and OpenAI's", "nothing", ["OpenAI"]),
    ],
)
def test_a_name_is_missing_if_one_of_its_words_occurs_nowhere(
    stated: str, elsewhere: str, expected: list[str]
) -> None:
    assert [name.text for name in missing_names(names(stated), Vocabulary([elsewhere]))] == expected
