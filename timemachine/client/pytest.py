"""A pytest plugin that answers an agent under test from a recorded session, without a model and without a network.

    pytest_plugins = ["timemachine.client.pytest"]  # in the top conftest.py

    @pytest.mark.playback("recordings/refund.jsonl", all_used=True)
    def test_my_agent(playback):
        client = OpenAI(base_url=playback.base_url, api_key="none")
        ...

The file is one of `timemachine session export` or `timemachine evidence export`, relative to the test file; the ini option
`playback_file`, relative to the root, is for tests without one in their marker. The other options of the marker:
`all_used=True` fails the test if a recorded call answered no request, `start_over=True` begins with the first answer to equal
requests after the last, and `environment=True` sets the variables that OpenAI's and Anthropic's SDKs read, until the test ends. Nothing
else outside the fixture changes.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from timemachine.client.errors import ClientError
from timemachine.client.playback.recordings import read_recording, unused_steps
from timemachine.client.playback.server import PlaybackServer

_MARKER: Final = "playback"
_FILE: Final = "playback_file"
_ALL_USED: Final = "playback_all_used"
_OPTIONS: Final = frozenset({"all_used", "start_over", "environment"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini options."""
    parser.addini(_FILE, "The recorded session that the fixture `playback` answers from.", default="")
    parser.addini(_ALL_USED, "Fail tests that leave recorded calls unused.", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(file, all_used=False, start_over=False, environment=False): the recorded session that the fixture "
        "`playback` answers from.",
    )


@pytest.fixture
def playback(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[PlaybackServer]:
    """A playback of the recorded session at a free port of the loopback.

    `base_url` is for OpenAI's SDK, `url` for Anthropic's; `unused` are the recorded calls that answered nothing yet.
    """
    file, options = _settings(request.node)
    try:
        found = read_recording(file)
    except OSError as why:
        pytest.fail(f"The recording {file} cannot be read: {why.strerror or why}.", pytrace=False)
    except ClientError as why:
        pytest.fail(f"The recording cannot be read: {why}", pytrace=False)
    with ExitStack() as stack:
        server = stack.enter_context(PlaybackServer(found, start_over=bool(options.get("start_over"))))
        if options.get("environment"):
            variables = {
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": "playback",
                "ANTHROPIC_BASE_URL": server.url,
                "ANTHROPIC_API_KEY": "playback",
            }
            for name, value in variables.items():
                monkeypatch.setenv(name, value)
        yield server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test that passed if it had to use every recorded call and did not."""
    result = yield
    server = getattr(item, "funcargs", {}).get(_MARKER)
    if isinstance(server, PlaybackServer) and _settings(item)[1].get("all_used") and server.unused:
        steps = unused_steps(server.unused)
        pytest.fail(
            f"The agent did not make every recorded call. Unused: step {steps} of {server.name}.",
            pytrace=False,
        )
    return result


def _settings(item: pytest.Item) -> tuple[Path, dict[str, Any]]:
    """The file and the options of a test."""
    marker = item.get_closest_marker(_MARKER)
    args, options = (marker.args, dict(marker.kwargs)) if marker else ((), {})
    if unknown := sorted(options.keys() - _OPTIONS):
        raise pytest.UsageError(f"The marker {_MARKER} has no option {unknown[0]}.")
    options.setdefault("all_used", item.config.getini(_ALL_USED))
    if args:
        return item.path.parent / args[0], options
    named = item.config.getini(_FILE)
    if not named:
        raise pytest.UsageError(
            f"Name the recording: @pytest.mark.{_MARKER}(FILE), or the ini option {_FILE}."
        )
    return item.config.rootpath / named, options
