"""`capture={"sys"}` records the files opened and the requests made while the session is open, and no others."""

import asyncio
import importlib
import logging
import subprocess
import sys
import urllib.request
from pathlib import Path

import httpx
import pytest

from tests.client.conftest import Served
from tests.client.other_server import answering, other_server
from timemachine.client.recording import command_words, system_events
from timemachine.core.payloads.queries import value


def test_files_and_requests_are_recorded_while_the_session_is_open(served: Served, tmp_path: Path) -> None:
    before, handled = tmp_path / "before", httpx.HTTPTransport.handle_request
    before.write_text("x")
    with other_server(answering(200, b"ok")) as url:
        with served.machine().session("Watched", key="watched", capture={"sys"}, collection="c") as s:
            (tmp_path / "notes.txt").write_text("x")
            (tmp_path / "notes.txt").read_text()
            urllib.request.urlopen(f"{url}/a?api_key=sesame&q=1").read()
            with httpx.Client() as client:
                client.get(f"{url}/b?token=sesame")
            asyncio.run(awaited(f"{url}/c"))
            with pytest.raises(httpx.ConnectError):
                httpx.get("http://127.0.0.1:1/")
            s.put("Some text.")
            s.find("text")
        (tmp_path / "after").write_text("x")
        httpx.get(url)
    found = [
        (each.name, value(each.output), each.error_type)
        for each in served.actions("watched")
        if each.kind == "event"
    ]
    files = [(data["path"], data["mode"]) for name, data, _ in found if name == "file.open"]
    assert [each for each in files if str(tmp_path) in each[0]] == [
        (str(tmp_path / "notes.txt"), "w"),
        (str(tmp_path / "notes.txt"), "r"),
    ]
    assert not [path for path, _ in files if path.endswith(".spool")]
    requests = [
        (name, data.get("url"), data.get("status"), error)
        for name, data, error in found
        if "http" in str(name)
    ]
    assert requests == [
        ("http.get", f"{url}/a?api_key=withheld&q=1", None, None),
        ("http.get", f"{url}/b?token=withheld", 200, None),
        ("http.post", f"{url}/c", 200, None),
        ("http.get", "http://127.0.0.1:1/", None, "ConnectError"),
    ]
    assert {each.layer for each in served.actions("watched") if each.kind == "event"} == {"sys"}
    assert httpx.HTTPTransport.handle_request is handled
    assert system_events._listeners == []


def test_a_missing_file_and_a_program_that_does_not_start_are_recorded_as_failed(
    served: Served, tmp_path: Path
) -> None:
    with served.machine().session("Watched", key="watched", capture={"sys"}):
        with pytest.raises(FileNotFoundError):
            (tmp_path / "missing").read_text()
        with pytest.raises(FileNotFoundError):
            subprocess.run([str(tmp_path / "no-program")], check=True)
    found = {each.name: value(each.output) for each in served.actions("watched") if each.kind == "event"}
    assert found["file.open"]["outcome"] == "not known"
    assert found["process.start"]["outcome"] == "not known"


OWN_FILES = """
import pathlib
from timemachine.client import TimeMachine, load_session

def remember():
    (folder / "state.txt").read_text()
    return {}

folder = pathlib.Path(%r)
(folder / "state.txt").write_text("x")
tm = TimeMachine(patience=60)
with tm.session("W", key="watched", capture={"sys"}, checkpoint_every=2, state=remember) as s:
    (folder / "notes.txt").write_text("x")

    @s.tool_call
    def look():
        return (folder / "notes.txt").read_text()

    look()
    s.record("user", "x")
    other = TimeMachine(patience=60)
    with other.session("another", key="another") as t:
        t.record("user", "y")
    other.close()
    tm.client.sessions.export("another", folder / "export.zip", format="zip")
    load_session(folder / "export.zip")
    list(tm.training_pairs())
    tm.deliver_spooled()
tm.close()
"""


def test_files_of_the_client_itself_are_never_recorded(served: Served, tmp_path: Path) -> None:
    process = served.run(OWN_FILES % str(tmp_path))
    _, said = process.communicate()
    assert process.returncode == 0, said
    found = [value(each.output) for each in served.actions("watched") if each.layer == "sys"]
    paths = {Path(data["path"]) for data in found if "path" in data}
    assert {each for each in paths if tmp_path in each.parents} == {
        tmp_path / "notes.txt",
        tmp_path / "state.txt",
    }
    own = ("server.json", "pairs.jsonl", "export.zip.part", "pairs.jsonl.part")
    assert not [each for each in paths if each.name in own or each.suffix == ".spool"]


async def awaited(url: str) -> None:
    async with httpx.AsyncClient() as client:
        await client.post(url)


