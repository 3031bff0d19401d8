"""The list filters of the API are those of the command and of the pages."""

import click
import pytest
from ninja import Schema

from timemachine.cli.main import cli
from timemachine.memory.search.schemas import SearchIn
from timemachine.recording.sessions.schemas import SessionFilter
from timemachine.web.insights.views.search import PARAMETERS
from timemachine.web.sessions.views.sessions import FILTERS

PAGING = {"limit", "after"}


def options_of(*names: str) -> set[str]:
    command: click.Command = cli
    for name in names:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    found = {str(each.name) for each in command.params if isinstance(each, click.Option)} - {
        "as_json",
        "help",
    }
    return {"q" if name == "query" else name for name in found} - PAGING


@pytest.mark.parametrize(
    ("schema", "words", "page"),
    [(SessionFilter, ("session", "list"), FILTERS), (SearchIn, ("search",), PARAMETERS)],
)
def test_api_command_and_page_have_the_same_filters(
    schema: type[Schema], words: tuple[str, ...], page: tuple[str, ...]
) -> None:
    api_filters = set(schema.model_fields) - PAGING
    assert {
        "agent",
        "user",
        "tool",
        "since",
        "until",
        "kind",
        "model",
        "tag",
        "status",
        "min_cost",
        "q",
    } <= api_filters
    assert options_of(*words) == api_filters
    assert set(page) == api_filters


@pytest.mark.parametrize(
    "words",
    [
        ("session", "list", "--agent", "a", "--agent", "b"),
        ("search", "--query", "x", "--tag=a", "--tag", "a"),
    ],
)
def test_a_repeated_option_is_wrong_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        cli.main(list(words))
    assert exited.value.code == 2
    assert " is given 2 times; give it once." in capsys.readouterr().err


def test_a_repeatable_option_may_be_given_several_times() -> None:
    command = cli.commands["recall"]
    options = [each for each in command.params if isinstance(each, click.Option) and each.multiple]
    assert options
    words = [word for each in options for word in (each.opts[0], "2")] * 2
    command.make_context("recall", words, resilient_parsing=True)
