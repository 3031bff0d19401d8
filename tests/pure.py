"""The files in `pure` folders: they import no framework, and every branch of them is tested.

`python -m tests.pure` prints them as patterns for coverage.
"""

from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def patterns() -> list[str]:
    """Return patterns for coverage: `timemachine/core/pure/*` and so on, and the stand-alone verifier."""
    folders = sorted(folder.relative_to(TOP) for folder in (TOP / "timemachine").rglob("pure"))
    return [*(f"{folder}/*" for folder in folders), "timemachine/verifier/*"]


def pure_files() -> list[Path]:
    """Return the files that match these patterns, without programs: tests start those in processes of their own."""
    found = (file for pattern in patterns() for file in (TOP / pattern).parent.rglob("*.py"))
    return [file for file in found if file.name != "__main__.py"]


if __name__ == "__main__":
    print(",".join(patterns()))
