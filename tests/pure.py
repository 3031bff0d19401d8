"""The files in `pure` folders: they import no framework, and every branch of them is tested.

`python -m tests.pure` prints them as patterns for coverage.
"""

from importlib import import_module
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def pure_files() -> list[str]:
    """Return patterns for coverage: `timemachine/core/pure/*` and so on, and the stand-alone verifier."""
    folders = sorted(folder.relative_to(TOP) for folder in (TOP / "timemachine").rglob("pure"))
    return [*(f"{folder}/*" for folder in folders), "timemachine/verifier/*"]


def import_pure_files() -> None:
    """Import all of them but programs, which would run."""
    for pattern in pure_files():
        for file in sorted(TOP.glob(pattern.replace("*", "**/*.py"))):
            if file.stem != "__main__":
                import_module(".".join(file.relative_to(TOP).with_suffix("").parts))


if __name__ == "__main__":
    print(",".join(pure_files()))
