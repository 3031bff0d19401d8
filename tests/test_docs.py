"""The docs are complete and correct: every setting, error code, command and package is documented, and every link works."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    path for path in (ROOT / "timemachine").rglob("*.py") if "migrations" not in path.relative_to(ROOT).parts
]
DOCUMENTS = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md"))
NOT_SETTINGS = {
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DJANGO_SETTINGS_MODULE",
    "PYTHONDONTWRITEBYTECODE",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_FOR",
}
OF_THE_ENVIRONMENT = re.compile(
    r"""(?:env\.(?:text|flag|number|names|choice)|secret|environ\.get|environ\.pop|getenv)\(\s*["']([A-Z][A-Z_0-9]+)["']|environ\[["']([A-Z_0-9]+)["']\]"""
)
CODE = re.compile(r"""(?:\bcode=|default_code(?:: ClassVar\[str\])? = )["']([a-z][a-z_]+)["']""")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def found(pattern: re.Pattern[str]) -> set[str]:
    """Return every match of the pattern's groups in the code."""
    matches = (match for path in SOURCES for match in pattern.finditer(path.read_text(encoding="utf-8")))
    return {group for match in matches for group in match.groups() if group}


def test_every_setting_is_documented() -> None:
    documented = set(re.findall(r"`([A-Z][A-Z_0-9]+)`", read("docs/settings.md")))
    assert found(OF_THE_ENVIRONMENT) - NOT_SETTINGS - documented == set()


def test_every_error_code_is_documented_and_no_other() -> None:
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", read("docs/errors.md"), re.MULTILINE))
    assert found(CODE) - {"more"} == documented  # a placeholder for further differences of a seal


def test_every_package_is_on_the_map() -> None:
    inside = [path.relative_to(ROOT / "timemachine").parts for path in SOURCES]
    packages = {parts[0] for parts in inside if len(parts) > 1}
    mapped = set(re.findall(r"^\| `([a-z]+)` \|", read("docs/architecture.md"), re.MULTILINE))
    assert packages - mapped == set()


def test_every_path_on_the_map_exists() -> None:
    paths = re.findall(r"`([a-z_.]+/[a-z_./]*)`", read("docs/architecture.md"))
    package = ROOT / "timemachine"
    assert [each for each in paths if not (ROOT / each).exists() and not any(package.rglob(each))] == []


def test_every_operator_command_is_documented() -> None:
    commands = {path.stem for path in (ROOT / "timemachine/management/commands").glob("*.py")} - {"__init__"}
    documented = read("docs/settings.md") + read("docs/commands.md")
    assert {name for name in commands if f"`timemachine manage {name}" not in documented} == set()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_line_names_a_target(name: str) -> None:
    targets = re.findall(r"^make ([a-z]+)$", "\n".join(shell_lines(name)), re.MULTILINE)
    assert targets
    for target in targets:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_has_a_target(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_heading_has_a_target(path: Path) -> None:
    links = re.findall(r"\]\(([\w./-]*\.md)?#([^)]+)\)", path.read_text(encoding="utf-8"))
    targets = [(path.parent / name if name else path, anchor) for name, anchor in links]
    assert [(to.name, anchor) for to, anchor in targets if anchor not in anchors(to)] == []


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def shell_lines(name: str) -> list[str]:
    """Return the lines of a document's shell blocks."""
    return [
        line for block in re.findall(r"```sh\n(.*?)```", read(name), re.DOTALL) for line in block.splitlines()
    ]
