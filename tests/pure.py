"""The files that think without a framework, as import-linter's contract lists them: every branch of theirs is tested.

`python -m tests.pure` prints them as coverage wants them.
"""

import configparser
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def pure_files() -> list[str]:
    """Patterns for coverage: `timemachine/base/*` for a package, `timemachine/recording/draft.py` for a module."""
    contracts = configparser.ConfigParser()
    contracts.read(TOP / ".importlinter")
    modules = contracts["importlinter:contract:pure"]["source_modules"].split()
    paths = [Path(*module.split(".")) for module in modules]
    return [f"{path}/*" if (TOP / path).is_dir() else f"{path}.py" for path in paths]


if __name__ == "__main__":
    print(",".join(pure_files()))
