"""The two wheels: what is in them, and that the client's is enough for a project without a server."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

TOP = Path(__file__).parents[2]
UV = TOP / ".tools" / "bin" / "uv"
_IMPORTS = """
import importlib, json, pkgutil, sys, timemachine
OF_EXTRAS = ("timemachine.client.pytest", "timemachine.client.integrations.", "timemachine.core.pure.schemas", "timemachine.mcp.")
for module in pkgutil.walk_packages(timemachine.__path__, "timemachine."):
    if not module.name.startswith(OF_EXTRAS):
        importlib.import_module(module.name)
print(json.dumps({"at": timemachine.__path__[0], "modules": list(sys.modules)}))
"""
_PROGRAM = """
from timemachine.client import AsyncTimeMachine, TimeMachine

with TimeMachine().session("Typed") as s:
    reveal_type(s.ask("How long?")["answer"])
    s.record("agent")


async def later(tm: AsyncTimeMachine) -> None:
    reveal_type((await tm.session_end())["key"])
    await tm.session_start()
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both wheels by the name of their project; each is built from the sdist, as an installation from it would."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in (TOP, TOP / "clients" / "python"):
        _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder), at=project)
    for archive in folder.glob("*.tar.gz"):
        _run("tar", "xzf", archive.name, at=folder)
        _run(
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "-t",
            "wheel",
            "-d",
            str(folder),
            at=folder / archive.name[:-7],
        )
    return {path.name.split("-")[0]: path for path in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def client(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which only the client's wheel was installed."""
    folder = tmp_path_factory.mktemp("client") / "venv"
    _run(str(UV), "venv", "--quiet", "--python", sys.executable, str(folder), at=TOP)
    python = folder / "bin" / "python"
    wheel = str(wheels["timemachine_client"])
    _run(str(UV), "pip", "install", "--quiet", "--python", str(python), wheel, at=TOP)
    return python


def test_every_file_of_the_product_is_in_exactly_one_wheel(wheels: dict[str, Path]) -> None:
    shipped = [_files(path) for path in wheels.values()]
    assert set.intersection(*shipped) == set()
    known = _run("git", "ls-files", "timemachine", "templates", "static", at=TOP).split()
    expected = {
        name if name.startswith("timemachine/") else f"timemachine/web/{name}"
        for name in known
        if (TOP / name).exists()
    }
    assert set.union(*shipped) == expected


def test_both_wheels_have_one_version_and_the_server_needs_that_client(wheels: dict[str, Path]) -> None:
    server = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    client = tomllib.loads((TOP / "clients/python/pyproject.toml").read_text())["project"]
    assert server["version"] == client["version"]
    assert f"timemachine-client=={client['version']}" in server["dependencies"]
    assert (
        server["scripts"] == client["scripts"]
    )  # tools install the scripts of the package that was asked for


def test_the_client_imports_with_its_own_packages_alone(client: Path, tmp_path: Path) -> None:
    found = json.loads(_run(str(client), "-c", _IMPORTS, at=tmp_path))
    assert Path(found["at"]).is_relative_to(client.parent.parent)
    modules = {name.partition(".")[0] for name in found["modules"]}
    assert {"click", "httpx"} <= modules
    assert not modules & {"django", "celery", "openai", "anthropic", "pydantic", "numpy"}


def test_the_client_is_typed(client: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM)
    arguments = ("-m", "mypy", "--strict", "--config-file=", "--python-executable", str(client), "program.py")
    found = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    assert found[0] == 'program.py:5: note: Revealed type is "str | None"'
    assert found[1].startswith('program.py:6: error: Missing positional argument "content"')
    assert found[2] == 'program.py:10: note: Revealed type is "str"'
    assert found[3].startswith("program.py:11: error: ")
    assert found[-1].startswith("Found 2 errors")


@pytest.mark.parametrize(
    "order", [("timemachine", "timemachine_client"), ("timemachine_client", "timemachine")]
)
def test_the_wheels_share_the_command_in_either_order(
    wheels: dict[str, Path], tmp_path: Path, order: tuple[str, str]
) -> None:
    _run(str(UV), "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv"), at=tmp_path)
    command = tmp_path / "venv" / "bin" / "timemachine"

    def pip(does: str, *words: str) -> None:
        _run(str(UV), "pip", does, "--quiet", "--python", str(tmp_path / "venv"), *words, at=tmp_path)

    for name in order:
        pip("install", "--no-deps", str(wheels[name]))
    both = command.read_text()
    pip("uninstall", "timemachine")
    assert not command.exists()
    pip("install", "--no-deps", "--reinstall", str(wheels["timemachine_client"]))
    assert command.read_text() == both


def test_the_command_says_how_to_install_the_server(client: Path, tmp_path: Path) -> None:
    command = [str(client.with_name("timemachine")), "up"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=_environment(), capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "The server is not installed here. Install it with: uv tool install timemachine\n"


def _files(wheel: Path) -> set[str]:
    with ZipFile(wheel) as file:
        return {name for name in file.namelist() if ".dist-info/" not in name}


def _environment() -> dict[str, str]:
    """This environment without what would let a program find the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}


def _run(*command: str, at: Path) -> str:
    ran = subprocess.run(command, cwd=at, env=_environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