def test_file_operations_and_started_programs_are_recorded(served: Served, tmp_path: Path) -> None:
    code, other = tmp_path / "tool.py", tmp_path / "other.py"
    with served.machine().session("Watched", key="watched", capture={"sys"}) as s:
        code.write_text("x = 1\n")
        code.read_bytes()
        sys.path.insert(0, str(tmp_path))
        try:
            assert importlib.import_module("tool").x == 1
        finally:
            sys.path.remove(str(tmp_path))
            del sys.modules["tool"]
        code.rename(other)
        other.unlink()
        subprocess.run([sys.executable, "-c", "pass", "--api-key", "sesame", "--token=sesame"], check=True)
        assert s.flush()
    found = [(each.name, value(each.output)) for each in served.actions("watched")]
    own = [(name, data) for name, data in found if "path" in data and str(tmp_path) in data["path"]]
    unsaid = {"outcome": "not known"}
    assert own == [
        ("file.open", {"path": str(code), "mode": "w"} | unsaid),
        ("file.open", {"path": str(code), "mode": "r"} | unsaid),
        ("file.rename", {"path": str(code), "target": str(other)} | unsaid),
        ("file.remove", {"path": str(other)} | unsaid),
    ]
    ran = [data for name, data in found if name == "process.start"]
    assert ran == [
        {
            "program": sys.executable,
            "arguments": [sys.executable, "-c", "pass", "--api-key", "withheld", "--token=withheld"],
        }
        | unsaid
    ]


def test_aiohttp_requests_are_recorded(served: Served) -> None:
    aiohttp = pytest.importorskip("aiohttp")

    async def requests(url: str) -> None:
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{url}/a?token=sesame"):
                pass
            with pytest.raises(aiohttp.ClientError):
                await client.post("http://127.0.0.1:1/")

    with (
        other_server(answering(200, b"ok")) as url,
        served.machine().session("Watched", key="watched", capture={"sys"}),
    ):
        asyncio.run(requests(url))
    found = [
        (each.name, value(each.output).get("status"))
        for each in served.actions("watched")
        if "http" in str(each.name)
    ]
    assert found == [("http.get", 200), ("http.post", None)]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://ann:secret@host/a", "http://host/a"),
        ("http://host/?X-Amz-Signature=1&a=", "http://host/?X-Amz-Signature=withheld&a="),
        ("http://[half", "an invalid URL"),
    ],
)
def test_an_address_is_recorded_without_its_secrets(url: str, shown: str) -> None:
    assert command_words.redacted_url(url) == shown


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (
            ["curl", "-H", "Authorization: Bearer sk-1", "-u", "ann:pw", "https://u:p@host/x?token=a&q=1"],
            ["curl", "-H", "Authorization: withheld", "-u", "ann:withheld", "https://host/x?token=withheld&q=1"],
        ),
        (["curl", "-HX-Own: sk-1", "-uann:pw"], ["curl", "-HX-Own: withheld", "-uann:withheld"]),
        (["curl", "--header=Cookie: a=1; b=2", "-H", "Accept: a/b"], ["curl", "--header=Cookie: withheld", "-H", "Accept: a/b"]),
        (["psql", "postgres://u:pw@h/db"], ["psql", "postgres://h/db"]),
        (["prog", "DATABASE_URL=postgres://u:pw@h/db"], ["prog", "DATABASE_URL=postgres://h/db"]),
        (["sh", "-c", "A=1 TOKEN=abc prog | cat > 'x y'"], ["sh", "-c", "A=1 TOKEN=withheld prog | cat > 'x y'"]),
        (
            ["bash", "-lc", 'curl -H "Authorization: Bearer sk-1" -u ann:pw https://u:p@h/x; A_KEY=1;b'],
            ["bash", "-lc", 'curl -H "Authorization: withheld" -u ann:withheld https://h/x; A_KEY=withheld;b'],
        ),
        (["ssh", "host", "TOKEN=abc prog"], ["ssh", "host", "TOKEN=withheld"]),
        (["ssh", "host", "A=1 psql postgres://u:pw@h/db"], ["ssh", "host", "A=1 psql postgres://h/db"]),
        (["git", "commit", "-m", "fix: it works"], ["git", "commit", "-m", "fix: it works"]),
        (["python", "-u", "a.py", ":" * 5_000], ["python", "-u", "a.py", ":" * 5_000]),
    ],
)  # fmt: skip
def test_a_command_is_recorded_without_its_secrets(
    served: Served, command: list[str], shown: list[str]
) -> None:
    with served.machine().session("Watched", key="watched", capture={"sys"}) as s:
        with pytest.raises(FileNotFoundError):
            subprocess.run(["/nowhere/" + command[0], *command[1:]], check=False)
        assert s.flush()
    (ran,) = [each for each in served.actions("watched") if each.name == "process.start"]
    assert value(ran.output)["arguments"] == ["/nowhere/" + shown[0], *shown[1:]]


def test_the_httpx_log_shows_the_requests_of_the_agent_and_not_of_the_recorder(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "httpx")
    with served.machine().session("Logged", key="logged") as s:
        s.record("user", 1)
        assert s.flush()
        httpx.get(f"{served.gate.url}/health/live?mine")
    logged = [each.getMessage() for each in caplog.records if each.name == "httpx"]
    assert ["?mine" in each for each in logged] == [True]
