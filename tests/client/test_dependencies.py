"""The client, the command and the pytest plugin run in a project that has only the packages that the docs name."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
_SCRIPT = """
import importlib, pkgutil, sys

class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in sys.argv:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing)
import timemachine.cli, timemachine.client
for package in (timemachine.cli, timemachine.client):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
"""
"""Imports every module of the client and the command without the packages that its arguments name."""


def named_in(document: str) -> set[str]:
    """The packages of the second line of the installation in a document."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.search(r"^pip install --no-deps .*\npip install (.*)$", text, re.MULTILINE)
    assert found is not None, document
    return set(found[1].split())


def with_what_it_needs(names: set[str]) -> set[str]:
    """These distributions and, by their metadata, those that they need."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        needed = [Requirement(each) for each in requires(name) or ()]
        waiting |= {each.name.lower() for each in needed if _is_needed(each)} - found
    return found


def _is_needed(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def test_the_documented_packages_are_enough(tmp_path: Path) -> None:
    named = named_in("docs/recorder.md")
    assert named == named_in("docs/playback.md") == named_in("README.md")
    known = with_what_it_needs({*named, "pytest"})
    missing = [
        module
        for module, distributions in packages_distributions().items()
        if not known & {each.lower().replace(".", "-") for each in distributions} and module != "timemachine"
    ]
    assert {"django", "openai", "celery"} <= set(missing)
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *missing], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
