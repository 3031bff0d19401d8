"""Which server is talked to, and who gets this machine's key."""

from pathlib import Path

import pytest

from timemachine.client.errors import NoServer
from timemachine.client.server import find_server
from timemachine.core.pure.home import RunningServer, announce, local_key_file, write_private


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder."""
    monkeypatch.setenv("TIMEMACHINE_HOME", str(tmp_path))
    return tmp_path


def start_a_server(url: str = "http://127.0.0.1:8000/") -> None:
    announce(RunningServer(pid=1, url=url, database_url="postgresql://", broker_url="pgmq://"))
    write_private(local_key_file(), "tmk_here_secret\n")


def test_without_a_server_it_says_how_to_start_one() -> None:
    with pytest.raises(NoServer, match="make up"):
        find_server({})


def test_the_server_of_this_machine_is_found_with_this_machines_key() -> None:
    start_a_server()
    found = find_server({})
    assert (found.url, found.key) == ("http://127.0.0.1:8000", "tmk_here_secret")


def test_half_a_note_is_no_server(home: Path) -> None:
    (home / "server.json").write_text('{"url": "http')
    with pytest.raises(NoServer):
        find_server({})


def test_a_server_elsewhere_never_gets_this_machines_key() -> None:
    start_a_server()
    assert find_server({"TIMEMACHINE_URL": "https://example.org/"}).key is None


def test_this_machines_server_gets_its_key_also_when_it_is_named() -> None:
    start_a_server()
    assert find_server({"TIMEMACHINE_URL": "http://127.0.0.1:8000/"}).key == "tmk_here_secret"


def test_what_the_environment_names_comes_first() -> None:
    start_a_server()
    found = find_server({"TIMEMACHINE_URL": " http://box:9000/tm/ ", "TIMEMACHINE_API_KEY": " tmk_a_b\n"})
    assert (found.url, found.key) == ("http://box:9000/tm", "tmk_a_b")


def test_a_server_whose_key_file_cannot_be_read_has_no_key() -> None:
    start_a_server()
    local_key_file().write_bytes(b"\xff\xfe")
    assert find_server({}).key is None


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "127.0.0.1",
        "ftp://box",
        "http://",
        "http://box:99999",
        "http://[::1",
        "http://b\x00x",
        "http://b/?a=1",
        "http://b/#x",
    ],
)
def test_an_address_that_is_none_is_refused_by_what_it_is(address: str) -> None:
    with pytest.raises(NoServer, match="TIMEMACHINE_URL"):
        find_server({"TIMEMACHINE_URL": address})


@pytest.mark.parametrize("key", ["tmk_ä", "tmk a", "tmk_a\r\nX-Evil: 1"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(NoServer, match="TIMEMACHINE_API_KEY") as refused:
        find_server({"TIMEMACHINE_URL": "http://box", "TIMEMACHINE_API_KEY": key})
    assert key not in refused.value.message


@pytest.mark.parametrize(
    ("url", "near"),
    [("http://127.0.0.1:8000", True), ("http://[::1]:1", True), ("https://example.org", False)],
)
def test_it_is_known_whether_a_server_is_on_this_machine(url: str, near: bool) -> None:
    assert find_server({"TIMEMACHINE_URL": url}).is_local is near
