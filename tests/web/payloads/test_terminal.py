import pytest

from timemachine.web.payloads.pure.terminal import is_terminal, plain, runs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb\x1b[0mc", [("a", ()), ("b", ("fg-red",)), ("c", ())]),
        (
            "\x1b[1;92;44mx\x1b[22;49my\x1b[39mz",
            [("x", ("bold", "fg-green", "bg-blue")), ("y", ("fg-green",)), ("z", ())],
        ),
        ("\x1b[38;5;196mx", [("x", ("fg-red",))]),
        ("\x1b[38;5;9mx", [("x", ("fg-red",))]),
        ("\x1b[48;5;255mx", [("x", ("bg-white",))]),
        ("\x1b[38;2;20;20;250mx", [("x", ("fg-blue",))]),
        ("\x1b[38:2:9:9:9mx", [("x", ("fg-black",))]),
        ("\x1b[38;5mx", [("x", ())]),
        ("\x1b[38mx", [("x", ())]),
        ("\x1b[8mstill here", [("still here", ())]),
        ("\x1b[31ma\x1b[31mb", [("ab", ("fg-red",))]),
        ("10%\r100%\r\n\x1b[2K\x1b]0;title\x07done\x1b[0m", [("10%\n100%\ndone", ())]),
    ],
)
def test_escape_sequences_become_names_of_styles_and_hide_nothing(
    text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert is_terminal(text)
    assert runs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[32m212 passed\x1b[0m in 9.7 s", "212 passed in 9.7 s"),
        ("\x1b[32m212 pas\x1b[0", "212 pas"),
        ("\x1b[32m212 pas\x1b[…", "212 pas…"),
        ("no colours\r", "no colours\r"),
    ],
)
def test_a_line_is_named_without_its_colours_even_if_it_was_cut(text: str, expected: str) -> None:
    assert plain(text) == expected
