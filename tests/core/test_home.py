from pathlib import Path

import pytest

from timemachine.core.pure.home import RunningServer, announce, home, running_server, withdraw


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"TIMEMACHINE_HOME": "/data/tm"}, Path("/data/tm")),
        ({"XDG_DATA_HOME": "/data"}, Path("/data/timemachine")),
        ({"HOME": "/home/ada"}, Path("/home/ada/.local/share/timemachine")),
    ],
)
def test_the_data_folder_is_the_configured_one_or_that_of_the_user(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: Path
) -> None:
    for name in ("TIMEMACHINE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert home() == folder


def test_a_running_server_is_found_until_it_withdraws_its_announcement(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIMEMACHINE_HOME", str(tmp_path))
    server = RunningServer(pid=1, url="http://127.0.0.1:8000", database_url="postgresql://")
    announce(server)
    assert running_server() == server
    withdraw()
    assert running_server() is None
    (tmp_path / "server.json").write_text('{"pid": 1')
    assert running_server() is None
