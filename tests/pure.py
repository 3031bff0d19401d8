"""The folders `pure`, whose files import no framework: every branch of theirs is tested.

`python -m tests.pure` prints them as coverage wants them.
"""

from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def pure_files() -> list[str]:
    """Patterns for coverage: `timemachine/core/pure/*` and so on, and the stand-alone verifier."""
    folders = sorted(folder.relative_to(TOP) for folder in (TOP / "timemachine").rglob("pure"))
    return [*(f"{folder}/*" for folder in folders), "timemachine/verifier/*"]


if __name__ == "__main__":
    print(",".join(pure_files()))
