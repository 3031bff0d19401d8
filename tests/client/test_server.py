"""Finding the server, and who gets the key of this machine."""

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
    announce(RunningServer(pid=1, url=url, database_url="postgresql://"))
    write_private(local_key_file(), "tmk_here_secret\n")


def test_without_a_server_the_error_says_where_it_looked_and_how_to_start_one(home: Path) -> None:
    with pytest.raises(NoServer, match=rf"{home}\. .*make up"):
        find_server({})


def test_the_local_server_is_found_with_the_local_key() -> None:
    start_a_server()
    found = find_server({})
    assert (found.url, found.key) == ("http://127.0.0.1:8000", "tmk_here_secret")


def test_an_incomplete_server_note_is_ignored(home: Path) -> None:
    (home / "server.json").write_text('{"url": "http')
    with pytest.raises(NoServer):
        find_server({})


def test_a_remote_server_never_gets_the_local_key() -> None:
    start_a_server()
    assert find_server({"TIMEMACHINE_URL": "https://example.org/"}).key is None


def test_the_local_server_gets_its_key_even_if_named_explicitly() -> None:
    start_a_server()
    assert find_server({"TIMEMACHINE_URL": "http://127.0.0.1:8000/"}).key == "tmk_here_secret"


def test_the_environment_takes_precedence() -> None:
    start_a_server()
    found = find_server({"TIMEMACHINE_URL": " http://box:9000/tm/ ", "TIMEMACHINE_API_KEY": " tmk_a_b\n"})
    assert (found.url, found.key) == ("http://box:9000/tm", "tmk_a_b")


def test_a_server_with_an_unreadable_key_file_has_no_key() -> None:
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
def test_an_invalid_address_is_refused_with_the_reason(address: str) -> None:
    with pytest.raises(NoServer, match="TIMEMACHINE_URL"):
        find_server({"TIMEMACHINE_URL": address})


@pytest.mark.parametrize("key", ["tmk_ä", "tmk a", "tmk_a\r\nX-Evil: 1"])
def test_a_key_invalid_in_a_header_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(NoServer, match="TIMEMACHINE_API_KEY") as refused:
        find_server({"TIMEMACHINE_URL": "http://box", "TIMEMACHINE_API_KEY": key})
    assert key not in refused.value.message


@pytest.mark.parametrize(
    ("url", "near"),
    [("http://127.0.0.1:8000", True), ("http://[::1]:1", True), ("https://example.org", False)],
)
def test_local_addresses_are_recognised(url: str, near: bool) -> None:
    assert find_server({"TIMEMACHINE_URL": url}).is_local is near


def test_a_key_can_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("tmk_a_b\n")
    named = {"TIMEMACHINE_URL": "https://example.org", "TIMEMACHINE_API_KEY_FILE": str(file)}
    assert find_server(named).key == "tmk_a_b"
    with pytest.raises(NoServer, match=r"^Both TIMEMACHINE_API_KEY and TIMEMACHINE_API_KEY_FILE are set"):
        find_server(named | {"TIMEMACHINE_API_KEY": "tmk_c_d"})
